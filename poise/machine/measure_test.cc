// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/measure.h"

#include <cmath>
#include <gtest/gtest.h>
#include <stdexcept>

#include "poise/base/random.h"
#include "poise/machine/discover.h"
#include "poise/machine/spread.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

/// Probes with known latencies: 100 ns for local memory and 50 ns more per domain of distance. For
/// readers in domain 0, this additional time is twice as long, so the matrix is not symmetric.
/// Noise and a few outliers are added.
class World {
 public:
  World(const Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  static double latency_ns(DomainId from, DomainId to) {
    const double apart = from < to ? to - from : from - to;
    return 100 + 50 * apart * (to == 0 ? 2 : 1);
  }

  Probes probes() {
    Probes probes;
    probes.read_ns = [this](PlaceId owner, PlaceId reader, double seconds) {
      return disturbed(latency_ns(machine_.domain_of(owner), machine_.domain_of(reader)), seconds);
    };
    probes.one_way_ns = [this](PlaceId a, PlaceId b, double seconds) {
      return disturbed(80 - 20 * machine_.common_level(a, b), seconds);
    };
    probes.gigabytes_per_s = [this](DomainId owner, DomainId readers, double seconds) {
      return disturbed(owner == readers ? 40 : 20, seconds);
    };
    return probes;
  }

  double total_s = 0;
  int calls = 0;

 private:
  std::optional<double> disturbed(double value, double seconds_taken) {
    total_s += seconds_taken;
    ++calls;
    const double noise = random_.uniform(0.99, 1.01);
    return value * noise * (random_.below(10) == 0 ? 5 : 1);
  }

  const Machine& machine_;
  Random random_;
};

TEST(Measure, medians_are_robust_to_noise_and_outliers) {
  const Machine machine = machine_from_text("numa:3 l3:2 core:2");
  World world(machine, 1);
  const Machine measured = with_measurement(machine, measure_node(machine, world.probes(), {}));
  for (DomainId from = 0; from < 3; ++from)
    for (DomainId to = 0; to < 3; ++to)
      EXPECT_NEAR(measured.latency_factor(from, to), World::latency_ns(from, to) / 100,
                  0.03 * World::latency_ns(from, to) / 100)
          << from << " to " << to;
  EXPECT_NEAR(measured.latency_factor(1, 0), 2.0, 0.06);
  EXPECT_NEAR(measured.latency_factor(0, 1), 1.5, 0.05);
  EXPECT_NEAR(measured.byte_factor(0, 4), 2, 0.06);
  // Places 0 and 2 have in common only their NUMA domain, places 0 and 1 also the L3 cache.
  EXPECT_NEAR(measured.message_factor(0, 2), 0.8, 0.03);
  EXPECT_NEAR(measured.message_factor(0, 1), 0.6, 0.02);
  EXPECT_NEAR(measured.costs().seconds_per_message, 100e-9, 3e-9);
  EXPECT_NEAR(measured.costs().seconds_per_byte, 4 / 40e9, 3e-12);
  EXPECT_EQ(measured.parts().numa_source, Source::measured);
  EXPECT_EQ(measured.parts().cache_source, Source::measured);
}

TEST(Measure, quartiles_enclose_the_median) {
  const Machine machine = machine_from_text("numa:2 core:2");
  World world(machine, 7);
  const Measurement result = measure_node(machine, world.probes(), {});
  ASSERT_EQ(result.latency_ns.size(), 4u);
  for (const Spread& spread : result.latency_ns) {
    EXPECT_LE(spread.low, spread.median);
    EXPECT_LE(spread.median, spread.high);
    EXPECT_GT(spread.high, spread.low);
  }
}

TEST(Measure, takes_no_longer_than_its_time_limit_on_small_and_large_machines) {
  for (const char* text : {"core:2", "numa:8 core:16", "numa:32 l3:4 core:8"}) {
    const Machine machine = machine_from_text(text);
    World world(machine, 3);
    measure_node(machine, world.probes(), {.seconds = 40, .progress = {}});
    EXPECT_LE(world.total_s, 41) << text;
  }
}

TEST(Measure, more_time_never_leads_to_fewer_repetitions) {
  const Machine machine = machine_from_text("core:2");
  int calls = 0;
  for (const double seconds : {40.0, 1e7, 1e18}) {
    World world(machine, 3);
    measure_node(machine, world.probes(), {.seconds = seconds, .progress = {}});
    EXPECT_GE(world.calls, calls) << seconds;
    calls = world.calls;
  }
}

TEST(Measure, measures_at_most_three_pairs_of_cores_at_each_level) {
  const Machine machine = machine_from_text("numa:2 l3:8 core:8");
  for (int level = -1; level < 2; ++level) {
    const auto pairs = sample_pairs(machine, level);
    ASSERT_FALSE(pairs.empty());
    EXPECT_LE(pairs.size(), 3u);
    for (const auto& [a, b] : pairs) EXPECT_EQ(machine.common_level(a, b), level);
  }
  EXPECT_TRUE(sample_pairs(machine, 2).empty());
  EXPECT_TRUE(sample_pairs(machine_from_text("package:1 core:2"), -1).empty());
}

TEST(Measure, the_progress_reported_before_each_probe_grows_from_0_towards_1) {
  const Machine machine = machine_from_text("numa:2 core:2");
  World world(machine, 3);
  double last = -1;
  MeasureOptions options;
  options.progress = [&](double done, const std::string& next) {
    EXPECT_GT(done, last);
    EXPECT_LT(done, 1);
    EXPECT_FALSE(next.empty());
    last = done;
  };
  measure_node(machine, world.probes(), options);
  EXPECT_GT(last, 0.9);
}

TEST(Measure, throws_if_the_memory_latency_of_a_domain_cannot_be_measured) {
  const Machine machine = machine_from_text("numa:2 core:2");
  World world(machine, 3);
  Probes probes = world.probes();
  probes.read_ns = [](PlaceId, PlaceId, double) { return std::nullopt; };
  EXPECT_THROW(measure_node(machine, probes, {}), std::runtime_error);
}

TEST(Measure, keeps_the_assumed_message_cost_factors_if_no_pair_of_cores_can_be_measured) {
  const Machine machine = machine_from_text("numa:2 core:2");
  World world(machine, 3);
  Probes probes = world.probes();
  probes.one_way_ns = [](PlaceId, PlaceId, double) { return std::nullopt; };
  const Machine measured = with_measurement(machine, measure_node(machine, probes, {}));
  EXPECT_EQ(measured.parts().cache_source, Source::assumed);
  EXPECT_EQ(measured.message_factor(0, 1), 1);
}

TEST(Spread, gives_the_median_and_the_quartiles_of_measured_values) {
  const Spread spread = spread_of({5, 1, 3, 2, 4});
  EXPECT_EQ(spread.low, 2);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.high, 4);
  EXPECT_EQ(spread_of({1, 2}).median, 1.5);
  EXPECT_EQ(spread_of({}).median, 0);
}

}  // namespace
}  // namespace poise
