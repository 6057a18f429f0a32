// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/message_waits.h"

#include <algorithm>

#include "runtimes/profile/bytes.h"

namespace poise::profile {

namespace {

/// The entry of a report for one send or one receive.
struct Line {
  std::uint64_t stream = 0, number = 0;
  std::int64_t begun_ns = 0;
};

}  // namespace

MessageWaits::MessageWaits(const MessageEnds& ends, const CommonClock& clock) : clock_(clock) {
  for (const MessageEnd& end : ends.sends())
    by_partner_[end.partner].sends[{end.stream, end.number}] = end;
  for (const MessageEnd& end : ends.receives())
    by_partner_[end.partner].receives[{end.stream, end.number}] = end;
}

std::map<int, std::string> MessageWaits::reports() const {
  std::map<int, std::string> reports;
  for (const auto& [partner, ends] : by_partner_) {
    std::string& report = reports[partner];
    bytes::append(report, std::uint64_t{ends.sends.size()});
    for (const auto* const side : {&ends.sends, &ends.receives})
      for (const auto& [key, end] : *side)
        bytes::append(report, Line{key.first, key.second, clock_.common_ns(end.begun_ns)});
  }
  return reports;
}

void MessageWaits::read(int partner, std::string_view report) {
  const auto known = by_partner_.find(partner);
  std::uint64_t num_sends = 0;
  if (known == by_partner_.end() || !bytes::take(report, num_sends)) return;
  Line line;
  for (std::uint64_t i = 0; bytes::take(report, line); ++i) {
    // True if the partner sent the message and this rank received it.
    const bool was_sent = i < num_sends;
    const auto& own = was_sent ? known->second.receives : known->second.sends;
    const auto found = own.find({line.stream, static_cast<std::uint32_t>(line.number)});
    if (found != own.end()) compare(found->second, !was_sent, partner, line.begun_ns);
  }
}

void MessageWaits::compare(const MessageEnd& own, bool is_send, int partner,
                           std::int64_t partner_begun_ns) {
  const std::int64_t entered_ns = clock_.common_ns(own.wait_begun_ns);
  const bool is_behind = partner_begun_ns > entered_ns + own.took_ns;
  if (own.took_ns <= 0) return;
  // If the sender's call ended before the receive was posted, the sender did not wait for the
  // receiver.
  const std::int64_t waited_ns =
      is_behind ? 0 : std::clamp<std::int64_t>(partner_begun_ns - entered_ns, 0, own.took_ns);
  const auto [entry, is_new] = by_call_.try_emplace(
      own.wait_begun_ns,
      Wait{.entered_ns = own.wait_begun_ns, .took_ns = own.took_ns, .what = WaitsFor::message});
  Wait& call = entry->second;
  if (waited_ns <= call.waited_ns) return;
  call.waited_ns = waited_ns;
  call.for_whom = partner;
  call.is_for_receiver = is_send;
}

std::vector<Wait> MessageWaits::waits() const {
  std::vector<Wait> waits;
  for (const auto& [entered_ns, wait] : by_call_) waits.push_back(wait);
  return waits;
}

}  // namespace poise::profile
