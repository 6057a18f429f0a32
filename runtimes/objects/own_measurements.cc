// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/own_measurements.h"

#include <utility>

namespace poise::objects {

Measurements own_measurements(const LocalObjects& objects, PlaceId first_place, const Meter& meter,
                              Recording recorded, const ObjectGuard& guard) {
  Measurements own;
  auto load = recorded.loads.begin();  // loads and objects are sorted by id
  for (const LocalObject& object : objects) {
    ObjectRow row;
    row.id = object.id;
    row.place = object.place;
    if (load != recorded.loads.end() && load->task == object.id) row.cpu_s = (load++)->load_s;
    row.wall_s = object.wall_s;
    guard.run(object.id, [&] {
      row.bytes = object.object->bytes();
      object.object->describe(row);
    });
    own.rows.push_back(row);
    own.subphase_s.insert(own.subphase_s.end(), object.subphase_s.begin(), object.subphase_s.end());
  }
  own.num_subphases = meter.num_subphases();
  own.messages = std::move(recorded.messages);
  own.places.push_back(
      {first_place, meter.phase().background_s, meter.phase().idle_s, meter.num_subphases()});
  return own;
}

}  // namespace poise::objects
