// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/local_objects.h"

#include <algorithm>
#include <utility>

namespace poise::objects {

LocalObjects::LocalObjects(const ObjectDirectory& directory, bool one_place_per_thread)
    : directory_(directory),
      one_place_per_thread_(one_place_per_thread),
      index_of_(directory.num_objects()) {}

void LocalObjects::update(std::vector<LocalObject> arrived) {
  std::erase_if(objects_, [](const LocalObject& object) { return object.object == nullptr; });
  for (LocalObject& object : arrived) objects_.push_back(std::move(object));
  std::sort(objects_.begin(), objects_.end(),
            [](const LocalObject& a, const LocalObject& b) { return a.id < b.id; });
  for (std::uint32_t i = 0; i < objects_.size(); ++i) index_of_[objects_[i].id] = i;
  if (!one_place_per_thread_) return;
  const std::vector<PlaceId>& places = directory_.layout().own_places();
  by_place_.assign(places.size(), {});
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    const auto place = std::find(places.begin(), places.end(), directory_.place_of(objects_[i].id));
    by_place_[static_cast<std::size_t>(place - places.begin())].push_back(i);
  }
}

}  // namespace poise::objects
