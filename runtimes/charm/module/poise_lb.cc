// SPDX-License-Identifier: BSD-3-Clause
// Poise's strategies as central balancers of Charm++. This file contains the chare group that
// Charm++'s runtime calls.
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "PoiseLB.decl.h"
#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/module/rows.h"
#include "runtimes/charm/module/tell.h"

namespace {

using poise::charm::Balancer;
using poise::charm::Statistics;

}  // namespace

/// This class implements all central balancers of Poise; `which` is an index into
/// poise::charm::balancers(). If the deciding PE becomes unavailable, Charm++ makes another PE
/// decide.
class PoiseLB : public CBase_PoiseLB {
 public:
  PoiseLB(const CkLBOptions& options, int which, bool with_messages);
  explicit PoiseLB(CkMigrateMessage* message) : CBase_PoiseLB(message) {}

  static void create(const CkLBOptions& options, std::size_t which) {
    CProxy_PoiseLB::ckNew(options, static_cast<int>(which), needs_messages(which));
  }
  static PoiseLB* allocate(std::size_t which) {
    auto* balancer = new PoiseLB(static_cast<CkMigrateMessage*>(nullptr));
    balancer->begin(static_cast<int>(which));
    return balancer;
  }

  void pup(PUP::er& p) override;

  /// Stores the core to which a PE is bound, as the PE reports it.
  void sit(int pe, int core_os_index) { cores_.at(static_cast<std::size_t>(pe)) = core_os_index; }

  /// Tells a PE the locations of objects to which it sends messages.
  void learn(int step, const std::vector<int>& arrays, const std::vector<CmiUInt8>& ids,
             const std::vector<int>& at) {
    learner_.learn(step, arrays, ids, at);
  }

 protected:
  bool QueryBalanceNow(int) override { return true; }
  void work(LDStats* stats) override;

 private:
  static bool needs_messages(int which);
  void begin(int which);
  void tell_core();
  void make_balancer();
  Statistics rows_of(LDStats& stats) const;

  int which_ = 0;
  bool with_messages_ = false;
  // Core of each PE. It is -1 if the PE is not bound or did not report its core to this PE.
  std::vector<int> cores_;
  std::unique_ptr<Balancer> balancer_;
  poise::charm::Learner learner_;
};

namespace {

template <std::size_t... kWhich>
void register_rows(std::index_sequence<kWhich...>) {
  const auto& rows = poise::charm::balancers();
  ((kWhich < rows.size() ? poise::charm::register_balancer<PoiseLB, kWhich>(rows[kWhich]) : void()),
   ...);
}

/// Upper limit for the number of balancers, with room for new strategies.
constexpr std::size_t kMaxNames = 64;

void register_balancers() {
  poise::charm::take_setting();
  if (poise::charm::balancers().size() > kMaxNames)
    CmiAbort("poise: more balancers than kMaxNames");
  register_rows(std::make_index_sequence<kMaxNames>());
}

}  // namespace

PoiseLB::PoiseLB(const CkLBOptions& options, int which, bool with_messages)
    : CBase_PoiseLB(options), with_messages_(with_messages) {
  begin(which);
  tell_core();
}

/// True if the balancer's strategy or its trace, or a dump of Charm++, needs messages.
bool PoiseLB::needs_messages(int which) {
  try {
    return poise::charm::wants_messages(which, poise::charm::setting()) ||
           poise::charm::will_dump();
  } catch (const std::exception& error) {
    poise::charm::refuse(error.what());
  }
}

void PoiseLB::begin(int which) {
  which_ = which;
  lbname = poise::charm::balancers()[static_cast<std::size_t>(which)].name.c_str();
  cores_.assign(static_cast<std::size_t>(CkNumPes()), -1);
  if (with_messages_) poise::charm::measure_messages();
  if (CkMyPe() == cur_ld_balancer) make_balancer();
}

void PoiseLB::tell_core() { thisProxy[cur_ld_balancer].sit(CkMyPe(), poise::charm::bound_core()); }

void PoiseLB::make_balancer() {
  balancer_ = poise::charm::made(static_cast<std::size_t>(which_), poise::charm::setting(),
                                 poise::charm::Scope::all);
}

/// After a restart the number of PEs and their cores may differ, so both are determined again.
void PoiseLB::pup(PUP::er& p) {
  p | which_;
  p | with_messages_;
  if (p.isUnpacking()) {
    // If messages were measured before the restart, they are measured now, too, even if no setting
    // on this host requires it: the user may have set the environment variables on another host
    // only.
    with_messages_ = with_messages_ || needs_messages(which_);
    begin(which_);
    tell_core();
  }
  poise::charm::pup_past(p, balancer_.get());
}

Statistics PoiseLB::rows_of(LDStats& stats) const {
  Statistics statistics;
  const std::size_t num_pes = poise::charm::num_pes(stats);
  statistics.pes_are_here =
      !LBSimulation::doSimulation && num_pes == static_cast<std::size_t>(CkNumPes());
  statistics.pes.resize(num_pes);
  for (std::size_t p = 0; p < num_pes; ++p) {
    auto& row = statistics.pes[p];
    row = poise::charm::pe_row(stats.procs[p]);
    if (!statistics.pes_are_here) continue;
    row.host = static_cast<std::uint32_t>(CmiPhysicalNodeID(static_cast<int>(p)));
    row.core_os_index = cores_[p];
    row.number = static_cast<int>(p);
  }
  poise::charm::list_objects(stats, statistics);
  if (balancer_->wants_messages())
    poise::charm::add_messages(stats, statistics, poise::charm::may_free_records());
  return statistics;
}

void PoiseLB::work(LDStats* stats) {
  if (!balancer_) make_balancer();
  const Statistics statistics = rows_of(*stats);
  const poise::charm::Decision decision = balancer_->decide(statistics);
  poise::charm::summarize({balancer_->strategy(), poise::charm::num_moves(decision, *stats),
                           statistics.num_objects(), statistics.pes.size(), decision.decide_s});
  poise::charm::carry_out(decision, *stats);
  poise::charm::tell_locations(thisProxy, step(), decision, statistics);
}

#include "PoiseLB.def.h"
