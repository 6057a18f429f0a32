// Objects that live on the ranks of a communicator, talk in steps, and move where they run best.
//
//     struct Patch {
//       void step(const Inbox& inbox, Outbox& outbox);
//       template <typename Archive> void serialize(Archive& archive) { archive(id, values); }
//     };
//     Collection<Patch> patches(MPI_COMM_WORLD, 64, [](ObjectId id) { return Patch(id); });
//     patches.run(1000);
//
// docs/objects.md has the whole story.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtimes/objects/collect.h"
#include "runtimes/objects/engine.h"

namespace poise::objects {

/// What an object must be able to do. It may also have `position()`, an array of three doubles for
/// geometric strategies, and `movable()`.
template <typename T>
concept Object =
    std::default_initializable<T> &&
    requires(T& object, const Inbox& inbox, Outbox& outbox) { object.step(inbox, outbox); };

/// A fixed number of objects, numbered from 0, spread over the ranks. Every public member but the
/// plain questions is collective: all ranks of the communicator call it.
///
/// A step calls every object's step() with what was sent to it in the step before, on the threads
/// of its rank. Results do not depend on who lives where. The environment may steer balancing, see
/// options.h. An exception that leaves an object ends the job with a line that names it.
template <Object T>
class Collection {
 public:
  /// make(id) returns the object; it is called on the rank where the object starts.
  template <typename Make>
  Collection(MPI_Comm comm, ObjectId num_objects, Make make, const Options& options = {})
      : engine_(comm, num_objects, making(std::move(make)), agreed_options(comm, options)) {}

  void step() { engine_.step(); }
  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) step();
  }

  /// Decides and migrates now.
  Balanced balance() { return engine_.balance(); }

  /// Collective too: before an `if (rank() == 0)` that prints them, not inside.
  Totals totals() { return engine_.totals(); }

  /// Completes the trace, if there is one; the destructor does it otherwise.
  void finish() { engine_.finish(); }

  /// Calls visit(id, object) for the objects of this rank, in order. Not collective.
  template <typename Visit>
  void for_each(Visit visit) {
    for (const auto& [id, hosted] : engine_.own_objects()) visit(id, object_of(*hosted));
  }

  /// value(object) of every object, by id, on every rank. Values are plain data.
  template <typename Value>
  auto values(Value value) {
    using V = std::decay_t<decltype(value(std::declval<const T&>()))>;
    struct Pair {
      ObjectId id;
      V value;
    };
    std::vector<Pair> own;
    for_each([&](ObjectId id, const T& object) { own.push_back({id, value(object)}); });
    std::vector<V> all(num_objects());
    for (const Pair& pair : to_all(engine_.comm(), own)) all[pair.id] = pair.value;
    return all;
  }

  /// The sum in order of id, so it is the same for any number of ranks.
  template <typename Value>
  auto sum(Value value) {
    std::decay_t<decltype(value(std::declval<const T&>()))> total{};
    for (const auto& v : values(value)) total += v;
    return total;
  }

  ObjectId num_objects() const { return engine_.num_objects(); }
  std::uint64_t num_steps() const { return engine_.num_steps(); }
  int rank_of(ObjectId id) const { return engine_.rank_of(id); }
  int rank() const { return engine_.world().rank; }
  int num_ranks() const { return engine_.world().num_ranks; }
  const World& world() const { return engine_.world(); }

 private:
  class HostedObject final : public Hosted {
   public:
    explicit HostedObject(T object) : object_(std::move(object)) {}
    void step(const Inbox& inbox, Outbox& outbox) override { object_.step(inbox, outbox); }
    std::size_t bytes() const override {
      Sizer sizer;
      sizer(object_);
      return sizer.bytes();
    }
    void write(Buffer& buffer) const override {
      Writer writer(buffer);
      writer(object_);
    }
    void describe(Row& row) const override {
      if constexpr (requires { row.movable = object_.movable(); })
        row.movable = object_.movable() ? 1 : 0;
      if constexpr (requires(std::array<double, 3> at) { at = object_.position(); }) {
        const std::array<double, 3> at = object_.position();
        row.has_position = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) row.position[axis] = at[axis];
      }
    }
    T& object() { return object_; }

   private:
    T object_;
  };

  static T& object_of(Hosted& hosted) { return static_cast<HostedObject&>(hosted).object(); }

  template <typename Make>
  static Making making(Make make) {
    Making making;
    making.fresh = [make = std::move(make)](ObjectId id) {
      return std::make_unique<HostedObject>(make(id));
    };
    making.restored = [](std::span<const std::byte> bytes) {
      return std::make_unique<HostedObject>(from_bytes<T>(bytes));
    };
    return making;
  }

  Engine engine_;
};

}  // namespace poise::objects
