// SPDX-License-Identifier: BSD-3-Clause
// Presents a diagnosis, either as JSON or as a text for a screen of 80 columns. The text uses the
// terms of the POP methodology.
#pragma once

#include <string>

#include "poise/diagnosis/diagnose.h"

namespace poise::apps {

/// Returns the diagnosis as text. The commands that the text recommends read the trace `file`.
std::string diagnosis_text(const MeasuredRun& run, const Diagnosis& diagnosis,
                           const std::string& file);

/// Returns the findings of the diagnosis in words: late ranks, imbalance, the places of ranks,
/// threads, and MPI topologies, in lines of at most 80 columns.
std::string findings_text(const MeasuredRun& run, const Diagnosis& diagnosis);
/// Returns a sentence that recommends a remedy and states the time that it saves, or that explains
/// why nothing helps.
std::string advice_sentence(const Diagnosis& diagnosis, const Advice& advice,
                            const std::string& file);
/// Returns the remedy in words, such as "fewer ranks".
std::string remedy_text(Remedy remedy);

/// Returns a table that compares two runs: how the total work and each efficiency change from the
/// first run to the second.
std::string scaling_text(const MeasuredRun& before, const MeasuredRun& after);

/// Returns one JSON object, with times in seconds and efficiencies as fractions of 1.
std::string diagnosis_json(const MeasuredRun& run, const Diagnosis& diagnosis);

}  // namespace poise::apps
