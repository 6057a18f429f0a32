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

TEST(LoadModel, the_number_of_objects_that_grow_is_the_share_of_all_objects_rounded_up) {
  EXPECT_THAT(factors("grow:share=0.3,rate=0.5", 3, 4), ElementsAre(2.5, 2.5, 1, 1));
  EXPECT_THAT(factors("grow:share=0,rate=0.5", 3, 3), Each(1));
  EXPECT_THAT(factors("grow:share=1,rate=0.5", 6, 3), Each(4));
}

TEST(LoadModel, a_wave_covers_its_share_of_consecutive_objects_from_its_current_position_on) {
  const auto covered = [](const char* model, std::uint64_t step) {
    std::vector<std::size_t> objects;
    const std::vector<double> factor = factors(model, step, 10);
    for (std::size_t object = 0; object < 10; ++object)
      if (factor[object] == 7) objects.push_back(object);
    return objects;
  };
  const char* const model = "wave:share=0.25,factor=7,speed=0.125";
  EXPECT_THAT(covered(model, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(covered(model, 1), ElementsAre(2, 3));     // the wave goes from 1.25 to 3.75
  EXPECT_THAT(covered(model, 2), ElementsAre(3, 4));     // the wave goes from 2.5 to 5
  EXPECT_THAT(covered(model, 7), ElementsAre(0, 1, 9));  // the wave goes from 8.75 to 11.25
  EXPECT_THAT(covered(model, 8), ElementsAre(0, 1, 2));
}

TEST(LoadModel, a_wave_covers_equally_many_objects_in_all_steps) {
  for (std::size_t step = 0; step < 200; ++step) {
    const auto factor = factors("wave:share=0.1,factor=7,speed=0.01", step, 100);
    for (std::size_t object = 0; object < 100; ++object)
      EXPECT_EQ(factor[object], (object + 200 - step) % 100 < 10 ? 7 : 1)
          << "step " << step << ", object " << object;
  }
}

TEST(LoadModel, each_load_drifts_from_one_random_value_to_the_next) {
  const auto at = [](std::uint64_t step, std::uint64_t seed) {
    return factors("drift:sigma=0.5,steps=10", step, 6, seed);
  };
  for (const std::uint64_t seed : {1u, 2u})
    for (std::size_t object = 0; object < 6; ++object) {
      EXPECT_NEAR(std::log(at(3, seed)[object]), 0.3 * std::log(at(10, seed)[object]), 1e-12);
      EXPECT_NEAR(std::log(at(13, seed)[object]),
                  0.7 * std::log(at(10, seed)[object]) + 0.3 * std::log(at(20, seed)[object]),
                  1e-12);
      EXPECT_NE(at(10, seed)[object], at(20, seed)[object]);
      EXPECT_NE(at(10, seed)[object], at(10, seed)[(object + 1) % 6]);
      EXPECT_NE(at(10, seed)[object], at(10, seed + 7)[object]);
    }
}

TEST(LoadModel, the_text_of_a_model_names_only_the_values_that_were_given) {
  EXPECT_EQ(parse_load_model("drift").text(), "drift");
  EXPECT_EQ(parse_load_model("wave:speed=0.5,share=0.25").text(), "wave:share=0.25,speed=0.5");
  for (const LoadModelKind& kind : load_model_kinds())
    EXPECT_EQ(parse_load_model(kind.name).kind, &kind);
}

TEST(LoadModel, the_default_values_are_those_of_the_documentation) {
  EXPECT_EQ(factors("drift", 7, 3), factors("drift:sigma=0.3,steps=20", 7, 3));
  EXPECT_EQ(factors("jump", 19, 99), factors("jump:at=20,share=0.1,factor=4", 19, 99));
  EXPECT_EQ(factors("jump", 20, 99), factors("jump:at=20,share=0.1,factor=4", 20, 99));
  EXPECT_EQ(factors("grow", 7, 30), factors("grow:share=0.1,rate=0.02", 7, 30));
  EXPECT_EQ(factors("wave", 7, 30), factors("wave:share=0.1,factor=4,speed=0.01", 7, 30));
  for (const char* valid : {"drift:sigma=3", "drift:steps=1", "drift:sigma=0", "drift:steps=1e6",
                            "jump:at=0", "jump:at=1e6", "jump:factor=1000", "grow:rate=1000",
                            "grow:rate=0", "wave:speed=1", "wave:speed=0", "wave:factor=0"})
    EXPECT_NO_THROW(parse_load_model(valid)) << valid;
  for (const char* invalid :
       {"drift:sigma=3.5", "drift:steps=0.5", "drift:sigma=-0.5", "jump:at=-1", "jump:share=1.5",
        "jump:factor=1000.5", "grow:share=1.5", "grow:rate=1000.5", "wave:speed=1.5",
        "wave:share=1.5", "wave:factor=1000.5"})
    EXPECT_THROW(parse_load_model(invalid), Error) << invalid;
}

TEST(LoadModel, the_error_for_an_invalid_load_model_says_what_would_work) {
  EXPECT_EQ(parse_load_model("jump:at=5").text(), "jump:at=5");
  EXPECT_THAT([] { parse_load_model("jmp"); }, ThrowsMessage<Error>(HasSubstr("jump")));
  EXPECT_THAT([] { parse_load_model("jump:share=2"); }, ThrowsMessage<Error>(HasSubstr("share")));
}

}  // namespace
}  // namespace poise
