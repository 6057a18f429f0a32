// SPDX-License-Identifier: BSD-3-Clause

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

/// Simulated cpus. `rates` has their speeds (default 1), `probes` the number of probes requested so
/// far.
struct Machine {
  std::map<CpuId, double> rates = {};
  std::map<CpuId, int> probes = {};
  bool refuses_threads = false;
};

class SimulatedProbe : public CpuProbe {
 public:
  explicit SimulatedProbe(Machine& machine) : machine_(machine) {}
  bool start(CpuId cpu) override {
    ++machine_.probes[cpu];
    const auto rate = machine_.rates.find(cpu);
    reported_ = ProbeResult{cpu, rate == machine_.rates.end() ? 1 : rate->second};
    return true;
  }
  std::optional<ProbeResult> result() override { return std::exchange(reported_, std::nullopt); }

 private:
  Machine& machine_;
  std::optional<ProbeResult> reported_;
};

std::vector<double> all_equal(const Cpus& cpus) { return std::vector<double>(cpus.size(), 1); }

Speeds speeds_on(Machine& machine, const Cpus& cpus, Speeds::Reported reported = all_equal) {
  return {
      cpus, std::move(reported), [&machine]() -> std::unique_ptr<CpuProbe> {
        if (machine.refuses_threads)
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        return std::make_unique<SimulatedProbe>(machine);
      }};
}

/// Simulates the balancing points from `from_round` to `to_round` - 1; the cpus in `busy` are busy
/// at all of them. Returns the number of probes that began.
int run(Speeds& speeds, std::uint64_t from_round, std::uint64_t to_round, const Cpus& busy) {
  int probes = 0;
  for (std::uint64_t round = from_round; round < to_round; ++round) {
    speeds.learn();
    probes += speeds.begin_probe(round, busy);
  }
  return probes;
}

TEST(Speeds, speeds_of_unequal_cpus_are_learned_by_probes) {
  Machine machine{.rates = {{1, 0.5}}};
  Speeds speeds = speeds_on(machine, {0, 1});
  EXPECT_THAT(speeds.all(), Each(1));
  run(speeds, 0, 100, {0, 1});
  EXPECT_THAT(speeds.all(), ElementsAre(1, 0.5));
  EXPECT_FALSE(speeds.are_equal());
}

TEST(Speeds, speeds_that_linux_reports_are_not_probed) {
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
  EXPECT_EQ(machine.probes.count(0), 0u);
  EXPECT_GT(machine.probes[1], 0);
}

TEST(Speeds, cpus_are_probed_less_often_after_their_speeds_have_turned_out_to_be_equal) {
  Machine equal, unequal{.rates = {{1, 0.5}}};
  Speeds of_equal = speeds_on(equal, {0, 1}), of_unequal = speeds_on(unequal, {0, 1});
  const std::uint64_t start = kTuning.equal_probe_rounds(), end = start + 10 * start;
  run(of_equal, 0, start, {0, 1});
  run(of_unequal, 0, start, {0, 1});
  EXPECT_EQ(run(of_equal, start, end, {0, 1}),
            static_cast<int>((end - start) / kTuning.equal_probe_rounds()));
  EXPECT_EQ(run(of_unequal, start, end, {0, 1}),
            static_cast<int>((end - start) / kTuning.probe_rounds));
}

TEST(Speeds, remain_known_when_cpus_go_offline_and_come_back) {
  Machine machine{.rates = {{1, 0.5}}};
  Speeds speeds = speeds_on(machine, {0, 1});
  run(speeds, 0, 100, {0, 1});
  speeds.set_cpus({1});
  EXPECT_THAT(speeds.all(), ElementsAre(1));
  speeds.set_cpus({0, 1});
  EXPECT_THAT(speeds.all(), ElementsAre(1, 0.5));
}

TEST(Speeds, all_speeds_count_as_equal_while_no_probe_thread_can_be_started) {
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
