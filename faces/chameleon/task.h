// SPDX-License-Identifier: BSD-3-Clause
// A task in the form that programs and tools of CHAMELEON use.
#pragma once

#include <chameleon.h>
#include <chameleon_tools.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "poise/workload/annotations.h"

struct chameleon_annotations_t {
  poise::Annotations values;
};

struct cham_migratable_task_t {
  int id = 0;
  void* entry = nullptr;
  std::int32_t image = 99;                     // the plug-in's index of the image; 99: no plug-in
  std::optional<std::ptrdiff_t> image_offset;  // set if a plug-in gave the position of the code
  std::vector<chameleon_map_data_entry_t> arguments;
  std::vector<std::ptrdiff_t> offsets;  // offset of each parameter in its data; empty: all 0
  bool pinned = false, ordered = false;
  std::unique_ptr<chameleon_annotations_t> annotations;
  std::vector<int> replication_ranks;
  struct OnFinish {
    chameleon_external_callback_t function;
    void* argument;
  };
  std::vector<OnFinish> on_finish;
  bool added = false, finished = false;
  cham_t_data_t tool_data{};
  std::vector<std::int64_t> sizes, types;  // for tools only
  std::vector<void*> pointers;
  std::vector<std::vector<char>> copies;
  std::vector<char> travelling_tool_data;

  /// Copies the data of argument i, so that the caller may reuse its own memory.
  void keep_copy_of(std::size_t i) {
    auto& argument = arguments[i];
    const auto* data = static_cast<const char*>(argument.valptr);
    argument.valptr = copies.emplace_back(data, data + argument.size).data();
  }
};

namespace poise::chameleon {

/// True between the calls of chameleon_init and chameleon_finalize.
bool is_up();

}  // namespace poise::chameleon
