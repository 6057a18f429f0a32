// SPDX-License-Identifier: BSD-3-Clause
// Builds the page of `poise profile --html` and `poise diagnose --html`.
#pragma once

#include <string>

#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

/// Returns the page of a diagnosis. The commands that the page recommends read the trace `file`.
std::string diagnosis_page(const MeasuredRun& run, const Diagnosis& diagnosis,
                           const std::string& file);

}  // namespace poise::apps
