// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the task that runs a region, and other memory that the region accesses.
#pragma once

#include <chameleon.h>
#include <cstddef>
#include <vector>

#include "faces/openmp_target/abi.h"

namespace poise::openmp_target {

/// A parameter of a region. `entry` describes the item of the task's data that holds this
/// parameter.
struct Parameter {
  chameleon_map_data_entry_t entry;
  std::ptrdiff_t offset = 0;  // the region gets the address of the data plus this many bytes
};

struct Call {
  std::vector<Parameter> parameters;  // in the order of the region's parameters
  // Memory that the region may access but does not receive as a parameter. The task depends on
  // earlier tasks that access this memory.
  std::vector<Parameter> touched;
  std::vector<std::size_t> copied;  // indices of parameters of which the region gets private copies
  /// The reason why the task must run on its own rank; null: it may run on any rank.
  const char* stays = nullptr;
  bool reaches_anywhere = false;  // the region may access any memory
};

Call call_of(const KernelArguments& region);

}  // namespace poise::openmp_target
