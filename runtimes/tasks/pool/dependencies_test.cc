// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/pool/dependencies.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"

namespace poise::tasks {
namespace {

// Random tasks on a few bytes, run in any order that the tracker allows. A task must be ready
// exactly when it conflicts with no earlier unfinished task. Two tasks conflict if they share a
// byte that at least one of them writes.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}

  void add() {
    auto task = std::make_unique<Task>();
    task->slot = items_.size();
    std::vector<Item> items;
    for (std::uint64_t i = random_.below(6) + 1; i > 0; --i) {
      const std::size_t begin = random_.below(sizeof data_),
                        bytes = random_.below(sizeof data_ - begin) % 5;
      const Mode modes[] = {Mode::in, Mode::in, Mode::out, Mode::inout};
      items.push_back({data_ + begin, bytes, modes[random_.below(4)]});
    }
    task->items.assign(items);
    items_.push_back(std::move(items));
    finished_.push_back(false);
    ready_.push_back(false);
    take(dependencies_.add(std::move(task)));
  }
  void run_one() {
    if (may_run_.empty()) return;
    const std::size_t which = random_.below(may_run_.size());
    std::unique_ptr<Task> task = std::move(may_run_[which]);
    may_run_.erase(may_run_.begin() + static_cast<std::ptrdiff_t>(which));
    finished_[task->slot] = true;
    for (auto& next : dependencies_.finish(*task->extras->ordered)) take(std::move(next));
  }
  void check() const {
    for (std::size_t later = 0; later < items_.size(); ++later) {
      bool blocked = false;
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        blocked = blocked || (!finished_[earlier] && conflict(items_[earlier], items_[later]));
      ASSERT_EQ(ready_[later], !blocked) << "task " << later;
    }
  }
  bool all_finished() const { return dependencies_.unfinished() == 0; }

 private:
  void take(std::unique_ptr<Task> task) {
    if (!task) return;
    ready_[task->slot] = true;
    may_run_.push_back(std::move(task));
  }
  static bool conflict(const std::vector<Item>& a, const std::vector<Item>& b) {
    for (const Item& x : a)
      for (const Item& y : b) {
        if (!x.comes_back() && !y.comes_back()) continue;
        const auto *x_begin = static_cast<char*>(x.data), *y_begin = static_cast<char*>(y.data);
        if (x.bytes && y.bytes && x_begin < y_begin + y.bytes && y_begin < x_begin + x.bytes)
          return true;
      }
    return false;
  }

  Random random_;
  char data_[40] = {};
  DependencyTracker dependencies_;
  std::vector<std::vector<Item>> items_;
  std::vector<bool> finished_, ready_;
  std::vector<std::unique_ptr<Task>> may_run_;
};

TEST(DependencyTracker, releases_a_task_exactly_when_its_predecessors_have_finished) {
  for (std::uint64_t seed = 1; seed <= num_seeds(50); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World world(seed);
    for (int step = 0; step < 120; ++step) {
      if (step < 60 && random.below(2))
        world.add();
      else
        world.run_one();
      world.check();
    }
    while (!world.all_finished()) world.run_one();
  }
}

std::unique_ptr<Task> task_with(const std::vector<Item>& items) {
  auto task = std::make_unique<Task>();
  task->items.assign(items);
  return task;
}

// If each new reader looked at all earlier readers, this test would exceed its time limit at least
// tenfold. With constant time per reader, the test takes less than a tenth of the limit.
TEST(DependencyTracker, many_readers_of_the_same_data_take_time_proportional_to_their_number) {
  constexpr int kReaders = kSanitized ? 40'000 : 400'000;
  DependencyTracker dependencies;
  std::vector<std::unique_ptr<Task>> readers;
  int data = 0;
  const Item item{&data, sizeof data, Mode::in};
  const double begin_s = thread_cpu_now_s();
  for (int r = 0; r < kReaders; ++r) {
    readers.push_back(dependencies.add(task_with({item})));
    ASSERT_TRUE(readers.back());
    if (r % 4 == 0) {
      dependencies.finish(*readers.back()->extras->ordered);
      readers.pop_back();
    }
  }
  EXPECT_LT(thread_cpu_now_s() - begin_s, 5);
  EXPECT_EQ(dependencies.add(task_with({{&data, sizeof data, Mode::out}})), nullptr);
  std::size_t released = 0;
  for (const auto& reader : readers)
    released += dependencies.finish(*reader->extras->ordered).size();
  EXPECT_EQ(released, 1u);
}

}  // namespace
}  // namespace poise::tasks
