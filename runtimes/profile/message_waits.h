// SPDX-License-Identifier: BSD-3-Clause
// Finds which rank waited for which other rank in a send or receive: for each message, compares
// what the sender and the receiver recorded.
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

/// The time that a rank waited in its sends and receives. To compute it, ranks that exchanged
/// messages send each other reports of when they began their sends and receives. A receiver waits
/// for a sender that comes late; a sender waits for a late receiver if its call cannot end without
/// the receiver. A call that waits for several messages is counted as waiting for the last of them.
class MessageWaits {
 public:
  MessageWaits(const MessageEnds& ends, const CommonClock& clock);

  /// Returns a report for each partner: it lists when this rank began its sends to the partner and
  /// its receives from the partner, on the common clock.
  std::map<int, std::string> reports() const;
  /// Reads the report of a partner. Ignores bytes that are not a report.
  void read(int partner, std::string_view report);

  /// Returns one wait for each call with at least one message whose send and receive are known.
  std::vector<Wait> waits() const;

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // stream, number
  struct Ends {
    std::map<Key, MessageEnd> sends, receives;
  };
  void compare(const MessageEnd& own, bool is_send, int partner, std::int64_t partner_begun_ns);

  CommonClock clock_;
  std::map<int, Ends> by_partner_;
  std::map<std::int64_t, Wait> by_call_;  // keyed by the time at which the call began
};

}  // namespace poise::profile
