// SPDX-License-Identifier: BSD-3-Clause
// The position of code, independent of the addresses at which a process has loaded its images, so
// that another process of the same program finds it.
#pragma once

#include <cstdint>

namespace poise::chameleon {

struct CodeAddress {
  std::uint64_t image = 0;  // a hash of its build id, or of its code if it has none
  std::uint64_t offset = 0;
};

/// Throws Error if no loaded image holds this address.
CodeAddress address_of(void* code);

/// Throws Error if this process has not loaded exactly this image.
void* code_at(const CodeAddress& address);

}  // namespace poise::chameleon
