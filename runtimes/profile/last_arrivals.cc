// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/last_arrivals.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "runtimes/profile/bytes.h"
#include "runtimes/profile/tuning.h"

namespace poise::profile {

namespace {

constexpr std::int64_t kNever_ns = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kUnknown_ns = std::numeric_limits<std::int64_t>::max();

/// True if the rank sends its report up in this round: bit `round` is the lowest bit that is set in
/// the rank's number.
bool sends_up(const Sampled& sampled, int round) {
  return std::countr_zero(unsigned(sampled.rank)) == round;
}

}  // namespace

LastArrivals::LastArrivals(std::vector<std::unique_ptr<Sampled>> sampled, const CommonClock& clock,
                           std::int64_t max_error_ns)
    : clock_(clock), max_error_ns_(max_error_ns) {
  for (std::unique_ptr<Sampled>& own : sampled) {
    Part part;
    for (const Sample& sample : own->samples) {
      const bool may_overtake = sample.part.may_overtake && sample.took_ns != Sample::kUntimed;
      part.last.push_back(
          {.entered_ns = sample.part.delays ? clock_.common_ns(sample.entered_ns) : kNever_ns,
           .left_ns =
               may_overtake ? clock_.common_ns(sample.entered_ns + sample.took_ns) : kUnknown_ns,
           .world_rank = own->own_world_rank});
    }
    const std::uint64_t id = own->id;
    part.own = std::move(own);
    parts_.insert_or_assign(id, std::move(part));
  }
}

int LastArrivals::num_rounds() const {
  std::size_t rounds = 0;
  for (const auto& [id, part] : parts_) rounds = std::max(rounds, part.own->before.size());
  return static_cast<int>(rounds);
}

void LastArrivals::append(const Part& part, const std::vector<Entry>& last, std::string& report) {
  bytes::append(report, part.own->id);
  bytes::append(report, part.num_ranks);
  bytes::append(report, std::uint64_t{last.size()});
  for (const Entry& entry : last) bytes::append(report, entry);
}

/// Merges `other` into `entry`: keeps the later arrival time and the earlier leaving time.
void LastArrivals::merge(const Entry& other, Entry& entry) {
  if (other.entered_ns > entry.entered_ns)
    std::tie(entry.entered_ns, entry.world_rank) = std::tie(other.entered_ns, other.world_rank);
  entry.left_ns = std::min(entry.left_ns, other.left_ns);
}

/// Returns the entries of the collectives in which a rank waits only for lower ranks (MPI_Scan).
std::vector<LastArrivals::Entry> LastArrivals::last_of_lower(const Part& part) {
  std::vector<Entry> found;
  for (std::size_t i = 0; i < part.last.size(); ++i)
    if (part.own->samples[i].part.is_for_lower) found.push_back(part.last[i]);
  return found;
}

/// Returns the entries that this rank reports to its child of a round. These are the entries in
/// `part.last`, except for collectives with `is_for_lower`, in which the child waits only for ranks
/// below the child. The entry about these ranks is merged from two entries. By now, the entry in
/// `part.last` describes the ranks below this rank. The entry in `part.before_child` describes this
/// rank and the ranks between this rank and the child. On rank 0, `part.last` still describes all
/// ranks, so an empty entry is used instead: no rank is below rank 0.
std::vector<LastArrivals::Entry> LastArrivals::last_for_child(const Part& part, int round) {
  std::vector<Entry> last = part.last;
  if (round >= std::ssize(part.before_child)) return last;
  auto between = part.before_child[round].begin();
  for (std::size_t i = 0; i < last.size(); ++i)
    if (part.own->samples[i].part.is_for_lower) {
      if (part.own->rank == 0) last[i] = {.entered_ns = kNever_ns, .left_ns = kUnknown_ns};
      merge(*between++, last[i]);
    }
  return last;
}

std::map<int, std::string> LastArrivals::reports_up(int round) {
  std::map<int, std::string> reports;
  for (const auto& [id, part] : parts_) {
    const Sampled& own = *part.own;
    if (own.rank == 0 || !sends_up(own, round) || own.before[round] < 0) continue;
    append(part, part.last, reports[own.before[round]]);
  }
  return reports;
}

std::map<int, std::string> LastArrivals::reports_down(int round) {
  std::map<int, std::string> reports;
  for (const auto& [id, part] : parts_) {
    const Sampled& own = *part.own;
    const bool has_result = own.rank == 0 || std::countr_zero(unsigned(own.rank)) > round;
    if (!has_result || round >= std::ssize(own.after) || own.after[round] < 0) continue;
    append(part, last_for_child(part, round), reports[own.after[round]]);
  }
  return reports;
}

LastArrivals::Part* LastArrivals::take(std::string_view& reports, std::int64_t& num_ranks,
                                       std::vector<Entry>& last) {
  std::uint64_t id = 0, count = 0;
  if (!bytes::take(reports, id) || !bytes::take(reports, num_ranks) ||
      !bytes::take(reports, count) || count > reports.size() / sizeof(Entry)) {
    reports = {};
    return nullptr;
  }
  last.resize(count);
  for (Entry& entry : last) bytes::take(reports, entry);
  const auto part = parts_.find(id);
  return part != parts_.end() && part->second.last.size() == count ? &part->second : nullptr;
}

void LastArrivals::read_up(std::string_view reports) {
  while (!reports.empty()) {
    std::int64_t num_ranks = 0;
    std::vector<Entry> last;
    Part* const part = take(reports, num_ranks, last);
    // A report that does not match this rank's samples is not counted in part->num_ranks, so
    // waits() ignores the communicator.
    if (part == nullptr) continue;
    part->num_ranks += num_ranks;
    part->before_child.push_back(last_of_lower(*part));
    for (std::size_t i = 0; i < last.size(); ++i) merge(last[i], part->last[i]);
  }
}

void LastArrivals::read_down(std::string_view reports) {
  while (!reports.empty()) {
    std::int64_t num_ranks = 0;
    std::vector<Entry> last;
    Part* const part = take(reports, num_ranks, last);
    if (part == nullptr) continue;
    part->num_ranks = num_ranks;
    part->last = std::move(last);
  }
}

/// True if a rank left the collective before the last rank entered it.
bool LastArrivals::was_overtaken(const Entry& last) const {
  return last.left_ns != kUnknown_ns &&
         last.left_ns + 2 * max_error_ns_ + tuning::kMaxClockError_ns < last.entered_ns;
}

Wait LastArrivals::wait_of(const Sample& own, const Entry& last) const {
  Sample common = own;
  common.entered_ns = clock_.common_ns(own.entered_ns);
  const std::int64_t waited = was_overtaken(last) ? 0 : waited_ns(common, last.entered_ns);
  return {.entered_ns = own.entered_ns,
          .took_ns = own.took_ns,
          .waited_ns = waited,
          .for_whom = waited > 0 ? last.world_rank : -1};
}

std::vector<Wait> LastArrivals::waits() const {
  std::vector<Wait> waits;
  for (const auto& [id, part] : parts_) {
    if (part.num_ranks != part.own->size) continue;
    const std::vector<Sample>& samples = part.own->samples;
    for (std::size_t i = 0; i < part.last.size(); ++i)
      if (samples[i].took_ns != Sample::kUntimed)
        waits.push_back(wait_of(samples[i], part.last[i]));
    for (const auto& [sequence, wait_begun_ns, took_ns] : part.own->completions) {
      const auto sample = std::lower_bound(
          samples.begin(), samples.end(), sequence,
          [](const Sample& s, std::uint64_t number) { return s.sequence < number; });
      if (sample == samples.end() || sample->sequence != sequence) continue;
      const Sample waiting{.entered_ns = wait_begun_ns, .took_ns = took_ns, .part = sample->part};
      waits.push_back(wait_of(waiting, part.last[sample - samples.begin()]));
      waits.back().what = WaitsFor::message;
    }
  }
  return waits;
}

}  // namespace poise::profile
