// SPDX-License-Identifier: BSD-3-Clause
// Encodes profiles. This file is part of the preloaded library, so it uses only the standard
// library.
#include <bit>

#include "runtimes/profile/profile_file.h"

#include "poise/base/enum_index.h"

namespace poise::profile {

namespace {

/// Encodes a number as .poise files do: seven bits per byte, lowest first; the top bit is set if
/// another byte follows.
void add(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void add_signed(std::string& bytes, std::int64_t value) {
  add(bytes, (value << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void add_text(std::string& bytes, const std::string& text) {
  add(bytes, text.size());
  bytes += text;
}

void add_totals(std::string& bytes, const Totals& totals) {
  add_signed(bytes, totals.useful_ns);
  for (const std::int64_t ns : totals.mpi_ns) add_signed(bytes, ns);
  for (const std::uint64_t calls : totals.calls) add(bytes, calls);
  add(bytes, totals.not_understood);
  add(bytes, totals.outside_messages);
  for (const std::int64_t ns : totals.may_wait_ns) add_signed(bytes, ns);
  for (const std::uint64_t calls : totals.may_wait_calls) add(bytes, calls);
}

void add_waiting(std::string& bytes, const Waiting& waiting) {
  add(bytes, waiting.samples);
  add_signed(bytes, waiting.sampled_ns);
  add_signed(bytes, waiting.waited_ns);
  add_signed(bytes, waiting.for_receiver_ns);
  for (const double sum : {waiting.wait_squares, waiting.time_squares, waiting.products})
    add(bytes, std::bit_cast<std::uint64_t>(sum));
  add(bytes, waiting.for_whom.size());
  for (const auto& [rank, ns] : waiting.for_whom) {
    add(bytes, rank);
    add_signed(bytes, ns);
  }
}

void add_phase(std::string& bytes, const Phase& phase) {
  add(bytes, phase.label);
  add_signed(bytes, phase.begin_ns);
  add_signed(bytes, phase.end_ns);
  add_totals(bytes, phase.totals);
  add_signed(bytes, phase.useful_cpu_ns);
  add_signed(bytes, phase.queued_ns);
  add(bytes, phase.peak_bytes);
  add_signed(bytes, phase.cpu);
  add(bytes, phase.traffic.size());
  for (const Traffic& sent : phase.traffic) {
    add(bytes, std::uint64_t{sent.peer} << 1 | (sent.is_fetched ? 1 : 0));
    add(bytes, sent.messages);
    add(bytes, sent.bytes);
  }
  for (const Waiting& waiting : phase.waiting) add_waiting(bytes, waiting);
}

void add_team(std::string& bytes, const TeamUse& team) {
  add_signed(bytes, team.watched_ns);
  add(bytes, team.cpus.size());
  for (const std::int32_t cpu : team.cpus) add_signed(bytes, cpu);
  add(bytes, team.threads.size());
  for (const ThreadUse& use : team.threads) {
    add_signed(bytes, use.run_ns);
    add_signed(bytes, use.queued_ns);
    add(bytes, use.turns);
    add_signed(bytes, use.only_cpu);
  }
}

}  // namespace

std::string encode(const RankProfile& profile) {
  std::string block;
  add(block, profile.rank);
  add(block, profile.num_ranks);
  add_text(block, profile.host);
  add(block, index_of(profile.cuts));
  add(block, (profile.is_complete ? 1u : 0u) | (profile.knows_waiting ? 2u : 0u) |
                 (profile.knows_message_waits ? 4u : 0u));
  add(block, profile.clock_error_ns);
  const Reorderings& reorderings = profile.reorderings;
  add(block, reorderings.calls);
  add(block, reorderings.reordered);
  add_signed(block, reorderings.deciding_ns);
  add(block, std::bit_cast<std::uint64_t>(reorderings.before));
  add(block, std::bit_cast<std::uint64_t>(reorderings.after));
  add(block, profile.phases.size());
  for (const Phase& phase : profile.phases) add_phase(block, phase);
  add(block, profile.names.size());
  for (const auto& [label, name] : profile.names) {
    add(block, label);
    add_text(block, name);
  }
  add_team(block, profile.team);
  add_signed(block, profile.cpus.all_ns);
  add_signed(block, profile.cpus.own_ns);
  add(block, std::bit_cast<std::uint64_t>(profile.cpus.quota_cpus));
  add_signed(block, profile.cpus.stopped_ns);
  for (const Phase& phase : profile.phases) add_signed(block, phase.totals.useful_queued_ns);
  if (!profile.omp_work_ns.empty()) {
    add(block, profile.omp_work_ns.size());
    for (const std::int64_t ns : profile.omp_work_ns) add_signed(block, ns);
  }
  std::string bytes;
  add(bytes, block.size());
  return bytes + block;
}

}  // namespace poise::profile
