// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/theory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "poise/base/check.h"
#include "poise/base/error.h"

namespace poise {

namespace {

constexpr double kRounding = 1e-9;  // tolerated relative rounding error of a computed time

double number(std::uint64_t count) { return count; }

double phase_static_s(const SpmdProgram& program) {
  return program.phase_s * number(slots_of(program).most);
}

/// Number of balancing points before the end of the program, computed as if none of them made the
/// program shorter: η in equation (17).
double points_inside(double total_s, double period_s) { return std::ceil(total_s / period_s) - 1; }

}  // namespace

void check(const SpmdProgram& program) {
  if (program.threads == 0) fail("the number of threads is 0; it must be at least 1");
  if (program.places == 0) fail("the number of cpus is 0; it must be at least 1");
  if (program.phases == 0) fail("the number of phases is 0; it must be at least 1");
  if (!(program.phase_s > 0) || !std::isfinite(program.phase_s))
    fail("the length of a phase is {} s; it must be above 0 and finite", program.phase_s);
}

void check_period(double period_s) {
  if (!(period_s > 0) || !std::isfinite(period_s))
    fail("the balancing period is {} s; it must be above 0 and finite", period_s);
}

Slots slots_of(const SpmdProgram& program) {
  Slots slots;
  const std::uint64_t rest = program.threads % program.places;
  slots.fewest = program.threads / program.places;
  slots.most = slots.fewest + (rest > 0);
  slots.slow = rest * slots.most;
  slots.fast = program.threads - slots.slow;
  return slots;
}

bool is_imbalanced(const SpmdProgram& program) {
  return program.threads > program.places && program.threads % program.places != 0;
}

double static_s(const SpmdProgram& program) {
  return number(program.phases) * phase_static_s(program);
}

double ideal_s(const SpmdProgram& program) {
  const double share = number(program.threads) / number(program.places);
  return number(program.phases) * program.phase_s * std::max(1.0, share);
}

double lag_s(const SpmdProgram& program, double period_s) {
  if (!is_imbalanced(program)) return 0;
  const Slots slots = slots_of(program);
  return period_s / (number(slots.most) * number(slots.fewest));
}

double proactive_bound_s(const SpmdProgram& program, double period_s) {
  if (!is_imbalanced(program) || period_s >= phase_static_s(program))
    return phase_static_s(program);
  const double as_if_fast =
      program.phase_s * number(slots_of(program).fewest) + lag_s(program, period_s);
  return std::max(as_if_fast, ideal_s({program.threads, program.places, program.phase_s, 1}));
}

namespace {

/// The progress of the threads at a balancing point of the idealised algorithm, if no thread has
/// blocked yet: `ahead` is the number of threads that have rest_s - lag_s seconds of work left; the
/// others have rest_s seconds left.
struct PointState {
  double rest_s = 0, lag_s = 0;
  std::uint64_t ahead = 0;
};

PointState state_at(const SpmdProgram& program, double period_s, std::uint64_t k) {
  const Slots slots = slots_of(program);
  const std::uint64_t steps = k * slots.fast;
  const double lag = lag_s(program, period_s);
  const double done_s = number(k) * period_s / number(slots.most) +
                        lag * std::floor(number(steps) / number(program.threads));
  return {program.phase_s - done_s, lag, steps % program.threads};
}

/// Returns the largest remaining work of a place, in seconds, if the least advanced threads are put
/// on the places with fewest threads.
double fullest_place_s(const SpmdProgram& program, const PointState& state) {
  const Slots slots = slots_of(program);
  const std::uint64_t slow_places = program.threads % program.places;
  const std::uint64_t fast_places = program.places - slow_places;
  const std::uint64_t behind = program.threads - state.ahead;
  const auto sum_s = [&](std::uint64_t threads, std::uint64_t of_these_behind) {
    return number(threads) * (state.rest_s - state.lag_s) + number(of_these_behind) * state.lag_s;
  };
  const auto shared = [](std::uint64_t count, std::uint64_t places) {
    return (count + places - 1) / places;
  };
  const std::uint64_t in_fast = std::min(behind, slots.fast);
  return std::max(sum_s(slots.fewest, shared(in_fast, fast_places)),
                  sum_s(slots.most, shared(behind - in_fast, slow_places)));
}

}  // namespace

double proactive_tight_bound_s(const SpmdProgram& program, double period_s) {
  if (!is_imbalanced(program) || period_s >= phase_static_s(program))
    return phase_static_s(program);
  const Slots slots = slots_of(program);
  const double threads = number(program.threads), places = number(program.places);
  const double loose_s = proactive_bound_s(program, period_s);
  // Before this balancing point no thread can have blocked at the barrier, because the progress of
  // every thread differs from the average by at most lag_s().
  const double safe_s =
      program.phase_s - 2 * lag_s(program, period_s) - 2 * period_s / number(slots.fewest);
  auto k = static_cast<std::uint64_t>(std::max(0.0, safe_s * threads / (places * period_s)));
  for (;; ++k) {
    const PointState state = state_at(program, period_s, k);
    const double fullest_s = fullest_place_s(program, state);
    const double now_s = number(k) * period_s;
    if (fullest_s <= period_s) return std::max(now_s + fullest_s, loose_s);
    const double least_s = state.rest_s - (state.ahead > 0 ? state.lag_s : 0);
    const bool fast_are_behind = threads - number(state.ahead) >= number(slots.fast);
    const double first_block_s =
        std::min(number(slots.most) * least_s,
                 number(slots.fewest) * (fast_are_behind ? state.rest_s : least_s));
    if (first_block_s <= period_s * (1 + kRounding)) return std::max(now_s + period_s, loose_s);
  }
}

double with_cost_s(double without_cost_s, double period_s, double cost_s) {
  if (cost_s >= period_s) return std::numeric_limits<double>::infinity();
  return without_cost_s / (1 - cost_s / period_s);
}

double balanced_once_s(const SpmdProgram& program) {
  const Slots slots = slots_of(program);
  if (!is_imbalanced(program) || slots.fast < slots.slow) return phase_static_s(program);
  return program.phase_s * (number(slots.most) - 0.25);
}

double proactive_approximation_s(const SpmdProgram& program, double period_s) {
  const double phases = number(program.phases);
  if (period_s < phase_static_s(program)) return phases * proactive_bound_s(program, period_s);
  const double balanced = points_inside(static_s(program), period_s);
  return (phases - balanced) * phase_static_s(program) + balanced * balanced_once_s(program);
}

double reactive_s(const SpmdProgram& program) {
  // All unblocked threads have made the same progress: since the last move all of them have been in
  // slow slots, because the threads in fast slots have blocked.
  std::uint64_t threads = program.threads;
  double phase_s = 0;
  for (double rest_s = program.phase_s; threads > 0;) {
    const Slots slots = slots_of({threads, program.places, rest_s, 1});
    if (slots.slow == 0 || slots.fewest == 0) {
      phase_s += rest_s * number(slots.most);
      break;
    }
    phase_s += rest_s * number(slots.fewest);
    rest_s -= rest_s * number(slots.fewest) / number(slots.most);
    threads = slots.slow;
  }
  return number(program.phases) * phase_s;
}

double reactive_closed_form_s(const SpmdProgram& program) {
  POISE_CHECK(program.places < program.threads && program.threads < 2 * program.places);
  double last_s = program.phase_s;  // e 2^-k
  for (std::uint64_t fast = 2 * program.places - program.threads; fast < program.places; fast *= 2)
    last_s /= 2;
  return number(program.phases) * (2 * program.phase_s - last_s);
}

}  // namespace poise
