#include "poise/simulate/theory.h"

#include <algorithm>
#include <cmath>

#include "poise/base/check.h"
#include "poise/base/error.h"

namespace poise {

namespace {

double number(std::uint64_t count) { return static_cast<double>(count); }

double phase_static_s(const SpmdProgram& program) {
  return program.phase_s * number(slots_of(program).most);
}

/// Number of balancing points strictly inside the program if none of them shortens it: eta of (17).
double points_inside(double total_s, double period_s) { return std::ceil(total_s / period_s) - 1; }

}  // namespace

void check(const SpmdProgram& program) {
  if (program.threads == 0) fail("threads is 0; it must be at least 1");
  if (program.places == 0) fail("cpus is 0; it must be at least 1");
  if (program.phases == 0) fail("phases is 0; it must be at least 1");
  if (!(program.phase_s > 0) || !std::isfinite(program.phase_s))
    fail("phase is {} s; it must be above 0 and finite", program.phase_s);
}

void check_period(double period_s) {
  if (!(period_s > 0) || !std::isfinite(period_s))
    fail("period is {} s; it must be above 0", period_s);
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
  // All unblocked threads have made the same progress: threads on fast places have blocked, and the
  // others have been in slow slots since the last move.
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
