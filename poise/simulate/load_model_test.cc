// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/load_model.h"

#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <vector>

#include "poise/base/error.h"

namespace poise {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<double> factors(const char* model, std::uint64_t step, std::size_t objects,
                            std::uint64_t seed = 1) {
  std::vector<double> factors(objects);
  parse_load_model(model).set_factors(step, seed, factors);
  return factors;
}

TEST(LoadModel, loads_jump_at_the_given_step_and_then_stay_constant) {
  EXPECT_THAT(factors("jump:at=3,share=1,factor=5", 2, 4), Each(1));
  EXPECT_THAT(factors("jump:at=3,share=1,factor=5", 3, 4), Each(5));
  const auto some = factors("jump:at=0,share=0.25,factor=2", 9, 10000);
  EXPECT_NEAR(std::accumulate(some.begin(), some.end(), 0.0), 12500, 200);
  EXPECT_EQ(some, factors("jump:at=0,share=0.25,factor=2", 10, 10000));
  EXPECT_NE(some, factors("jump:at=0,share=0.25,factor=2", 9, 10000, 2));
}

TEST(LoadModel, the_loads_of_the_first_objects_grow_linearly_with_the_number_of_steps) {
  EXPECT_THAT(factors("grow:share=0.5,rate=0.25", 4, 4), ElementsAre(2, 2, 1, 1));
}

TEST(LoadModel, a_wave_of_load_travels_over_all_objects_and_then_begins_again_at_the_first) {
  EXPECT_THAT(factors("wave:share=0.5,factor=3,speed=0.25", 0, 4), ElementsAre(3, 3, 1, 1));
  EXPECT_THAT(factors("wave:share=0.5,factor=3,speed=0.25", 3, 4), ElementsAre(3, 1, 1, 3));
  EXPECT_THAT(factors("wave:share=0.5,factor=3,speed=0.25", 4, 4), ElementsAre(3, 3, 1, 1));
}

TEST(LoadModel, each_load_drifts_smoothly_from_its_recorded_value_to_a_random_one) {
  EXPECT_THAT(factors("drift", 0, 5), Each(1));
  const auto half = factors("drift:sigma=0.5,steps=10", 5, 10000),
             whole = factors("drift:sigma=0.5,steps=10", 10, 10000);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(half[i] * half[i], whole[i], 1e-12);
    sum += std::log(whole[i]);
    squares += std::log(whole[i]) * std::log(whole[i]);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 10000), 0.5, 0.02);
}

TEST(LoadModel, the_error_for_an_invalid_load_model_says_what_would_work) {
  EXPECT_EQ(parse_load_model("jump:at=5").text(), "jump:at=5");
  EXPECT_THAT([] { parse_load_model("jmp"); }, ThrowsMessage<Error>(HasSubstr("jump")));
  EXPECT_THAT([] { parse_load_model("jump:share=2"); }, ThrowsMessage<Error>(HasSubstr("share")));
}

}  // namespace
}  // namespace poise
