// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/step_offload.h"

#include <algorithm>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <map>
#include <numeric>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/tuning.h"

namespace poise::objects {

namespace {

/// The first item of a task: it identifies the object whose step the task runs.
struct TaskHeader {
  std::uint32_t owner_rank, index;
};

/// The CPU and wall time of an object's step on another rank. When the object returns, these times
/// precede it in the buffer.
struct alignas(16) StepTimes {
  double cpu_s, wall_s;
};

/// Makes malloc keep freed memory (tuning.h), unless environment variables configure malloc.
void keep_freed_memory() {
#ifdef __GLIBC__
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"})
    if (std::getenv(name) != nullptr) return;
  mallopt(M_MMAP_THRESHOLD, tuning::kMaxHeapAllocationBytes);
  mallopt(M_TRIM_THRESHOLD, tuning::kKeptHeapBytes);
#endif
}

std::mutex runners_mutex;
std::map<const tasks::Context*, OffloadedSteps*> runners;

const tasks::FunctionId kStep =
    tasks::register_function("poise: an object's step", "", OffloadedSteps::run_task);
/// Runs an object's first step in a subphase. The cost of such a step is unknown. The tasks runtime
/// learns the time per unit of cost for each function separately. So first steps have a function of
/// their own: otherwise they would distort the time learnt for the other steps.
const tasks::FunctionId kFirstStep =
    tasks::register_function("poise: an object's step, its first", "", OffloadedSteps::run_task);

void update_average(float& average_s, double newest_s) {
  constexpr double kWeight = tuning::kWeightOfNewestStep;
  average_s =
      static_cast<float>(average_s > 0 ? (1 - kWeight) * average_s + kWeight * newest_s : newest_s);
}

/// Collects the messages of an offloaded object in one buffer, for all receivers.
class LentMessages final : public MessageRouter {
 public:
  explicit LentMessages(const ObjectDirectory& directory) : directory_(directory) {}
  Buffer& buffer_for(ObjectId to) override {
    directory_.check_receiver(to);
    return buffer_;
  }
  // Does nothing, because the messages are measured on the object's own rank.
  void note(ObjectId, ObjectId, std::uint64_t) override {}
  std::span<const std::byte> bytes() const { return buffer_.bytes(); }

 private:
  const ObjectDirectory& directory_;
  Buffer buffer_;
};

}  // namespace

void OffloadedSteps::run_task(std::span<const tasks::Item> items) {
  OffloadedSteps* runner = nullptr;
  {
    const std::lock_guard lock(runners_mutex);
    runner = runners.at(&tasks::Context::current());
  }
  TaskHeader header{};
  std::memcpy(&header, items[0].data, sizeof header);
  if (header.owner_rank == runner->context_.rank())
    runner->run_own(header.index);
  else
    runner->run_for_owner(items);
}

OffloadedSteps::OffloadedSteps(MPI_Comm comm, StepParts parts, const ObjectDirectory& directory,
                               const ObjectPacker& packer)
    : comm_(comm),
      parts_(parts),
      directory_(directory),
      packer_(packer),
      context_(comm, {.threads = static_cast<unsigned>(parts.num_threads)}) {
  keep_freed_memory();
  for (int t = 0; t < parts.num_threads; ++t) idle_workers_.push_back(parts.workers[t].get());
  const std::lock_guard lock(runners_mutex);
  runners[&context_] = this;
}

OffloadedSteps::~OffloadedSteps() {
  const std::lock_guard lock(runners_mutex);
  runners.erase(&context_);
  transfers_.clear();  // their memory belongs to the context, which is destroyed later
}

void OffloadedSteps::run() {
  const double start_s = wall_now_s();
  {
    const std::lock_guard lock(mutex_);
    work_end_s_ = start_s;
  }
  while (transfers_.size() < parts_.objects.size())
    transfers_.push_back({Buffer(context_.memory())});
  for (const std::uint32_t index : longest_first()) submit(index);
  context_.wait();
  double busy_wall_s = run_for_others_wall_s_;
  for (const auto& worker : parts_.workers) busy_wall_s += worker->busy_wall_s;
  const double idle_s = wall_now_s() - start_s - busy_wall_s / parts_.num_threads;
  parts_.meter.add_idle(std::max(idle_s, 0.0));
  parts_.meter.add_load(run_elsewhere_s_, run_for_others_s_);
  run_for_others_s_ = run_for_others_wall_s_ = run_elsewhere_s_ = 0;
  if (cost_unit_s_ == 0) find_cost_unit();
  collect_loads(parts_);
}

std::vector<double> OffloadedSteps::work_ends_s() const {
  const std::lock_guard lock(mutex_);
  return {work_end_s_};
}

/// Lists the objects with the longest steps first. Then the steps that run last are short, so all
/// threads end at about the same time.
std::vector<std::uint32_t> OffloadedSteps::longest_first() const {
  std::vector<std::uint32_t> order(parts_.objects.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return step_s(parts_.objects[a]) > step_s(parts_.objects[b]);
  });
  return order;
}

/// Agrees with the other ranks on one unit of cost, because the tasks runtime compares the costs of
/// tasks of different ranks.
void OffloadedSteps::find_cost_unit() {
  double sums[] = {0, static_cast<double>(parts_.objects.size())};
  for (LocalObject& object : parts_.objects) sums[0] += step_s(object);
  sum_over_ranks(comm_, sums);
  cost_unit_s_ = std::max(sums[0] / std::max(sums[1], 1.0), tuning::kMinCostUnit_s);
}

/// Returns the average time of an object's step in the current subphase. There is one average per
/// subphase, because steps of different subphases differ in cost.
float& OffloadedSteps::step_s(LocalObject& object) const {
  const std::uint32_t subphase = parts_.meter.subphase();
  if (object.step_s.size() <= subphase) object.step_s.resize(subphase + 1);
  return object.step_s[subphase];
}

void OffloadedSteps::submit(std::uint32_t index) {
  LocalObject& object = parts_.objects[index];
  Transfer& transfer = transfers_[index];
  TaskHeader header{context_.rank(), index};
  parts_.guard.run(object.id, [&] { transfer.bytes = object.object->bytes(); });
  for (const Mail& mail : object.inbox) transfer.bytes += mail.bytes().size();
  transfer.back = Buffer();
  const auto pack = [this, index](std::span<tasks::Item> items) {
    Transfer& packed = transfers_[index];
    packed.out.resize(0);
    packed.out.reserve(packed.bytes + packed.bytes / tuning::kSpareDivisor + tuning::kSpareBytes);
    packer_.pack(parts_.objects[index], packed.out);
    items[1].data = packed.out.data();
    items[1].bytes = packed.bytes = packed.out.size();
  };
  const bool is_known = cost_unit_s_ > 0 && step_s(object) > 0;
  const tasks::Item items[] = {{&header, sizeof header, tasks::Mode::literal},
                               {&transfer, transfer.bytes, tasks::Mode::in},
                               {&transfer.back, 0, tasks::Mode::result}};
  context_.submit({.cost = is_known ? step_s(object) / cost_unit_s_ : 1, .on_lend = pack},
                  is_known ? kStep : kFirstStep, items, [this, index] { take_back(index); });
}

/// Runs the step of an object of this rank.
void OffloadedSteps::run_own(std::uint32_t index) {
  Worker* worker = nullptr;
  {
    const std::lock_guard lock(mutex_);
    worker = idle_workers_.back();
    idle_workers_.pop_back();
  }
  worker->begin();
  const double start_s = worker->wall_s;
  LocalObject& object = parts_.objects[index];
  run_object(object, *worker, parts_.meter, parts_.clock);
  update_average(step_s(object), worker->wall_s - start_s);
  const std::lock_guard lock(mutex_);
  work_end_s_ = std::max(work_end_s_, worker->wall_s);
  idle_workers_.push_back(worker);
}

/// Runs the step of another rank's object, and packs the object together with the messages that it
/// sent.
void OffloadedSteps::run_for_owner(std::span<const tasks::Item> items) {
  std::span<const std::byte> bytes{static_cast<const std::byte*>(items[1].data), items[1].bytes};
  LocalObject object;
  packer_.unpack_with_inbox(bytes, object);
  LentMessages sent(directory_);
  Outbox outbox(sent, object.id);
  StepTimes times{thread_cpu_now_s(), wall_now_s()};
  parts_.guard.run(object.id, [&] { object.object->step(Inbox(object.inbox), outbox); });
  times = {thread_cpu_now_s() - times.cpu_s, wall_now_s() - times.wall_s};
  Buffer& back = *static_cast<Buffer*>(items[2].data);
  back.resize(0);
  back.reserve(items[1].bytes + sent.bytes().size() + sizeof times);
  back.append(&times, sizeof times);
  packer_.pack(object, back,
               [&](Buffer& buffer) { buffer.append(sent.bytes().data(), sent.bytes().size()); });
  const std::lock_guard lock(mutex_);
  work_end_s_ = std::max(work_end_s_, wall_now_s());
  run_for_others_s_ += load_s(times.cpu_s, times.wall_s);
  run_for_others_wall_s_ += times.wall_s;
}

/// Completes the task that ran the step of one of this rank's objects. If the step was offloaded,
/// restores the object and forwards the messages that it sent. Does nothing if the step ran on this
/// rank.
void OffloadedSteps::take_back(std::uint32_t index) {
  auto bytes = transfers_[index].back.bytes();
  if (bytes.empty()) return;
  // Frees the memory of the object that was sent, so that the next packed object reuses this memory
  // and needs no new pages.
  transfers_[index].out = Buffer(context_.memory());
  StepTimes times{};
  std::memcpy(&times, bytes.data(), sizeof times);
  bytes = bytes.subspan(sizeof times);
  LocalObject& object = parts_.objects[index];
  const auto messages = packer_.unpack(bytes, object);
  update_average(step_s(object), times.wall_s);
  const std::lock_guard lock(mutex_);
  Recorder::Log& log = *parts_.workers.back()->log;
  log.begin(object.id, 0);
  log.end(object.id, times.cpu_s);
  const double own_s = load_s(times.cpu_s, times.wall_s);
  parts_.meter.add_step(object, own_s, times.wall_s);
  run_elsewhere_s_ += own_s;
  forward(messages);
}

/// Sends the messages of an offloaded object to the ranks of their receivers.
void OffloadedSteps::forward(std::span<const std::byte> messages) {
  Worker& worker = *parts_.workers.back();
  while (!messages.empty()) {
    const PackedMessage message = take_message(messages);
    std::map<Buffer*, std::vector<ObjectId>> receivers_of_buffer;
    for (const ObjectId to : message.to) {
      receivers_of_buffer[&worker.buffer_for(to)].push_back(to);
      worker.note(message.from, to, message.payload.size());
    }
    for (const auto& [buffer, to] : receivers_of_buffer)
      append_message(*buffer, {message.from, to, message.payload});
  }
}

}  // namespace poise::objects
