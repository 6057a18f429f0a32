// SPDX-License-Identifier: BSD-3-Clause
// The page of `poise profile --html` and `poise diagnose --html`.
#pragma once

#include <string>

#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

/// `file`: of the trace, for commands that the page tells.
std::string diagnosis_page(const MeasuredRun& run, const Diagnosis& diagnosis,
                           const std::string& file);

}  // namespace poise::apps
