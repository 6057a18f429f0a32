// Where code lies, said so that another process of the same program finds it: loaded images stand
// at other addresses there.
#pragma once

#include <cstdint>

namespace poise::chameleon {

struct CodeAddress {
  std::uint64_t image = 0;  // of its build id, or of its code where there is none
  std::uint64_t offset = 0;
};

/// Throws Error if no loaded image holds this address.
CodeAddress address_of(void* code);

/// Throws Error if this process has not loaded that very image.
void* code_at(const CodeAddress& address);

}  // namespace poise::chameleon
