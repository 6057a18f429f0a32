// SPDX-License-Identifier: BSD-3-Clause
// Implements poise_diagnose(), which says why a profiled run lost time.
#include <string>

#include "apps/analysis/profiled_run.h"
#include "apps/report/diagnosis_text.h"
#include "faces/library/handles.h"

#include "poise/diagnosis/diagnose.h"

using poise::library::required;

int poise_diagnose(const char* path, const char** json) {
  return poise::library::guarded(__func__, [&] {
    static thread_local std::string text;
    const char*& result = required(json, "json");
    const poise::apps::ProfiledRun profiled = poise::apps::read_profiled(&required(path, "path"));
    text = poise::apps::diagnosis_json(profiled.run, poise::diagnose(profiled.run, profiled.trace));
    result = text.c_str();
  });
}
