// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/message_waits.h"

#include <gtest/gtest.h>

namespace poise::profile {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Two ranks, and the reports that they exchange. Rank 0's clock is `ahead` ns ahead of
/// rank 1's.
struct Pair {
  MessageEnds zero{0}, one{1};
  std::int64_t ahead = 0;

  /// Records a message from rank 0 to rank 1; times are on the common clock.
  void message(std::int64_t send_ns, std::int64_t sent_ns, std::int64_t post_ns,
               std::int64_t wait_ns, std::int64_t received_ns, std::int32_t tag = 1) {
    zero.complete(zero.begin_send({.communicator = 1, .partner = 1, .tag = tag}, send_ns), send_ns,
                  sent_ns - send_ns);
    one.complete(one.begin_receive({.communicator = 1, .partner = 0, .tag = tag}, post_ns - ahead),
                 wait_ns - ahead, received_ns - wait_ns);
  }
  std::vector<Wait> waits_of(int rank) {
    MessageWaits first(zero, {}), second(one, CommonClock({.ahead_ns = ahead}));
    const auto reports_of_zero = first.reports(), reports_of_one = second.reports();
    first.read(1, reports_of_one.at(0));
    second.read(0, reports_of_zero.at(1));
    return (rank == 0 ? first : second).waits();
  }
};

TEST(message_waits, a_receiver_waits_for_a_late_sender) {
  for (const std::int64_t ahead : {0L, 5000 * kMs, -77 * kMs}) {
    Pair pair{.ahead = ahead};
    pair.message(30 * kMs, 31 * kMs, 10 * kMs, 10 * kMs, 32 * kMs);
    const auto waits = pair.waits_of(1);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].waited_ns, 20 * kMs);
    EXPECT_EQ(waits[0].took_ns, 22 * kMs);
    EXPECT_EQ(waits[0].for_whom, 0);
    EXPECT_FALSE(waits[0].is_for_receiver);
    EXPECT_EQ(pair.waits_of(0)[0].waited_ns, 0);
  }
}

TEST(message_waits, a_receive_that_was_posted_early_waits_only_during_its_wait_call) {
  Pair pair;
  pair.message(30 * kMs, 31 * kMs, 1 * kMs, 25 * kMs, 32 * kMs);
  EXPECT_EQ(pair.waits_of(1)[0].waited_ns, 5 * kMs);
}

TEST(message_waits, a_sender_waits_unless_its_send_ends_before_the_receive_is_posted) {
  Pair must, need_not;
  must.message(10 * kMs, 45 * kMs, 40 * kMs, 40 * kMs, 46 * kMs);
  // The send of this message ended at 11 ms, long before its receive was posted at 40 ms.
  need_not.message(10 * kMs, 11 * kMs, 40 * kMs, 40 * kMs, 41 * kMs);
  EXPECT_EQ(must.waits_of(0)[0].waited_ns, 30 * kMs);
  EXPECT_TRUE(must.waits_of(0)[0].is_for_receiver);
  EXPECT_EQ(need_not.waits_of(0)[0].waited_ns, 0);
}

TEST(message_waits, a_call_for_several_messages_waits_for_the_last_one) {
  Pair pair;
  pair.message(20 * kMs, 21 * kMs, 1 * kMs, 10 * kMs, 50 * kMs, 1);
  pair.message(45 * kMs, 46 * kMs, 1 * kMs, 10 * kMs, 50 * kMs, 2);
  pair.message(30 * kMs, 31 * kMs, 1 * kMs, 10 * kMs, 50 * kMs, 3);
  const auto waits = pair.waits_of(1);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].waited_ns, 35 * kMs);
}

TEST(message_waits, a_message_that_seems_to_be_received_before_it_was_sent_causes_no_wait) {
  Pair pair;
  pair.message(60 * kMs, 61 * kMs, 10 * kMs, 10 * kMs, 32 * kMs);
  EXPECT_EQ(pair.waits_of(1)[0].waited_ns, 0);
}

TEST(message_waits, received_bytes_that_are_not_a_record_are_ignored) {
  Pair pair;
  pair.message(30 * kMs, 31 * kMs, 10 * kMs, 10 * kMs, 32 * kMs);
  MessageWaits waits(pair.one, {});
  for (const std::string& text :
       {std::string(), std::string(7, 'x'), std::string(8, '\xff'), std::string(100, '\0')})
    waits.read(0, text);
  waits.read(5, std::string(32, 'x'));
  EXPECT_TRUE(waits.waits().empty());
}

}  // namespace
}  // namespace poise::profile
