// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/measure.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "poise/base/error.h"
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
  // Places 0 and 2 share only their NUMA domain; places 0 and 1 also share an L3 cache.
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

TEST(Measure, a_longer_time_limit_never_leads_to_fewer_repetitions) {
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

/// Probes that record their arguments and return how many times they have been called; reads return
/// ten times this number.
struct Notes {
  std::vector<std::pair<PlaceId, PlaceId>> reads, balls, streams;
  std::vector<double> read_s, ball_s, stream_s;

  Probes probes() {
    Probes probes;
    probes.read_ns = [this](PlaceId owner, PlaceId reader, double seconds) {
      reads.emplace_back(owner, reader);
      read_s.push_back(seconds);
      return std::optional<double>(10 * static_cast<double>(reads.size()));
    };
    probes.one_way_ns = [this](PlaceId a, PlaceId b, double seconds) {
      balls.emplace_back(a, b);
      ball_s.push_back(seconds);
      return std::optional<double>(static_cast<double>(balls.size()));
    };
    probes.gigabytes_per_s = [this](DomainId owner, DomainId readers, double seconds) {
      streams.emplace_back(owner, readers);
      stream_s.push_back(seconds);
      return std::optional<double>(static_cast<double>(streams.size()));
    };
    return probes;
  }
};

using Pairs = std::vector<std::pair<PlaceId, PlaceId>>;

TEST(Measure, each_probe_gets_its_share_of_the_time_in_3_to_9_repetitions_of_limited_length) {
  const Machine machine = machine_from_text("core:2");
  const auto measured = [&](double seconds) {
    Notes notes;
    measure_node(machine, notes.probes(), {.seconds = seconds, .progress = {}});
    return notes;
  };
  const auto expect_all = [](const std::vector<double>& seconds, std::size_t count, double each_s) {
    EXPECT_EQ(seconds.size(), count);
    for (const double s : seconds) EXPECT_NEAR(s, each_s, 1e-12);
  };
  // Of 40 s, latencies get 16 s, bandwidths 16 s and cache lines 8 s. In these times, each probe
  // can run nine times for its maximum duration.
  const Notes plenty = measured(40);
  expect_all(plenty.read_s, 9, 0.4);
  expect_all(plenty.stream_s, 9, 0.4);
  expect_all(plenty.ball_s, 9, 0.1);
  // Of 1.8 s, latencies get 0.72 s, bandwidths 0.72 s and cache lines 0.36 s. Each of these times
  // is divided among nine repetitions.
  const Notes enough = measured(1.8);
  expect_all(enough.read_s, 9, 0.08);
  expect_all(enough.stream_s, 9, 0.08);
  expect_all(enough.ball_s, 9, 0.04);
  // Of 26 ms, latencies get 10.4 ms, enough for nine repetitions. Bandwidths get the minimum of
  // three repetitions of 4 ms. Cache lines get 5.2 ms, enough for five repetitions of more than 1
  // ms.
  const Notes little = measured(0.026);
  expect_all(little.read_s, 9, 0.0104 / 9);
  expect_all(little.stream_s, 3, 0.004);
  expect_all(little.ball_s, 5, 0.0052 / 5);
}

TEST(Measure,
     the_fastest_place_of_each_domain_reads_memory_that_the_first_place_of_each_domain_owns) {
  const Machine machine = machine_from_text("numa:2 core:3 speeds:0.5,1,1,1,0.5,2");
  Notes notes;
  const Measurement result = measure_node(machine, notes.probes(), {.seconds = 0, .progress = {}});
  const Pairs reads{{0, 1}, {0, 5}, {0, 1}, {0, 5}, {0, 1}, {0, 5},
                    {3, 1}, {3, 5}, {3, 1}, {3, 5}, {3, 1}, {3, 5}};
  EXPECT_EQ(notes.reads, reads);
  const Pairs streams{{0, 0}, {0, 0}, {0, 0}, {0, 1}, {0, 1}, {0, 1},
                      {1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(notes.streams, streams);
  // The k-th call of read_ns returns 10 k, and the k-th call of gigabytes_per_s returns k. Each
  // expected number is the median of three such results.
  const double latencies[] = {30, 40, 90, 100}, bandwidths[] = {2, 5, 8, 11};
  ASSERT_EQ(result.latency_ns.size(), 4u);
  ASSERT_EQ(result.gigabytes_per_s.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.latency_ns[i].median, latencies[i]);
    EXPECT_EQ(result.gigabytes_per_s[i].median, bandwidths[i]);
  }
  EXPECT_EQ(notes.balls,
            (Pairs{{0, 3}, {0, 3}, {0, 3}, {0, 2}, {3, 5}, {0, 2}, {3, 5}, {0, 2}, {3, 5}}));
  ASSERT_EQ(result.levels.size(), 2u);
  EXPECT_EQ(result.levels[0].level, "machine");
  EXPECT_EQ(result.levels[0].one_way_ns.median, 2);
  EXPECT_EQ(result.levels[1].level, "numa");
  EXPECT_EQ(result.levels[1].one_way_ns.median, 6.5);
  EXPECT_EQ(result.host, machine.name());
}

TEST(Measure, reports_progress_as_the_fraction_of_all_probes_that_are_done) {
  const Machine machine = machine_from_text("numa:2 l3:2 core:3");
  Notes notes;
  std::vector<double> done;
  MeasureOptions options;
  options.progress = [&](double fraction, const std::string&) { done.push_back(fraction); };
  measure_node(machine, notes.probes(), options);
  const std::size_t count = notes.reads.size() + notes.balls.size() + notes.streams.size();
  ASSERT_EQ(done.size(), count);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_DOUBLE_EQ(done[i], static_cast<double>(i) / static_cast<double>(count));
}

TEST(Measure,
     in_up_to_three_groups_per_level_pairs_a_core_of_the_first_and_a_core_of_the_last_subgroup) {
  const Machine machine = machine_from_text("numa:2 l3:8 core:8");
  EXPECT_EQ(sample_pairs(machine, -1), (Pairs{{0, 64}}));
  EXPECT_EQ(sample_pairs(machine, 0), (Pairs{{0, 56}, {64, 120}}));
  EXPECT_EQ(sample_pairs(machine, 1), (Pairs{{0, 7}, {64, 71}, {120, 127}}));
  MachineParts parts = machine_from_text("l3:3 core:2").parts();
  parts.levels[0].first_place = {0, 1, 4, 6};
  EXPECT_EQ(sample_pairs(Machine(parts), 0), (Pairs{{1, 3}, {4, 5}})) << "the first has one core";
  EXPECT_EQ(sample_pairs(Machine(parts), -1), (Pairs{{0, 4}}));
  EXPECT_EQ(sample_pairs(machine_from_text("l3:3 core:2"), 0), (Pairs{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(sample_pairs(machine_from_text("l3:4 core:2"), 0), (Pairs{{0, 1}, {4, 5}, {6, 7}}));
}

TEST(Measure, factors_and_costs_follow_from_measured_latencies_and_bandwidths) {
  const auto all = [](std::vector<double> medians) {
    std::vector<Spread> spreads;
    for (const double median : medians) spreads.push_back({median, median, median});
    return spreads;
  };
  Measurement measurement;
  measurement.latency_ns = all({100, 250, 150, 200});
  measurement.gigabytes_per_s = all({40, 10, 8, 20});
  measurement.levels = {{"machine", {900, 0, 0}}, {"core", {60, 0, 0}}, {"numa", {75, 0, 0}}};
  const Machine machine = with_measurement(machine_from_text("numa:2 core:3"), measurement);
  EXPECT_EQ(machine.latency_factor(0, 0), 1);
  EXPECT_EQ(machine.latency_factor(0, 1), 1.25);  // 250 / 200
  EXPECT_EQ(machine.latency_factor(1, 0), 1.5);   // 150 / 100
  EXPECT_EQ(machine.bandwidth_factor(0, 1), 2);   // 20 / 10
  EXPECT_EQ(machine.bandwidth_factor(1, 0), 5);   // 40 / 8
  EXPECT_EQ(machine.bandwidth_factor(1, 1), 1);
  EXPECT_EQ(local_latency_ns(machine, measurement), 150);
  EXPECT_EQ(machine.levels()[0].latency_factor, 0.5);
  EXPECT_EQ(machine.levels()[1].latency_factor, 0.4);
  EXPECT_EQ(machine.parts().root_latency_factor, 1) << "there are two domains";
  EXPECT_EQ(machine.costs().seconds_per_message, 1.5e-7);
  EXPECT_EQ(machine.costs().inside.latency_s, 1.5e-7);
  EXPECT_DOUBLE_EQ(machine.costs().seconds_per_byte, 3 / 40e9);
  EXPECT_EQ(machine.costs().bus_bytes_per_s, 40e9);
  EXPECT_EQ(machine.parts().facts.measurement.levels.size(), 3u);

  measurement.latency_ns = all({100});
  measurement.gigabytes_per_s = all({30});
  const Machine flat = with_measurement(machine_from_text("l3:2 core:3"), measurement);
  EXPECT_EQ(flat.parts().root_latency_factor, 9);
  EXPECT_EQ(flat.levels()[0].latency_factor, 1) << "l3 was not measured";
  EXPECT_THROW(local_latency_ns(machine, measurement), Error);
}

TEST(Measure, probes_that_return_no_value_are_ignored) {
  const Machine machine = machine_from_text("numa:1 core:2");
  Notes notes;
  Probes probes = notes.probes();
  int calls = 0;
  probes.read_ns = [&](PlaceId, PlaceId, double) {
    return ++calls == 2 ? std::optional<double>(7) : std::nullopt;
  };
  probes.gigabytes_per_s = [](DomainId, DomainId, double) { return std::nullopt; };
  EXPECT_THROW(measure_node(machine, probes, {}), std::runtime_error);
  probes.gigabytes_per_s = notes.probes().gigabytes_per_s;
  calls = 0;
  EXPECT_EQ(measure_node(machine, probes, {}).latency_ns[0].median, 7);
}

TEST(Spread, quartiles_are_interpolated_between_the_neighbouring_values) {
  const Spread spread = spread_of({8, 1, 4, 2});
  EXPECT_EQ(spread.low, 1.75);
  EXPECT_EQ(spread.median, 3);
  EXPECT_EQ(spread.high, 5);
  const Spread one = spread_of({7});
  EXPECT_EQ(one.low + one.median + one.high, 21);
  EXPECT_EQ(four_digits(123456), 123500);
  EXPECT_EQ(four_digits(-0.00123449), -0.001234);
  EXPECT_EQ(four_digits(0), 0);
}

TEST(Measure, measuring_a_machine_of_several_nodes_is_a_programming_error) {
  const Machine machine = machine_from_text("node:2 core:2");
  Notes notes;
  const Probes probes = notes.probes();
  EXPECT_DEATH(measure_node(machine, probes, {}), "num_nodes.* does not hold");
}

}  // namespace
}  // namespace poise
