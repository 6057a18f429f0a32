// SPDX-License-Identifier: BSD-3-Clause
// Groups of PEs that decide separately ask each other where the receivers of messages are. charmc
// compiles this header as well, so it must be valid C++17.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/charm/statistics.h"

namespace poise::charm {

/// A question to the group of `last_known_pe`: on which PE is the object now? The group tells
/// `sender_pe`, a PE of another group that sends messages to the object.
struct Question {
  ObjectName object;
  std::int32_t last_known_pe = 0;
  std::int32_t sender_pe = 0;
  std::int32_t step = 0;       // number of the balancing step
  std::int16_t num_asked = 0;  // number of groups asked before this one
  bool must_tell = false;      // true: tell even if the object is still on `last_known_pe`
};

/// The PE `told_pe` is to learn that the object is on `pe`.
struct News {
  ObjectName object;
  std::int32_t pe = 0;
  std::int32_t told_pe = 0;
};

/// An object of a group after a decision.
struct GroupObject {
  ObjectName name;
  std::int32_t pe = 0;  // its new PE; if it left the group, the first PE of its new group
  bool has_moved = false, has_left = false;
};

/// Stores where the objects of one group are after its last decision, in 24 bytes per object, and
/// answers questions of other groups about them. Questions may arrive before this group has
/// decided.
class GroupLocations {
 public:
  struct Answers {
    std::vector<News> news;
    std::vector<Question> passed_on;  // to the group to which the object has moved
    std::vector<Question> unknown;    // about objects that this group does not list
  };

  /// Answers the questions, except those about balancing steps in which the group has not decided
  /// yet.
  Answers ask(const std::vector<Question>& questions);

  /// Replaces the objects of the group after a decision, and answers the questions that waited for
  /// this decision. `objects` must list each object once. O(n log n) for n objects.
  Answers decide(std::int32_t step, std::vector<GroupObject> objects);

 private:
  void answer(const Question& question, Answers& answers) const;

  std::int32_t step_ = -1;
  std::vector<GroupObject> objects_;  // in order of name
  std::vector<Question> waiting_;
};

/// Called if the group of question.last_known_pe does not have the object. Returns a question to
/// the group of `pe`, the PE on which the object was last known to be. Returns no question if `pe`
/// is unknown (-1) or equals last_known_pe, or if the maximum number of groups has been asked
/// already.
std::vector<Question> asked_again(const Question& question, std::int32_t pe);

}  // namespace poise::charm
