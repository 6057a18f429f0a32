// Long lists of numbers as a person would write them: "4 x 2", "0-7", and a list that repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace poise {

/// Appends what one item stands for: "5", "2.5", "0-7" (0 to 7) or "4 x 2.5" (four times).
/// False, with nothing appended, when it is none of these or makes more than `limit` numbers.
bool append_item(std::string_view item, std::size_t limit, std::vector<double>& numbers);

/// A list shorter than `size` repeats. False when it is empty or `size` is no multiple of its own.
bool repeat_to(std::size_t size, std::vector<double>& numbers);

/// The items of the shortest such list, so that reading and repeating them gives `numbers`.
std::vector<std::string> items_of(const std::vector<double>& numbers);

}  // namespace poise
