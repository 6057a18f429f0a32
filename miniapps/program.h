// What a program on objects is, whoever hosts them: settings, objects, and what becomes of them.
//
// Its file `NAME/NAME.h` knows no MPI; `NAME/main.cc` names the host.
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

/// A struct of settings. `sum_of` an object is plain data; the host adds it up in order of the
/// objects before the first step and after the last. It may also have
/// - `prepare()`, called once before any object is made: throws Error for settings that do not go
///   together, and may work out what all objects start from;
/// - `check(first sum, last sum)`, which may print a line and throws Error for wrong results;
/// - `subphase_of(step)`, which kind a step is where they are not all alike (options.h);
/// - `waits()`, true when steps wait rather than compute, so that load is wall time.
template <typename P>
concept Program = requires(P program, const P& settings, Arguments& arguments, ObjectId id) {
  { P::kName } -> std::convertible_to<const char*>;
  { P::kSummary } -> std::convertible_to<const char*>;
  { program.iterations } -> std::convertible_to<std::uint64_t>;
  program.add_options(arguments);
  { settings.num_objects() } -> std::convertible_to<ObjectId>;
  { settings.steps() } -> std::convertible_to<std::uint64_t>;  // of the objects, for all iterations
  settings.object(id);
  { settings.checksum(settings.sum_of(settings.object(id))) } -> std::convertible_to<double>;
};

/// Prints the checksum, or why there is none: false when the results are wrong.
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
