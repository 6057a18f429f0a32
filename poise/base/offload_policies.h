// SPDX-License-Identifier: BSD-3-Clause
// The list of offload policies: rules that decide which queued tasks a rank lends to which ranks.
#pragma once

namespace poise {

// One line per policy: its name, the ranks that it examines (OffloadPolicy::Sight in
// online/offload_policy.h), and what it does. The choices of the setting `policy`, its
// documentation and the table in online/offload_policy.cc are made from this list. The first policy
// is the default. Policy NAME is implemented by the function offload_NAME() in one of the files
// online/offload_*.cc.
//
// clang-format off
#define POISE_OFFLOAD_POLICIES(X) \
  X(cost,     nearest_idle, "lend so that the wait ends soonest") \
  X(paired,   all_ranks,    "in pairs of ranks sorted by load (Klinkenberg et al. 2020)") \
  X(lightest, all_ranks,    "lend to the least loaded rank") \
  X(none,     nothing,      "lend nothing")
// clang-format on

}  // namespace poise
