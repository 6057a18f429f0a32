// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/predict.h"

#include <gmock/gmock.h>
#include <string>

#include "poise/base/check.h"

namespace poise {
namespace {

using testing::ElementsAre;
using Past = std::vector<std::vector<double>>;

const Predictor& named(std::string_view name) {
  for (const Predictor& predictor : kPredictors)
    if (predictor.name == name) return predictor;
  check_failed("a predictor of this name", __FILE__, __LINE__);
}

std::vector<double> predict(std::string_view name, const Past& past, std::vector<Task> current,
                            std::size_t window = 100, double smoothing = 0.5) {
  return predict_loads(named(name), past, current, window, smoothing);
}

TEST(Predict, every_predictor_returns_the_current_load_if_there_are_no_earlier_loads) {
  for (const Predictor& predictor : kPredictors)
    EXPECT_THAT(predict_loads(predictor, {}, {{0.1}, {1.0 / 3}}, 5, 0.3), ElementsAre(0.1, 1.0 / 3))
        << predictor.name;
}

TEST(Predict, every_predictor_predicts_no_change_if_the_load_was_constant) {
  for (const Predictor& predictor : kPredictors)
    EXPECT_THAT(predict_loads(predictor, Past{{2}, {2}, {2}}, {{2}}, 5, 0.25), ElementsAre(2))
        << predictor.name;
}

TEST(Predict, the_predictor_trend_is_exact_if_a_load_changes_by_the_same_amount_in_every_phase) {
  EXPECT_THAT(predict("trend", {{1, 10}, {2, 8}, {3, 6}}, {{4}, {4}}), ElementsAre(5, 2));
  EXPECT_THAT(predict("trend", {{1}}, {{3}}), ElementsAre(5));
}

TEST(Predict, the_predictor_trend_extends_the_least_squares_line_through_the_past_loads) {
  // The least-squares line through the loads 0, 2 and 1 of phases 0, 1 and 2 is 1/2 + phase / 2, so
  // the load predicted for phase 3 is 2.
  EXPECT_THAT(predict("trend", {{0}, {2}}, {{1}}), ElementsAre(2));
}

TEST(Predict, predicted_loads_are_never_negative) {
  EXPECT_THAT(predict("trend", {{4}, {2}}, {{0}}), ElementsAre(0));
}

TEST(Predict, the_predictor_mean_uses_only_the_newest_loads_that_fit_into_its_window) {
  EXPECT_THAT(predict("mean", {{1}, {2}, {3}}, {{6}}), ElementsAre(3));
  EXPECT_THAT(predict("mean", {{1}, {2}, {3}}, {{6}}, 2), ElementsAre(4.5));
  EXPECT_THAT(predict("mean", {{1}, {2}, {3}}, {{6}}, 1), ElementsAre(6));
}

TEST(Predict, in_the_moving_average_the_newest_load_has_the_weight_that_the_user_sets) {
  // The weights are 1/4 for the load 1, 1/4 for 3 and 1/2 for 5.
  EXPECT_THAT(predict("ewma", {{1}, {3}}, {{5}}), ElementsAre(3.5));
  EXPECT_THAT(predict("ewma", {{1}, {3}}, {{5}}, 100, 1), ElementsAre(5));
}

TEST(Predict, ignores_phases_that_precede_a_change_of_the_number_of_tasks) {
  EXPECT_THAT(predict("mean", {{100}, {100, 100}, {2}}, {{4}}), ElementsAre(3));
}

}  // namespace
}  // namespace poise
