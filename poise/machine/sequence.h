// SPDX-License-Identifier: BSD-3-Clause
// Compact text for long lists of numbers: "4 x 2", "0-7", and lists that repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// Appends the numbers of one item: "5", "2.5", "0-7" (0 to 7) or "4 x 2.5" (four times). Returns
/// false and appends nothing if the item has another form or stands for more than `limit` numbers.
bool append_item(std::string_view item, std::size_t limit, std::vector<double>& numbers);

/// Repeats a list up to `size` numbers. False if it is empty or `size` is not a multiple of its
/// length.
bool repeat_to(std::size_t size, std::vector<double>& numbers);

/// Writes `numbers` as the shortest list of items. If they repeat a pattern, the list has only the
/// pattern; repeat_to() restores them.
std::vector<std::string> items_of(const std::vector<double>& numbers);

}  // namespace poise
