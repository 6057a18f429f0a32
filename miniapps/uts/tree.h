// The trees of the Unbalanced Tree Search benchmark: every node holds a hash from which the number
// of its children and their hashes follow, so a subtree can be walked anywhere.
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
enum class Shape { linear, cyclic, fixed };  // how a geometric tree thins out with height

struct Tree {
  std::string_view name;
  Kind kind;
  Shape shape;
  double branching;          // children of the root, or wanted on average
  int max_height;            // of the geometric part
  double child_probability;  // of the binomial part: a node has `children` with it, else none
  int children;
  int seed;
  std::uint64_t nodes, leaves;  // published
  int height;
};

/// The sample trees that the benchmark publishes with their sizes.
const Tree& find_tree(std::string_view name);

Node root_of(const Tree& tree);
int num_children(const Tree& tree, const Node& node);
Node child_of(const Node& node, int number);

std::array<std::uint8_t, 20> sha1(const std::uint8_t* data, std::size_t bytes);

}  // namespace poise::uts
