// SPDX-License-Identifier: BSD-3-Clause
// The library libpoise_reorder.so, which one rank loads to decide the order of a topology's ranks.
#include <cstring>
#include <string>
#include <vector>

#include "runtimes/profile/reorder_plan.h"
#include "runtimes/profile/reorder_request.h"

#include "poise/base/error.h"
#include "poise/machine/find.h"

namespace poise::profile {

namespace {

Seats seats_on_hosts(const ReorderRequest& request) {
  const std::span<const RankSite> sites(request.sites, request.num_ranks);
  std::vector<JobHost> hosts;
  for (const RankSite& site : sites) {
    const std::string name = site.host;
    if (!hosts.empty() && hosts.back().name == name) continue;
    // Slurm may list a host by its short name, without the domain.
    if (const auto dot = name.find('.'); dot != name.npos)
      hosts.push_back({.name = name.substr(0, dot)});
    hosts.push_back({.name = name});
  }
  find_slurm_switches(hosts);
  return seats_of(sites, hosts);
}

Seats seats_of(const ReorderRequest& request) {
  if (*request.machine == '\0') return seats_on_hosts(request);
  try {
    return seats_on(find_machine(request.machine), {request.world_rank, request.num_ranks});
  } catch (const Error&) {  // rank 0 of MPI_COMM_WORLD has printed the error
    return seats_on_hosts(request);
  }
}

void check_machine(const char* name, std::size_t num_ranks) {
  const Machine machine = find_machine(name);
  if (num_ranks > machine.num_places())
    fail("machine \"{}\" has fewer places ({}) than the job has ranks ({})", machine.name(),
         machine.num_places(), num_ranks);
}

void answer(const ReorderRequest& request, ReorderAnswer& reply) {
  const ReorderPlan plan = plan_order(seats_of(request), {request.edges, request.num_edges});
  for (std::size_t rank = 0; rank < plan.rank_at.size(); ++rank)
    reply.rank_at[rank] = plan.rank_at[rank];
  reply.before = plan.before;
  reply.after = plan.after;
  if (!plan.is_better()) fail("no order of the ranks is better than the current one");
}

/// Calls `function`. If the function throws, returns false and stores the reason in `reply`.
template <typename Function>
bool is_done(Function function, ReorderAnswer& reply) {
  try {
    function();
    return true;
  } catch (...) {
    std::strncpy(reply.reason, poise::thrown_text().c_str(), sizeof reply.reason - 1);
    return false;
  }
}

}  // namespace

}  // namespace poise::profile

extern "C" __attribute__((visibility("default"))) bool poise_reorder(
    const poise::profile::ReorderRequest* request, poise::profile::ReorderAnswer* reply) {
  return poise::profile::is_done([&] { poise::profile::answer(*request, *reply); }, *reply);
}

extern "C" __attribute__((visibility("default"))) bool poise_reorder_check_machine(
    const char* machine, std::size_t num_ranks, poise::profile::ReorderAnswer* reply) {
  return poise::profile::is_done([&] { poise::profile::check_machine(machine, num_ranks); },
                                 *reply);
}
