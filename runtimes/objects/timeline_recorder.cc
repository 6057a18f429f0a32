// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/timeline_recorder.h"

#include <utility>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/tuning.h"

namespace poise::objects {

TimelineRecorder::TimelineRecorder(bool is_enabled, std::vector<PlaceId> places, double begin_s)
    : is_enabled_(is_enabled), places_(std::move(places)), begin_s_(begin_s) {}

void TimelineRecorder::add(PlaceId place, double start_s, double end_s, Activity activity) {
  if (!(end_s > start_s)) return;
  is_complete_ = spans_.size() < tuning::kMaxTimelineSpans;
  if (is_complete_) spans_.push_back({place, {start_s - begin_s_, end_s - begin_s_, activity}});
}

void TimelineRecorder::add_step(double start_s, const std::vector<double>& work_ends_s,
                                double end_s) {
  if (!is_enabled_) return;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    add(places_[i], start_s, work_ends_s[i], Activity::work);
    add(places_[i], work_ends_s[i], end_s, Activity::wait);
  }
}

void TimelineRecorder::add_balancing(double start_s, double end_s) {
  if (!is_enabled_) return;
  for (const PlaceId place : places_) add(place, start_s, end_s, Activity::balance);
}

Timeline gather_timeline(MPI_Comm comm, const TimelineRecorder& own, std::string title,
                         std::uint32_t num_places) {
  Timeline timeline{std::move(title), std::vector<std::vector<Span>>(num_places)};
  for (const auto& [place, span] : gather_rows(comm, own.spans()))
    timeline.places[place].push_back(span);
  return timeline;
}

}  // namespace poise::objects
