// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/local_objects.h"

#include <gmock/gmock.h>

namespace poise::objects {
namespace {

using testing::ElementsAre;

class Dummy final : public AnyObject {
 public:
  void step(const Inbox&, Outbox&) override {}
  std::size_t bytes() const override { return 0; }
  void write(Buffer&) const override {}
  void describe(ObjectRow&) const override {}
};

std::vector<LocalObject> objects_with(std::initializer_list<ObjectId> ids) {
  std::vector<LocalObject> objects;
  for (const ObjectId id : ids) {
    objects.emplace_back().id = id;
    objects.back().object = std::make_unique<Dummy>();
  }
  return objects;
}

std::vector<ObjectId> ids_of(const LocalObjects& objects) {
  std::vector<ObjectId> ids;
  for (const LocalObject& object : objects) ids.push_back(object.id);
  return ids;
}

TEST(LocalObjects, stay_in_the_order_of_ids_when_objects_leave_and_arrive) {
  LocalObjects objects;
  objects.update(objects_with({7, 2, 5}), std::vector<PlaceId>(3, 0));
  EXPECT_THAT(ids_of(objects), ElementsAre(2u, 5u, 7u));
  objects.by_id(5).object.reset();
  objects.update(objects_with({9, 4}), std::vector<PlaceId>(4, 0));
  EXPECT_THAT(ids_of(objects), ElementsAre(2u, 4u, 7u, 9u));
  for (const ObjectId id : {2u, 4u, 7u, 9u}) EXPECT_EQ(objects.by_id(id).id, id);
  for (const ObjectId id : {0u, 5u, 10u}) EXPECT_EQ(objects.find(id), nullptr);
}

TEST(LocalObjects, are_listed_by_place_if_every_thread_is_a_place) {
  LocalObjects objects({6, 7});
  objects.update(objects_with({0, 1, 2}), std::vector<PlaceId>{7, 6, 7});
  EXPECT_THAT(objects.by_place(), ElementsAre(ElementsAre(1u), ElementsAre(0u, 2u)));
  objects.update({}, std::vector<PlaceId>{6, 6, 7});
  EXPECT_THAT(objects.by_place(), ElementsAre(ElementsAre(0u, 1u), ElementsAre(2u)));
  EXPECT_EQ(objects[0].place, 6u);
}

}  // namespace
}  // namespace poise::objects
