// SPDX-License-Identifier: BSD-3-Clause
// Owns the arrays of a poise_moves, which is the C interface's list of moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "poise/poise.h"

namespace poise::library {

struct Moves {
  poise_moves view{};  // points to the vectors below
  std::vector<std::uint64_t> global_id;
  std::vector<std::uint32_t> task, from, to;

  /// Returns the list in the form of the C interface. The caller owns it until destroy().
  static const poise_moves* released(std::unique_ptr<Moves> list) {
    list->view = {list->from.size(), list->global_id.data(),
                  list->task.empty() ? nullptr : list->task.data(), list->from.data(),
                  list->to.data()};
    return &list.release()->view;
  }
  static void destroy(const poise_moves* moves) {
    static_assert(offsetof(Moves, view) == 0);
    delete reinterpret_cast<const Moves*>(moves);
  }
};

}  // namespace poise::library
