// SPDX-License-Identifier: BSD-3-Clause
// The trees of the Unbalanced Tree Search benchmark. A node's hash determines the number of its
// children and their hashes, so any rank can walk any subtree.
//
// Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng, "UTS: An Unbalanced Tree Search Benchmark",
// LCPC 2006. The hash is SHA-1 (FIPS 180-4), as in the benchmark's own generator.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace poise::uts {

struct Node {
  std::array<std::uint8_t, 20> hash{};
  std::int32_t height = 0;
};

enum class Kind { binomial, geometric, hybrid };
/// Determines how the number of children in a geometric tree depends on the height of the node.
enum class Shape { linear, cyclic, fixed };

struct Tree {
  std::string_view name;
  Kind kind;
  Shape shape;
  double branching;          // children of the root; in geometric trees, their expected number
  int max_height;            // maximum height of the geometric part
  double child_probability;  // binomial part: the probability that a node has `children` children
  int children;
  int seed;
  std::uint64_t nodes, leaves;  // published sizes
  int height;                   // published
};

/// Returns a sample tree of the benchmark, T1 to T5, with its published size. Throws Error for
/// other names.
const Tree& find_tree(std::string_view name);

Node root_of(const Tree& tree);
int num_children(const Tree& tree, const Node& node);
Node child_of(const Node& node, int number);

std::array<std::uint8_t, 20> sha1(const std::uint8_t* data, std::size_t bytes);

}  // namespace poise::uts
