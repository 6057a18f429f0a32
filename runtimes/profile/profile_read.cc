// SPDX-License-Identifier: BSD-3-Clause
// Decodes profiles. Every count that is read from a file is checked before use: its items must fit
// into the bytes that follow.
#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "runtimes/profile/profile_file.h"

#include "poise/base/error.h"

namespace poise::profile {

namespace {

class Reader {
 public:
  Reader(std::string_view name, std::string_view bytes, std::size_t offset)
      : name_(name), bytes_(bytes), offset_(offset) {}

  std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t offset() const { return offset_ + at_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (remaining() == 0) refuse("a number is truncated");
      const unsigned char byte = bytes_[at_++];
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    refuse("a number is longer than 64 bits; the file is damaged");
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return (value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  /// Reads the length of a list, whose items take at least `min_size` bytes each.
  std::size_t count(std::size_t min_size = 1) {
    const std::uint64_t value = number();
    if (value > remaining() / min_size)
      refuse(fmt::format("a list of {} items cannot fit into the {} bytes that follow", value,
                         remaining()));
    return value;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }
  std::string text() { return std::string(take(count())); }
  [[noreturn]] void refuse(std::string_view what) const {
    fail("{}: byte {}: {}; the file is not a complete profile", name_, offset(), what);
  }

 private:
  std::string_view name_, bytes_;
  std::size_t offset_, at_ = 0;
};

Totals totals_from(Reader& reader) {
  Totals totals;
  totals.useful_ns = reader.signed_number();
  for (std::int64_t& ns : totals.mpi_ns) ns = reader.signed_number();
  for (std::uint64_t& calls : totals.calls) calls = reader.number();
  totals.not_understood = reader.number();
  totals.outside_messages = reader.number();
  for (std::int64_t& ns : totals.may_wait_ns) ns = reader.signed_number();
  for (std::uint64_t& calls : totals.may_wait_calls) calls = reader.number();
  return totals;
}

std::uint32_t rank_from(Reader& reader, std::uint64_t value, std::uint32_t num_ranks) {
  if (value >= num_ranks) reader.refuse(fmt::format("rank {} of {}", value, num_ranks));
  return value;
}

Waiting waiting_from(Reader& reader, std::uint32_t num_ranks) {
  Waiting waiting;
  waiting.samples = std::min<std::uint64_t>(reader.number(), ~0u);
  waiting.sampled_ns = reader.signed_number();
  waiting.waited_ns = reader.signed_number();
  waiting.for_receiver_ns = reader.signed_number();
  for (double* sum : {&waiting.wait_squares, &waiting.time_squares, &waiting.products})
    *sum = std::bit_cast<double>(reader.number());
  waiting.for_whom.resize(reader.count(2));
  for (auto& [rank, ns] : waiting.for_whom) {
    rank = rank_from(reader, reader.number(), num_ranks);
    ns = reader.signed_number();
  }
  return waiting;
}

Phase phase_from(Reader& reader, std::uint32_t num_ranks) {
  Phase phase;
  phase.label = reader.number();
  phase.begin_ns = reader.signed_number();
  phase.end_ns = reader.signed_number();
  phase.totals = totals_from(reader);
  phase.useful_cpu_ns = reader.signed_number();
  phase.queued_ns = reader.signed_number();
  phase.peak_bytes = reader.number();
  phase.cpu = reader.signed_number();
  phase.traffic.resize(reader.count(3));
  for (Traffic& sent : phase.traffic) {
    const std::uint64_t key = reader.number();
    sent.peer = rank_from(reader, key >> 1, num_ranks);
    sent.is_fetched = (key & 1) != 0;
    sent.messages = reader.number();
    sent.bytes = reader.number();
  }
  for (Waiting& waiting : phase.waiting) waiting = waiting_from(reader, num_ranks);
  return phase;
}

Reorderings reorderings_from(Reader& reader) {
  Reorderings reorderings;
  reorderings.calls = reader.number();
  reorderings.reordered = reader.number();
  reorderings.deciding_ns = reader.signed_number();
  for (double* sum : {&reorderings.before, &reorderings.after}) {
    *sum = std::bit_cast<double>(reader.number());
    if (!(*sum >= 0 && *sum < 1e300))
      reader.refuse("the stored cost of a rank order is not a valid number; the file is damaged");
  }
  return reorderings;
}

TeamUse team_from(Reader& reader) {
  TeamUse team{.watched_ns = reader.signed_number()};
  team.cpus.resize(reader.count());
  for (std::int32_t& cpu : team.cpus) cpu = reader.signed_number();
  team.threads.resize(reader.count(4));
  for (ThreadUse& use : team.threads) {
    use.run_ns = reader.signed_number();
    use.queued_ns = reader.signed_number();
    use.turns = reader.number();
    use.only_cpu = reader.signed_number();
  }
  return team;
}

/// Returns the version of the file's format. Throws Error if the file is not a profile.
int version_of(std::string_view name, std::string_view bytes) {
  std::string magic(kMagic);
  for (char& digit = magic[magic.size() - 2]; digit >= '0' + kOldestVersion; --digit)
    if (bytes.starts_with(magic)) return digit - '0';
  fail("{}: the file is not a profile; `poise profile` writes profiles", name);
}

/// The bytes of a phase in which a rank recorded nothing: each number takes one byte.
constexpr std::size_t kMinPhaseBytes = 41;

RankProfile profile_from(Reader& reader, int version) {
  constexpr std::uint32_t kMaxRanks = 1 << 26;
  RankProfile profile;
  const std::uint64_t rank = reader.number();
  profile.num_ranks = rank_from(reader, reader.number(), kMaxRanks);
  profile.rank = rank_from(reader, rank, profile.num_ranks);
  profile.host = reader.text();
  profile.cuts = static_cast<Cuts>(std::min<std::uint64_t>(reader.number(), kNumCuts - 1));
  const std::uint64_t flags = reader.number();
  profile.is_complete = (flags & 1) != 0;
  profile.knows_waiting = (flags & 2) != 0;
  profile.knows_message_waits = (flags & 4) != 0;
  profile.clock_error_ns = reader.number();
  if (version >= 3) profile.reorderings = reorderings_from(reader);
  profile.phases.resize(reader.count(kMinPhaseBytes));
  for (Phase& phase : profile.phases) phase = phase_from(reader, profile.num_ranks);
  for (std::size_t left = reader.count(); left > 0; --left) {
    const std::uint64_t label = reader.number();
    profile.names[label] = reader.text();
  }
  if (version >= 4) profile.team = team_from(reader);
  if (version >= 5) {
    profile.cpus.all_ns = reader.signed_number();
    profile.cpus.own_ns = reader.signed_number();
  }
  if (version >= 6) {
    profile.cpus.quota_cpus = std::bit_cast<double>(reader.number());
    profile.cpus.stopped_ns = reader.signed_number();
    if (!(profile.cpus.quota_cpus >= 0 && profile.cpus.quota_cpus < 1e9))
      reader.refuse("the stored CPU quota is not a valid number; the file is damaged");
  }
  for (Phase& phase : profile.phases)
    phase.totals.useful_queued_ns = version >= 7 ? reader.signed_number() : phase.queued_ns;
  if (version >= 4 && reader.remaining() > 0) {
    profile.omp_work_ns.resize(reader.count());
    for (std::int64_t& ns : profile.omp_work_ns) ns = reader.signed_number();
  }
  return profile;
}

}  // namespace

std::vector<RankProfile> decode(std::string_view name, std::string_view bytes) {
  const int version = version_of(name, bytes);
  Reader file(name, bytes, 0);
  file.take(kMagic.size());
  std::vector<RankProfile> ranks;
  while (file.remaining() != 0) {
    const std::size_t begin = file.offset();
    std::uint64_t size = 0;
    try {
      size = file.number();
    } catch (const Error&) {
      break;  // the file ends here, because a process died while it wrote
    }
    if (size > file.remaining()) break;
    Reader block(name, file.take(size), begin);
    ranks.push_back(profile_from(block, version));
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankProfile& a, const RankProfile& b) { return a.rank < b.rank; });
  return ranks;
}

}  // namespace poise::profile
