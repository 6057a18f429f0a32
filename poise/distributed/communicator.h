// SPDX-License-Identifier: BSD-3-Clause
// Typed collectives over a table of communication functions; all ranks learn if one of them failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "poise/base/error.h"
#include "poise/communication.h"

namespace poise {

/// Thrown on every rank once all ranks know that one of them failed. On a failed rank, the text is
/// that rank's own error; on the other ranks, it names the failed rank.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// Thrown on the ranks that have not failed, because another rank has failed.
class OtherRankError : public AgreedError {
 public:
  using AgreedError::AgreedError;
};

/// Thrown on a rank that has not received a message, because an exchange failed on the sender.
class MissingMessage : public Error {
 public:
  using Error::Error;
};

/// The items of each rank: those to be sent to it, or those received from it.
template <typename T>
using Mail = std::map<std::uint32_t, std::vector<T>>;

/// Returns the items that `rank` has sent. Throws MissingMessage if there are none.
template <typename T>
const std::vector<T>& items_from(const Mail<T>& received, std::uint32_t rank) {
  const auto found = received.find(rank);
  if (found == received.end())
    throw MissingMessage(fmt::format("communication: a message from rank {} is missing", rank));
  return found->second;
}

/// The ranks that run a distributed algorithm together. Every collective call first checks whether
/// a rank has failed since the last collective call. If a rank has failed, all ranks throw
/// AgreedError, so that none waits forever. A rank that fails between two collective calls must
/// call agree_on_failure() before it leaves.
class Communicator {
 public:
  /// Throws Error if the table lacks a function or the rank is not below the number of ranks.
  explicit Communicator(const poise_communication& table);

  std::uint32_t rank() const { return table_.rank; }
  std::uint32_t num_ranks() const { return table_.num_ranks; }

  /// Collective. Sends each item to its target rank, which may be this rank, and returns the items
  /// that this rank received.
  template <typename T>
  Mail<T> exchange(const Mail<T>& out) {
    static_assert(std::is_trivially_copyable_v<T>);
    Mail<T> in;
    if (const auto own = out.find(rank()); own != out.end()) in.insert(*own);
    std::map<std::uint32_t, Bytes> sends;
    for (const auto& [to, items] : out)
      if (to != rank() && !items.empty()) sends[to] = {items.data(), items.size() * sizeof(T)};
    Inbox<T> inbox{in};
    exchange_bytes(sends, &Inbox<T>::receive, &inbox);
    if (inbox.is_full) throw std::bad_alloc();
    return in;
  }

  /// Collective. Values must not be negative. Sums of doubles are rounded to 2^-40 of the largest
  /// value, so that the result does not depend on the order of summation.
  std::uint64_t max(std::uint64_t value);
  std::uint64_t sum(std::uint64_t value);
  double max(double value);
  double sum(double value);
  /// Collective. Replaces each value by its sum over all ranks. All ranks pass the same number of
  /// values. Sums of doubles are rounded to 2^-40 of the largest value; sums of integers are taken
  /// modulo 2^64.
  void sum(std::vector<double>& values);
  void sum(std::span<std::uint64_t> values) { reduce(POISE_SUM, values); }

  /// Collective. Throws AgreedError on all ranks if one of them has failed.
  void agree() { agree(failure_); }
  /// Tells the other ranks that this rank has failed: their next collective call throws. Does not
  /// throw.
  void agree_on_failure(const std::string& text) noexcept;
  /// Tells the other ranks that this rank has failed because a message is missing. If another rank
  /// knows the cause, throws OtherRankError, which names that rank.
  void agree_on_missing(const std::string& text);

 private:
  struct Bytes {
    const void* data;
    std::uint64_t size;
  };
  /// Receives messages from a communication function. C code calls it, so it must not throw.
  template <typename T>
  struct Inbox {
    Mail<T>& in;
    bool is_full = false;
    static void receive(void* inbox, std::uint32_t from, const void* data,
                        std::uint64_t n) noexcept {
      auto& self = *static_cast<Inbox*>(inbox);
      try {
        std::vector<T>& items = self.in[from];
        items.resize(n / sizeof(T));
        if (!items.empty()) std::memcpy(items.data(), data, items.size() * sizeof(T));
      } catch (const std::bad_alloc&) {
        self.is_full = true;
      }
    }
  };
  void exchange_bytes(const std::map<std::uint32_t, Bytes>& sends, poise_receive receive,
                      void* receiver);
  void reduce(int reduction, std::span<std::uint64_t> values);
  void agree(const std::string& failure, bool is_missing = false);

  poise_communication table_;
  std::string failure_;      // why a communication function failed; thrown at the next agreement
  bool has_failed_ = false;  // an agreement failed on this rank and cannot be repeated
};

/// Runs `body`, which calls collectives. If it throws on one rank, all ranks throw AgreedError.
template <typename Body>
void agreed(Communicator& ranks, const Body& body) {
  std::string text;
  bool is_missing = false;
  try {
    body();
    ranks.agree();
    return;
  } catch (const AgreedError&) {
    throw;
  } catch (const MissingMessage& error) {
    text = error.what();
    is_missing = true;
  } catch (...) {
    text = thrown_text();
  }
  is_missing ? ranks.agree_on_missing(text) : ranks.agree_on_failure(text);
  throw AgreedError(text);
}

}  // namespace poise
