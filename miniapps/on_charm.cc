// SPDX-License-Identifier: BSD-3-Clause
// The chares of on_charm.ci. The leader tells all elements to run a step; an element keeps the
// messages that arrive meanwhile for its next step. No element knows how many messages to expect,
// so the leader sums the messages sent and received, and starts the next step when the sums agree.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "miniapps/hidden.h"
#include "on_charm.decl.h"

/*readonly*/ CProxy_Leader leader;
/*readonly*/ std::vector<std::string> arguments;

namespace {

using poise::miniapps::Asked;
using poise::miniapps::Bytes;
using poise::miniapps::HiddenObject;
using poise::miniapps::HiddenProgram;
using poise::miniapps::Letter;

/// The program and its settings, shared by all PEs of a process.
const Asked& asked() {
  static const Asked once = poise::miniapps::asked_for(arguments);
  return once;
}

const HiddenProgram& program() { return *asked().program; }

/// Returns the number of steps between two calls of AtSync(), which is the value of POISE_PERIOD.
/// 0, the default, means that AtSync() is never called; -1 means that the value is invalid.
long period_from_environment() {
  const char* text = std::getenv("POISE_PERIOD");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const long period = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && period >= 0) return period;
  CkError("%s: POISE_PERIOD: \"%s\" is not a number of steps (0: never)\n", program().name(), text);
  return -1;
}

}  // namespace

class Leader : public CBase_Leader {
 public:
  explicit Leader(CkArgMsg* message) {
    arguments.assign(message->argv + 1, message->argv + message->argc);
    delete message;
    leader = thisProxy;
    if (!asked().program) {
      if (asked().status == 0) CkPrintf("%s", asked().text.c_str());
      if (asked().status != 0) CkError("%s", asked().text.c_str());
      CkExit(asked().status);
      return;
    }
    period_ = period_from_environment();
    if (period_ < 0) {
      CkExit(2);
      return;
    }
    const auto num_objects = static_cast<int>(program().num_objects());
    CkArrayOptions options(num_objects);
    options.setMap(CProxy_Start::ckNew());
    elements_ = CProxy_Element::ckNew(options);
    ask_values();
  }

  /// Receives an object's value. All objects send theirs before the first step and after the last.
  void value(int id, int moves, int size, const char* bytes) {
    values_[static_cast<std::size_t>(id)].assign(bytes, bytes + size);
    moves_ += moves;
    if (--missing_ > 0) return;
    if (steps_ > 0) return finish();
    first_ = std::move(values_);
    start_s_ = phase_start_s_ = CkWallTimer();
    elements_.step();
  }

  /// Ends the step if all sent messages have been received; otherwise counts the messages again.
  void counted(int, unsigned long* sent_and_received) {
    if (sent_and_received[0] != sent_and_received[1]) return elements_.count();
    ++steps_;
    if (steps_ == static_cast<long>(program().steps())) {
      end_s_ = CkWallTimer();
      ask_values();
    } else if (period_ > 0 && steps_ % period_ == 0) {
      phase_start_s_ = CkWallTimer();
      phase_start_ = steps_;
      elements_.balance();
    } else {
      elements_.step();
    }
  }

 private:
  void ask_values() {
    missing_ = static_cast<int>(program().num_objects());
    values_.assign(static_cast<std::size_t>(missing_), {});
    elements_.tell_value();
  }

  void finish() {
    const double wall_s = end_s_ - start_s_;
    const auto iterations = static_cast<double>(program().iterations());
    CkPrintf("%.0f iterations of %zu objects on %d PEs: %.4f s, %.2f iterations/s\n", iterations,
             values_.size(), CkNumPes(), wall_s, iterations / wall_s);
    CkPrintf("%d migrations; since the last decision: %.4f ms/iteration\n", moves_,
             1000 * (end_s_ - phase_start_s_) * static_cast<double>(steps_) /
                 (iterations * static_cast<double>(steps_ - phase_start_)));
    try {
      const std::string line = program().results(first_, values_);
      std::fflush(stdout);
      CkPrintf("%s\n", line.c_str());
      CkExit(0);
    } catch (const std::exception& error) {
      CkError("%s: %s\n", program().name(), error.what());
      CkExit(1);
    }
  }

  CProxy_Element elements_;
  long period_ = 0, steps_ = 0, phase_start_ = 0;
  double start_s_ = 0, phase_start_s_ = 0, end_s_ = 0;
  int missing_ = 0, moves_ = 0;
  std::vector<Bytes> values_, first_;
};

class Start : public CBase_Start {
 public:
  Start() : places_(program().start(CkNumPes())) {}
  explicit Start(CkMigrateMessage* message) : CBase_Start(message) {}
  int procNum(int, const CkArrayIndex& element) override {
    return places_[static_cast<std::size_t>(element.data()[0])];
  }

 private:
  std::vector<int> places_;
};

class Element : public CBase_Element {
 public:
  Element() {
    usesAtSync = true;
    guard([this] { object_ = program().object(static_cast<std::uint32_t>(thisIndex)); });
  }
  explicit Element(CkMigrateMessage* message) : CBase_Element(message) {}

  void pup(PUP::er& p) override {
    p | steps_;
    p | moves_;
    for (std::vector<Letter>& box : boxes_) pup_box(p, box);
    Bytes bytes;
    if (!p.isUnpacking()) guard([&] { bytes = object_->bytes(); });
    p | bytes;
    if (p.isUnpacking() && !bytes.empty()) guard([&] { object_ = program().restored(bytes); });
  }
  void ckJustMigrated() override {
    CBase_Element::ckJustMigrated();
    ++moves_;
  }

  void tell_value() {
    if (!object_) return;
    const Bytes value = object_->value();
    leader.value(thisIndex, moves_, static_cast<int>(value.size()), value.data());
  }

  void step() {
    if (!object_) return;  // restoring it after a migration failed, so the job is ending
    std::vector<Letter> inbox = std::exchange(box_of(steps_ - 1), {});
    std::sort(inbox.begin(), inbox.end(), [](const Letter& a, const Letter& b) {
      return std::make_pair(a.from, a.number) < std::make_pair(b.from, b.number);
    });
    sent_ = 0;
    const bool is_well = guard([&] {
      object_->step(inbox, [this](std::uint32_t to, const char* bytes, std::size_t size) {
        thisProxy[static_cast<int>(to)].receive(steps_, thisIndex, sent_++, static_cast<int>(size),
                                                const_cast<char*>(bytes));
      });
    });
    if (!is_well) return;
    ++steps_;
    count();
  }

  /// Keeps a message for the next step. The sender is at most one step ahead of this object.
  void receive(long step, int from, int number, int size, const char* bytes) {
    box_of(step).push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(number),
                            Bytes(bytes, bytes + size)});
  }

  void count() {
    unsigned long both[] = {static_cast<unsigned long>(sent_), box_of(steps_ - 1).size()};
    contribute(sizeof both, both, CkReduction::sum_ulong,
               CkCallback(CkReductionTarget(Leader, counted), leader));
  }

  void balance() { AtSync(); }
  /// Sends this object a message that makes it continue. If ResumeFromSync() itself sent messages,
  /// Charm++ would not count them as messages of this object.
  void ResumeFromSync() override { thisProxy[thisIndex].step(); }

 private:
  std::vector<Letter>& box_of(long step) { return boxes_[step & 1]; }

  static void pup_box(PUP::er& p, std::vector<Letter>& box) {
    std::size_t size = box.size();
    p | size;
    box.resize(size);
    for (Letter& letter : box) {
      p | letter.from;
      p | letter.number;
      p | letter.bytes;
    }
  }

  /// Runs `work`. If it throws, prints one line that names the object and ends the job.
  template <typename Work>
  bool guard(Work work) {
    try {
      work();
      return true;
    } catch (const std::exception& error) {
      CkError("poise: object %d of \"%s\", step %ld on PE %d: %s\n", thisIndex, program().name(),
              steps_, CkMyPe(), error.what());
      CkExit(1);
      return false;
    }
  }

  std::unique_ptr<HiddenObject> object_;
  std::vector<Letter> boxes_[2];  // messages sent in even and in odd steps
  long steps_ = 0;
  int sent_ = 0, moves_ = 0;
};

#include "on_charm.def.h"
