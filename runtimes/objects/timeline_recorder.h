// SPDX-License-Identifier: BSD-3-Clause
// Records when the places of a rank worked, waited and balanced.
#pragma once

#include <mpi.h>
#include <string>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/trace/timeline.h"

namespace poise::objects {

/// Stores up to tuning::kMaxTimelineSpans time spans of one rank's places, and drops later ones. A
/// disabled recorder stores none.
class TimelineRecorder {
 public:
  struct PlaceSpan {
    PlaceId place;
    Span span;
  };

  /// `begin_s` is the time at which the timeline begins. All times are values of wall_now_s().
  TimelineRecorder(bool is_enabled, std::vector<PlaceId> places, double begin_s);

  /// Records a step: place i of the rank worked until work_ends_s[i] and then waited until end_s.
  void add_step(double start_s, const std::vector<double>& work_ends_s, double end_s);
  /// Records that all places spent the time from start_s to end_s on balancing.
  void add_balancing(double start_s, double end_s);

  const std::vector<PlaceSpan>& spans() const { return spans_; }
  /// False if spans were left out, because there were more than tuning::kMaxTimelineSpans.
  bool is_complete() const { return is_complete_; }

 private:
  void add(PlaceId place, double start_s, double end_s, Activity activity);

  bool is_enabled_, is_complete_ = true;
  std::vector<PlaceId> places_;
  double begin_s_;
  std::vector<PlaceSpan> spans_;
};

/// Gathers the timeline of all ranks' places at rank 0. Collective.
Timeline gather_timeline(MPI_Comm comm, const TimelineRecorder& own, std::string title,
                         std::uint32_t num_places);

}  // namespace poise::objects
