// SPDX-License-Identifier: BSD-3-Clause
// The measurements of Charm++ in one phase, as plain rows.
// charmc compiles this header as well, so it must be valid C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace poise::charm {

/// An object's name, unique in the program: its array, and its id in the array.
struct ObjectName {
  std::uint64_t id = 0;
  std::int32_t array = 0;
};

inline bool same(const ObjectName& a, const ObjectName& b) {
  return a.id == b.id && a.array == b.array;
}

inline bool comes_before(const ObjectName& a, const ObjectName& b) {
  return a.array != b.array ? a.array < b.array : a.id < b.id;
}

struct ObjectRow {
  ObjectName name;
  double wall_s = 0;        // time measured on the object's PE
  std::uint64_t bytes = 0;  // 0: unknown
  std::int32_t pe = 0;      // index into `pes`
  bool movable = true;
};

struct PeRow {
  double wall_s = 0;        // duration of the phase
  double background_s = 0;  // a difference of measurements, so it may be slightly negative
  double speed = 1;         // speed relative to the other PEs
  bool available = true;    // false: all movable objects must leave this PE
  std::uint32_t host = 0;
  /// Processing unit to which the PE is bound; -1: not bound, or unknown.
  std::int32_t core_os_index = -1;
  std::int32_t number = -1;  // in Charm++'s numbering; -1: unknown, or from another job
};

/// Messages from one sender to one receiver, or to each receiver of a multicast. Several rows may
/// have the same sender and receiver. Senders and receivers may be objects without an ObjectRow.
struct MessageRow {
  ObjectName from, to;
  // -1: an object sends the message, and `from` is the object's name. Otherwise a PE sends the
  // message; this is the index of the PE's row, and `from` is unused.
  std::int32_t from_pe = -1;
  /// A range in `receivers`; if num_receivers is 0, only `to` receives the message.
  std::uint32_t first_receiver = 0, num_receivers = 0;
  std::uint32_t messages = 0, bytes = 0;
  std::int32_t last_known_pe = -1;  // PE of `to`, in Charm++'s numbering; -1: unknown
};

/// A function that gets a message, and the list of receivers to which the message refers.
using MessageVisitor = std::function<void(const MessageRow&, const std::vector<ObjectName>&)>;

/// Messages that are not stored as rows but listed when they are needed. There may be many times
/// more messages than objects, and Charm++ has a copy of them already.
struct MessageSource {
  std::size_t count = 0;  // number of messages for which memory is reserved
  std::function<void(const MessageVisitor&)> visit_all;
  // True if visit_all() lists the messages from the last to the first and frees each one, so that
  // no message is in memory twice. Then visit_all() can be called only once.
  bool frees_from_last = false;
};

/// Reads an object's row each time it is needed. Storing the rows would copy what Charm++ already
/// stores.
struct ObjectSource {
  std::size_t count = 0;
  /// A function that returns the row of an object. Its argument is from 0 to count - 1.
  std::function<ObjectRow(std::size_t)> row;
};

/// The statistics of one phase. The objects are in any order.
struct Statistics {
  std::vector<PeRow> pes;
  std::vector<ObjectRow> objects;
  ObjectSource more_objects;  // objects in addition to those in `objects`
  std::vector<MessageRow> messages;
  std::vector<ObjectName> receivers;
  MessageSource more_messages;  // messages in addition to those in `messages`
  bool pes_are_here = true;     // false: a replay of statistics from another job
  bool has_all_pes = true;      // false: there are other PEs, with other objects
  // The number of low bits of an object's id that are the same after a restart. The bits above them
  // may contain the number of a PE, so they change in a restart on a different number of PEs.
  int num_index_bits = 64;
  // If false, the objects' names are valid in this phase only, so the objects cannot be found in
  // the history of earlier phases.
  bool names_last = true;

  std::size_t num_objects() const { return objects.size() + more_objects.count; }
  /// Returns object number i, counted through `objects` and then `more_objects`.
  ObjectRow object(std::size_t i) const {
    return i < objects.size() ? objects[i] : more_objects.row(i - objects.size());
  }
};

}  // namespace poise::charm
