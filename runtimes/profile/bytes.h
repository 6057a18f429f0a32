// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads the values in the reports that ranks send each other. All ranks have the same
// representation of values, because they run the same program.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace poise::profile::bytes {

template <typename Value>
void append(std::string& bytes, const Value& value) {
  const std::size_t size = bytes.size();
  bytes.resize(size + sizeof value);
  std::memcpy(bytes.data() + size, &value, sizeof value);
}

/// Returns false if there are too few bytes.
template <typename Value>
bool take(std::string_view& bytes, Value& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return true;
}

}  // namespace poise::profile::bytes
