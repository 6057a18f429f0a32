// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/local_objects.h"

#include <algorithm>
#include <utility>

#include "poise/base/check.h"

namespace poise::objects {

LocalObjects::LocalObjects(std::vector<PlaceId> places) : places_(std::move(places)) {}

void LocalObjects::update(std::vector<LocalObject> arrived, std::span<const PlaceId> place_of) {
  std::erase_if(objects_, [](const LocalObject& object) { return object.object == nullptr; });
  for (LocalObject& object : arrived) objects_.push_back(std::move(object));
  POISE_CHECK(objects_.size() == place_of.size());
  std::sort(objects_.begin(), objects_.end(),
            [](const LocalObject& a, const LocalObject& b) { return a.id < b.id; });
  index_of_ = IdTable(objects_.size());
  by_place_.assign(places_.size(), {});
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    index_of_.insert(objects_[i].id);
    objects_[i].place = place_of[i];
    const auto place = std::find(places_.begin(), places_.end(), place_of[i]);
    if (place != places_.end()) by_place_[place - places_.begin()].push_back(i);
  }
}

}  // namespace poise::objects
