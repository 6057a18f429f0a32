// SPDX-License-Identifier: BSD-3-Clause

#include "miniapps/uts/tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise::uts {

namespace {

constexpr Tree kTrees[] = {
    {"T1", Kind::geometric, Shape::fixed, 4, 10, 0, 0, 19, 4130071, 3305118, 10},
    {"T2", Kind::geometric, Shape::cyclic, 6, 16, 0, 0, 502, 4117769, 2342762, 81},
    {"T3", Kind::binomial, Shape::linear, 2000, 0, 0.124875, 8, 42, 4112897, 3599034, 1572},
    {"T4", Kind::hybrid, Shape::linear, 6, 16, 0.234375, 4, 1, 4132453, 3108986, 134},
    {"T5", Kind::geometric, Shape::linear, 4, 20, 0, 0, 34, 4147582, 2181318, 20},
};
constexpr int kMaxChildren = 100;
// Fraction of max_height where a hybrid tree changes from geometric to binomial.
constexpr double kShiftHeight = 0.5;

std::array<std::uint8_t, 4> big_endian(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

/// Returns a uniform number in [0, 1) from 31 bits of the hash.
double uniform_of(const Node& node) {
  const auto& h = node.hash;
  const std::uint32_t bits = (std::uint32_t{h[16]} << 24 | std::uint32_t{h[17]} << 16 |
                              std::uint32_t{h[18]} << 8 | h[19]) &
                             0x7fffffffu;
  return bits / 2147483648.0;
}

double wanted_children(const Tree& tree, int height) {
  if (height == 0) return tree.branching;
  const double most = tree.max_height;
  switch (tree.shape) {
    case Shape::linear: return tree.branching * (1 - height / most);
    case Shape::cyclic:
      if (height > 5 * tree.max_height) return 0;
      return std::pow(tree.branching, std::sin(2 * 3.141592653589793 * height / most));
    case Shape::fixed: return height < tree.max_height ? tree.branching : 0;
  }
  return 0;
}

int geometric_children(const Tree& tree, const Node& node) {
  const double p = 1 / (1 + wanted_children(tree, node.height));
  return static_cast<int>(std::floor(std::log(1 - uniform_of(node)) / std::log(1 - p)));
}

int binomial_children(const Tree& tree, const Node& node) {
  return uniform_of(node) < tree.child_probability ? tree.children : 0;
}

void sha1_block(std::uint32_t (&state)[5], const std::uint8_t* block) {
  std::uint32_t w[80];
  for (int i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (int i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (int i = 0; i < 80; ++i) {
    std::uint32_t f, k;
    if (i < 20)
      f = (b & c) | (~b & d), k = 0x5a827999;
    else if (i < 40)
      f = b ^ c ^ d, k = 0x6ed9eba1;
    else if (i < 60)
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    else
      f = b ^ c ^ d, k = 0xca62c1d6;
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

}  // namespace

std::array<std::uint8_t, 20> sha1(const std::uint8_t* data, std::size_t bytes) {
  POISE_CHECK(bytes < 56);  // only one SHA-1 block is supported; trees need no more
  std::uint8_t block[64] = {};
  std::memcpy(block, data, bytes);
  block[bytes] = 0x80;
  const auto bits = big_endian(8 * bytes);
  std::copy(bits.begin(), bits.end(), block + 60);
  std::uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  sha1_block(state, block);
  std::array<std::uint8_t, 20> digest;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto word = big_endian(state[i]);
    std::copy(word.begin(), word.end(), digest.begin() + 4 * i);
  }
  return digest;
}

const Tree& find_tree(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Tree& tree : kTrees) {
    if (tree.name == name) return tree;
    names.push_back(tree.name);
  }
  throw Error(unknown_name("tree", name, names));
}

Node root_of(const Tree& tree) {
  std::uint8_t data[20] = {};
  const auto seed = big_endian(tree.seed);
  std::copy(seed.begin(), seed.end(), data + 16);
  return {sha1(data, sizeof data), 0};
}

int num_children(const Tree& tree, const Node& node) {
  if (tree.kind == Kind::binomial && node.height == 0)
    return static_cast<int>(std::floor(tree.branching));
  const bool geometric =
      tree.kind == Kind::geometric ||
      (tree.kind == Kind::hybrid && node.height < kShiftHeight * tree.max_height);
  const int children = geometric ? geometric_children(tree, node) : binomial_children(tree, node);
  return std::min(children, kMaxChildren);
}

Node child_of(const Node& node, int number) {
  std::uint8_t data[24];
  std::copy(node.hash.begin(), node.hash.end(), data);
  const auto bytes = big_endian(number);
  std::copy(bytes.begin(), bytes.end(), data + 20);
  return {sha1(data, sizeof data), node.height + 1};
}

}  // namespace poise::uts
