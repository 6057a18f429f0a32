// SPDX-License-Identifier: BSD-3-Clause
// Tests how results return to their owner through a collector, one rank of the borrower's node.
// Ranks 0 and 1 pretend to be on one node, and each other rank on a node of its own.
#include "runtimes/tasks/offload/returns.h"

#include <gtest/gtest.h>
#include <limits>
#include <mpi.h>
#include <stdexcept>
#include <vector>

#include "runtimes/tasks/settings.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

constexpr std::uint32_t kCollector = 0, kBorrower = 1, kOwner = 2;

Locality pretended_nodes() {
  Locality locality;
  const auto node_of = [](int rank) { return static_cast<std::uint32_t>(rank < 2 ? 0 : rank); };
  for (int rank = 0; rank < count_ranks(); ++rank) {
    const bool is_near = node_of(rank) == node_of(own_rank());
    locality.nodes.push_back(node_of(rank));
    locality.of_rank.push_back(
        {node_of(rank), is_near ? 1 : std::numeric_limits<double>::infinity()});
  }
  return locality;
}

class Collector : public testing::Test {
 protected:
  // The task with number `slot` of kOwner. Task 0 writes nothing, and task 1 fails.
  std::unique_ptr<Task> task(std::size_t slot) {
    auto made = TaskPool::blank();
    made->owner = kOwner;
    made->slot = slot;
    made->wants_collector = made->was_passed_on = true;
    const Item item = Item::of(data_[slot].data(), data_[slot].size(), Mode::out);
    made->items.assign({&item, 1});
    return made;
  }
  // Each rank begins to wait, except the collector if `without_collector` is true. The borrower
  // runs all tasks.
  void begin(bool without_collector) {
    const bool is_late = without_collector && messenger_.rank == kCollector;
    if (!is_late) messenger_.agent.enter(1, 0);
    if (!is_late) loads_.publish(pool_.state());
    meet();
    for (std::size_t t = 0; t < kTasks; ++t) {
      auto one = task(t);
      if (messenger_.rank == kBorrower) pool_.accept_borrowed(std::move(one));
      if (messenger_.rank != kOwner) continue;
      lent_.reserve(*one);
      for (const TaskState next : {TaskState::queued, TaskState::taken}) one->enter(next);
      lent_.keep(std::move(one));
    }
    double now_s = 0;
    while (pool_.run(now_s, kTasks, [] { return false; }) > 0) continue;
  }
  void drain() {
    messenger_.transport.drain([this](const Transport::Arrival& arrival) { handle(arrival); });
  }
  // Receives the messages that have arrived, and sends the messages that are due. Returns false on
  // the owner as long as results are missing.
  bool exchange() {
    ++messenger_.now_s;
    messenger_.transport.poll([this](const Transport::Arrival& arrival) { handle(arrival); });
    returns_.step(pool_.state());
    for (const Answer& answer : messenger_.agent.take_answers())
      messenger_.send_quietly(answer.rank, messenger_.begin(MessageKind::load, answer.rank));
    return messenger_.rank != kOwner || messenger_.finished.size() == data_.size();
  }
  void handle(const Transport::Arrival& arrival) {
    Message message = messenger_.open(arrival);
    if (message.kind == MessageKind::results) returns_.handle(message);
  }

  static constexpr std::size_t kTasks = 200, kBytes = 10'000;
  std::vector<std::vector<char>> data_{kTasks, std::vector<char>(kBytes)};
  const Registered function_{"write", "", [](std::span<const Item> items) {
                               if (items[0].bytes == 1) throw std::runtime_error("on purpose");
                               std::fill_n(static_cast<char*>(items[0].data), items[0].bytes, 'x');
                             }};
  TaskPool pool_{static_cast<std::uint32_t>(own_rank()), {&function_}};
  Messenger messenger_{MPI_COMM_WORLD, pretended_nodes(), Knobs(setting_knobs()), {}, pool_};
  LentTasks lent_{pool_};
  LoadExchange loads_{MPI_COMM_WORLD, messenger_};
  Returns returns_{messenger_, lent_, loads_, [](const Task&) {}};
};

// A message whose header is longer than MPI can count would have payloads, which a collector does
// not forward.
TEST_F(Collector, receives_many_results_in_several_messages_and_forwards_all_results_to_the_owner) {
  if (count_ranks() < 3) GTEST_SKIP() << "needs three ranks";
  data_[0] = {};
  data_[1].resize(1);
  begin(false);
  EXPECT_TRUE(happens_in_some_round([this] { return exchange(); }));
  drain();
  if (messenger_.rank == kBorrower) {
    EXPECT_GE(messenger_.counters.messages, kTasks * kBytes / (1 << 19));
  }
  std::size_t wrong = 0;
  for (const auto& done : messenger_.finished) {
    const std::size_t t = done->slot;
    wrong += done->ran_on != kBorrower || done->failed != (t == 1);
    if (t != 1) wrong += data_[t] != std::vector<char>(data_[t].size(), 'x');
    done->enter(TaskState::finished);
  }
  EXPECT_EQ(wrong, 0u);
  if (messenger_.rank == kOwner) {
    EXPECT_EQ(messenger_.finished.size(), kTasks);
  }
  EXPECT_TRUE(returns_.empty());
}

// Here the program on the collector's rank has not entered the wait, so the results bypass the
// collector.
TEST_F(Collector, receives_no_results_before_it_enters_its_first_wait) {
  if (count_ranks() < 3) GTEST_SKIP() << "needs three ranks";
  begin(true);
  returns_.step(pool_.state());
  drain();
  EXPECT_TRUE(returns_.empty()) << "the collector holds none";
  EXPECT_EQ(messenger_.finished.size(), messenger_.rank == kOwner ? kTasks : 0);
  for (const auto& done : messenger_.finished) done->enter(TaskState::finished);
}

}  // namespace
}  // namespace poise::tasks
