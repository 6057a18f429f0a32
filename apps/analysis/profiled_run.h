// SPDX-License-Identifier: BSD-3-Clause
// A run that `poise profile` recorded.
#pragma once

#include <string>

#include "poise/diagnosis/measured_run.h"
#include "poise/trace/trace.h"

namespace poise::apps {

struct ProfiledRun {
  Trace trace;
  MeasuredRun run;
};

/// Reads a trace that `poise profile` wrote. Throws Error naming the file if it has no profile.
ProfiledRun read_profiled(const std::string& file);

}  // namespace poise::apps
