// SPDX-License-Identifier: BSD-3-Clause
// Lets a balancer of Charm++ 8 decide about given objects: replay PROBLEM ANSWER.
//
// Every object of PROBLEM becomes a chare on its PE. The chare neither computes nor sends, but
// tells Charm++ its load and the messages that it would send. Then all objects are balanced once.
// The program writes the PE of each object to ANSWER, one per line.
//
// PROBLEM is text: the number of objects, and then per object its load in seconds, its PE, 1 if it
// may move or else 0, its number of receivers, and for each receiver: the object, the number of
// messages, and their bytes in total.
#include <LBManager.h>
#include <charm++.h>
#include <fstream>
#include <string>
#include <vector>

struct Link {
  int to;
  unsigned messages;
  double bytes;
};
PUPbytes(Link)

#include "replay.decl.h"

    CProxy_Main mainProxy;
CProxy_Object objects;

class Main : public CBase_Main {
 public:
  explicit Main(CkArgMsg* arguments) {
    if (arguments->argc != 3) CkAbort("usage: replay PROBLEM ANSWER");
    std::ifstream problem(arguments->argv[1]);
    answer_ = arguments->argv[2];
    delete arguments;
    mainProxy = thisProxy;
    std::size_t num_objects = 0;
    problem >> num_objects;
    ids_.resize(num_objects);
    pes_.resize(num_objects);
    objects = CProxy_Object::ckNew();
    for (std::size_t i = 0; i < num_objects && problem; ++i) insert(static_cast<int>(i), problem);
    if (!problem) CkAbort("replay: the problem is incomplete");
    objects.doneInserting();
  }

  /// Receives the id that Charm++ gave to an object. When all ids are known, balancing begins.
  void named(int object, CmiUInt8 id) {
    ids_[static_cast<std::size_t>(object)] = id;
    if (++num_named_ == ids_.size()) objects.balance(static_cast<int>(ids_.size()), ids_.data());
  }

  /// Receives the PE of an object after the decision. When the PEs of all objects are known, writes
  /// them to ANSWER.
  void placed(int object, int pe) {
    pes_[static_cast<std::size_t>(object)] = pe;
    if (++num_placed_ < pes_.size()) return;
    std::ofstream answer(answer_);
    for (const int of_object : pes_) answer << of_object << "\n";
    answer.close();
    CkExit(answer ? 0 : 1);
  }

 private:
  static void insert(int object, std::ifstream& problem) {
    double load_s = 0;
    int pe = 0, num_links = 0;
    bool movable = true;
    problem >> load_s >> pe >> movable >> num_links;
    std::vector<Link> links(static_cast<std::size_t>(num_links));
    for (Link& link : links) problem >> link.to >> link.messages >> link.bytes;
    objects[object].insert(load_s, movable, num_links, links.data(), pe);
  }

  std::string answer_;
  std::vector<CmiUInt8> ids_;
  std::vector<int> pes_;
  std::size_t num_named_ = 0, num_placed_ = 0;
};

class Object : public CBase_Object {
 public:
  Object(double load_s, bool movable, int n, const Link* links)
      : load_s_(load_s), movable_(movable), links_(links, links + n) {
    usesAtSync = true;
    usesAutoMeasure = false;  // Charm++ calls UserSetLBLoad() instead
    setMigratable(movable_);
    mainProxy.named(thisIndex, ckGetID().getElementID());
  }
  explicit Object(CkMigrateMessage*) {}

  void pup(PUP::er& p) override {
    p | load_s_;
    p | movable_;
    p | links_;
  }

  void balance(int, const CmiUInt8* ids) {
    for (const Link& link : links_) record(ids[link.to], link);
    AtSync();
  }

  void UserSetLBLoad() override { setObjTime(load_s_); }
  void ResumeFromSync() override { mainProxy.placed(thisIndex, CkMyPe()); }

 private:
  /// Tells Charm++ that this object has sent messages, as CkLocMgr does when it delivers a message.
  void record(CmiUInt8 to, const Link& link) const {
    LBManager* manager = CProxy_LBManager(_lbmgr).ckLocalBranch();
    const auto bytes = static_cast<unsigned>(link.bytes / link.messages);
    for (unsigned m = 0; m < link.messages; ++m)
      manager->Send(thisArray->getLocMgr()->getOMHandle(), to, bytes, CkMyPe(), 1);
  }

  double load_s_ = 0;
  bool movable_ = true;
  std::vector<Link> links_;
};

#include "replay.def.h"
