// SPDX-License-Identifier: BSD-3-Clause
// Loads of generated tasks: a distribution, a region of tasks with higher loads (the hot region),
// and a drift over phases. Every kind of workload has these knobs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "poise/base/knobs.h"
#include "poise/base/random.h"
#include "poise/workload/workload.h"

namespace poise {

inline constexpr std::string_view kSkews[] = {"equal", "uniform", "lognormal", "pareto", "quartic"};
enum class Skew : std::uint8_t { equal, uniform, lognormal, pareto, quartic };

/// Default values of the load knobs of one kind of workload.
struct LoadDefaults {
  double load_s = 1e-3;
  Skew skew = Skew::equal;
  double spread = 0.5;
  double hot = 1;
  double hot_growth = 0;
  double messages = 1;
  double message_bytes = 1000;
  double task_bytes = 10000;
};

inline constexpr std::size_t kNumLoadKnobs = 11;

/// The knobs of a kind of workload: first those of this kind only, then the load knobs that all
/// kinds share.
template <std::size_t N = 0>
constexpr std::array<Knob, N + kNumLoadKnobs> load_knobs(const LoadDefaults& initial,
                                                         const std::array<Knob, N>& own = {}) {
  const std::array<Knob, kNumLoadKnobs> shared{{
      {"load_s", initial.load_s, 0, 1e6, "mean load of a task"},
      {"skew", static_cast<double>(initial.skew), 0, 4, "distribution of the loads", kSkews},
      {"spread", initial.spread, 0, 3,
       "uniform: half the width / mean, at most 1; lognormal: sigma; pareto: 1 / shape; quartic "
       "(fourth power of a uniform number): (mean - minimum) / mean, at most 1"},
      {"hot", initial.hot, 0, 1e6, "factor by which loads in the hot region are larger"},
      {"hot_extent", 0.5, 0, 1,
       "fraction of each axis that the hot region takes, from the low corner"},
      {"hot_speed", 0, -1, 1,
       "fraction of each axis by which the hot region moves per phase, wrapping around"},
      {"hot_growth", initial.hot_growth, 0, 1e3,
       "growth of hot - 1 per phase, as a fraction of its first value"},
      {"drift", 0, 0, 3, "sigma of the random factor by which each load changes per phase"},
      whole({"messages", initial.messages, 0, 1e6, "messages per edge and direction in a phase"}),
      whole({"message_bytes", initial.message_bytes, 0, 1e12, "bytes of each message"}),
      whole({"task_bytes", initial.task_bytes, 0, 1e15, "bytes that migrating a task sends"}),
  }};
  std::array<Knob, N + kNumLoadKnobs> all{};
  std::copy(own.begin(), own.end(), all.begin());
  std::copy(shared.begin(), shared.end(), all.begin() + N);
  return all;
}

/// Draws random factors with mean 1 from the distribution that the knobs `skew` and `spread`
/// select.
class SkewDraw {
 public:
  /// Throws Error if the value of the knob `spread` is too large for the distribution that the knob
  /// `skew` selects.
  explicit SkewDraw(const Knobs& knobs);
  double operator()(Random& random) const;

 private:
  Skew skew_;
  double spread_;
};

/// Returns tasks whose loads are the mean load times a random factor from the distribution `skew`.
/// The hot region is applied later, by heat().
std::vector<Task> draw_tasks(TaskId num_tasks, const Knobs& knobs, std::uint64_t seed);

/// A hot region that begins at `start` now: the interval [start, start + length) on a circle. The
/// circle is [0, 1); the point 1 is the point 0.
struct CircleInterval {
  /// Tolerance for the ends of the interval: start is a product such as 3 * 0.1, which is rounded.
  static constexpr double kRounding = 1e-9;
  double start, length;
  bool holds(double x) const;
};

/// Multiplies the loads of the tasks in this phase's hot region by the factor that the knobs `hot`
/// and `hot_growth` give. If the workload has positions, the region is a part of space; otherwise
/// it is a range of task numbers.
void heat(Workload& workload, const Knobs& knobs, std::uint32_t phase);

/// The number part * 2^exponent, for the factors of long random walks, which exceed the range of a
/// double.
struct WideFactor {
  double part = 1;
  std::int64_t exponent = 0;
};

/// Takes one step of each task's random walk: multiplies walk[t] by e^(drift * z), where z is a new
/// random number from the standard normal distribution.
void walk_on(std::vector<WideFactor>& walk, double drift, Random& random);

/// Multiplies the load of each task t by walk[t] and by a power of two. The power is the same for
/// all tasks and keeps the loads finite.
void apply_walk(const std::vector<WideFactor>& walk, std::vector<Task>& tasks);

}  // namespace poise
