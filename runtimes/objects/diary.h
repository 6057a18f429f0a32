// What the places of a rank did over time, for a picture of the run.
#pragma once

#include <mpi.h>
#include <string>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/trace/timeline.h"

namespace poise::objects {

/// Keeps up to a million spans, those of the beginning; a disabled one keeps none.
class Diary {
 public:
  /// Times count from here; the ranks start together. Collective where it is enabled.
  Diary(MPI_Comm comm, bool is_enabled, std::vector<PlaceId> places);

  bool is_enabled() const { return is_enabled_; }

  /// A step: place i of the rank worked until work_end_s[i], and waited until end_s. Times are of
  /// wall_now_s().
  void step(double start_s, const std::vector<double>& work_end_s, double end_s);
  void balance(double start_s, double end_s);

  /// All places, at rank 0. Collective.
  Timeline gathered(MPI_Comm comm, std::string title, std::uint32_t num_places) const;

 private:
  struct Entry {
    PlaceId place;
    Span span;
  };
  void add(PlaceId place, double start_s, double end_s, Activity activity);

  bool is_enabled_;
  std::vector<PlaceId> places_;
  double begin_s_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace poise::objects
