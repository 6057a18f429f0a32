#include "runtimes/objects/diary.h"

#include "runtimes/objects/collect.h"
#include "runtimes/objects/thread.h"

namespace poise::objects {

namespace {

constexpr std::size_t kMostEntries = 1'000'000;

}  // namespace

Diary::Diary(MPI_Comm comm, bool is_enabled, std::vector<PlaceId> places)
    : is_enabled_(is_enabled), places_(std::move(places)) {
  if (is_enabled) MPI_Barrier(comm);
  begin_s_ = wall_now_s();
}

void Diary::add(PlaceId place, double start_s, double end_s, Activity activity) {
  if (end_s > start_s && entries_.size() < kMostEntries)
    entries_.push_back({place, {start_s - begin_s_, end_s - begin_s_, activity}});
}

void Diary::step(double start_s, const std::vector<double>& work_end_s, double end_s) {
  if (!is_enabled_) return;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    add(places_[i], start_s, work_end_s[i], Activity::work);
    add(places_[i], work_end_s[i], end_s, Activity::wait);
  }
}

void Diary::balance(double start_s, double end_s) {
  if (!is_enabled_) return;
  for (const PlaceId place : places_) add(place, start_s, end_s, Activity::balance);
}

Timeline Diary::gathered(MPI_Comm comm, std::string title, std::uint32_t num_places) const {
  Timeline timeline{std::move(title), std::vector<std::vector<Span>>(num_places)};
  for (const Entry& entry : to_root(comm, entries_))
    timeline.places[entry.place].push_back(entry.span);
  return timeline;
}

}  // namespace poise::objects
