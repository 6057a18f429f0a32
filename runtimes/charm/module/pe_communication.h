// SPDX-License-Identifier: BSD-3-Clause
// Collectives between PEs, made from the messages of a chare group. A thread of each PE calls them
// and is suspended until they end, while the PE runs its other entry methods.
#pragma once

#include <algorithm>
#include <charm++.h>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "poise/communication.h"

namespace poise::charm {

/// `Group` is the chare group. It has the entry methods take(), taken(), all_taken() and reduced(),
/// which call the functions of the same names here.
///
/// An exchange ends on all PEs when all messages have arrived. Each message is acknowledged. A PE
/// that has received all its acknowledgements contributes to a reduction, and all PEs are told when
/// the reduction is complete. A PE may begin the next exchange before other PEs are told that this
/// one is complete, so messages carry the number of their exchange.
template <typename Group>
class PeCommunication {
 public:
  explicit PeCommunication(Group& group) : group_(group) {}

  poise_communication table() {
    const std::uint32_t pe = CkMyPe(), num_pes = CkNumPes();
    return {this, pe, num_pes, exchange, reduce};
  }

  /// Called when a message of another PE has arrived.
  void take(int round, int from, int size, const char* data) {
    inbox_[round].push_back({from, {data, data + size}});
    group_.thisProxy[from].taken();
  }
  /// Called when another PE has received a message of this PE.
  void taken() {
    if (--num_sent_ == 0) wake();
  }
  /// Called when all PEs have received all messages of an exchange.
  void all_taken() {
    ++num_ended_;
    wake();
  }
  void reduced(CkReductionMsg* result) {
    result_ = result;
    wake();
  }

 private:
  struct Message {
    int from;
    std::vector<char> data;
  };

  static int exchange(void* context, std::uint64_t num_sends, const std::uint32_t* to,
                      const void* const* data, const std::uint64_t* bytes, poise_receive receive,
                      void* receiver) {
    auto& self = *static_cast<PeCommunication*>(context);
    // If a message is too long, this PE sends none of its messages. It still joins the exchange,
    // because the other PEs wait for it.
    const bool fits =
        std::all_of(bytes, bytes + num_sends, [](std::uint64_t size) { return size <= kMaxBytes; });
    if (!fits) num_sends = 0;
    const int round = ++self.round_;
    self.num_sent_ += num_sends;
    for (std::uint64_t i = 0; i < num_sends; ++i) self.send(to[i], data[i], bytes[i]);
    self.wait_until([&] { return self.num_sent_ == 0; });
    self.group_.contribute(CkCallback(Group::index_of_all_taken(), self.group_.thisProxy));
    self.wait_until([&] { return self.num_ended_ == round; });
    for (const Message& message : self.inbox_[round])
      receive(receiver, message.from, message.data.data(), message.data.size());
    self.inbox_.erase(round);
    return fits ? 0 : kTooLong;
  }

  static int reduce(void* context, int reduction, std::uint64_t count, std::uint64_t* values) {
    auto& self = *static_cast<PeCommunication*>(context);
    const int bytes = count * sizeof(std::uint64_t);
    self.group_.contribute(
        bytes, values,
        reduction == POISE_MAX ? CkReduction::max_ulong_long : CkReduction::sum_ulong_long,
        CkCallback(Group::index_of_reduced(), self.group_.thisProxy));
    self.wait_until([&] { return self.result_ != nullptr; });
    std::memcpy(values, self.result_->getData(), bytes);
    delete std::exchange(self.result_, nullptr);
    return 0;
  }

  void send(int to, const void* data, int bytes) {
    group_.thisProxy[to].take(round_, CkMyPe(), bytes, static_cast<const char*>(data));
  }

  template <typename Condition>
  void wait_until(const Condition& holds) {
    while (!holds()) {
      waiting_ = CthSelf();
      CthSuspend();
    }
  }

  void wake() {
    if (waiting_ != nullptr) CthAwaken(std::exchange(waiting_, nullptr));
  }

  static constexpr std::uint64_t kMaxBytes = 0x7fff0000;  // the size of a message is an int
  static constexpr int kTooLong = 1;

  Group& group_;
  int round_ = 0, num_ended_ = 0;
  std::uint64_t num_sent_ = 0;                 // messages that are not acknowledged yet
  std::map<int, std::vector<Message>> inbox_;  // by the number of the exchange
  CkReductionMsg* result_ = nullptr;
  CthThread waiting_ = nullptr;
};

}  // namespace poise::charm
