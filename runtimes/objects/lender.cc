#include "runtimes/objects/lender.h"

#include <algorithm>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <map>
#include <numeric>

#include "runtimes/objects/collect.h"
#include "runtimes/objects/thread.h"

namespace poise::objects {

namespace {

struct Head {
  std::uint32_t home, slot;
};

/// What a step took, in front of an object that comes home.
struct alignas(16) Spent {
  double cpu_s, wall_s;
};

/// Objects that come and go in every step would give their memory back to the system each time and
/// get it anew, page by page, which takes longer than copying them. An environment that says what
/// it wants of the allocator gets that.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargestInHeap = 32 << 20, kKept = 512 << 20;
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"})
    if (std::getenv(name) != nullptr) return;
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

std::mutex lenders_mutex;
std::map<const tasks::Context*, Engine::Lender*> lenders;

const tasks::FunctionId kStep =
    tasks::register_function("poise: an object's step", "", Engine::Lender::run);
/// What the first of a subphase cost is known afterwards; it would blur what a unit of cost takes.
const tasks::FunctionId kFirstStep =
    tasks::register_function("poise: an object's step, its first", "", Engine::Lender::run);

void learn(float& average_s, double seconds) {
  average_s = static_cast<float>(average_s > 0 ? (average_s + seconds) / 2 : seconds);
}

/// Collects what a lent object writes, whoever it is for.
class Letters final : public Routes {
 public:
  explicit Letters(ObjectId num_objects) : num_objects_(num_objects) {}
  Buffer& buffer_for(ObjectId to) override {
    if (to >= num_objects_) fail("it sent a message to object {}; there are {}", to, num_objects_);
    return buffer_;
  }
  void note(ObjectId, ObjectId, std::uint64_t) override {}  // at home
  std::span<const std::byte> bytes() const { return buffer_.bytes(); }

 private:
  ObjectId num_objects_;
  Buffer buffer_;
};

}  // namespace

void Engine::Lender::run(std::span<const tasks::Item> items) {
  Lender* lender = nullptr;
  {
    const std::lock_guard lock(lenders_mutex);
    lender = lenders.at(&tasks::Context::current());
  }
  Head head{};
  std::memcpy(&head, items[0].data, sizeof head);
  if (head.home == lender->context_.rank())
    lender->run_here(head.slot);
  else
    lender->run_for_another(items);
}

Engine::Lender::Lender(Engine& engine)
    : engine_(engine),
      context_(engine.comm_, {.threads = static_cast<unsigned>(engine.num_threads_)}) {
  keep_freed_memory();
  const auto num_threads = static_cast<std::size_t>(engine_.num_threads_);
  for (std::size_t t = 0; t < num_threads; ++t) free_.push_back(engine_.threads_[t].get());
  const std::lock_guard lock(lenders_mutex);
  lenders[&context_] = this;
}

Engine::Lender::~Lender() {
  const std::lock_guard lock(lenders_mutex);
  lenders.erase(&context_);
  loans_.clear();  // into the context's memory
}

void Engine::Lender::run_objects() {
  const double start_s = wall_now_s();
  while (loans_.size() < engine_.slots_.size()) loans_.push_back({Buffer(context_.memory())});
  for (const std::uint32_t s : longest_first()) submit(s);
  context_.wait();
  double busy_wall_s = borrowed_wall_s_;
  for (const auto& thread : engine_.threads_) busy_wall_s += thread->busy_wall_s;
  const double idle_s = wall_now_s() - start_s - busy_wall_s / engine_.num_threads_;
  engine_.idle_s_ += std::max(idle_s, 0.0);
  engine_.total_idle_s_ += std::max(idle_s, 0.0);
  engine_.load_s_ += borrowed_s_;
  engine_.phase_ran_s_ += borrowed_s_;
  engine_.phase_load_s_ += lent_s_;
  borrowed_s_ = borrowed_wall_s_ = lent_s_ = 0;
  if (unit_s_ == 0) learn_unit();
}

/// What is left to the end of a step, when ranks wait for each other, should be short.
std::vector<std::uint32_t> Engine::Lender::longest_first() const {
  std::vector<Slot>& slots = engine_.slots_;
  std::vector<std::uint32_t> order(slots.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return step_s(slots[a]) > step_s(slots[b]);
  });
  return order;
}

/// Costs are compared between ranks, so all must mean the same by one.
void Engine::Lender::learn_unit() {
  double sums[] = {0, static_cast<double>(engine_.slots_.size())};
  for (Slot& slot : engine_.slots_) sums[0] += step_s(slot);
  to_sum(engine_.comm_, sums);
  unit_s_ = std::max(sums[0] / std::max(sums[1], 1.0), 1e-9);
}

/// Subphases differ, in what they cost and in who costs most.
float& Engine::Lender::step_s(Slot& slot) const {
  if (slot.step_s.size() <= engine_.subphase_) slot.step_s.resize(engine_.subphase_ + 1);
  return slot.step_s[engine_.subphase_];
}

void Engine::Lender::submit(std::uint32_t s) {
  Slot& slot = engine_.slots_[s];
  Loan& loan = loans_[s];
  Head head{context_.rank(), s};
  engine_.guard(slot.id, [&] { loan.bytes = slot.object->bytes(); });
  for (const Mail& mail : slot.inbox) loan.bytes += mail.bytes().size();
  loan.back = Buffer();
  const auto pack = [this, s](std::span<tasks::Item> items) {
    Buffer& out = loans_[s].out;
    out.resize(0);
    out.reserve(loans_[s].bytes + loans_[s].bytes / 8 + 1024);  // with heads; to grow is to copy
    engine_.pack(engine_.slots_[s], out);
    items[1].data = out.data();
    items[1].bytes = loans_[s].bytes = out.size();
  };
  const bool is_known = unit_s_ > 0 && step_s(slot) > 0;
  const tasks::Item items[] = {{&head, sizeof head, tasks::Mode::literal},
                               {&loan, loan.bytes, tasks::Mode::in},
                               {&loan.back, 0, tasks::Mode::result}};
  context_.submit({.cost = is_known ? step_s(slot) / unit_s_ : 1, .on_lend = pack},
                  is_known ? kStep : kFirstStep, items, [this, s] { take_home(s); });
}

void Engine::Lender::run_here(std::uint32_t s) {
  Thread* thread = nullptr;
  {
    const std::lock_guard lock(mutex_);
    thread = free_.back();
    free_.pop_back();
  }
  thread->begin();
  const double start_s = thread->wall_s;
  engine_.run_one(s, *thread);
  learn(step_s(engine_.slots_[s]), thread->wall_s - start_s);
  const std::lock_guard lock(mutex_);
  free_.push_back(thread);
}

void Engine::Lender::run_for_another(std::span<const tasks::Item> items) {
  std::span<const std::byte> bytes{static_cast<const std::byte*>(items[1].data), items[1].bytes};
  Slot slot;
  engine_.unpack_one(bytes, slot);
  Letters letters(engine_.num_objects());
  Outbox outbox(letters, slot.id);
  Spent spent{cpu_now_s(), wall_now_s()};
  engine_.guard(slot.id, [&] { slot.object->step(Inbox(slot.inbox), outbox); });
  spent = {cpu_now_s() - spent.cpu_s, wall_now_s() - spent.wall_s};
  Buffer& back = *static_cast<Buffer*>(items[2].data);
  back.resize(0);
  back.reserve(items[1].bytes + letters.bytes().size() + sizeof spent);
  back.append(&spent, sizeof spent);
  engine_.pack(slot, back, [&](Buffer& buffer) {
    buffer.append(letters.bytes().data(), letters.bytes().size());
  });
  const std::lock_guard lock(mutex_);
  borrowed_s_ += engine_.options_.clock == Clock::wall ? spent.wall_s : spent.cpu_s;
  borrowed_wall_s_ += spent.wall_s;
}

/// After every step of an own object; empty-handed when it ran here.
void Engine::Lender::take_home(std::uint32_t s) {
  auto bytes = loans_[s].back.bytes();
  if (bytes.empty()) return;
  loans_[s].out = Buffer(context_.memory());  // for the next, to whom it is not new
  Spent spent{};
  std::memcpy(&spent, bytes.data(), sizeof spent);
  bytes = bytes.subspan(sizeof spent);
  Slot& slot = engine_.slots_[s];
  const auto letters = engine_.unpack_object(bytes, slot);
  learn(step_s(slot), spent.wall_s);
  const std::lock_guard lock(mutex_);
  Recorder::Log& log = *engine_.threads_.back()->log;
  log.begin(slot.id, 0);
  log.end(slot.id, spent.cpu_s);
  engine_.charge(slot, spent.cpu_s, spent.wall_s);
  lent_s_ += engine_.options_.clock == Clock::wall ? spent.wall_s : spent.cpu_s;
  forward(letters);
}

/// Where each receiver lives, as if the object had written here.
void Engine::Lender::forward(std::span<const std::byte> letters) {
  Thread& thread = *engine_.threads_.back();
  while (!letters.empty()) {
    const Letter letter = next_letter(letters);
    std::map<int, std::vector<ObjectId>> by_rank;
    for (const ObjectId to : letter.to) {
      by_rank[engine_.rank_of(to)].push_back(to);
      thread.note(letter.from, to, letter.payload.size());
    }
    for (const auto& [rank, to] : by_rank)
      append_letter(thread.buffer_for(to[0]), {letter.from, to, letter.payload});
  }
}

}  // namespace poise::objects
