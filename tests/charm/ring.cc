// A ring of pieces of uneven work, balanced every ten steps: what the balancers' tests run. It says
// how often pieces moved, and "ok" only when no message was lost, nothing moved that was pinned,
// and what is not left the PE that its argument, if any, takes out of service. With "multicast" the
// first piece, which is pinned, ends each step of all pieces. With "apart" no piece waits for
// another, and the fourth PE's take long to pack: so PEs are out of step.
#include <chrono>
#include <ckmulticast.h>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "ring.decl.h"
#if __has_include(<LBManager.h>)
#include <LBManager.h>
#else
#include <LBDatabase.h>
#endif

CProxy_Main mainProxy;
int outOfService;
bool hasMulticasts, isApart;
CkGroupID multicaster;

struct Note : CkMcastBaseMsg, CMessage_Note {};

namespace {

constexpr int kPieces = 64, kSteps = 40, kPeriod = 10, kPinned = 8, kValues = 64;

enum Count { kStepsDone, kSumOfEnds, kMoves, kPinnedMoves, kLeftBehind, kCounts };

void take_out_of_service(int pe) {
  std::vector<char> in_service(static_cast<std::size_t>(CkNumPes()), 1);
  in_service[static_cast<std::size_t>(pe)] = 0;
#if __has_include(<LBManager.h>)
  set_avail_vector(in_service);
#else
  set_avail_vector(in_service.data());
#endif
}

}  // namespace

class Main : public CBase_Main {
 public:
  explicit Main(CkArgMsg* arguments) {
    const std::string word = arguments->argc > 1 ? arguments->argv[1] : "";
    hasMulticasts = word == "multicast";
    isApart = word == "apart";
    outOfService = word.empty() || hasMulticasts || isApart ? -1 : std::stoi(word);
    delete arguments;
    if (outOfService >= 0) take_out_of_service(outOfService);
    mainProxy = thisProxy;
    if (hasMulticasts) multicaster = CProxy_CkMulticastMgr::ckNew();
    CProxy_Ring ring = CProxy_Ring::ckNew(kPieces);
    ring.go();
  }

  void done(int n, const int* counts) {
    const bool ok = n == kCounts && counts[kStepsDone] == kSteps * kPieces &&
                    counts[kSumOfEnds] == 2 * kSteps * kPieces && counts[kPinnedMoves] == 0 &&
                    counts[kLeftBehind] == 0;
    CkPrintf("ring: %d moves, %d of pinned pieces; %s\n", counts[kMoves], counts[kPinnedMoves],
             ok ? "ok" : "WRONG");
    CkExit();
  }
};

class Ring : public CBase_Ring {
 public:
  Ring() : values_(kValues, 1.0), home_(CkMyPe()) {
    usesAtSync = true;
    setMigratable(!is_pinned());
  }
  explicit Ring(CkMigrateMessage* message) : CBase_Ring(message) {}

  void pup(PUP::er& p) override {
    p | step_;
    p(waiting_, 2);
    p | ends_;
    p | moves_;
    p | has_sent_;
    p | values_;
    p | home_;
    p | notes_;
    if (p.isUnpacking()) ++moves_;
    if (p.isPacking() && isApart && CkMyPe() == 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  void go() {
    for (int k = 0; k < 2000 * (1 + thisIndex % 7); ++k) values_[k % kValues] += 1e-9 * k;
    for (const int distance : {1, kPieces - 1})
      if (!isApart) thisProxy[(thisIndex + distance) % kPieces].end(step_, kValues, values_.data());
    if (hasMulticasts && thisIndex == 0) tell_all();
    has_sent_ = true;
    advance();
  }

  void note(Note* note) {
    delete note;
    ++notes_;
    advance();
  }

  /// A neighbour may be one step ahead.
  void end(int step, int, const double*) {
    ++waiting_[step & 1];
    advance();
  }

  void ResumeFromSync() override { thisProxy[thisIndex].go(); }

 private:
  bool is_pinned() const { return thisIndex % kPinned == 0; }

  void tell_all() {
    if (step_ == 0) {
      all_ = CProxySection_Ring::ckNew(thisArrayID, 0, kPieces - 1, 1);
      all_.ckSectionDelegate(CProxy_CkMulticastMgr(multicaster).ckLocalBranch());
    }
    all_.note(new Note);
  }

  void advance() {
    if (!has_sent_ || (waiting_[step_ & 1] < 2 && !isApart)) return;
    if (hasMulticasts && notes_ <= step_) return;
    ends_ += isApart ? 2 : waiting_[step_ & 1];
    waiting_[step_ & 1] = 0;
    has_sent_ = false;
    ++step_;
    if (step_ == kSteps)
      report();
    else if (step_ % kPeriod == 0)
      AtSync();
    else
      thisProxy[thisIndex].go();
  }

  void report() {
    const int counts[kCounts] = {step_, ends_, moves_, is_pinned() && CkMyPe() != home_,
                                 !is_pinned() && CkMyPe() == outOfService};
    contribute(sizeof counts, counts, CkReduction::sum_int,
               CkCallback(CkReductionTarget(Main, done), mainProxy));
  }

  int step_ = 0, waiting_[2] = {0, 0}, ends_ = 0, moves_ = 0, notes_ = 0;
  bool has_sent_ = false;
  std::vector<double> values_;
  int home_ = 0;
  CProxySection_Ring all_;  // of the first piece
};

#include "ring.def.h"
