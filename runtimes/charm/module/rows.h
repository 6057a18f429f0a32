// SPDX-License-Identifier: BSD-3-Clause
// Converts the statistics of Charm++'s balancers to rows, and carries out decisions.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "runtimes/charm/module/adapter.h"

namespace poise::charm {

/// Reads the argument of +PoiseLB. Removes the option and its argument from the program's
/// arguments.
inline void take_setting() {
  char* text = nullptr;
  if (CmiGetArgStringDesc(CkGetArgv(), "+PoiseLB", &text,
                          "Poise's strategy, as NAME:KNOB=VALUE,KNOB=VALUE") != 0)
    setting() = text;
}

/// Ends the program with this message. CkError hands the message to charmrun, if there is one;
/// charmrun does not pass on what a process writes to stderr.
[[noreturn]] inline void refuse(const char* why, int status = 2) {
  CkError("poise: %s\n", why);
  std::fflush(nullptr);
  std::_Exit(status);
}

/// Creates the balancer with index `which` in balancers(); `with` is the argument of +PoiseLB, or a
/// strategy with its knobs. Invalid settings end the program at start-up, before it has computed
/// anything.
inline std::unique_ptr<Balancer> made(std::size_t which, const std::string& with, Scope scope) {
  try {
    return std::make_unique<Balancer>(which, with, scope);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

/// Writes the balancer's history to a checkpoint, or restores the history from a checkpoint.
/// `balancer` is null if this PE has no balancer; then an empty history is written, and a stored
/// one is skipped.
inline void pup_past(PUP::er& p, Balancer* balancer) {
  std::vector<char> past;
  if (!p.isUnpacking() && balancer) past = balancer->checkpoint();
  p | past;
  if (!p.isUnpacking() || !balancer || past.empty()) return;
  try {
    balancer->restart(past);
  } catch (const std::exception& error) {
    CkError("poise: warning: balancing starts without the loads of the checkpoint: %s\n",
            error.what());
  }
}

inline PeRow pe_row(const BaseLB::ProcStats& pe) {
  PeRow row;
  row.wall_s = pe.total_walltime;
  row.background_s = pe.bg_walltime;
  row.speed = pe.pe_speed;
  row.available = pe.available;
  return row;
}

inline ObjectName name_of(const LDObjKey& key) { return {key.objID(), key.omID().id.idx}; }

inline ObjectRow object_row(const LDObjData& object, std::int32_t pe) {
  ObjectRow row;
  row.name = {object.objID(), object.omID().id.idx};
  row.wall_s = object.wallTime;
  // pupSize is uninitialised unless the program set _lb_psizer_on.
  row.bytes = _lb_psizer_on ? pup_decodeSize(object.pupSize) : 0;
  row.pe = pe;
  row.movable = object.migratable;
  return row;
}

/// Makes `statistics` read the objects from `stats`, which must exist as long as `statistics` is
/// used.
inline void list_objects(BaseLB::LDStats& stats, Statistics& statistics) {
  statistics.num_index_bits = kIndexBits;
  statistics.more_objects.count = num_objects(stats);
  statistics.more_objects.row = [&stats](std::size_t i) {
    return object_row(stats.objData[i], stats.from_proc[i]);
  };
}

inline void add_objects(BaseLB::LDStats& stats, Statistics& statistics) {
  const std::size_t count = num_objects(stats);
  statistics.objects.resize(count);
  statistics.num_index_bits = kIndexBits;
  for (std::size_t i = 0; i < count; ++i)
    statistics.objects[i] = object_row(stats.objData[i], stats.from_proc[i]);
}

/// Adds a message. A message whose receiver is a PE cannot influence a placement and is left out.
inline void add_message(LDCommData& record, Statistics& statistics) {
  MessageRow row;
  row.from_pe = record.src_proc;
  if (row.from_pe == -1) row.from = name_of(record.sender);
  row.messages = static_cast<std::uint32_t>(record.messages);
  row.bytes = static_cast<std::uint32_t>(record.bytes);
  if (record.recv_type() == LD_OBJ_MSG) {
    row.to = name_of(record.receiver.get_destObj());
    row.last_known_pe = record.receiver.lastKnown();
  } else if (record.recv_type() == LD_OBJLIST_MSG) {
    int members = 0;
    const LDObjKey* keys = record.receiver.get_destObjs(members);
    if (members <= 0) return;
    row.first_receiver = static_cast<std::uint32_t>(statistics.receivers.size());
    row.num_receivers = static_cast<std::uint32_t>(members);
    for (int m = 0; m < members; ++m) statistics.receivers.push_back(name_of(keys[m]));
  } else {
    return;
  }
  statistics.messages.push_back(row);
}

/// Makes `statistics` list the records of `stats` as messages. `stats` must exist as long as
/// `statistics` is used. If `may_free` is true, the records are freed when they are listed.
inline void add_messages(BaseLB::LDStats& stats, Statistics& statistics, bool may_free) {
  statistics.more_messages.count = num_records(stats);
  statistics.more_messages.frees_from_last = may_free;
  statistics.more_messages.visit_all = [&stats, may_free](const MessageVisitor& visit) {
    Statistics one;
    const auto visit_record = [&](LDCommData& record) {
      one.messages.clear();
      one.receivers.clear();
      add_message(record, one);
      if (!one.messages.empty()) visit(one.messages[0], one.receivers);
    };
    if (may_free) return consume_records(stats, visit_record);
    for (std::size_t i = 0; i < num_records(stats); ++i) visit_record(stats.commData[i]);
  };
}

inline std::size_t num_moves(const Decision& decision, const BaseLB::LDStats& stats) {
  std::size_t moves = 0;
  for (std::size_t i = 0; i < decision.pe_of_object.size(); ++i)
    moves += decision.pe_of_object[i] != stats.from_proc[i] ? 1 : 0;
  return moves;
}

/// The contents of the line that +LBDebug prints about a decision.
struct Summary {
  std::string strategy;
  std::size_t moves, objects, pes;
  double decide_s;
};

/// Prints a line about a decision if +LBDebug asks for it.
inline void summarize(const Summary& summary) {
  if (_lb_args.debug() > 0)
    CkPrintf("poise: PE %d: %s: %zu of %zu objects of %zu PEs move, decided in %g s\n", CkMyPe(),
             summary.strategy.c_str(), summary.moves, summary.objects, summary.pes,
             summary.decide_s);
}

inline void carry_out(const Decision& decision, BaseLB::LDStats& stats) {
  if (!decision.warning.empty()) CkError("poise: warning: %s\n", decision.warning.c_str());
  for (std::size_t i = 0; i < decision.pe_of_object.size(); ++i)
    stats.to_proc[i] = decision.pe_of_object[i];
}

}  // namespace poise::charm
