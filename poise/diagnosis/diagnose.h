// SPDX-License-Identifier: BSD-3-Clause
// What a profiled run lost time by, and what would help: a pure function of the profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "poise/diagnosis/efficiencies.h"
#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/measured_run.h"
#include "poise/trace/trace.h"

namespace poise {

/// What can be done, in the order of what it asks of the user.
enum class Remedy : std::uint8_t {
  nothing,
  mapping,      // the same places, another rank at each
  binding,      // each rank on a core of its own
  juggle,       // threads of a node moved between its cores
  fewer_ranks,  // not more ranks than cores on a node
  objects,      // work in objects that move between ranks every few phases
  lending,      // tasks lent to idle ranks within a phase
};

struct Advice {
  Remedy remedy = Remedy::nothing;
  /// What the run would save. The half width holds what is not known: the spread over phases, the
  /// samples of waiting, and how well a model is followed.
  Seconds saved;
  bool is_bound = false;  // no runtime saves more
};

/// Others waited for this rank.
struct LateRank {
  std::uint32_t rank = 0, num_waiting = 0;
  double seconds = 0;  // summed over those who waited
};

struct Diagnosis {
  Efficiencies whole;
  std::vector<std::pair<std::string, Efficiencies>> named;  // per name of phases, if there are any
  Imbalance imbalance;
  std::vector<LateRank> late;  // most waited for first
  /// Best first; the first is what to try: the one that asks least among those that save nearly as
  /// much as the best. Never empty: nothing, if no other would save a share worth it.
  std::vector<Advice> advice;
  /// Share of the messages' cost by the machine's model that another mapping would save; 0 without
  /// a machine.
  double mapping_share = 0;
  std::uint32_t ranks_per_node = 0, cores_per_node = 0;  // of the fullest node; 0: not known
};

/// `trace`: of the same run; its phases are those of the profile, its tasks the ranks. Throws Error
/// if they do not fit together.
Diagnosis diagnose(const MeasuredRun& run, const Trace& trace);

}  // namespace poise
