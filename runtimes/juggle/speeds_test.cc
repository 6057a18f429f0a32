#include "runtimes/juggle/speeds.h"

#include <gmock/gmock.h>
#include <map>
#include <system_error>
#include <utility>

#include "runtimes/juggle/tuning.h"

namespace poise::juggle {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Cpus that compute at these rates, 1 unless said otherwise, and what visits have asked of them.
struct Machine {
  std::map<CpuId, double> rates = {};
  std::map<CpuId, int> visits = {};
  bool refuses_threads = false;
};

class SimulatedVisitor : public CpuVisitor {
 public:
  explicit SimulatedVisitor(Machine& machine) : machine_(machine) {}
  bool visit(CpuId cpu) override {
    ++machine_.visits[cpu];
    const auto rate = machine_.rates.find(cpu);
    told_ = Visit{cpu, rate == machine_.rates.end() ? 1 : rate->second};
    return true;
  }
  std::optional<Visit> told() override { return std::exchange(told_, std::nullopt); }

 private:
  Machine& machine_;
  std::optional<Visit> told_;
};

std::vector<double> all_equal(const Cpus& cpus) { return std::vector<double>(cpus.size(), 1); }

Speeds speeds_on(Machine& machine, const Cpus& cpus, Speeds::Told told = all_equal) {
  return {
      cpus, std::move(told), [&machine]() -> std::unique_ptr<CpuVisitor> {
        if (machine.refuses_threads)
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        return std::make_unique<SimulatedVisitor>(machine);
      }};
}

/// Balancing points in which these cpus are busy; how many visits began.
int run(Speeds& speeds, std::uint64_t from_round, std::uint64_t to_round, const Cpus& busy) {
  int visits = 0;
  for (std::uint64_t round = from_round; round < to_round; ++round) {
    speeds.learn();
    visits += speeds.begin_visit(round, busy);
  }
  return visits;
}

TEST(Speeds, of_unequal_cpus_are_learned_by_visits) {
  Machine machine{.rates = {{1, 0.5}}};
  Speeds speeds = speeds_on(machine, {0, 1});
  EXPECT_THAT(speeds.all(), Each(1));
  run(speeds, 0, 100, {0, 1});
  EXPECT_THAT(speeds.all(), ElementsAre(1, 0.5));
  EXPECT_FALSE(speeds.are_equal());
}

TEST(Speeds, that_linux_tells_are_not_learned) {
  Machine machine;
  Speeds speeds = speeds_on(machine, {0, 1}, [](const Cpus&) {
    return std::vector<double>{1, 0.25};
  });
  EXPECT_EQ(run(speeds, 0, 1000, {0, 1}), 0);
  EXPECT_THAT(speeds.all(), ElementsAre(1, 0.25));
}

TEST(Speeds, are_learned_on_busy_cpus_only) {
  Machine machine;
  Speeds speeds = speeds_on(machine, {0, 1});
  EXPECT_EQ(run(speeds, 0, 100, {}), 0);
  run(speeds, 100, 200, {1});
  EXPECT_EQ(machine.visits.count(0), 0u);
  EXPECT_GT(machine.visits[1], 0);
}

TEST(Speeds, of_equal_cpus_are_seldom_looked_at_once_they_are_known) {
  Machine equal, unequal{.rates = {{1, 0.5}}};
  Speeds of_equal = speeds_on(equal, {0, 1}), of_unequal = speeds_on(unequal, {0, 1});
  const std::uint64_t start = kTuning.equal_visit_rounds, end = start + 10 * start;
  run(of_equal, 0, start, {0, 1});
  run(of_unequal, 0, start, {0, 1});
  EXPECT_EQ(run(of_equal, start, end, {0, 1}),
            static_cast<int>((end - start) / kTuning.equal_visit_rounds));
  EXPECT_EQ(run(of_unequal, start, end, {0, 1}),
            static_cast<int>((end - start) / kTuning.visit_rounds));
}

TEST(Speeds, that_were_learned_are_remembered_when_cpus_come_and_go) {
  Machine machine{.rates = {{1, 0.5}}};
  Speeds speeds = speeds_on(machine, {0, 1});
  run(speeds, 0, 100, {0, 1});
  speeds.set_cpus({1});
  EXPECT_THAT(speeds.all(), ElementsAre(1));
  speeds.set_cpus({0, 1});
  EXPECT_THAT(speeds.all(), ElementsAre(1, 0.5));
}

TEST(Speeds, stay_equal_where_no_visitor_can_be_started) {
  Machine machine{.rates = {{1, 0.5}}, .refuses_threads = true};
  Speeds speeds = speeds_on(machine, {0, 1});
  EXPECT_EQ(run(speeds, 0, 100, {0, 1}), 0);
  EXPECT_TRUE(speeds.are_equal());
  machine.refuses_threads = false;
  run(speeds, 100, 200, {0, 1});
  EXPECT_FALSE(speeds.are_equal()) << "it must be tried again";
}

}  // namespace
}  // namespace poise::juggle
