// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/meter.h"

#include <algorithm>
#include <utility>

#include "poise/base/error.h"
#include "poise/placement/subphases.h"

namespace poise::objects {

void Meter::enter_subphase(std::uint32_t subphase, LocalObjects& objects) {
  if (subphase >= kMaxSubphases)
    fail("objects: subphase_of_step returned {} for step {}; it must return 0 to {}", subphase,
         run_.steps, kMaxSubphases - 1);
  subphase_ = subphase;
  num_subphases_ = std::max(num_subphases_, subphase_ + 1);
  for (LocalObject& object : objects) object.subphase_s.resize(num_subphases_);
}

void Meter::add_step(LocalObject& object, double load_s, double wall_s) const {
  object.wall_s += wall_s;
  object.load_s += load_s;
  if (num_subphases_ > 0) object.subphase_s[subphase_] += load_s;
}

void Meter::add_load(double own_s, double run_s) {
  for (RankTimes* times : {&run_, &phase_}) {
    times->own_load_s += own_s;
    times->run_load_s += run_s;
  }
}

void Meter::add_idle(double seconds) {
  run_.idle_s += seconds;
  phase_.idle_s += seconds;
}

void Meter::end_step(double wall_s) {
  for (RankTimes* times : {&run_, &phase_}) {
    ++times->steps;
    times->wall_s += wall_s;
  }
}

void Meter::begin_phase(LocalObjects& objects) {
  phase_ = {};
  for (LocalObject& object : objects) {
    object.wall_s = object.load_s = 0;
    object.subphase_s.assign(num_subphases_, 0);
  }
}

std::vector<double> Meter::busy_s(const LocalObjects& objects, int num_threads) const {
  if (!objects.by_place().empty()) return busiest_place_s(objects);
  if (num_subphases_ == 0) return {phase_.own_load_s / num_threads + phase_.background_s};
  std::vector<double> busy_s(num_subphases_, phase_.background_s / num_subphases_);
  for (const LocalObject& object : objects)
    for (std::uint32_t s = 0; s < num_subphases_; ++s)
      busy_s[s] += object.subphase_s[s] / num_threads;
  return busy_s;
}

std::vector<double> Meter::busiest_place_s(const LocalObjects& objects) const {
  const std::uint32_t num_parts = std::max(num_subphases_, 1U);
  std::vector<double> busiest_s(num_parts);
  double background_s = phase_.background_s / num_parts;
  for (const std::vector<std::uint32_t>& indices : objects.by_place()) {
    std::vector<double> place_s(num_parts, std::exchange(background_s, 0));
    for (const std::uint32_t index : indices) {
      const LocalObject& object = objects[index];
      if (num_subphases_ == 0) place_s[0] += object.load_s;
      for (std::uint32_t s = 0; s < num_subphases_; ++s) place_s[s] += object.subphase_s[s];
    }
    for (std::uint32_t s = 0; s < num_parts; ++s) busiest_s[s] = std::max(busiest_s[s], place_s[s]);
  }
  return busiest_s;
}

}  // namespace poise::objects
