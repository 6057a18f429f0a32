// SPDX-License-Identifier: BSD-3-Clause
// The program for the balancers' tests: a ring of pieces with uneven work, balanced every ten
// steps. It prints the number of moves. It prints "ok" only if no message was lost, no pinned piece
// moved, and every other piece left the PE that the program took out of service. An optional
// argument names this PE. Other arguments: "multicast": in each step, the first piece, which is
// pinned, also sends a message to all pieces by a multicast. "apart": pieces do not wait for each
// other, and pieces on the fourth PE take a long time to pack, so that PEs get out of step.
// "checkpoint FOLDER": writes a checkpoint to FOLDER.STEP after each balancing step; +restart
// FOLDER.20 continues from the second checkpoint. "given N": Charm++ does not measure the pieces;
// instead, the load of a piece is set to a value that rises from 1 ms (first piece) to N ms (last
// piece).
#include <chrono>
#include <ckmulticast.h>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "ring.decl.h"
#if __has_include(<LBManager.h>)
#include <LBManager.h>
#else
#include <LBDatabase.h>
#endif

CProxy_Main mainProxy;
CProxy_Ring pieces;
int outOfService;
bool hasMulticasts, isApart, isSaved;
int numLoads;
CkGroupID multicaster;

struct Note : CkMcastBaseMsg, CMessage_Note {};

namespace {

constexpr int kPieces = 64, kSteps = 40, kPeriod = 10, kPinned = 8, kValues = 64;

enum Count { kStepsDone, kSumOfEnds, kMoves, kPinnedMoves, kLeftBehind, kDetours, kCounts };

void take_out_of_service(int pe) {
  std::vector<char> in_service(static_cast<std::size_t>(CkNumPes()), 1);
  in_service[static_cast<std::size_t>(pe)] = 0;
#if __has_include(<LBManager.h>)
  set_avail_vector(in_service);
#else
  set_avail_vector(in_service.data());
#endif
}

}  // namespace

class Main : public CBase_Main {
 public:
  explicit Main(CkArgMsg* arguments) {
    const std::string word = arguments->argc > 1 ? arguments->argv[1] : "";
    hasMulticasts = word == "multicast";
    isApart = word == "apart";
    isSaved = word == "checkpoint" && arguments->argc > 2;
    if (isSaved) folder_ = arguments->argv[2];
    numLoads = word == "given" && arguments->argc > 2 ? std::stoi(arguments->argv[2]) : 0;
    const bool is_pe = !word.empty() && !hasMulticasts && !isApart && !isSaved && numLoads == 0;
    outOfService = is_pe ? std::stoi(word) : -1;
    delete arguments;
    if (outOfService >= 0) take_out_of_service(outOfService);
    mainProxy = thisProxy;
    if (hasMulticasts) multicaster = CProxy_CkMulticastMgr::ckNew();
    pieces = CProxy_Ring::ckNew(kPieces);
    pieces.go();
  }
  explicit Main(CkMigrateMessage* message) : CBase_Main(message) { mainProxy = thisProxy; }

  void pup(PUP::er& p) override { p | folder_; }

  /// Called when all pieces have been balanced and are waiting.
  void save(int step) {
    now_saved_ = folder_ + "." + std::to_string(step);
    CkStartCheckpoint(now_saved_.c_str(), CkCallback(CkIndex_Ring::go(), pieces));
  }

  void done(int n, const int* counts) {
    const bool ok = n == kCounts && counts[kStepsDone] == kSteps * kPieces &&
                    counts[kSumOfEnds] == 2 * kSteps * kPieces && counts[kPinnedMoves] == 0 &&
                    counts[kLeftBehind] == 0;
    CkPrintf("ring: %d moves, %d of pinned pieces; %s\n", counts[kMoves], counts[kPinnedMoves],
             ok ? "ok" : "WRONG");
    CkPrintf("ring: %d messages were sent to a PE without the receiver\n", counts[kDetours]);
    CkPrintf("ring: messages are %s\n", _lb_args.traceComm() ? "measured" : "not measured");
#if __has_include(<LBManager.h>)
    CkPrintf("ring: CkStartLB() calls %zu functions\n", LBManagerObj()->startLBFnList.size());
#endif
    CkExit();
  }

 private:
  std::string folder_, now_saved_;
};

class Ring : public CBase_Ring {
 public:
  Ring() : values_(kValues, 1.0), pe_(CkMyPe()), home_(CkMyPe()), num_pes_(CkNumPes()) {
    usesAtSync = true;
    usesAutoMeasure = numLoads == 0;
    setMigratable(!is_pinned());
  }
  explicit Ring(CkMigrateMessage* message) : CBase_Ring(message) {}

  void pup(PUP::er& p) override {
    p | step_;
    p(waiting_, 2);
    p | ends_;
    p | moves_;
    p | detours_;
    p | has_sent_;
    p | values_;
    p | pe_;
    p | home_;
    p | num_pes_;
    p | notes_;
    if (p.isUnpacking()) arrive();
    if (p.isPacking() && isApart && CkMyPe() == 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  void go() {
    for (int k = 0; k < 2000 * (1 + thisIndex % 7); ++k) values_[k % kValues] += 1e-9 * k;
    for (const int distance : {1, kPieces - 1})
      if (!isApart) tell((thisIndex + distance) % kPieces);
    if (hasMulticasts && thisIndex == 0) tell_all();
    has_sent_ = true;
    advance();
  }

  void note(Note* note) {
    delete note;
    ++notes_;
    advance();
  }

  /// Counts messages separately for odd and even steps, because a neighbour may be one step ahead.
  void end(int step, int pe, int, const double*) {
    ++waiting_[step & 1];
    if (pe != CkMyPe()) ++detours_;
    advance();
  }

  void UserSetLBLoad() override { setObjTime(1e-3 * (1 + thisIndex * numLoads / kPieces)); }

  void ResumeFromSync() override {
    if (isSaved)
      contribute(sizeof step_, &step_, CkReduction::max_int,
                 CkCallback(CkReductionTarget(Main, save), mainProxy));
    else
      thisProxy[thisIndex].go();
  }

 private:
  bool is_pinned() const { return thisIndex % kPinned == 0; }

  /// Called after a migration, and after a restart on another number of PEs.
  void arrive() {
    if (num_pes_ != CkNumPes())
      home_ = CkMyPe();
    else if (pe_ != CkMyPe())
      ++moves_;
    pe_ = CkMyPe();
    num_pes_ = CkNumPes();
    setMigratable(!is_pinned());
  }

  void tell(int neighbour) {
    const int pe = thisArray->lastKnown(CkArrayIndex1D(neighbour));
    thisProxy[neighbour].end(step_, pe, kValues, values_.data());
  }

  void tell_all() {
    if (step_ == 0) {
      all_ = CProxySection_Ring::ckNew(thisArrayID, 0, kPieces - 1, 1);
      all_.ckSectionDelegate(CProxy_CkMulticastMgr(multicaster).ckLocalBranch());
    }
    all_.note(new Note);
  }

  void advance() {
    if (!has_sent_ || (waiting_[step_ & 1] < 2 && !isApart)) return;
    if (hasMulticasts && notes_ <= step_) return;
    ends_ += isApart ? 2 : waiting_[step_ & 1];
    waiting_[step_ & 1] = 0;
    has_sent_ = false;
    ++step_;
    if (step_ == kSteps)
      report();
    else if (step_ % kPeriod == 0)
      AtSync();
    else
      thisProxy[thisIndex].go();
  }

  void report() {
    const int counts[kCounts] = {step_,
                                 ends_,
                                 moves_,
                                 is_pinned() && CkMyPe() != home_,
                                 !is_pinned() && CkMyPe() == outOfService,
                                 detours_};
    contribute(sizeof counts, counts, CkReduction::sum_int,
               CkCallback(CkReductionTarget(Main, done), mainProxy));
  }

  int step_ = 0, waiting_[2] = {0, 0}, ends_ = 0, moves_ = 0, detours_ = 0, notes_ = 0;
  bool has_sent_ = false;
  std::vector<double> values_;
  int pe_ = 0, home_ = 0, num_pes_ = 0;
  CProxySection_Ring all_;  // the section of all pieces; used by the first piece
};

#include "ring.def.h"
