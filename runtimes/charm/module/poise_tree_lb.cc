// SPDX-License-Identifier: BSD-3-Clause
// Poise's strategies in the tree of Charm++'s TreeLB (releases 7 and 8). TreeLB builds the tree
// from its JSON configuration, passes messages along it and decides which level balances when. The
// logic of each level is Poise's.
#include <TreeLB.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "PoiseTreeLB.decl.h"
#include "runtimes/charm/module/adapter.h"
#include "runtimes/charm/module/rows.h"
#include "runtimes/charm/module/tell.h"
#include "runtimes/charm/tree.h"

extern int quietModeRequested;

/// A message with the statistics of PEs or with moves. TreeLB requires TreeLBMessage as the first
/// base class.
class TreeMsg : public TreeLBMessage, public CMessage_TreeMsg {
 public:
  std::size_t size;
  char* bytes;
};

namespace {

using poise::charm::Balancer;
using poise::charm::Move;
using poise::charm::Statistics;
using poise::charm::Subtree;

using Teller = poise::charm::GroupTeller<CProxy_PoiseTreeLB>;

using Levels = std::vector<LevelLogic*>;

/// Returns two lists of TreeLB, each with one object per level: the objects that decide, and the
/// objects that pass messages between levels. Both lists are private members of TreeLB. C++ allows
/// an explicit instantiation of a template to name private members; through `Members` this function
/// gets access to them.
std::pair<Levels*, Levels*> levels_of(TreeLB& tree);

template <Levels TreeLB::*kLogic, Levels TreeLB::*kPassing>
struct Members {
  friend std::pair<Levels*, Levels*> levels_of(TreeLB& tree) {
    return {&(tree.*kLogic), &(tree.*kPassing)};
  }
};

template struct Members<&TreeLB::logic, &TreeLB::comm_logic>;

TreeMsg* message_of(const void* bytes, std::size_t size) {
  auto* message = new (static_cast<int>(size)) TreeMsg;
  message->size = size;
  if (size != 0) std::memcpy(message->bytes, bytes, size);
  return message;
}

TreeMsg* copy_of(const TreeLBMessage* original) {
  const auto* message = static_cast<const TreeMsg*>(original);
  TreeMsg* copy = message_of(message->bytes, message->size);
  copy->level = message->level;
  return copy;
}

std::vector<Move> moves_in(const TreeLBMessage* decision) {
  const auto* message = static_cast<const TreeMsg*>(decision);
  std::vector<Move> moves(message->size / sizeof(Move));
  if (!moves.empty()) std::memcpy(moves.data(), message->bytes, message->size);
  return moves;
}

/// Joins the contents of `messages` in a new message, and deletes `messages`.
TreeMsg* joined(std::vector<TreeLBMessage*>& messages) {
  std::vector<char> bytes;
  for (TreeLBMessage* message : messages) {
    auto* part = static_cast<TreeMsg*>(message);
    bytes.insert(bytes.end(), part->bytes, part->bytes + part->size);
    delete part;
  }
  messages.clear();
  return message_of(bytes.data(), bytes.size());
}

/// Passes statistics up to the parent level, and a decision down to each child.
class Passing : public LevelLogic {
 public:
  TreeLBMessage* mergeStats() override { return joined(stats_msgs); }

  std::vector<TreeLBMessage*> splitDecision(TreeLBMessage* decision,
                                            std::vector<int>& children) override {
    std::vector<TreeLBMessage*> messages = {decision};
    while (messages.size() <= children.size()) messages.push_back(copy_of(decision));
    return messages;
  }
};

/// The lowest level of the tree, a single PE: measures the PE's objects and migrates them.
class PeLevel : public LevelLogic {
 public:
  PeLevel(LBManager& manager, bool with_messages)
      : manager_(manager), with_messages_(with_messages) {}

  TreeLBMessage* getStats() override {
    const std::vector<char> bytes = poise::charm::to_bytes(CkMyPe(), statistics(), with_messages_);
    return message_of(bytes.data(), bytes.size());
  }

  void processDecision(TreeLBMessage* decision, int& incoming, int& outgoing) override {
    incoming = outgoing = 0;  // outgoing counts objects without a known destination: none
    for (const Move& move : moves_in(decision)) {
      if (move.to_pe == CkMyPe()) ++incoming;
      if (move.from_pe == CkMyPe() && manager_.Migrate(handles_.at(move.object), move.to_pe) == 0)
        CmiAbort("poise: Charm++ does not migrate an object");
    }
  }

 private:
  Statistics statistics() {
    Statistics statistics;
    statistics.pes = {pe()};
    std::vector<LDObjData> objects(static_cast<std::size_t>(manager_.GetObjDataSz()));
    if (!objects.empty()) manager_.GetObjData(objects.data());
    handles_.clear();
    for (const LDObjData& object : objects) {
      handles_.push_back(object.handle);
      statistics.objects.push_back(poise::charm::object_row(object, 0));
    }
    if (!with_messages_) return statistics;
    std::vector<LDCommData> records(static_cast<std::size_t>(manager_.GetCommDataSz()));
    if (!records.empty()) manager_.GetCommData(records.data());
    for (LDCommData& record : records) poise::charm::add_message(record, statistics);
    return statistics;
  }

  poise::charm::PeRow pe() const {
    poise::charm::PeRow row;
    LBRealType wall_s = 0, cpu_s = 0, idle_s = 0, background_s = 0, background_cpu_s = 0;
    manager_.GetTime(&wall_s, &cpu_s, &idle_s, &background_s, &background_cpu_s);
    row.wall_s = wall_s;
    row.background_s = _lb_args.ignoreBgLoad() ? 0 : background_s;
    row.speed = _lb_args.testPeSpeed() ? LBManager::ProcessorSpeed() : 1;
    row.host = static_cast<std::uint32_t>(CmiPhysicalNodeID(CkMyPe()));
    row.core_os_index = poise::charm::bound_core();
    row.available = poise::charm::is_available(CkMyPe());
    return row;
  }

  LBManager& manager_;
  bool with_messages_;
  std::vector<LDObjHandle> handles_;
};

/// The strategies of one level. The first decision uses the first strategy, the second decision the
/// second one, and so on. After the last strategy, decisions start again with the first one if
/// `repeat` is true; otherwise all later decisions use the last one.
struct Strategies {
  std::vector<std::string> texts;
  bool repeat = false;
};

/// A level that decides for the PEs below, unless a level above decides in this step.
class DecidingLevel : public LevelLogic {
 public:
  DecidingLevel(LBManager& manager, Teller& teller, const Strategies& strategies,
                poise::charm::Scope scope, int steps_per_decision_above)
      : manager_(manager),
        teller_(teller),
        strategies_(strategies),
        steps_per_decision_above_(steps_per_decision_above) {
    for (const std::string& text : strategies.texts)
      balancers_.push_back(poise::charm::made(0, text, scope));
  }

  std::vector<std::unique_ptr<Balancer>>& balancers() { return balancers_; }

  bool cutoff() override { return (manager_.step() + 1) % steps_per_decision_above_ != 0; }

  TreeLBMessage* mergeStats() override { return joined(stats_msgs); }

  void processDecision(TreeLBMessage* decision, int& incoming, int& outgoing) override {
    from_above_ = copy_of(decision);
    incoming = outgoing = 0;
  }

  TreeLBMessage* loadBalance(IDM&) override {
    if (from_above_ != nullptr) return std::exchange(from_above_, nullptr);
    TreeMsg* bytes = joined(stats_msgs);
    const std::vector<Move> moves = decided(*bytes);
    delete bytes;
    return message_of(moves.data(), moves.size() * sizeof(Move));
  }

 private:
  std::vector<Move> decided(const TreeMsg& bytes) {
    Subtree subtree = poise::charm::subtree_of(bytes.bytes, bytes.size);
    subtree.statistics.num_index_bits = poise::charm::kIndexBits;
    subtree.statistics.has_all_pes = subtree.pe_of_row.size() == CkNumPes();
    for (poise::charm::PeRow& pe : subtree.statistics.pes)
      pe.available = pe.available && poise::charm::is_available(pe.number);
    const poise::charm::Decision decision = balancers_[next_]->decide(subtree.statistics);
    if (!decision.warning.empty()) CkError("poise: warning: %s\n", decision.warning.c_str());
    const std::vector<Move> moves = poise::charm::moves_of(subtree, decision.pe_of_object);
    if (balancers_[next_]->wants_messages())
      teller_.decided(manager_.step(), decision, subtree.statistics);
    poise::charm::summarize({strategies_.texts[next_], moves.size(),
                             subtree.statistics.num_objects(), subtree.statistics.pes.size(),
                             decision.decide_s});
    if (next_ + 1 < balancers_.size())
      ++next_;
    else if (strategies_.repeat)
      next_ = 0;
    return moves;
  }

  LBManager& manager_;
  Teller& teller_;
  Strategies strategies_;
  int steps_per_decision_above_;
  std::vector<std::unique_ptr<Balancer>> balancers_;
  std::size_t next_ = 0;
  TreeMsg* from_above_ = nullptr;
};

/// A checked configuration.
struct Tree {
  // The configuration that TreeLB gets: the same tree, but its strategies do nothing.
  json stock;
  std::vector<Strategies> levels;  // one per level above the PEs, the root last
  int steps_per_root_decision = 1;
};

[[noreturn]] void refuse(const std::string& why, int status = 2) {
  poise::charm::refuse(why.c_str(), status);
}

/// Returns the value of `name` in a section of the configuration, or `otherwise` if the section
/// does not contain `name`. Ends the program if the value has a type that `is_valid` does not
/// accept.
template <typename T>
T value_of(const json& section, const char* name, T otherwise, bool (json::*is_valid)() const) {
  if (!section.contains(name)) return otherwise;
  const json& value = section.at(name);
  if (!(value.*is_valid)())
    refuse("+PoiseTreeLB: \"" + std::string(name) + "\" cannot be " + value.dump());
  return value.get<T>();
}

Strategies strategies_of(const json& configuration, const char* level) {
  const std::string where = "+PoiseTreeLB: \"" + std::string(level) + "\"";
  if (!configuration.contains(level) || !configuration.at(level).is_object())
    refuse(where + " is missing");
  const json& section = configuration.at(level);
  if (!section.contains("strategies") || !section.at("strategies").is_array() ||
      section.at("strategies").empty())
    refuse(where + " has no list of strategies; add one, such as \"strategies\": [\"poise\"]");
  Strategies strategies;
  strategies.repeat = value_of(section, "repeat_strategies", false, &json::is_boolean);
  for (const json& text : section.at("strategies")) {
    if (!text.is_string())
      refuse(where + ": " + text.dump() +
             " is not the name of a strategy; write a name in quotes, such as \"poise\"");
    strategies.texts.push_back(text.get<std::string>());
  }
  return strategies;
}

Tree tree_of(const std::string& text) {
  Tree tree;
  tree.stock = json::parse(text, nullptr, false);
  if (tree.stock.is_discarded() || !tree.stock.is_object())
    refuse(
        "+PoiseTreeLB: the configuration is not a JSON object; write one such as {\"tree\": "
        "\"PE_Root\", \"root\": {\"strategies\": [\"poise\"]}}");
  const auto name = value_of(tree.stock, "tree", std::string(), &json::is_string);
  std::vector<const char*> levels;
  if (name == "PE_Root")
    levels = {"root"};
  else if (name == "PE_Process_Root")
    levels = {"process", "root"};
  else
    refuse("+PoiseTreeLB: \"tree\" is \"" + name +
           "\"; Poise supports only PE_Root and PE_Process_Root");
  for (const char* level : levels) {
    tree.levels.push_back(strategies_of(tree.stock, level));
    tree.stock[level]["strategies"] = {"Dummy"};
  }
  tree.steps_per_root_decision =
      value_of(tree.stock["root"], "step_freq", 1, &json::is_number_integer);
  if (tree.steps_per_root_decision < 1) refuse("+PoiseTreeLB: \"step_freq\" must be at least 1");
  const int pe = value_of(tree.stock["root"], "pe", 0, &json::is_number_integer);
  if (pe < 0 || pe >= CkNumPes())
    refuse("+PoiseTreeLB: the root's \"pe\" is " + std::to_string(pe) + ", but there are " +
           std::to_string(CkNumPes()) + " PEs, numbered from 0");
  return tree;
}

/// The argument of +PoiseTreeLB: the file with the configuration; empty if there is none.
std::string& tree_file() {
  static std::string name;
  return name;
}

std::string fitting(const std::string& strategy) {
  return poise::charm::tree_for({CkNumNodes(), CkNumPes()}, strategy);
}

/// Returns a configuration that fits this job, with PoiseLB's strategy on all levels.
std::string fitting() {
  try {
    return fitting(poise::charm::strategy_with(poise::charm::setting()));
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

/// Returns the text of the file that +PoiseTreeLB names. If no file is named, returns a
/// configuration that fits this job. If the named file does not exist, writes that configuration to
/// it.
std::string configured() {
  const std::string& name = tree_file();
  if (name.empty()) return fitting();
  if (std::ifstream file(name); file) {
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::ofstream file(name);
  file << fitting() << std::flush;
  if (!file) refuse("+PoiseTreeLB: cannot write " + name, 1);
  CkPrintf("poise: the configuration of the tree is in %s\n", name.c_str());
  return fitting();
}

bool is_quiet;

/// Returns options that make TreeLB build a dummy tree, which build() then replaces by the
/// configured tree. Also makes Charm++ quiet, so that TreeLB does not announce the dummy tree.
CkLBOptions unannounced(const CkLBOptions& options) {
  if (CkMyPe() == 0) is_quiet = std::exchange(quietModeRequested, 1) != 0;
  return {options.getSeqNo(), "Dummy"};
}

}  // namespace

class PoiseTreeLB : public CBase_PoiseTreeLB {
 public:
  PoiseTreeLB(const CkLBOptions& options, const std::string& configuration, bool with_messages)
      : CBase_PoiseTreeLB(unannounced(options)),
        configuration_(configuration),
        is_from_file_(!tree_file().empty()),
        with_messages_(with_messages) {
    build();
  }
  explicit PoiseTreeLB(CkMigrateMessage* message) : CBase_PoiseTreeLB(message) {}

  static void create(const CkLBOptions& options, std::size_t) {
    const std::string configuration = configured();
    CProxy_PoiseTreeLB::ckNew(options, configuration, needs_messages(configuration));
  }
  static PoiseTreeLB* allocate(std::size_t) {
    return new PoiseTreeLB(static_cast<CkMigrateMessage*>(nullptr));
  }

  void pup(PUP::er& p) override;

  /// Tells a PE the locations of objects to which it sends messages.
  void learn(int step, const std::vector<int>& arrays, const std::vector<CmiUInt8>& ids,
             const std::vector<int>& at) {
    learner_.learn(step, arrays, ids, at);
  }
  void ask(const std::vector<poise::charm::Question>& questions) { teller_->ask(questions); }
  void look_up(const std::vector<poise::charm::Question>& questions) {
    teller_->look_up(questions);
  }

 private:
  static bool needs_messages(const std::string& configuration);
  void build();
  std::vector<Balancer*> balancers();

  std::string configuration_;  // JSON
  bool is_from_file_ = false;  // false: the tree was made to fit the job
  bool with_messages_ = false;
  std::unique_ptr<Teller> teller_;
  poise::charm::Learner learner_;
};

namespace {

void register_tree() {
  poise::charm::take_setting();
  char* name = nullptr;
  if (CmiGetArgStringDesc(CkGetArgv(), "+PoiseTreeLB", &name,
                          "configuration of PoiseTreeLB's tree, written if it does not exist") != 0)
    tree_file() = name;
  static const poise::charm::Listed listed = {
      "PoiseTreeLB", "Poise's strategies at the levels of Charm++'s TreeLB"};
  poise::charm::register_balancer<PoiseTreeLB, 0>(listed);
}

}  // namespace

bool PoiseTreeLB::needs_messages(const std::string& configuration) {
  bool needed = false;
  for (const Strategies& level : tree_of(configuration).levels) {
    for (const std::string& text : level.texts) {
      try {
        needed = poise::charm::wants_messages(0, text) || needed;
      } catch (const std::exception& error) {
        refuse(error.what());
      }
    }
  }
  return needed;
}

/// Lets TreeLB build the configured tree and replaces the logic of all levels by Poise's.
void PoiseTreeLB::build() {
  Tree tree = tree_of(configuration_);
  TreeLB::configure(tree.stock);
  if (CkMyPe() == 0) quietModeRequested = is_quiet ? 1 : 0;
  if (with_messages_) poise::charm::measure_messages();
  teller_ = std::make_unique<Teller>(thisProxy, [](int pe) { return CkNodeFirst(CkNodeOf(pe)); });
  const auto [levels, passing] = levels_of(*this);
  for (LevelLogic*& logic : *passing)
    if (logic != nullptr) delete std::exchange(logic, new Passing);
  for (std::size_t level = 0; level < levels->size(); ++level) {
    LevelLogic*& logic = (*levels)[level];
    if (logic == nullptr) continue;
    delete logic;
    if (level == 0)
      logic = new PeLevel(*lbmgr, with_messages_);
    else
      logic = new DecidingLevel(
          *lbmgr, *teller_, tree.levels[level - 1],
          level + 1 == levels->size() ? poise::charm::Scope::all : poise::charm::Scope::group,
          tree.steps_per_root_decision);
  }
}

std::vector<Balancer*> PoiseTreeLB::balancers() {
  std::vector<Balancer*> balancers;
  for (LevelLogic* logic : *levels_of(*this).first)
    if (auto* level = dynamic_cast<DecidingLevel*>(logic))
      for (auto& balancer : level->balancers()) balancers.push_back(balancer.get());
  return balancers;
}

/// After a restart on a different number of PEs, this PE may decide at other levels of the tree
/// than before, so the number of its balancers may differ from that in the checkpoint.
void PoiseTreeLB::pup(PUP::er& p) {
  if (p.isUnpacking() && CkMyPe() == 0) is_quiet = std::exchange(quietModeRequested, 1) != 0;
  p | configuration_;
  p | is_from_file_;
  p | with_messages_;
  if (p.isUnpacking()) {
    if (!is_from_file_)
      configuration_ = fitting(tree_of(configuration_).levels.back().texts.front());
    build();
  }
  std::vector<Balancer*> here = balancers();
  std::size_t num_pasts = here.size();
  p | num_pasts;
  for (std::size_t i = 0; i < num_pasts; ++i)
    poise::charm::pup_past(p, i < here.size() ? here[i] : nullptr);
}

#include "PoiseTreeLB.def.h"
