// SPDX-License-Identifier: BSD-3-Clause
// Balancing by all PEs together: each PE knows its own objects only, and no PE gathers the
// statistics of all PEs.
#include <BaseLB.h>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "PoiseJointLB.decl.h"
#include "runtimes/charm/joint.h"
#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/module/pe_communication.h"
#include "runtimes/charm/module/rows.h"
#include "runtimes/charm/module/tell.h"

using poise::charm::JointBalancer;
using poise::charm::JointDecision;
using poise::charm::Statistics;

/// One balancing step on a PE: LBManager calls InvokeLB() when all objects of the PE wait. A thread
/// runs decide(), which decides together with the threads of all other PEs and lets objects leave.
/// When the objects that come to this PE have arrived, its objects resume, although other PEs may
/// still wait. The next step begins when all PEs have joined it, so objects that arrive always
/// belong to the current step.
class PoiseJointLB : public CBase_PoiseJointLB {
 public:
  PoiseJointLB(const CkLBOptions& options, bool with_messages)
      : CBase_PoiseJointLB(options), with_messages_(with_messages) {
    begin();
  }
  explicit PoiseJointLB(CkMigrateMessage* message) : CBase_PoiseJointLB(message) {}
  ~PoiseJointLB() override {
    lbmgr = CProxy_LBManager(_lbmgr).ckLocalBranch();
    if (lbmgr != nullptr && is_started_) lbmgr->RemoveStartLBFn(startLbFnHdl);
  }

  static void create(const CkLBOptions& options, std::size_t) {
    CProxy_PoiseJointLB::ckNew(options, wants_messages());
  }
  static PoiseJointLB* allocate(std::size_t) {
    return new PoiseJointLB(static_cast<CkMigrateMessage*>(nullptr));
  }
  static int index_of_all_taken() { return CkReductionTarget(PoiseJointLB, all_taken); }
  static int index_of_reduced() { return CkIndex_PoiseJointLB::reduced(nullptr); }

  void pup(PUP::er& p) override;
  void InvokeLB() override;
  void Migrated(int) override {
    ++num_arrived_;
    finish_if_complete();
  }

  void decide();
  void take(int round, int from, int size, const char* data) { pes_.take(round, from, size, data); }
  void taken() { pes_.taken(); }
  void all_taken() { pes_.all_taken(); }
  void reduced(CkReductionMsg* result) { pes_.reduced(result); }
  void resume();
  void learn(int step, const std::vector<int>& arrays, const std::vector<CmiUInt8>& ids,
             const std::vector<int>& at) {
    learner_.learn(step, arrays, ids, at);
  }

 private:
  static bool wants_messages();
  void begin();
  void finish_if_complete();
  Statistics rows_of(const std::vector<LDObjData>& objects, std::vector<LDCommData>& records) const;

  bool with_messages_ = false, is_started_ = false;
  bool is_balancing_ = false, has_decided_ = false;
  std::uint64_t num_arriving_ = 0, num_arrived_ = 0;
  double start_s_ = 0;  // when the balancing step began
  JointBalancer balancer_;
  poise::charm::PeCommunication<PoiseJointLB> pes_{*this};
  poise::charm::Learner learner_;
};

namespace {

void register_joint() {
  poise::charm::take_setting();
  static const poise::charm::Listed listed = {"PoiseJointLB", "PoiseLB, by all PEs together"};
  poise::charm::register_balancer<PoiseJointLB, 0>(listed);
}

}  // namespace

/// Invalid settings end the program; only PE 0 prints the error.
bool PoiseJointLB::wants_messages() {
  try {
    return poise::charm::joint_wants_messages(poise::charm::setting());
  } catch (const std::exception& error) {
    if (CkMyPe() == 0) poise::charm::refuse(error.what());
    return false;
  }
}

void PoiseJointLB::begin() {
  lbname = "PoiseJointLB";
  if (with_messages_) poise::charm::measure_messages();
  if (_lb_args.statsOn()) poise::charm::measure_loads();
  startLbFnHdl = lbmgr->AddStartLBFn(this, &PoiseJointLB::InvokeLB);
  is_started_ = true;
  if (seqno > 0) turnOff();  // other balancers come first in the user's list, and run first
  if (CkMyPe() != 0) return;
  try {
    balancer_.prepare(poise::charm::setting());
  } catch (const std::exception& error) {
    poise::charm::refuse(error.what());
  }
  if (std::getenv("POISE_TRACE") != nullptr)
    CkError("poise: warning: PoiseJointLB writes no trace\n");
}

void PoiseJointLB::pup(PUP::er& p) {
  CmiUInt8 num_decisions = balancer_.num_decisions();
  p | with_messages_;
  p | num_decisions;
  if (!p.isUnpacking()) return;
  with_messages_ = wants_messages() || with_messages_;
  balancer_.restart(num_decisions);
  begin();
}

void PoiseJointLB::InvokeLB() {
  if (is_balancing_) return;
  is_balancing_ = true;
  start_s_ = CkWallTimer();
  has_decided_ = false;
  num_arrived_ = 0;
  num_arriving_ = 0;
  thisProxy[CkMyPe()].decide();
}

Statistics PoiseJointLB::rows_of(const std::vector<LDObjData>& objects,
                                 std::vector<LDCommData>& records) const {
  Statistics own;
  own.pes.resize(1);
  poise::charm::PeRow& pe = own.pes[0];
  LBRealType wall_s = 0, background_s = 0, cpu_s = 0;
  lbmgr->TotalTime(&wall_s, &cpu_s);
  lbmgr->BackgroundLoad(&background_s, &cpu_s);
  pe.wall_s = wall_s;
  pe.background_s = _lb_args.ignoreBgLoad() ? 0 : background_s;
  pe.speed = LBManager::ProcessorSpeed();
  pe.number = CkMyPe();
  pe.host = CmiPhysicalNodeID(CkMyPe());
  pe.core_os_index = poise::charm::bound_core();
  for (const LDObjData& object : objects)
    own.objects.push_back(poise::charm::object_row(object, 0));
  for (LDCommData& record : records) poise::charm::add_message(record, own);
  for (auto& message : own.messages)
    if (message.from_pe != -1) message.from_pe = 0;
  return own;
}

/// Runs in a thread of its own. Its stack is as large as the usual stack of a process, because
/// strategies and hwloc may need more than the small default of Charm++'s threads.
void PoiseJointLB::decide() {
  JointDecision decision;
  if (CkNumPes() > 1) {
    std::vector<LDObjData> objects(lbmgr->GetObjDataSz());
    lbmgr->GetObjData(objects.data());
    std::vector<LDCommData> records(with_messages_ ? lbmgr->GetCommDataSz() : 0);
    if (!records.empty()) lbmgr->GetCommData(records.data());
    std::vector<std::int32_t> unavailable;
    for (int pe = 0; pe < CkNumPes(); ++pe)
      if (lbmgr->availVector()[pe] == 0) unavailable.push_back(pe);
    decision = balancer_.decide(rows_of(objects, records), unavailable, pes_.table());
    if (!decision.warning.empty()) CkError("poise: warning: %s\n", decision.warning.c_str());
    const std::size_t num_pes = CkNumPes();
    if (CkMyPe() == 0)
      poise::charm::summarize({balancer_.strategy(), decision.num_moves, decision.num_objects,
                               num_pes, decision.decide_s});
    for (std::size_t i = 0; i < objects.size(); ++i)
      if (decision.pe_of_object[i] != CkMyPe())
        lbmgr->Migrate(objects[i].handle, decision.pe_of_object[i]);
    poise::charm::tell(thisProxy, step(), decision.news.size(),
                       [&](std::size_t i) { return decision.news[i]; });
  }
  num_arriving_ = decision.num_arriving;
  has_decided_ = true;
  finish_if_complete();
}

void PoiseJointLB::finish_if_complete() {
  if (!has_decided_ || num_arrived_ < num_arriving_) return;
  is_balancing_ = has_decided_ = false;
  lbmgr->ClearLoads();
  lbmgr->nextLoadbalancer(seqno);
  lbmgr->incStep();
  lbmgr->MigrationDone();
  if (_lb_args.syncResume())
    contribute(CkCallback(CkReductionTarget(PoiseJointLB, resume), thisProxy));
  else
    thisProxy[CkMyPe()].resume();
}

/// Prints the line that Charm++'s own balancers print on request.
void PoiseJointLB::resume() {
  const double now_s = CkWallTimer();
  if (CkMyPe() == 0 && _lb_args.debug() > 0)
    CkPrintf("%s> step %d finished at %f duration %f\n", lbname, step() - 1, now_s,
             now_s - start_s_);
  lbmgr->ResumeClients();
}

#include "PoiseJointLB.def.h"
