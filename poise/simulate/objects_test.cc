// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/objects.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"

namespace poise {
namespace {

using testing::ElementsAre;
using Kind = TaskName::Kind;

/// A trace with one phase for each list of names.
Trace trace_of(const std::vector<std::vector<TaskName>>& names) {
  Trace trace;
  for (const std::vector<TaskName>& of_phase : names) {
    Phase phase;
    phase.id = trace.phases.size();
    phase.names = of_phase;
    phase.workload.tasks.resize(of_phase.size());
    trace.phases.push_back(phase);
  }
  return trace;
}

TEST(Objects,
     tasks_with_the_same_name_are_one_object_and_objects_are_numbered_by_first_appearance) {
  const Objects objects = objects_of(trace_of({{{.id = 7}, {.id = 3}},
                                               {{.id = 7}, {.id = 3}},
                                               {{.id = 3}, {.id = 9}, {.id = 7}},
                                               {{.id = 9}, {.id = 5}}}));
  EXPECT_EQ(objects.count, 4u);
  EXPECT_THAT(objects.of_task, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1),
                                           ElementsAre(1, 2, 0), ElementsAre(2, 3)));
}

TEST(Objects, tasks_with_equal_indices_are_the_same_object_if_a_phase_has_no_names) {
  Trace trace = trace_of({{{.id = 7}, {.id = 3}}, {{.id = 3}}, {{.id = 7}}});
  trace.phases[1].names.clear();
  trace.phases[1].workload.tasks.resize(4);
  const Objects objects = objects_of(trace);
  EXPECT_EQ(objects.count, 4u);
  EXPECT_THAT(objects.of_task,
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1, 2, 3), ElementsAre(0)));
}

TEST(Objects, tasks_with_different_kinds_of_names_or_different_collections_are_different_objects) {
  const Objects objects =
      objects_of(trace_of({{{.id = 7}, {.id = 7, .collection = 2}, {.id = 7, .kind = Kind::place}},
                           {{.id = 7, .kind = Kind::place}, {.id = 7, .collection = 2}}}));
  EXPECT_THAT(objects.of_task, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(2, 1)));
}

TEST(Objects, home_places_distinguish_only_tasks_whose_ids_are_counted_per_home_place) {
  Trace trace =
      trace_of({{{.id = 7, .kind = Kind::sequence}, {.id = 7, .kind = Kind::sequence}, {.id = 4}},
                {{.id = 7, .kind = Kind::sequence}, {.id = 7, .kind = Kind::sequence}, {.id = 4}},
                {{.id = 7, .kind = Kind::sequence}}});
  trace.phases[0].workload.homes = {5, 6, 1};
  trace.phases[1].workload.homes = {6, 5, 2};
  const Objects objects = objects_of(trace);
  EXPECT_EQ(objects.count, 4u);
  EXPECT_THAT(objects.of_task,
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(1, 0, 2), ElementsAre(3)));
  EXPECT_EQ(identity_of(trace.phases[1], 0), TaskIdentity(Kind::sequence, 7, -1, 6));
  EXPECT_EQ(identity_of(trace.phases[1], 2), TaskIdentity(Kind::id, 4, -1, 0));
  EXPECT_EQ(identity_of(trace.phases[2], 0), TaskIdentity(Kind::sequence, 7, -1, 0));
}

TEST(Objects, two_tasks_of_a_phase_with_the_same_name_are_refused) {
  EXPECT_THROW(objects_of(trace_of({{{.id = 1}, {.id = 2}}, {{.id = 2}, {.id = 1}, {.id = 2}}})),
               Error);
}

}  // namespace
}  // namespace poise
