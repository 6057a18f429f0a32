// SPDX-License-Identifier: BSD-3-Clause
// Irregular communication, like Charm++'s commBench. A few objects have many partners, most have
// few. Messages have a few bytes to many kilobytes. Partners change with time. Sender and receiver
// count and hash every message, so the check proves that each message arrives exactly once, in the
// step after it was sent.
#pragma once

#include <vector>

#include "miniapps/program.h"

#include "poise/base/random.h"

namespace poise::miniapps::commbench {

struct Settings {
  std::uint32_t objects = 128;
  std::uint32_t partners = 24;  // number of partners of the object with the most partners
  std::uint32_t bytes = 32768;  // size of the largest message
  std::uint32_t work = 10000;   // rounds of hashing per step
  std::uint32_t period = 50;    // an object changes its partners after this many steps
};

/// Number, bytes and hash of the messages that an object sent, or of those that it received.
struct Tally {
  std::uint64_t messages = 0, bytes = 0, hash = 0;

  void note(ObjectId from, ObjectId to, std::uint64_t step, std::uint32_t number,
            std::uint64_t size) {
    ++messages;
    bytes += size;
    hash += mix(mix(mix(mix(from) + to) + step) + number) + mix(size);
  }
  Tally& operator+=(const Tally& other) {
    messages += other.messages;
    bytes += other.bytes;
    hash += other.hash;
    return *this;
  }
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct Talker {
  ObjectId id = 0;
  Settings settings;
  std::uint64_t now = 0, last = 0;  // current and last step; the last step sends nothing
  std::uint64_t state = 0;
  Tally sent, received;

  void step(const Inbox& inbox, Outbox& outbox) {
    for (const Mail& mail : inbox) receive(mail);
    for (std::uint32_t i = 0; i < settings.work; ++i) state = mix(state);
    if (now < last) talk(outbox);
    ++now;
  }

  void receive(const Mail& mail) {
    std::uint64_t step = 0;
    std::uint32_t number = 0;
    std::span<const std::uint64_t> words;
    mail.read(step, number, words);
    if (step + 1 != now)
      fail("a message sent in step {} arrived in step {}; it must arrive in step {}", step, now,
           step + 1);
    received.note(mail.from(), id, step, number, words.size_bytes());
    for (const std::uint64_t word : words) state = mix(state ^ word);
  }

  /// Sends to the current partners. On average three quarters of them have ids slightly above this
  /// object's id; the others have random ids.
  void talk(Outbox& outbox) {
    Random random(mix(mix(id + 1) + now / settings.period));
    const double many = random.uniform(), distance = settings.objects / 16 + 1;
    const auto num_partners =
        1 + static_cast<std::uint32_t>(many * many * many * (settings.partners - 1));
    for (std::uint32_t number = 0; number < num_partners; ++number) {
      const bool is_near = random.uniform() < 0.75;
      const double reach = is_near ? distance : settings.objects;
      const auto to = static_cast<ObjectId>(
          (id + 1 + static_cast<std::uint64_t>(random.uniform() * reach)) % settings.objects);
      const double size = random.uniform();
      const std::vector<std::uint64_t> words(
          static_cast<std::size_t>(size * size * size * settings.bytes / 8), state);
      outbox.send(to, now, number, words);
      sent.note(id, to, now, number, words.size() * 8);
    }
  }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(id, settings, now, last, state, sent, received);
  }
};

struct Sums {
  std::uint64_t state = 0;
  Tally sent, received;
  Sums& operator+=(const Sums& other) {
    state += other.state;
    sent += other.sent;
    received += other.received;
    return *this;
  }
};

/// Defines the mini-app: its settings, its objects, and the check of its results.
struct Program : Settings {
  static constexpr const char* kName = "commbench";
  static constexpr const char* kSummary = "Irregular communication that changes with time.";
  std::uint64_t iterations = 100;

  void add_options(Arguments& arguments) {
    arguments.add("--objects", objects, "number of objects", 1, 10000000);
    arguments.add("--partners", partners, "partners of the object with the most partners", 1,
                  100000);
    arguments.add("--bytes", bytes, "bytes of the largest message", 0, 1 << 30);
    arguments.add("--work", work, "rounds of hashing per step", 0, 1000000000);
    arguments.add("--change", period, "steps until an object changes its partners", 1, 1000000000);
  }
  ObjectId num_objects() const { return objects; }
  std::uint64_t steps() const { return iterations + 1; }
  Talker object(ObjectId id) const {
    return {.id = id,
            .settings = *this,
            .last = iterations,
            .state = mix(id),
            .sent = {},
            .received = {}};
  }
  Sums sum_of(const Talker& talker) const { return {talker.state, talker.sent, talker.received}; }
  double checksum(const Sums& sums) const { return sums.state >> 11; }
  void check(const Sums&, const Sums& last) const {
    fmt::print("{} messages of {} bytes sent, {} of {} received\n", last.sent.messages,
               last.sent.bytes, last.received.messages, last.received.bytes);
    if (last.sent != last.received) fail("some messages were lost or arrived twice");
  }
};

}  // namespace poise::miniapps::commbench
