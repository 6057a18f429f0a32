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

/// Repeats the list `numbers` until it has `size` numbers. Returns false if the list is empty or if
/// `size` is not a multiple of the list's length.
bool repeat_to(std::size_t size, std::vector<double>& numbers);

/// Writes `numbers` as the shortest list of items. If `numbers` repeats a pattern, the list has the
/// pattern only once; repeat_to() repeats it again.
std::vector<std::string> items_of(const std::vector<double>& numbers);

}  // namespace poise
