// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical balancing with Poise's strategies: each group of PEs in Charm++'s tree decides for
// its own objects.
#include <HybridBaseLB.h>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "PoiseHybridLB.decl.h"
#include "runtimes/charm/leaving.h"
#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/module/rows.h"
#include "runtimes/charm/module/tell.h"

using poise::charm::Balancer;
using poise::charm::Statistics;

namespace {

/// Sets to zero the members of HybridBaseLB that its constructor for restarts leaves uninitialised.
/// Most of these members are private. C++ allows an explicit instantiation of a template to name
/// private members; through `Members` this function gets access to them.
void set_members_to_zero(HybridBaseLB& base);

template <auto... kMembers>
struct Members {
  friend void set_members_to_zero(HybridBaseLB& base) { ((base.*kMembers = 0), ...); }
};

}  // namespace

template struct Members<
    &HybridBaseLB::foundNeighbors, &HybridBaseLB::group1_created, &HybridBaseLB::vector_n_moves,
    &HybridBaseLB::maxLoad, &HybridBaseLB::maxCpuLoad, &HybridBaseLB::totalLoad,
    &HybridBaseLB::maxCommBytes, &HybridBaseLB::maxCommCount, &HybridBaseLB::maxMem>;

/// Above the groups of PEs, Charm++ handles only sums of loads: it decides how much load moves from
/// one group to another, so no PE sees more objects than its group has. This class chooses the
/// objects that move, so that few messages are sent between the groups. To the strategy, objects
/// that arrive from other groups seem to be on an unavailable PE, so the strategy moves each of
/// these objects to a PE of the group.
class PoiseHybridLB : public CBase_PoiseHybridLB {
 public:
  explicit PoiseHybridLB(const CkLBOptions& options) : CBase_PoiseHybridLB(options) { begin(); }
  explicit PoiseHybridLB(CkMigrateMessage* message) : CBase_PoiseHybridLB(message) {
    set_members_to_zero(*this);
    currentLevel = 0;
    tree = nullptr;
  }

  static void create(const CkLBOptions& options, std::size_t) {
    CProxy_PoiseHybridLB::ckNew(options);
  }
  static PoiseHybridLB* allocate(std::size_t) {
    return new PoiseHybridLB(static_cast<CkMigrateMessage*>(nullptr));
  }

  void pup(PUP::er& p) override;

  void sit(int pe, int core_os_index) { core_of_pe_[pe] = core_os_index; }

  /// Tells a PE the locations of objects to which it sends messages.
  void learn(int step, const std::vector<int>& arrays, const std::vector<CmiUInt8>& ids,
             const std::vector<int>& at) {
    learner_.learn(step, arrays, ids, at);
  }
  void ask(const std::vector<poise::charm::Question>& questions) { teller_->ask(questions); }
  void look_up(const std::vector<poise::charm::Question>& questions) {
    teller_->look_up(questions);
  }

 protected:
  bool QueryBalanceNow(int) override { return true; }
  void work(LDStats* stats) override;

 public:
  /// Moves objects, and the records of the messages that they sent, to another group.
  void GetObjsToMigrate(int to_root, double load_s, LDStats* stats, int level,
                        poise::charm::List<LDCommData>& records,
                        poise::charm::List<LDObjData>& objects) override;

 private:
  void begin_base();
  void begin();
  Statistics seen_from(LDStats& stats, int to_root) const;

  // Core of each PE of the group; used only on the group's first PE.
  std::map<int, int> core_of_pe_;
  std::unique_ptr<Balancer> balancer_;
  std::unique_ptr<poise::charm::GroupTeller<CProxy_PoiseHybridLB>> teller_;
  poise::charm::Learner learner_;
};

namespace {

void register_hybrid() {
  poise::charm::take_setting();
  static const poise::charm::Listed listed = {"PoiseHybridLB",
                                              "PoiseLB, separately in each group of PEs"};
  poise::charm::register_balancer<PoiseHybridLB, 0>(listed);
}

}  // namespace

void PoiseHybridLB::begin() {
  lbname = "PoiseHybridLB";
  poise::charm::measure_messages();
  statsStrategy = tree->numLevels() > 2 ? SHRINK : FULL;
  // All PEs wait until the balancing step is complete. HybridBaseLB resets a group's count of
  // objects when the group's first PE is done, so it would lose the objects of a PE that had
  // already begun the next step.
  if (CkMyRank() == 0) _lb_args.syncResume() = true;
  initTree();
  if (tree->isroot(CkMyPe(), 1))
    balancer_ = poise::charm::made(0, poise::charm::setting(), poise::charm::Scope::group);
  teller_ = std::make_unique<poise::charm::GroupTeller<CProxy_PoiseHybridLB>>(
      thisProxy, [this](int pe) { return tree->parent(pe, 0); });
  if (CkMyPe() == 0 && (std::getenv("POISE_TRACE") || std::getenv("POISE_LOG")))
    CkError("poise: warning: PoiseHybridLB writes no trace and no log\n");
  thisProxy[tree->parent(CkMyPe(), 0)].sit(CkMyPe(), poise::charm::bound_core());
}

/// Does after a restart what HybridBaseLB's constructor does at a first start, but for the new
/// number of PEs.
void PoiseHybridLB::begin_base() {
  if (CkNumPes() <= 4)
    tree = new TwoLevelTree;
  else
    tree = new ThreeLevelTree;
  poise::charm::call_at_balancings<HybridBaseLB>(*this);
  if (_lb_args.statsOn()) poise::charm::measure_loads();
}

void PoiseHybridLB::pup(PUP::er& p) {
  if (p.isUnpacking()) {
    begin_base();
    begin();
  }
  poise::charm::pup_past(p, balancer_.get());
}

void PoiseHybridLB::work(LDStats* stats) {
  const LevelData& level = *levelData[currentLevel];
  Statistics statistics;
  const auto num_children = static_cast<std::size_t>(level.nChildren);
  statistics.pes.resize(num_children + 1);
  statistics.pes[num_children].available = false;  // represents the PEs of other groups
  // Objects that come from other groups need a PE, so if no PE of the group is available, all PEs
  // of the group count as available.
  const bool any_is_available =
      std::any_of(level.children, level.children + num_children, poise::charm::is_available);
  for (std::size_t p = 0; p < num_children; ++p) {
    statistics.pes[p] = poise::charm::pe_row(stats->procs[p]);
    const int pe = level.children[p];
    statistics.pes[p].number = pe;
    statistics.pes[p].host = static_cast<std::uint32_t>(CmiPhysicalNodeID(pe));
    statistics.pes[p].available = !any_is_available || poise::charm::is_available(pe);
    const auto core = core_of_pe_.find(pe);
    if (core != core_of_pe_.end()) statistics.pes[p].core_os_index = core->second;
  }
  statistics.has_all_pes = level.nChildren == CkNumPes();
  poise::charm::add_objects(*stats, statistics);
  if (balancer_->wants_messages()) poise::charm::add_messages(*stats, statistics, false);
  const poise::charm::Decision decision = balancer_->decide(statistics);
  poise::charm::summarize({balancer_->strategy(), poise::charm::num_moves(decision, *stats),
                           statistics.num_objects(), num_children, decision.decide_s});
  poise::charm::carry_out(decision, *stats);
  if (balancer_->wants_messages()) teller_->decided(step(), decision, statistics);
}

/// Returns statistics with two rows of PEs. Row 0 stands for all PEs of this group and has all of
/// the group's objects. Row 1 stands for the group led by PE `to_root` and has one object, which
/// stands for all objects of that group.
Statistics PoiseHybridLB::seen_from(LDStats& stats, int to_root) const {
  Statistics statistics;
  statistics.pes.resize(2);
  poise::charm::add_objects(stats, statistics);
  for (auto& object : statistics.objects) object.pe = 0;
  if (!balancer_->wants_messages()) return statistics;
  const poise::charm::ObjectName others = {~std::uint64_t{0}, -1};
  statistics.objects.push_back({others, 0, 0, 1, false});
  for (std::size_t i = 0; i < poise::charm::num_records(stats); ++i)
    poise::charm::add_message(stats.commData[i], statistics);
  for (auto& row : statistics.messages) {
    if (row.from_pe != -1)
      row.messages = 0;  // drops a message that a PE sent: that PE has no row in these statistics
    row.from_pe = -1;
    if (row.last_known_pe >= 0 && tree->parent(row.last_known_pe, 0) == to_root) row.to = others;
  }
  return statistics;
}

void PoiseHybridLB::GetObjsToMigrate(int to_root, double load_s, LDStats* stats, int level,
                                     poise::charm::List<LDCommData>& records,
                                     poise::charm::List<LDObjData>& objects) {
  std::vector<char> leaves(poise::charm::num_objects(*stats));
  std::set<LDObjKey> names;
  for (const std::uint32_t row : poise::charm::leaving(seen_from(*stats, to_root), load_s)) {
    leaves[row] = 1;
    CreateMigrationOutObjs(level, stats, static_cast<int>(row));
    objects.push_back(stats->objData[row]);
    LDObjKey name;
    name.omID() = stats->objData[row].omID();
    name.objID() = stats->objData[row].objID();
    names.insert(name);
    if (balancer_->wants_messages()) teller_->leaves(poise::charm::name_of(name), to_root);
  }
  if (names.empty()) return;
  std::size_t kept = 0;
  for (std::size_t row = 0; row < leaves.size(); ++row) {
    if (leaves[row]) continue;
    stats->objData[kept] = stats->objData[row];
    stats->from_proc[kept] = stats->from_proc[row];
    stats->to_proc[kept++] = stats->to_proc[row];
  }
  stats->n_migrateobjs -= static_cast<int>(names.size());
  poise::charm::keep_objects(*stats, kept);
  std::size_t kept_records = 0;
  for (std::size_t i = 0; i < poise::charm::num_records(*stats); ++i) {
    const LDCommData& record = stats->commData[i];
    if (!record.from_proc() && names.count(record.sender) != 0)
      records.push_back(record);
    else
      stats->commData[kept_records++] = record;
  }
  poise::charm::keep_records(*stats, kept_records);
}

#include "PoiseHybridLB.def.h"
