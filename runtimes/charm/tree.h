// SPDX-License-Identifier: BSD-3-Clause
// The data that Charm++'s TreeLB sends through its tree for Poise: statistics of PEs towards the
// root, and moves of objects towards the PEs. charmc compiles this header as well, so it must be
// valid C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// Converts the statistics of one PE to bytes. The bytes of several PEs may be concatenated in any
/// order. `statistics` has one row for the PE, and its objects in the order in which the PE numbers
/// them. Each object takes 8 bytes, and 8 more if the sizes of objects are known. If
/// `with_messages` is true, the names of the objects (16 bytes each) and the messages are added.
std::vector<char> to_bytes(std::int32_t pe, const Statistics& statistics, bool with_messages);

/// The statistics of the PEs below one node of the tree. The rows of PEs are sorted by PE. The
/// objects are sorted by PE, and the objects of a PE by their index on it. If a PE did not send
/// the names of its objects, the name of each object is made of the PE and the object's index.
struct Subtree {
  Statistics statistics;
  std::vector<std::int32_t> pe_of_row;
  /// Per object: its index among the objects of its PE.
  std::vector<std::uint32_t> number_of_object;
};

/// Converts the bytes that to_bytes() returned back to statistics. Throws std::runtime_error if the
/// bytes are invalid.
Subtree subtree_of(const char* bytes, std::size_t num_bytes);

/// A move of an object to a new PE. The object is given by its present PE and its index on that
/// PE.
struct Move {
  std::int32_t from_pe;
  std::uint32_t object;
  std::int32_t to_pe;
};

/// Returns the moves that bring the objects to new PEs, sorted by object. `row_of_object` has the
/// row of each object's new PE. Objects that are on their new PE already need no move.
std::vector<Move> moves_of(const Subtree& subtree, const std::vector<std::int32_t>& row_of_object);

/// The number of processes and of PEs of a job.
struct Job {
  int num_processes = 1, num_pes = 1;
};

/// The configuration of a tree that fits the job, as JSON for TreeLB. If each process has several
/// PEs, it balances its own PEs; in every third balancing step, the root balances all PEs instead.
/// If each process has one PE, the root balances all PEs in every step.
std::string tree_for(const Job& job, const std::string& strategy);

}  // namespace poise::charm
