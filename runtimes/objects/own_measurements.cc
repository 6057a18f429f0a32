// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/own_measurements.h"

#include <utility>

namespace poise::objects {

Measurements own_measurements(const LocalObjects& objects, const ObjectDirectory& directory,
                              const Meter& meter, Workload recorded, const ObjectGuard& guard) {
  Measurements own;
  for (const LocalObject& object : objects) {
    ObjectRow row;
    row.id = object.id;
    row.place = directory.place_of(object.id);
    row.cpu_s = recorded.tasks[object.id].load_s;
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
      {directory.layout().own_places()[0], meter.phase().background_s, meter.phase().idle_s});
  return own;
}

}  // namespace poise::objects
