// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/random.h"

#include <cmath>
#include <limits>

namespace poise {

namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr double kLog2 = 0.693147180559945309417;

std::uint64_t rotate_left(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) word = mix(seed += kGolden);
}

std::uint64_t Random::bits() {
  const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound <= 1) return 0;
  // Rejects draws below r = 2^64 mod bound, because they would make small results more likely. A
  // draw of at least `bound` is accepted without the slow computation of r, which is below `bound`.
  for (;;) {
    const std::uint64_t drawn = bits();
    if (drawn >= bound || drawn >= -bound % bound) return drawn % bound;
  }
}

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

double portable_exp(double x) {
  if (x < -745) return 0;
  if (x > 709) return std::numeric_limits<double>::infinity();
  // e^x = 2^k e^r with |r| <= log(2)/2; the Taylor polynomial of degree 13 for e^r has an error
  // below 1e-15.
  const double k = std::floor(x / kLog2 + 0.5);
  const double r = x - k * kLog2;
  double sum = 1;
  for (int i = 13; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

double portable_log(double x) {
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh s with s = (m - 1) / (m + 1), |s| <
  // 0.172; eleven terms of the odd series leave an error below 1e-18.
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < 0.70710678118654752) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int i = 21; i >= 1; i -= 2) sum = sum * (s * s) + 1.0 / i;
  return k * kLog2 + 2 * s * sum;
}

}  // namespace poise
