// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/questions.h"

#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <utility>

#include "poise/base/random.h"

namespace poise::charm {
namespace {

constexpr std::int32_t kPesPerGroup = 3;

std::int32_t first_of_group(std::int32_t pe) { return pe / kPesPerGroup * kPesPerGroup; }

ObjectName name_of(std::size_t object) { return {object, 1}; }

/// Groups of PEs whose objects move, and whose messages arrive in a random order.
class Groups {
 public:
  Groups(std::uint64_t seed, std::int32_t num_groups, std::size_t num_objects)
      : random_(seed), groups_(static_cast<std::size_t>(num_groups)) {
    for (std::size_t i = 0; i < num_objects; ++i) before_.push_back(random_pe());
    after_ = before_;
  }

  std::int32_t random_pe() {
    return static_cast<std::int32_t>(random_.below(groups_.size() * kPesPerGroup));
  }
  std::size_t random_object() { return random_.below(before_.size()); }
  bool is_heads() { return random_.below(2) == 0; }

  /// Begins a balancing step that moves half of the objects.
  void begin(std::int32_t step) {
    before_ = after_;
    step_ = step;
    for (std::int32_t& pe : after_)
      if (is_heads()) pe = random_pe();
    undecided_.clear();
    for (std::size_t group = 0; group < groups_.size(); ++group) undecided_.push_back(group);
    learnt_.clear();
  }

  std::int32_t before(std::size_t object) const { return before_[object]; }
  std::int32_t after(std::size_t object) const { return after_[object]; }

  void ask(Question question) {
    question.step = step_;
    questions_.push_back(question);
  }

  /// Lets all groups decide and delivers all questions.
  void run() {
    while (!undecided_.empty() || !questions_.empty()) {
      const bool decides = questions_.empty() || (!undecided_.empty() && is_heads());
      if (decides)
        decide(taken(undecided_));
      else
        deliver(taken(questions_));
    }
  }

  /// Returns the PE on which `object` is, according to the last report to `sender_pe`; nothing if
  /// that PE got no report about it.
  std::optional<std::int32_t> learnt(std::int32_t sender_pe, std::size_t object) const {
    const auto at = learnt_.find({sender_pe, object});
    if (at == learnt_.end()) return {};
    return at->second;
  }

 private:
  template <typename T>
  T taken(std::vector<T>& items) {
    std::swap(items[random_.below(items.size())], items.back());
    const T item = items.back();
    items.pop_back();
    return item;
  }

  GroupLocations& group_of(std::int32_t pe) {
    return groups_[static_cast<std::size_t>(pe / kPesPerGroup)];
  }

  void decide(std::size_t group) {
    const std::int32_t first = static_cast<std::int32_t>(group) * kPesPerGroup;
    std::vector<GroupObject> objects;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const bool is_here = first_of_group(after_[i]) == first;
      if (is_here)
        objects.push_back({name_of(i), after_[i], before_[i] != after_[i], false});
      else if (first_of_group(before_[i]) == first)
        objects.push_back({name_of(i), first_of_group(after_[i]), true, true});
    }
    act_on(groups_[group].decide(step_, objects));
  }

  void deliver(const Question& question) {
    act_on(group_of(question.last_known_pe).ask({question}));
  }

  void act_on(const GroupLocations::Answers& answers) {
    for (const News& news : answers.news) learnt_[{news.told_pe, news.object.id}] = news.pe;
    for (const Question& question : answers.passed_on) questions_.push_back(question);
    for (const Question& question : answers.unknown) {
      // The PE that is asked knows, at random, either where the object was before the balancing
      // step or where it is after the step.
      const std::size_t object = question.object.id;
      for (const Question& next :
           asked_again(question, is_heads() ? before_[object] : after_[object]))
        questions_.push_back(next);
    }
  }

  Random random_;
  std::vector<GroupLocations> groups_;
  std::vector<std::int32_t> before_, after_;
  std::int32_t step_ = -1;
  std::vector<std::size_t> undecided_;
  std::vector<Question> questions_;
  std::map<std::pair<std::int32_t, std::size_t>, std::int32_t> learnt_;
};

TEST(Questions,
     a_sender_learns_the_pe_of_every_moved_receiver_regardless_of_the_order_of_messages) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Groups groups(seed, 4, 30);
    for (std::int32_t step = 0; step < 4; ++step) {
      groups.begin(step);
      std::vector<std::pair<std::size_t, std::size_t>> pairs;
      for (int i = 0; i < 20; ++i) {
        const std::size_t from = groups.random_object(), to = groups.random_object();
        if (first_of_group(groups.after(from)) == first_of_group(groups.after(to))) continue;
        pairs.emplace_back(from, to);
        groups.ask({name_of(to), groups.before(to), groups.after(from), 0, 0,
                    groups.before(from) != groups.after(from)});
      }
      groups.run();
      for (const auto& [from, to] : pairs) {
        const auto pe = groups.learnt(groups.after(from), to);
        const bool neither_moved =
            groups.before(from) == groups.after(from) && groups.before(to) == groups.after(to);
        EXPECT_TRUE(pe == groups.after(to) || (!pe && neither_moved)) << "seed " << seed;
      }
    }
  }
}

TEST(Questions, a_sender_that_did_not_know_the_group_of_a_receiver_learns_the_pe_of_the_receiver) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Groups groups(seed, 3, 20);
    groups.begin(0);
    std::vector<std::pair<std::int32_t, std::size_t>> asked;
    for (int i = 0; i < 20; ++i) {
      const std::size_t to = groups.random_object();
      const std::int32_t sender = groups.random_pe(), home = groups.random_pe();
      if (home == groups.before(to) || home == groups.after(to) || sender == groups.after(to))
        continue;
      asked.emplace_back(sender, to);
      groups.ask({name_of(to), home, sender, 0, 0, false});
    }
    groups.run();
    for (const auto& [sender, to] : asked)
      EXPECT_EQ(groups.learnt(sender, to), groups.after(to)) << "seed " << seed;
  }
}

TEST(Questions, the_pe_of_an_object_that_stayed_is_told_only_to_senders_that_do_not_know_it) {
  GroupLocations group;
  const auto knows = group.decide(0, {{name_of(1), 2, false, false}});
  EXPECT_TRUE(knows.news.empty());
  const auto told = [&](std::int32_t last_known_pe, std::int32_t sender_pe, bool must_tell) {
    return group.ask({{name_of(1), last_known_pe, sender_pe, 0, 0, must_tell}}).news.size();
  };
  EXPECT_EQ(told(2, 5, false), 0u);
  EXPECT_EQ(told(1, 5, false), 1u);
  EXPECT_EQ(told(2, 5, true), 1u);
  EXPECT_EQ(told(2, 2, true), 0u) << "the sender and the object are on the same PE";
}

TEST(Questions, a_group_of_pes_answers_a_question_about_an_object_only_after_its_own_decision) {
  GroupLocations group;
  EXPECT_TRUE(group.decide(0, {{name_of(1), 2, true, false}}).news.empty());
  const Question question{name_of(1), 0, 5, 1, 0, true};
  EXPECT_TRUE(group.ask({question}).news.empty());
  const auto answers = group.decide(1, {{name_of(1), 3, true, false}});
  ASSERT_EQ(answers.news.size(), 1u);
  EXPECT_EQ(answers.news[0].pe, 3);
  EXPECT_EQ(answers.news[0].told_pe, 5);
}

TEST(Questions, the_search_for_an_object_ends_after_a_few_groups_or_if_no_further_group_is_known) {
  const Question question{name_of(1), 4, 5, 0, 0, false};
  EXPECT_TRUE(asked_again(question, -1).empty());
  EXPECT_TRUE(asked_again(question, 4).empty());
  std::vector<Question> next = {question};
  int num_asked = 1;
  for (; !next.empty() && num_asked < 100; ++num_asked)
    next = asked_again(next[0], next[0].last_known_pe + 1);
  EXPECT_LT(num_asked, 10);
}

}  // namespace
}  // namespace poise::charm
