// SPDX-License-Identifier: BSD-3-Clause
// Finds the position of code in its image. An image is the program or a shared library. The
// position does not depend on the address at which a process has loaded the image, so another
// process of the same program finds the code by this position.
#pragma once

#include <cstdint>

namespace poise::chameleon {

struct CodeAddress {
  std::uint64_t image = 0;  // a hash of the image's build id or, without one, of its code
  std::uint64_t offset = 0;
};

/// Returns the position of the code at an address. Throws Error if no loaded image contains it.
CodeAddress address_of(void* code);

/// Returns the address of the code at a position. Throws Error if this process has not loaded the
/// same image.
void* code_at(const CodeAddress& address);

}  // namespace poise::chameleon
