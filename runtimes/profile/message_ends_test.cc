// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/message_ends.h"

#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <optional>

#include "runtimes/profile/tuning.h"

#include "poise/base/random.h"

namespace poise::profile {
namespace {

constexpr std::int32_t kAny = Envelope::kAny;

/// MPI's matching rules by brute force: a message goes to the first posted receive that matches it,
/// and a receive takes the first message that matches it.
struct Mailbox {
  struct Message {
    std::int32_t source, tag;
    std::int64_t id;
  };
  struct Posted {
    Envelope envelope;
    MessageEnds::Id id;
    std::optional<Message> met = {};
  };
  static bool fits(const Envelope& wanted, const Message& message) {
    return (wanted.partner == kAny || wanted.partner == message.source) &&
           (wanted.tag == kAny || wanted.tag == message.tag);
  }
  void arrive(const Message& message) {
    for (Posted& receive : posted)
      if (!receive.met && fits(receive.envelope, message)) {
        receive.met = message;
        return;
      }
    unexpected.push_back(message);
  }
  void post(const Envelope& envelope, MessageEnds::Id id) {
    Posted receive{envelope, id};
    for (auto it = unexpected.begin(); it != unexpected.end(); ++it)
      if (fits(envelope, *it)) {
        receive.met = *it;
        unexpected.erase(it);
        break;
      }
    posted.push_back(receive);
  }
  std::deque<Message> unexpected;
  std::deque<Posted> posted;
};

/// Records sends, receives and completions in random order, and checks that both ends of each
/// message have the same stream and number.
void check_random_messages(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const auto draw = [&](int n) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(n)));
  };
  constexpr std::int32_t kReceiver = 3;
  std::vector<MessageEnds> senders = {MessageEnds(0), MessageEnds(1), MessageEnds(2)};
  MessageEnds receiver(kReceiver);
  Mailbox mailbox;
  std::map<std::int64_t, std::int64_t> met;  // receive -> message
  std::int64_t num_messages = 0, num_receives = 0;
  std::map<MessageEnds::Id, std::int64_t> receive_of;
  const auto complete_one = [&] {
    std::vector<std::size_t> done;
    for (std::size_t i = 0; i < mailbox.posted.size(); ++i)
      if (mailbox.posted[i].met) done.push_back(i);
    if (done.empty()) return;
    const std::size_t which = done[static_cast<std::size_t>(draw(static_cast<int>(done.size())))];
    const Mailbox::Posted receive = mailbox.posted[which];
    mailbox.posted.erase(mailbox.posted.begin() + static_cast<std::ptrdiff_t>(which));
    met[receive_of[receive.id]] = receive.met->id;
    Envelope& envelope = receiver.envelope(receive.id);
    envelope.partner = receive.met->source;
    envelope.tag = receive.met->tag;
    receiver.complete(receive.id, 0, 1);
  };
  for (int step = 0; step < 600; ++step) {
    const int what = draw(3);
    if (what == 0 && draw(4) == 0 && mailbox.unexpected.size() > 3) {  // a blocking receive
      const Mailbox::Message first = mailbox.unexpected.front();
      mailbox.unexpected.pop_front();
      met[num_receives] = first.id;
      receiver.received({.communicator = 7, .partner = first.source, .tag = first.tag},
                        num_receives++, 0, 1);
    } else if (what == 0) {
      const std::int32_t source = draw(3), tag = draw(2);
      MessageEnds& sender = senders[static_cast<std::size_t>(source)];
      const Envelope envelope{.communicator = 7, .partner = kReceiver, .tag = tag};
      if (draw(2) == 0)
        sender.complete(sender.begin_send(envelope, num_messages), 0, 1);
      else
        sender.sent(envelope, num_messages, 1);
      mailbox.arrive({source, tag, num_messages++});
    } else if (what == 1 && mailbox.posted.size() < 30) {
      const Envelope envelope{.communicator = 7,
                              .partner = draw(3) == 0 ? kAny : draw(3),
                              .tag = draw(4) == 0 ? kAny : draw(2)};
      const auto id = receiver.begin_receive(envelope, num_receives);
      receive_of[id] = num_receives++;
      mailbox.post(envelope, id);
    } else {
      complete_one();
    }
  }
  EXPECT_FALSE(receiver.has_given_up());
  std::map<std::int64_t, MessageEnd> sent;
  for (const MessageEnds& sender : senders)
    for (const MessageEnd& end : sender.sends()) sent[end.begun_ns] = end;
  EXPECT_GT(receiver.receives().size(), 30u);
  for (const MessageEnd& end : receiver.receives()) {
    const MessageEnd& other = sent.at(met.at(end.begun_ns));
    EXPECT_EQ(end.stream, other.stream);
    EXPECT_EQ(end.number, other.number);
  }
}

TEST(message_ends, sender_and_receiver_give_a_message_the_same_number) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) check_random_messages(seed);
}

/// Rank 0 has many more messages than rank 1, so rank 0 drops a larger part of its records.
/// Therefore rank 0 keeps fewer records of the messages between the two ranks than rank 1.
TEST(message_ends, records_both_ends_of_some_messages_even_if_one_rank_has_many_more_messages) {
  MessageEnds busy(0), idle(1);
  const Envelope to_idle{.communicator = 1, .partner = 1, .tag = 4};
  const Envelope from_busy{.communicator = 1, .partner = 0, .tag = 4};
  const Envelope elsewhere{.communicator = 1, .partner = 2, .tag = 4};
  for (std::size_t i = 0; i < tuning::kMaxEnds - 1; ++i) {
    busy.complete(busy.begin_send(to_idle, 0), 0, 1);
    idle.complete(idle.begin_receive(from_busy, 0), 0, 1);
    for (int k = 0; k < 7; ++k) busy.complete(busy.begin_send(elsewhere, 0), 0, 1);
  }
  EXPECT_EQ(idle.stride(), 1u);
  EXPECT_GE(busy.stride(), 8u);
  EXPECT_LT(busy.sends().size(), tuning::kMaxEnds);
  EXPECT_GT(busy.sends().size(), tuning::kMaxEnds / 4);
  std::map<std::uint32_t, int> numbers;
  for (const MessageEnd& end : idle.receives()) ++numbers[end.number];
  std::size_t common = 0;
  for (const MessageEnd& end : busy.sends())
    common += end.partner == 1 ? numbers.count(end.number) : 0;
  EXPECT_GT(common, tuning::kMaxEnds / 32);
}

TEST(message_ends, stops_recording_if_too_many_receives_with_MPI_ANY_SOURCE_are_queued) {
  MessageEnds ends(0);
  for (std::size_t i = 0; i <= tuning::kMaxQueuedReceives; ++i) {
    EXPECT_FALSE(ends.has_given_up());
    ends.begin_receive({.communicator = 1, .partner = kAny, .tag = 1}, 0);
  }
  EXPECT_TRUE(ends.has_given_up());
  EXPECT_EQ(ends.begin_send({.communicator = 1, .partner = 1, .tag = 1}, 0), MessageEnds::kNone);
}

}  // namespace
}  // namespace poise::profile
