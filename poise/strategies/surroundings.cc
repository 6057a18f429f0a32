#include "poise/strategies/surroundings.h"

namespace poise {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

}  // namespace

Surroundings::Surroundings(const Problem& problem, const BusyTimes& times)
    : workload_(problem.workload), times_(times), slot_of_(problem.machine.num_places(), kNone) {
  for (const Place& place : problem.machine.places()) speed_.push_back(place.speed);
}

void Surroundings::gather(TaskId t) {
  for (const Near& near : near_) slot_of_[near.place] = kNone;
  near_.clear();
  from_ = times_.place_of(t);
  load_s_ = workload_.tasks[t].load_s;
  relief_s_ = load_s_ / speed_[from_];
  for (const BusyTimes::Arc& arc : times_.arcs_of(t)) {
    const PlaceId p = times_.place_of(arc.task);
    std::uint32_t& slot = slot_of_[p];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(near_.size());
      near_.push_back({p, 0, 0, 0, 0});
    }
    Near& near = near_[slot];
    near.in_s += arc.in_s;
    near.out_s += arc.out_s;
    near.in_byte_s += arc.in_byte_s;
    near.out_byte_s += arc.out_byte_s;
  }
  for (const Near& near : near_)
    relief_s_ += times_.cost_s(near.in_s, near.in_byte_s, near.place, from_);
}

std::span<const Surroundings::Outcome> Surroundings::try_at(PlaceId to) {
  outcomes_.clear();
  outcomes_.push_back({from_, times_.busy_s(from_) - relief_s_});
  outcomes_.push_back({to, least_busy_s(to)});
  for (const Near& near : near_) {
    outcomes_[1].busy_s += times_.cost_s(near.in_s, near.in_byte_s, near.place, to);
    const double change_s = times_.cost_s(near.out_s, near.out_byte_s, to, near.place) -
                            times_.cost_s(near.out_s, near.out_byte_s, from_, near.place);
    if (change_s == 0) continue;
    if (near.place == from_)
      outcomes_[0].busy_s += change_s;
    else if (near.place == to)
      outcomes_[1].busy_s += change_s;
    else
      outcomes_.push_back({near.place, times_.busy_s(near.place) + change_s});
  }
  return outcomes_;
}

}  // namespace poise
