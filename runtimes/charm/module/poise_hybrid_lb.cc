// Poise's strategies on Charm++ 6.10's tree of PEs: each group of PEs decides about its own
// objects.
#include <HybridBaseLB.h>
#include <cstdlib>
#include <map>
#include <memory>

#include "PoiseHybridLB.decl.h"
#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/module/rows.h"

/// Above the groups only sums of loads travel, and how much load should go from group to group: so
/// no PE sees more objects than its group has. What comes from outside arrives as from a PE out of
/// service, and is given a place.
class PoiseHybridLB : public CBase_PoiseHybridLB {
 public:
  explicit PoiseHybridLB(const CkLBOptions& options) : CBase_PoiseHybridLB(options) {
    lbname = "PoiseHybridLB";
    if (tree->numLevels() > 2) statsStrategy = SHRINK;
    // No PE goes on before all are done: HybridBaseLB forgets how many objects a group has when its
    // first PE is done, and those of a PE that is already at the next balancing were counted
    // before.
    if (CkMyRank() == 0) _lb_args.syncResume() = 1;
    initTree();
    if (tree->isroot(CkMyPe(), 1)) balancer_ = poise::charm::made(0, poise::charm::Scope::group);
    if (CkMyPe() == 0 && (std::getenv("POISE_TRACE") || std::getenv("POISE_LOG")))
      CkError("poise: warning: PoiseHybridLB writes no trace and no log\n");
    thisProxy[tree->parent(CkMyPe(), 0)].sit(CkMyPe(), poise::charm::bound_core());
  }
  explicit PoiseHybridLB(CkMigrateMessage* message) : CBase_PoiseHybridLB(message) {}

  void sit(int pe, int core_os_index) { core_of_pe_[pe] = core_os_index; }

 protected:
  bool QueryBalanceNow(int) override { return true; }
  void work(LDStats* stats) override;

 private:
  std::map<int, int> core_of_pe_;  // of the group's PEs, at its root
  std::unique_ptr<poise::charm::Balancer> balancer_;
};

namespace {

void create() {
  CProxy_PoiseHybridLB::ckNew(CkLBOptions(LBDatabaseObj()->getLoadbalancerTicket()));
}
BaseLB* allocate() { return new PoiseHybridLB(static_cast<CkMigrateMessage*>(nullptr)); }

void register_hybrid() {
  poise::charm::take_setting();
  LBRegisterBalancer("PoiseHybridLB", create, allocate, "PoiseLB, group by group of PEs");
}

}  // namespace

void PoiseHybridLB::work(LDStats* stats) {
  const LevelData& level = *levelData[currentLevel];
  poise::charm::Statistics statistics;
  const auto num_children = static_cast<std::size_t>(level.nChildren);
  statistics.pes.resize(num_children + 1);
  statistics.pes[num_children].available = false;  // where objects from outside come from
  for (std::size_t p = 0; p < num_children; ++p) {
    statistics.pes[p] = poise::charm::pe_row(stats->procs[p]);
    const int pe = level.children[p];
    statistics.pes[p].host = static_cast<std::uint32_t>(CmiPhysicalNodeID(pe));
    const auto core = core_of_pe_.find(pe);
    if (core != core_of_pe_.end()) statistics.pes[p].core_os_index = core->second;
  }
  poise::charm::add_objects(*stats, statistics);
  if (balancer_->wants_messages()) poise::charm::add_messages(*stats, statistics);
  poise::charm::carry_out(balancer_->decide(statistics), *stats);
}

#include "PoiseHybridLB.def.h"
