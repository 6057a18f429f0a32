// SPDX-License-Identifier: BSD-3-Clause
// Who waited for whom in messages: both ends of the same messages compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/profile/clock.h"
#include "runtimes/profile/message_ends.h"
#include "runtimes/profile/wait.h"

namespace poise::profile {

/// Each rank writes a letter to each partner, reads those of its partners, and then knows its
/// waits: a receiver waits for a late sender, a sender whose call needs the receiver for a late
/// receiver. A call that waits for several messages waits for the last of them.
class MessageWaits {
 public:
  MessageWaits(const MessageEnds& ends, const CommonClock& clock);

  /// When own sends and receives began, by the common clock: to each partner its part.
  std::map<int, std::string> letters() const;
  /// Takes what a partner has written; what is not a letter is ignored.
  void read(int partner, std::string_view letter);

  /// One for each call of which at least one message was compared.
  std::vector<Wait> waits() const;
  /// Messages received before they were sent: they are not of the same stream after all.
  std::uint64_t num_contradictions() const { return num_contradictions_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // stream, number
  struct Ends {
    std::map<Key, MessageEnd> sends, receives;
  };
  void compare(const MessageEnd& own, bool is_send, int partner, std::int64_t partner_begun_ns);

  CommonClock clock_;
  std::map<int, Ends> by_partner_;
  std::map<std::int64_t, Wait> by_call_;  // by when the call was entered
  std::uint64_t num_contradictions_ = 0;
};

}  // namespace poise::profile
