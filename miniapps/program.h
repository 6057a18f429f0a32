// SPDX-License-Identifier: BSD-3-Clause
// The interface of a mini-app on objects: its settings, its objects and the check of its results.
//
// A program in `NAME/NAME.h` is independent of MPI. `NAME/main.cc` selects the runtime:
// on_mpi.h, or on_charm.h for Charm++.
#pragma once

#include <concepts>
#include <cstdint>
#include <fmt/core.h>

#include "miniapps/arguments.h"
#include "runtimes/objects/mail.h"

#include "poise/base/error.h"

namespace poise::miniapps {

using objects::Inbox;
using objects::Mail;
using objects::ObjectId;
using objects::Outbox;

/// A program is a struct of settings. `sum_of(object)` returns plain data. The runtime adds up the
/// data of all objects, in the order of their ids, before the first step and after the last step.
/// Optional members:
/// - `prepare()`: called once before any object is created. Throws Error for settings that
///   contradict each other, and may compute the initial data of all objects.
/// - `check(first_sum, last_sum)`: may print a line; throws Error if the results are wrong.
/// - `subphase_of(step)`: the kind of a step, for programs whose steps differ (options.h).
/// - `waits()`: true if steps sleep rather than compute, so that load is measured in wall time.
template <typename P>
concept Program = requires(P program, const P& settings, Arguments& arguments, ObjectId id) {
  { P::kName } -> std::convertible_to<const char*>;
  { P::kSummary } -> std::convertible_to<const char*>;
  { program.iterations } -> std::convertible_to<std::uint64_t>;
  program.add_options(arguments);
  { settings.num_objects() } -> std::convertible_to<ObjectId>;
  { settings.steps() } -> std::convertible_to<std::uint64_t>;  // over all iterations
  settings.object(id);
  { settings.checksum(settings.sum_of(settings.object(id))) } -> std::convertible_to<double>;
};

/// Prints the checksum if the results are right, otherwise the reason why they are not. Returns
/// whether they are right.
template <Program P, typename Sum>
bool are_right(const P& program, const Sum& first, const Sum& last) {
  try {
    if constexpr (requires { program.check(first, last); }) program.check(first, last);
    fmt::print("checksum {:.17g}\n", program.checksum(last));
  } catch (const Error& error) {
    fmt::print(stderr, "{}: {}\n", P::kName, error.what());
    return false;
  }
  return true;
}

}  // namespace poise::miniapps
