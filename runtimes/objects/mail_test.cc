#include "runtimes/objects/mail.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace poise::objects {
namespace {

/// Two houses: even objects and odd ones.
class Houses final : public Routes {
 public:
  Buffer& buffer_for(ObjectId to) override { return house[to % 2]; }
  void note(ObjectId from, ObjectId to, std::uint64_t bytes) override {
    noted.push_back({from, to, bytes});
  }
  Buffer house[2];
  struct Note {
    ObjectId from, to;
    std::uint64_t bytes;
    friend bool operator==(const Note&, const Note&) = default;
  };
  std::vector<Note> noted;
};

struct Read {
  ObjectId from;
  std::vector<ObjectId> to;
  std::string text;
  friend bool operator==(const Read&, const Read&) = default;
};

std::vector<Read> letters_in(const Buffer& buffer) {
  std::vector<Read> all;
  for (auto bytes = buffer.bytes(); !bytes.empty();) {
    const Letter letter = next_letter(bytes);
    all.push_back({letter.from,
                   {letter.to.begin(), letter.to.end()},
                   Mail(letter.from, letter.payload).as<std::string>()});
  }
  return all;
}

TEST(Outbox, letters_lie_in_the_order_in_which_they_were_sent) {
  Houses houses;
  Outbox outbox(houses, 7);
  outbox.send(2, std::string("first"));
  outbox.send(3, std::string("elsewhere"));
  outbox.send(4, std::string(""));
  EXPECT_EQ(letters_in(houses.house[0]), (std::vector<Read>{{7, {2}, "first"}, {7, {4}, ""}}));
  EXPECT_EQ(letters_in(houses.house[1]), (std::vector<Read>{{7, {3}, "elsewhere"}}));
}

TEST(Outbox, a_message_to_many_is_there_once_per_house) {
  Houses houses;
  Outbox outbox(houses, 1);
  outbox.send_to_all(std::vector<ObjectId>{5, 2, 4, 9}, std::string("hello"));
  EXPECT_EQ(letters_in(houses.house[0]), (std::vector<Read>{{1, {2, 4}, "hello"}}));
  EXPECT_EQ(letters_in(houses.house[1]), (std::vector<Read>{{1, {5, 9}, "hello"}}));
  const std::uint64_t bytes = to_bytes(std::string("hello")).size();
  EXPECT_EQ(houses.noted, (std::vector<Houses::Note>{
                              {1, 5, bytes}, {1, 2, bytes}, {1, 4, bytes}, {1, 9, bytes}}));
}

TEST(Outbox, nobody_gets_a_message_to_nobody) {
  Houses houses;
  Outbox(houses, 1).send_to_all({}, std::string("hello"));
  EXPECT_TRUE(houses.house[0].empty() && houses.house[1].empty() && houses.noted.empty());
}

TEST(Mail, blocks_are_read_in_place) {
  Houses houses;
  Outbox outbox(houses, 1);
  outbox.send(0, std::string("shifts what follows"));
  outbox.send(0, 'x', std::vector<double>{1, 2, 3});
  auto bytes = houses.house[0].bytes();
  next_letter(bytes);
  const Letter letter = next_letter(bytes);
  char c = 0;
  std::span<const double> view;
  Mail(1, letter.payload).read(c, view);
  EXPECT_EQ(c, 'x');
  EXPECT_EQ(std::vector<double>(view.begin(), view.end()), (std::vector<double>{1, 2, 3}));
}

TEST(Letters, a_cut_is_noticed) {
  Houses houses;
  Outbox outbox(houses, 1);
  outbox.send(0, std::string("some text"));
  const auto whole = houses.house[0].bytes();
  // Zeros that pad the end are not missed.
  const std::size_t needed = 16 + 16 + to_bytes(std::string("some text")).size();
  for (std::size_t size = 1; size < needed; ++size) {
    auto bytes = whole.first(size);
    EXPECT_THROW(next_letter(bytes), Error) << size;
  }
}

}  // namespace
}  // namespace poise::objects
