// What differs between Charm++ 6.10 and 7.0 to 8, all of it.
#pragma once

#include <CentralLB.h>
#include <cstddef>

#include "runtimes/charm/balancer.h"

namespace poise::charm {

#if __has_include(<LBManager.h>)  // 7.0.0 and later

inline std::size_t num_pes(const BaseLB::LDStats& stats) { return stats.procs.size(); }
inline std::size_t num_objects(const BaseLB::LDStats& stats) { return stats.objData.size(); }
inline std::size_t num_records(const BaseLB::LDStats& stats) { return stats.commData.size(); }

/// From now on what objects send is measured; it is not by default.
inline void measure_messages() { LBTurnCommOn(); }

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

inline void measure_messages() {}  // they are, unless +LBCommOff

template <typename Group, std::size_t kWhich>
void register_balancer(const Listed& listed) {
  LBRegisterBalancer(
      listed.name.c_str(),
      [] { Group::create(CkLBOptions(LBDatabaseObj()->getLoadbalancerTicket()), kWhich); },
      []() -> BaseLB* { return Group::allocate(kWhich); }, listed.summary.c_str());
}

#endif

}  // namespace poise::charm
