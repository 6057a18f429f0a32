// What a region's task is called with, and what it touches besides.
#pragma once

#include <chameleon.h>
#include <cstddef>
#include <vector>

#include "faces/openmp_target/abi.h"

namespace poise::openmp_target {

/// One parameter of a region as data of a task.
struct Parameter {
  chameleon_map_data_entry_t entry;
  std::ptrdiff_t offset = 0;  // of what the region sees, in the data
};

struct Call {
  std::vector<Parameter> parameters;  // in the region's order
  std::vector<Parameter> touched;     // beside them; for the task's place among others only
  std::vector<std::size_t> copied;    // parameters that the region has as its own
  const char* stays = nullptr;        // why the task means nothing on another rank
  bool reaches_anywhere = false;      // nobody told what it touches
};

Call call_of(const KernelArguments& region);

}  // namespace poise::openmp_target
