// What Charm++ measured in one phase, as plain rows. Also read by charmc, so this is C++17.
#pragma once

#include <cstdint>
#include <vector>

namespace poise::charm {

/// An object's name, unique in the program: the array it belongs to, and its number there.
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
  double wall_s = 0;        // as measured where it ran
  std::uint64_t bytes = 0;  // 0: not known
  std::int32_t pe = 0;      // a row of `pes`
  bool movable = true;
};

struct PeRow {
  double wall_s = 0;        // of the phase
  double background_s = 0;  // may be a little below 0: it is a difference
  double speed = 1;         // relative to the others
  bool available = true;    // else no object may stay
  std::uint32_t host = 0;
  std::int32_t core_os_index = -1;  // the processing unit it is bound to; -1: it is not, or unknown
};

/// What one sender sent to one receiver, or to each of a multicast's. The same pair may be there
/// again, and who is named may be unknown.
struct MessageRow {
  ObjectName from, to;
  std::int32_t from_pe = -1;  // -1: an object sends; else a row of `pes` does, and `from` is unused
  std::uint32_t first_receiver = 0, num_receivers = 0;  // of `receivers`; 0: `to` alone
  std::uint32_t messages = 0, bytes = 0;
  std::int32_t last_known_pe = -1;  // of `to`, numbered as Charm++ does; -1: unknown
};

/// Rows of objects come in any order.
struct Statistics {
  std::vector<PeRow> pes;
  std::vector<ObjectRow> objects;
  std::vector<MessageRow> messages;
  std::vector<ObjectName> receivers;
  bool pes_are_here = true;  // false: a replay of what other PEs did
  // Above these bits of a name's id there may be a PE: a restart on another number of PEs changes
  // it.
  int num_index_bits = 64;
};

}  // namespace poise::charm
