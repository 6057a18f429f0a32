// SPDX-License-Identifier: BSD-3-Clause
// Sends PEs what they must know to send messages straight to objects that a balancer has moved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/questions.h"

PUPbytes(poise::charm::Question);

namespace poise::charm {

/// Stores on a PE the locations of objects that other PEs report to it. Ignores a report about a
/// balancing step if reports about a later step have already arrived.
class Learner {
 public:
  /// The object with the id ids[i] of the array arrays[i] is on the PE at[i].
  void learn(int step, const std::vector<int>& arrays, const std::vector<CmiUInt8>& ids,
             const std::vector<int>& at) {
    if (step < step_) return;
    step_ = step;
    for (std::size_t i = 0; i < ids.size(); ++i) learn_location({ids[i], arrays[i]}, at[i]);
  }

 private:
  int step_ = -1;
};

/// Tells PEs where objects are. `news(i)`, for i below `count`, names a PE and the object about
/// which to tell this PE; the items for the same PE must be adjacent. `group` is the balancer's
/// chare group.
template <typename Proxy, typename NewsOf>
void tell(Proxy group, int step, std::size_t count, const NewsOf& news) {
  std::vector<int> arrays, at;
  std::vector<CmiUInt8> ids;
  for (std::size_t i = 0; i < count; ++i) {
    const News now = news(i);
    arrays.push_back(now.object.array);
    ids.push_back(now.object.id);
    at.push_back(now.pe);
    if (i + 1 < count && news(i + 1).told_pe == now.told_pe) continue;
    group[now.told_pe].learn(step, arrays, ids, at);
    arrays.clear(), ids.clear(), at.clear();
  }
}

/// Tells the senders of messages where the receivers are after a decision.
template <typename Proxy>
void tell_locations(Proxy group, int step, const Decision& decision, const Statistics& statistics) {
  tell(group, step, decision.locations.size(), [&](std::size_t i) -> News {
    const Location& location = decision.locations[i];
    return {statistics.object(location.object).name,
            statistics.pes[decision.pe_of_object[location.object]].number,
            statistics.pes[location.sender_pe].number};
  });
}

/// On the first PE of a group that decides separately: tells the senders of messages where the
/// receivers are, including receivers in other groups.
template <typename Proxy>
class GroupTeller {
 public:
  /// `group` is the balancer's chare group. `first_of_group` maps a PE to the first PE of its
  /// group, which decides for it.
  GroupTeller(Proxy group, std::function<int(int)> first_of_group)
      : group_(group), first_of_group_(std::move(first_of_group)) {}

  /// Records that an object leaves this group in the current balancing step. `first` is the first
  /// PE of its new group.
  void leaves(const ObjectName& object, int first) {
    objects_.push_back({object, first, true, true});
  }

  /// Must be called after each decision of the group.
  void decided(int step, const Decision& decision, const Statistics& statistics) {
    tell_locations(group_, step, decision, statistics);
    if (statistics.has_all_pes) return;
    for (std::size_t i = 0; i < decision.pe_of_object.size(); ++i) {
      const ObjectRow object = statistics.object(i);
      const int pe = decision.pe_of_object[i];
      objects_.push_back({object.name, statistics.pes[pe].number, pe != object.pe, false});
    }
    std::vector<Question> questions = decision.questions;
    for (Question& question : questions) {
      question.sender_pe = statistics.pes[question.sender_pe].number;
      question.step = step;
    }
    send_questions(std::move(questions));
    act_on(step, locations_.decide(step, std::exchange(objects_, {})));
  }

  /// Answers questions of another group about objects of this group.
  void ask(const std::vector<Question>& questions) {
    if (!questions.empty()) act_on(questions.front().step, locations_.ask(questions));
  }

  /// On any PE: handles questions about objects that the group of this PE does not have. If this PE
  /// knows on which PE such an object is, passes the question on to the group of the object's PE.
  void look_up(const std::vector<Question>& questions) {
    std::vector<Question> again;
    for (const Question& question : questions)
      for (const Question& next : asked_again(question, known_pe(question.object)))
        again.push_back(next);
    send_questions(std::move(again));
  }

 private:
  /// Sends each question to the PE that `pe_of` gives for it. All questions for one PE go in one
  /// message.
  template <typename PeOf, typename Send>
  static void send(std::vector<Question> questions, const PeOf& pe_of, const Send& send_to) {
    std::stable_sort(questions.begin(), questions.end(),
                     [&](const Question& a, const Question& b) { return pe_of(a) < pe_of(b); });
    for (auto first = questions.begin(); first != questions.end();) {
      const int pe = pe_of(*first);
      const auto end =
          std::find_if(first, questions.end(), [&](const Question& q) { return pe_of(q) != pe; });
      send_to(pe, std::vector<Question>(first, end));
      first = end;
    }
  }

  void send_questions(std::vector<Question> questions) {
    send(
        std::move(questions), [&](const Question& q) { return first_of_group_(q.last_known_pe); },
        [&](int pe, const std::vector<Question>& part) { group_[pe].ask(part); });
  }

  void act_on(int step, GroupLocations::Answers answers) {
    std::stable_sort(answers.news.begin(), answers.news.end(),
                     [](const News& a, const News& b) { return a.told_pe < b.told_pe; });
    tell(group_, step, answers.news.size(), [&](std::size_t i) { return answers.news[i]; });
    send_questions(std::move(answers.passed_on));
    send(
        std::move(answers.unknown), [](const Question& q) { return q.last_known_pe; },
        [&](int pe, const std::vector<Question>& part) { group_[pe].look_up(part); });
  }

  Proxy group_;
  std::function<int(int)> first_of_group_;
  GroupLocations locations_;
  std::vector<GroupObject> objects_;  // the group's objects in the current decision
};

}  // namespace poise::charm
