// SPDX-License-Identifier: BSD-3-Clause
// Implements poise_theory(), which predicts how much load balancing between threads gains.
#include <string>

#include "faces/library/handles.h"

#include "poise/simulate/outlook.h"

using poise::library::required;

int poise_theory(const poise_threads* program, poise_outlook* outlook) {
  return poise::library::guarded(__func__, [&] {
    static thread_local std::string advice;
    const poise_threads& asked = required(program, "program");
    poise_outlook& result = required(outlook, "outlook");
    const poise::Outlook found = poise::outlook({.program = {.threads = asked.threads,
                                                             .places = asked.cpus,
                                                             .phase_s = asked.phase_s,
                                                             .phases = asked.phases},
                                                 .period_s = asked.period_s,
                                                 .domains = asked.domains,
                                                 .jitter = asked.jitter,
                                                 .seed = asked.seed});
    advice = found.advice;
    result = {.static_s = found.static_s,
              .ideal_s = found.ideal_s,
              .reactive_s = found.reactive_s,
              .proactive_bound_s = found.bound_s,
              .proactive_s = found.approximation_s,
              .simulated_s = found.simulated.completion_s,
              .simulated_swaps_s = found.simulated_swaps.completion_s,
              .simulated_hybrid_s = found.simulated_hybrid.completion_s,
              .swap_migrations = found.simulated_swaps.migrations,
              .advice = advice.c_str()};
  });
}
