// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/profiled_run.h"

#include <stdexcept>
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

}  // namespace

ProfiledRun read_profiled(const std::string& file) {
  const std::string bytes = read_file(file, native::may_begin);
  const auto measured = native::attachment(file, bytes, "prof");
  if (!measured)
    fail("{}: the trace has no profile; record one with `poise profile -o {} -- COMMAND`", file,
         file);
  ProfiledRun profiled{native::read(file, bytes), profile::measured(decoded(file, *measured))};
  check(profiled.run);
  return profiled;
}

}  // namespace poise::apps
