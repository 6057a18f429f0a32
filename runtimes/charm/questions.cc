// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/charm/questions.h"

#include <algorithm>
#include <utility>

namespace poise::charm {

namespace {

/// Maximum number of groups that are asked about one object. A group that does not have the object
/// passes the question on to the group in which the object was last known to be. The limit ends a
/// search in which all groups have outdated information.
constexpr int kMaxAsked = 4;

}  // namespace

std::vector<Question> asked_again(const Question& question, std::int32_t pe) {
  if (pe < 0 || pe == question.last_known_pe || question.num_asked + 1 >= kMaxAsked) return {};
  Question again = question;
  again.last_known_pe = pe;
  again.must_tell = true;
  ++again.num_asked;
  return {again};
}

void GroupLocations::answer(const Question& question, Answers& answers) const {
  const auto at =
      std::ranges::lower_bound(objects_, question.object, comes_before, &GroupObject::name);
  if (at == objects_.end() || !same(at->name, question.object)) {
    answers.unknown.push_back(question);
    return;
  }
  if (at->has_left) {
    for (const Question& again : asked_again(question, at->pe)) answers.passed_on.push_back(again);
    return;
  }
  const bool is_news = question.must_tell || at->has_moved || at->pe != question.last_known_pe;
  if (is_news && at->pe != question.sender_pe)
    answers.news.push_back({question.object, at->pe, question.sender_pe});
}

GroupLocations::Answers GroupLocations::ask(const std::vector<Question>& questions) {
  Answers answers;
  for (const Question& question : questions) {
    if (question.step > step_)
      waiting_.push_back(question);
    else
      answer(question, answers);
  }
  return answers;
}

GroupLocations::Answers GroupLocations::decide(std::int32_t step,
                                               std::vector<GroupObject> objects) {
  step_ = step;
  objects_ = std::move(objects);
  std::ranges::sort(objects_, comes_before, &GroupObject::name);
  return ask(std::exchange(waiting_, {}));
}

}  // namespace poise::charm
