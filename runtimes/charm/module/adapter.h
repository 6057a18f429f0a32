// SPDX-License-Identifier: BSD-3-Clause
// Hides the differences between Charm++ 6.10 and Charm++ 7.0 to 8 from the balancers.
#pragma once

#include <CentralLB.h>
#include <LBSimulation.h>
#include <cstddef>
#include <vector>

#include "runtimes/charm/balancer.h"
#include "runtimes/charm/consume.h"

namespace poise::charm {

#if __has_include(<LBManager.h>)  // 7.0.0 and later

inline std::size_t num_pes(const BaseLB::LDStats& stats) { return stats.procs.size(); }
inline std::size_t num_objects(const BaseLB::LDStats& stats) { return stats.objData.size(); }
inline std::size_t num_records(const BaseLB::LDStats& stats) { return stats.commData.size(); }

template <typename T>
using List = std::vector<T>;

/// Keeps the first num_kept rows and drops the others.
inline void keep_objects(BaseLB::LDStats& stats, std::size_t num_kept) {
  stats.objData.resize(num_kept);
  stats.from_proc.resize(num_kept);
  stats.to_proc.resize(num_kept);
}
inline void keep_records(BaseLB::LDStats& stats, std::size_t num_kept) {
  stats.commData.resize(num_kept);
}

/// True if +LBDump asks for a dump of the statistics.
inline bool will_dump() { return LBSimulation::dumpStep >= 0; }

/// Returns false if Charm++ itself needs the messages after a decision: for a dump, a replay or a
/// summary.
inline bool may_free_records() {
  return !will_dump() && !LBSimulation::doSimulation && !_lb_args.printSummary();
}

/// Calls visit(record) for all messages, from the last to the first, and frees them.
template <typename Visit>
void consume_records(BaseLB::LDStats& stats, const Visit& visit) {
  consume(stats.commData, visit);
}

/// Number of low bits of an object's id that hold its index; the bits above hold its home PE.
inline constexpr int kIndexBits = CMK_OBJID_ELEMENT_BITS;

/// Turns on the measurement of messages, which is off by default.
inline void measure_messages() { LBTurnCommOn(); }

inline void measure_loads() { LBManagerObj()->CollectStatsOn(); }

/// False if this process knows that the program has made the PE unavailable.
inline bool is_available(int pe) { return LBManagerObj()->availVector()[pe] != 0; }

/// Registers nothing: since Charm++ 7, the LBManager calls the balancers by itself.
template <typename Group>
void call_at_balancings(Group&) {}

template <typename Group, std::size_t kWhich>
void register_balancer(const Listed& listed) {
  LBRegisterBalancer(
      listed.name, [](const CkLBOptions& options) { Group::create(options, kWhich); },
      []() -> BaseLB* { return Group::allocate(kWhich); }, listed.summary);
}

#else

inline std::size_t num_pes(const BaseLB::LDStats& stats) {
  return static_cast<std::size_t>(stats.nprocs());
}
inline std::size_t num_objects(const BaseLB::LDStats& stats) {
  return static_cast<std::size_t>(stats.n_objs);
}
inline std::size_t num_records(const BaseLB::LDStats& stats) {
  return static_cast<std::size_t>(stats.n_comm);
}

template <typename T>
using List = CkVec<T>;

inline void keep_objects(BaseLB::LDStats& stats, std::size_t num_kept) {
  stats.n_objs = static_cast<int>(num_kept);
  stats.objData.resize(num_kept);
  stats.from_proc.resize(num_kept);
  stats.to_proc.resize(num_kept);
}
inline void keep_records(BaseLB::LDStats& stats, std::size_t num_kept) {
  stats.n_comm = static_cast<int>(num_kept);
  stats.commData.resize(num_kept);
}

inline bool will_dump() { return LBSimulation::dumpStep >= 0; }
inline bool may_free_records() { return false; }
template <typename Visit>
void consume_records(BaseLB::LDStats&, const Visit&) {}

inline constexpr int kIndexBits = 64;

inline void measure_messages() {}  // messages are measured by default; +LBCommOff turns this off

inline void measure_loads() { LBDatabaseObj()->CollectStatsOn(); }

inline bool is_available(int pe) { return LBDatabaseObj()->availVector()[pe] != 0; }

template <typename Group>
void call_at_balancings(Group& balancer) {
  LBDatabase* database = LBDatabaseObj();
  database->AddLocalBarrierReceiver(&Group::staticAtSync, &balancer);
  database->getLBDB()->NotifyMigrated(&Group::staticMigrated, &balancer);
}

template <typename Group, std::size_t kWhich>
void register_balancer(const Listed& listed) {
  LBRegisterBalancer(
      listed.name.c_str(),
      [] { Group::create(CkLBOptions(LBDatabaseObj()->getLoadbalancerTicket()), kWhich); },
      []() -> BaseLB* { return Group::allocate(kWhich); }, listed.summary.c_str());
}

#endif

#if defined CHARM_VERSION && CHARM_VERSION >= 80000

/// Returns what this PE knows about the locations of the object's array; null if it knows nothing.
inline CkLocCache* locations_of(const ObjectName& object) {
  CkGroupID array;
  array.idx = object.array;
  auto* const manager = static_cast<CkLocMgr*>(CkLocalBranch(array));
  if (manager == nullptr) return nullptr;
  return static_cast<CkLocCache*>(CkLocalBranch(manager->getLocationCache()));
}

/// Lets this PE send messages for the object straight to the PE `pe`, where the object is. In
/// Charm++ 8.0.1 a PE that has not been told sends them to the object's home PE, which passes them
/// on. The receiver's PE should then tell the sender where the object is. But it does so only for
/// messages with more than one hop, and _processArrayEltMsg() does not count the last hop, so the
/// sender is not told.
///
/// An object's epoch is the number of its migrations. The epoch that is set here is at most the
/// object's true epoch, so any later location that Charm++ itself reports replaces this one.
inline void learn_location(const ObjectName& object, int pe) {
  CkLocCache* const cache = locations_of(object);
  if (cache == nullptr) return;
  const CmiUInt8 id = object.id;
  const CkLocEntry known = cache->getLocationEntry(id);
  // On the PE that has the object and on its home PE, Charm++ itself records the migration.
  if (known.pe == CkMyPe() || known.pe == pe || cache->homePe(id) == CkMyPe()) return;
  CkLocEntry entry;
  entry.id = id;
  entry.pe = pe;
  entry.epoch = known.epoch + 1;
  cache->updateLocation(entry);
}

/// The PE to which this PE sends messages for the object; -1 if this PE does not know the object.
inline int known_pe(const ObjectName& object) {
  const CkLocCache* const cache = locations_of(object);
  return cache == nullptr ? -1 : cache->getPe(object.id);
}

#else  // not tried

inline void learn_location(const ObjectName&, int) {}
inline int known_pe(const ObjectName&) { return -1; }

#endif

}  // namespace poise::charm
