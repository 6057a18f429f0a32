// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/communicator.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace poise {

Communicator::Communicator(const poise_communication& table) : table_(table) {
  if (table.exchange == nullptr || table.reduce == nullptr)
    fail("communication: the functions exchange and reduce must not be null");
  if (table.rank >= table.num_ranks)
    fail("communication: rank is {}, but there are only {} ranks", table.rank, table.num_ranks);
}

void Communicator::exchange_bytes(const std::map<std::uint32_t, Bytes>& sends,
                                  poise_receive receive, void* receiver) {
  std::vector<std::uint32_t> to;
  std::vector<const void*> data;
  std::vector<std::uint64_t> bytes;
  for (const auto& [rank, message] : sends) {
    to.push_back(rank);
    data.push_back(message.data);
    bytes.push_back(message.size);
  }
  agree();
  const int status = table_.exchange(table_.context, to.size(), to.data(), data.data(),
                                     bytes.data(), receive, receiver);
  if (status != 0) failure_ = fmt::format("communication: exchange returned {}", status);
}

void Communicator::reduce(int reduction, std::span<std::uint64_t> values) {
  agree();
  const int status = table_.reduce(table_.context, reduction, values.size(), values.data());
  if (status != 0) failure_ = fmt::format("communication: reduce returned {}", status);
}

void Communicator::agree(const std::string& failure, bool is_missing) {
  // The largest value of `own` on any rank tells all ranks which rank has failed. A rank may fail
  // only because it misses a message of a rank that failed earlier. A rank with any other error
  // adds `cause` to its value, so that its value is larger and the error names this rank.
  const std::uint64_t cause = std::uint64_t{1} << 32;
  const std::uint64_t own =
      failure.empty() ? 0 : table_.rank + std::uint64_t{1} + (is_missing ? 0 : cause);
  std::uint64_t failed = own;
  const int status = table_.reduce(table_.context, POISE_MAX, 1, &failed);
  if (status != 0) {
    // This reduction failed only on this rank. Other ranks may have succeeded and entered the next
    // collective, so this rank reports the failure at the next agreement of all ranks.
    if (has_failed_) throw AgreedError(failure_);
    has_failed_ = true;
    failure_ = fmt::format("communication: reduce returned {}", status);
    return;
  }
  const bool knows_cause = own >= cause || (own > 0 && failed < cause);
  if (knows_cause) throw AgreedError(failure);
  if (failed != 0)
    throw OtherRankError(fmt::format("rank {} failed; its own error says why", failed % cause - 1));
}

void Communicator::agree_on_failure(const std::string& text) noexcept {
  try {
    agree(text.empty() ? "unknown error" : text);
  } catch (...) {  // ignored: the caller throws its own error
  }
}

void Communicator::agree_on_missing(const std::string& text) { agree(text, true); }

std::uint64_t Communicator::max(std::uint64_t value) {
  reduce(POISE_MAX, {&value, 1});
  return value;
}

std::uint64_t Communicator::sum(std::uint64_t value) {
  reduce(POISE_SUM, {&value, 1});
  return value;
}

// Non-negative doubles are ordered like the integers with the same bit patterns. -0.0 has a larger
// bit pattern than all of them, so adding 0.0 turns it into 0.0.
double Communicator::max(double value) {
  return std::bit_cast<double>(max(std::bit_cast<std::uint64_t>(value + 0.0)));
}

double Communicator::sum(double value) {
  std::vector<double> values{value};
  sum(values);
  return values[0];
}

void Communicator::sum(std::vector<double>& values) {
  const double largest = max(values.empty() ? 0 : *std::max_element(values.begin(), values.end()));
  const double unit = largest * 0x1p-40;
  if (!(unit > 0)) {
    values.assign(values.size(), 0);
    return;
  }
  std::vector<std::uint64_t> units(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    units[i] = static_cast<std::uint64_t>(std::round(values[i] / unit));
  reduce(POISE_SUM, units);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = unit * units[i];
}

}  // namespace poise
