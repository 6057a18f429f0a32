// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/profiled_run.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "runtimes/profile/profile_file.h"
#include "runtimes/profile/to_measured.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/trace/native.h"

namespace poise::apps {

namespace {

std::vector<profile::RankProfile> decoded(const std::string& file, const std::string& bytes) {
  try {
    return profile::decode(file, bytes);
  } catch (const std::runtime_error& error) {  // the type that decode() throws
    fail("{}", error.what());
  }
}

/// Checks that every rank has a profile, and that each profile has as many phases as the trace.
void check_ranks(const std::string& file, const std::vector<profile::RankProfile>& ranks,
                 const Trace& trace) {
  if (ranks.empty()) fail("{}: the profile has no ranks; record the program again", file);
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r].rank != r || ranks[r].num_ranks != ranks.size() ||
        ranks[r].phases.size() != trace.phases.size())
      fail(
          "{}: part {} of the profile is from rank {} in a job of {} ranks, and has {} phases; it "
          "must be from rank {} in a job of {} ranks, and have {} phases",
          file, r, ranks[r].rank, ranks[r].num_ranks, ranks[r].phases.size(), r, ranks.size(),
          trace.phases.size());
}

/// Checks that every rank has a place on the machine in every phase.
void check_places(const std::string& file, const Trace& trace, std::size_t num_ranks) {
  try {
    check(trace);
  } catch (const Error& error) {
    fail("{}: {}", file, error.what());
  }
  if (trace.machine && trace.machine->num_places() < trace.num_places)
    fail("{}: the machine has {} places, but the trace has {}; record the program again", file,
         trace.machine->num_places(), trace.num_places);
  for (const Phase& phase : trace.phases)
    if (phase.placement.num_tasks() != num_ranks)
      fail(
          "{}: phase {} gives the places of {} ranks, but the profile has {} ranks; record the "
          "program again",
          file, phase.id, phase.placement.num_tasks(), num_ranks);
}

}  // namespace

ProfiledRun read_profiled(const std::string& file) {
  const std::string bytes = read_file(file, native::may_begin);
  Trace trace = native::read(file, bytes);  // refuses a truncated file
  const auto measured = native::attachment(file, bytes, "prof");
  if (!measured)
    fail("{}: the trace has no profile; record one with `poise profile -o {} -- COMMAND`", file,
         file);
  const std::vector<profile::RankProfile> ranks = decoded(file, *measured);
  check_ranks(file, ranks, trace);
  ProfiledRun profiled{std::move(trace), profile::measured(ranks)};
  check(profiled.run);
  check_places(file, profiled.trace, ranks.size());
  return profiled;
}

}  // namespace poise::apps
