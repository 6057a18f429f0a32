// SPDX-License-Identifier: BSD-3-Clause
// What a diagnosis advises the user to do.
#pragma once

#include <cstdint>

#include "poise/diagnosis/measured_run.h"

namespace poise {

/// What the user can do. Remedies with less effort come first.
enum class Remedy : std::uint8_t {
  nothing,
  exclusive,    // keep other programs off the cores of the run
  quota,        // ask for a larger CPU quota, or for no quota
  mapping,      // move ranks to other places of the machine
  binding,      // bind each rank to a core of its own
  juggle,       // move the threads of a node between its cores
  fewer_ranks,  // start no more ranks on a node than it has cores
  objects,      // divide the work into objects that move between ranks every few phases
  lending,      // lend tasks to idle ranks within a phase
};

struct Advice {
  Remedy remedy = Remedy::nothing;
  /// The time that the run would save, ± the half width, which covers the spread over phases, the
  /// sampling of waits, and the error of the model.
  Seconds saved;
  bool is_bound = false;  // true: `saved` is an upper bound; no runtime system saves more
};

}  // namespace poise
