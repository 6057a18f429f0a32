// SPDX-License-Identifier: BSD-3-Clause
// The public interface of the objects runtime. A collection distributes objects over the ranks of a
// communicator. The objects exchange messages in steps, and migrate to balance the load.
//
//     struct Patch {
//       void step(const Inbox& inbox, Outbox& outbox);
//       template <typename Archive> void serialize(Archive& archive) { archive(id, values); }
//     };
//     Collection<Patch> patches(MPI_COMM_WORLD, 64, [](ObjectId id) { return Patch(id); });
//     patches.run(1000);
//
// docs/objects.md is the guide.
#pragma once

#include <array>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/engine.h"
#include "runtimes/objects/startup.h"

namespace poise::objects {

/// The requirements on an object: a default constructor, and step(). Unless it is trivially
/// copyable it also needs serialize() (runtimes/archive/archive.h). Optional members: `position()`,
/// an array of three doubles for geometric strategies, `movable()`, and `memory()`, the
/// std::vector<std::span<std::byte>> of the object's heap memory, whose pages then follow its rank
/// to another NUMA domain (pages.h).
template <typename T>
concept Object =
    std::default_initializable<T> &&
    requires(T& object, const Inbox& inbox, Outbox& outbox) { object.step(inbox, outbox); };

/// A fixed number of objects with ids from 0, distributed over the ranks. Members are collective,
/// that is all ranks of the communicator must call them, unless they are const or their comments
/// say otherwise.
///
/// A step calls every object's step() with the messages sent to it in the previous step, on the
/// threads of its rank. Results do not depend on the placement. Environment variables control
/// balancing (options.h). If an object throws an exception and does not catch it, the job ends with
/// one line that names the object.
template <Object T>
class Collection {
 public:
  /// make(id) returns an object. It is called on the rank where the object starts.
  template <typename Make>
  Collection(MPI_Comm comm, ObjectId num_objects, Make make, const CollectionOptions& options = {})
      : engine_(comm, num_objects, factory(std::move(make)), agreed_options(comm, options)) {}

  void step() { engine_.step(); }
  void run(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) step();
  }

  /// Decides and migrates now, regardless of the options for automatic balancing.
  BalanceResult balance() { return engine_.balance(); }

  /// Returns the times, loads and migrations of the run so far, over all ranks. Collective: call it
  /// on all ranks, not only on the rank that prints the result; otherwise the job hangs.
  Totals totals() { return engine_.totals(); }

  /// Completes the trace and the timeline. If it is not called, the destructor does so.
  void finish() { engine_.finish(); }

  /// Calls visit(id, object) for the objects of this rank, in order of their ids. Not collective.
  template <typename Visit>
  void for_each(Visit visit) {
    for (const LocalObject& local : engine_.local_objects())
      visit(local.id, static_cast<TypedObject&>(*local.object).object());
  }

  /// Returns on every rank the list of value(object) for all objects, in order of id. Values must
  /// be trivially copyable.
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
    for (const Pair& pair : allgather_rows(engine_.comm(), own)) all[pair.id] = pair.value;
    return all;
  }

  /// Returns the sum of value(object), added in order of id, so that rounding does not depend on
  /// the placement. Values of types smaller than int, such as bool, are added as int.
  template <typename Value>
  auto sum(Value value) {
    using V = std::decay_t<decltype(value(std::declval<const T&>()))>;
    auto total = [] {
      if constexpr (std::is_integral_v<V>)
        return decltype(+V{}){};
      else
        return V{};
    }();
    for (const auto& v : values(value)) total += v;
    return total;
  }

  ObjectId num_objects() const { return engine_.num_objects(); }
  std::uint64_t num_steps() const { return engine_.num_steps(); }
  int rank_of(ObjectId id) const { return engine_.rank_of(id); }
  int rank() const { return engine_.layout().rank; }
  int num_ranks() const { return engine_.layout().num_ranks; }
  const JobLayout& layout() const { return engine_.layout(); }
  const JobLayout& world() const { return layout(); }  // deprecated spelling

 private:
  class TypedObject final : public AnyObject {
   public:
    explicit TypedObject(T object) : object_(std::move(object)) {}
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
    void describe(ObjectRow& row) const override {
      if constexpr (requires { row.movable = object_.movable(); })
        row.movable = object_.movable() ? 1 : 0;
      if constexpr (requires(std::array<double, 3> at) { at = object_.position(); }) {
        const std::array<double, 3> at = object_.position();
        row.has_position = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) row.position[axis] = at[axis];
      }
    }
    std::vector<std::span<std::byte>> memory() override {
      if constexpr (requires(std::vector<std::span<std::byte>> all) { all = object_.memory(); })
        return object_.memory();
      return {};
    }
    T& object() { return object_; }

   private:
    T object_;
  };

  template <typename Make>
  static ObjectFactory factory(Make make) {
    ObjectFactory factory;
    factory.create = [make = std::move(make)](ObjectId id) {
      return std::make_unique<TypedObject>(make(id));
    };
    factory.restore = [](std::span<const std::byte> bytes) {
      return std::make_unique<TypedObject>(from_bytes<T>(bytes));
    };
    return factory;
  }

  Engine engine_;
};

}  // namespace poise::objects
