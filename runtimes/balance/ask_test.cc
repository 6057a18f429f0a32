#include "runtimes/balance/ask.h"

#include <chrono>
#include <gmock/gmock.h>
#include <stdexcept>
#include <thread>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::balance {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Question> question(Placement (*rebalance)(const Problem&, const Knobs&)) {
  static Strategy strategy = strategies()[0];
  strategy.name = "test";
  strategy.rebalance = rebalance;
  Census census;
  census.workload.tasks = {{1, 0, true}, {1, 0, true}, {1, 0, false}};
  census.current = Placement({0, 0, 0});
  return std::make_shared<const Question>(
      Question{flat_machine(2), census, {}, {&strategy, Knobs({})}});
}

Placement after(const Answer& answer) { return answer.placement; }

TEST(Ask, an_answer_that_holds_is_taken) {
  const Answer answer = ask(question([](const Problem&, const Knobs&) {
                              return Placement({0, 1, 0});
                            }),
                            0);
  EXPECT_EQ(answer.trouble, "");
  EXPECT_EQ(after(answer), Placement({0, 1, 0}));
}

TEST(Ask, a_strategy_that_throws_leaves_all_as_it_is) {
  const Answer answer = ask(question([](const Problem&, const Knobs&) -> Placement {
                              throw std::runtime_error("out of luck");
                            }),
                            0);
  EXPECT_EQ(answer.trouble, "out of luck");
  EXPECT_EQ(after(answer), Placement({0, 0, 0}));
}

TEST(Ask, so_does_one_that_throws_what_is_no_exception) {
  const Answer answer =
      ask(question([](const Problem&, const Knobs&) -> Placement { throw 1; }), 10);
  EXPECT_EQ(answer.trouble, "it threw something that is no std::exception");
  EXPECT_EQ(after(answer), Placement({0, 0, 0}));
}

TEST(Ask, so_does_nonsense) {
  for (Placement (*nonsense)(const Problem&, const Knobs&) : {
           +[](const Problem&, const Knobs&) {
             return Placement({0, 2, 0});
           },
           +[](const Problem&, const Knobs&) {
             return Placement(std::vector<PlaceId>{0, 1});
           },
           +[](const Problem&, const Knobs&) { return Placement(); },
       })
    for (const double budget_s : {0.0, 10.0}) {
      const Answer answer = ask(question(nonsense), budget_s);
      EXPECT_NE(answer.trouble, "");
      EXPECT_EQ(after(answer), Placement({0, 0, 0}));
    }
}

TEST(Ask, so_does_moving_what_must_stay) {
  const Answer answer = ask(question([](const Problem&, const Knobs&) {
                              return Placement({1, 0, 1});
                            }),
                            0);
  EXPECT_THAT(answer.trouble, HasSubstr("moves task 2, which must stay"));
  EXPECT_EQ(after(answer), Placement({0, 0, 0}));
}

TEST(Ask, so_does_one_that_overruns_and_goes_on_alone) {
  const Answer answer = ask(question([](const Problem& problem, const Knobs&) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(300));
                              return problem.current;
                            }),
                            1e-3);
  EXPECT_THAT(answer.trouble, HasSubstr("longer than 0.001 s"));
  EXPECT_EQ(after(answer), Placement({0, 0, 0}));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // or it outlives the test
}

TEST(Ask, rows_that_make_no_problem_never_reach_the_strategy) {
  Question bad = *question([](const Problem& problem, const Knobs&) { return problem.current; });
  bad.census.workload.messages.push_back({0, 7, 1, 1});
  const Answer answer = ask(std::make_shared<const Question>(bad), 0);
  EXPECT_NE(answer.trouble, "");
}

}  // namespace
}  // namespace poise::balance
