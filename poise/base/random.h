// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are the same on every platform: only integer and IEEE arithmetic.
#pragma once

#include <cstdint>

namespace poise {

/// xoshiro256**, seeded through splitmix64 (Blackman and Vigna, 2018).
///
/// Uses no distributions of the standard library, because these differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t bits();

  /// Returns a uniform number in [0, bound) without bias, or 0 if bound is 0 or 1.
  std::uint64_t below(std::uint64_t bound);

  /// Returns a uniform number in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Approximately standard normal: the sum of twelve uniforms minus six, so within ±6. Avoids the
  /// C library's log and cos, which differ in the last bit between platforms.
  double normal();

 private:
  std::uint64_t state_[4];
};

/// Returns a 64-bit hash of x, computed by the finaliser of splitmix64.
std::uint64_t mix(std::uint64_t x);

/// Computes e^x by IEEE arithmetic alone, with the same bits on every platform and a relative error
/// below 1e-14.
double portable_exp(double x);

/// The natural logarithm of x > 0 (a normal number): the same bits on every platform, absolute
/// error below 1e-14 near 1 and relative error below 1e-14 elsewhere.
double portable_log(double x);

}  // namespace poise
