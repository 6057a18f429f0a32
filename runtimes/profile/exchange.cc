// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/exchange.h"

#include <algorithm>
#include <sched.h>

#include "runtimes/profile/hash.h"
#include "runtimes/profile/machinery.h"
#include "runtimes/profile/tuning.h"

#include "poise/base/clock.h"

namespace poise::profile {

namespace {

constexpr int kTag = 1, kClockTag = 2;
// Base tags of reports. Each call of deliver() is a round, whose number is added to kUpTag and
// kDownTag, because a rank may begin the next round while others are still receiving in this one.
constexpr int kMessagesTag = 3, kUpTag = 100, kDownTag = 200;
constexpr std::size_t kPiece = 1 << 30;  // MPI limits messages to 2^31 - 1 bytes

/// A text that is being sent; it must stay in memory until the receiver has it.
struct Sent {
  std::string text;
  Word request = 0;
};

/// How far this rank has come with joining the profile. After duplicating MPI_COMM_WORLD, the ranks
/// vote whether to use the duplicate, because a rank may have given up before the duplicate was
/// complete. A rank that has given up votes against the duplicate before MPI_Finalize, because
/// other ranks may still be waiting.
struct Join {
  const MpiLibrary* mpi = nullptr;
  Word own = 0, request = 0;        // MPI may write them after joined() returns
  double own_vote = 0, result = 0;  // 1: use the duplicate; 0: some rank has given up
  enum { none, duplicates, votes, has_result } step = none;
};
Join join;

/// Tests the request until it is complete, for at most `max_s` seconds. A pause in which the kernel
/// does not run this rank counts as at most kMaxCountedPause_s, because the ranks for which this
/// rank waits may be slowed down just as much.
bool completes_request(double max_s) {
  double waited_s = 0, last_s = wall_now_s();
  while (waited_s < max_s) {
    int is_done = 0;
    join.mpi->test(&join.request, &is_done, join.mpi->status_ignore);
    if (is_done != 0) return true;
    ::sched_yield();
    const double now_s = wall_now_s();
    waited_s += std::min(now_s - last_s, tuning::kMaxCountedPause_s);
    last_s = now_s;
  }
  return false;
}

void continue_joining(double vote) {
  if (join.step == Join::duplicates && completes_request(tuning::kMaxJoin_s)) {
    join.own_vote = vote;
    join.mpi->iallreduce(&join.own_vote, &join.result, 1, join.mpi->double_type, join.mpi->min,
                         join.own, &join.request);
    join.step = Join::votes;
  }
  if (join.step == Join::votes && completes_request(tuning::kMaxVote_s))
    join.step = Join::has_result;
}

}  // namespace

Word Exchange::joined(const MpiLibrary& mpi) {
  join.mpi = &mpi;
  mpi.comm_idup(mpi.world, &join.own, &join.request);
  join.step = Join::duplicates;
  continue_joining(1);
  return join.step == Join::has_result && join.result == 1 ? join.own : 0;
}

bool Exchange::was_refused() { return join.step == Join::has_result && join.result == 0; }

void Exchange::complete_join() { continue_joining(0); }

Exchange::Exchange(const MpiLibrary& mpi, Word own) : mpi_(mpi), own_(own) {
  mpi.comm_rank(own_, &rank_);
  mpi.comm_size(own_, &size_);
  find_hosts();
}

Exchange::~Exchange() {
  for (Word* communicator : {&leaders_, &host_, &own_})
    if (*communicator != 0 && mpi_.plain(*communicator) != mpi_.comm_null)
      mpi_.comm_free(communicator);
}

void Exchange::find_hosts() {
  std::uint64_t hash = 0;
  for (const char c : clock_name()) hash = mixed(hash, static_cast<unsigned char>(c));
  if (all_agree(hash >> 12)) return;
  mpi_.comm_split(own_, hash >> 33, rank_, &host_);
  int rank_on_host = 0;
  mpi_.comm_rank(host_, &rank_on_host);
  is_leader_ = rank_on_host == 0;
  mpi_.comm_split(own_, is_leader_ ? 0 : mpi_.undefined, rank_, &leaders_);
  if (is_leader_) mpi_.comm_size(leaders_, &num_hosts_);
  mpi_.bcast(&num_hosts_, sizeof num_hosts_, mpi_.byte, 0, host_);
}

std::vector<RoundTrip> Exchange::ask(int leader) const {
  std::vector<RoundTrip> trips(tuning::kClockRounds);
  for (RoundTrip& trip : trips) {
    trip.sent_ns = wall_now_ns();
    mpi_.send(&trip.sent_ns, sizeof trip.sent_ns, mpi_.byte, leader, kClockTag, leaders_);
    mpi_.recv(&trip.there_ns, sizeof trip.there_ns, mpi_.byte, leader, kClockTag, leaders_,
              reinterpret_cast<void*>(mpi_.status_ignore));
    trip.received_ns = wall_now_ns();
  }
  return trips;
}

void Exchange::answer(int leader) const {
  for (int i = 0; i < tuning::kClockRounds; ++i) {
    std::int64_t now_ns = 0;
    mpi_.recv(&now_ns, sizeof now_ns, mpi_.byte, leader, kClockTag, leaders_,
              reinterpret_cast<void*>(mpi_.status_ignore));
    now_ns = wall_now_ns();
    mpi_.send(&now_ns, sizeof now_ns, mpi_.byte, leader, kClockTag, leaders_);
  }
}

/// One process per host takes part. The processes form a binomial tree: each measures its clock
/// offset to its parent, and learns from the parent the parent's offset to the root.
ClockOffset Exchange::offset_of_leader() const {
  int rank = 0;
  mpi_.comm_rank(leaders_, &rank);
  ClockOffset own;
  int step = 1;
  while (step < num_hosts_ && (rank & step) == 0) step *= 2;
  if (rank != 0) {
    const int above = rank - step;
    const ClockOffset to_above = offset_of(ask(above));
    ClockOffset aboves;
    mpi_.recv(&aboves, sizeof aboves, mpi_.byte, above, kClockTag, leaders_,
              reinterpret_cast<void*>(mpi_.status_ignore));
    own = chained(to_above, aboves);
  }
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step >= num_hosts_) continue;
    answer(rank + step);
    mpi_.send(&own, sizeof own, mpi_.byte, rank + step, kClockTag, leaders_);
  }
  return own;
}

ClockOffset Exchange::offset_to_first() {
  ClockOffset offset;
  if (num_hosts_ == 1) return offset;
  if (is_leader_) offset = offset_of_leader();
  mpi_.bcast(&offset, sizeof offset, mpi_.byte, 0, host_);
  return offset;
}

std::vector<double> Exchange::largest(const std::vector<double>& own) const {
  std::vector<double> result(own.size());
  mpi_.allreduce(own.data(), result.data(), own.size(), mpi_.double_type, mpi_.max, own_);
  return result;
}

bool Exchange::all_agree(double own) const {
  const std::vector<double> ends = largest({own, -own});
  return ends[0] == -ends[1];
}

void Exchange::find_waits(std::vector<std::unique_ptr<Sampled>> sampled, const CommonClock& clock,
                          std::vector<Wait>& waits) const {
  const auto max_error_ns = static_cast<std::int64_t>(largest({1.0 * clock.error_ns()})[0]);
  LastArrivals samples(std::move(sampled), clock, max_error_ns);
  const auto rounds = static_cast<int>(largest({1.0 * samples.num_rounds()})[0]);
  for (int round = 0; round < rounds; ++round)
    deliver(kUpTag + round, samples.reports_up(round),
            [&](int, const std::string& report) { samples.read_up(report); });
  for (int round = rounds - 1; round >= 0; --round)
    deliver(kDownTag + round, samples.reports_down(round),
            [&](int, const std::string& report) { samples.read_down(report); });
  const std::vector<Wait> found = samples.waits();
  waits.insert(waits.end(), found.begin(), found.end());
}

void Exchange::find_waits(const MessageEnds& ends, const CommonClock& clock,
                          std::vector<Wait>& waits) const {
  MessageWaits messages(ends, clock);
  deliver(kMessagesTag, messages.reports(),
          [&](int from, const std::string& report) { messages.read(from, report); });
  const std::vector<Wait> found = messages.waits();
  waits.insert(waits.end(), found.begin(), found.end());
}

/// No rank knows which ranks send reports to it, so it receives until a non-blocking barrier
/// completes. A rank enters the barrier when its partners have begun to receive all of its reports.
/// Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data
/// exchange", PPoPP 2010.
void Exchange::deliver(int tag, const std::map<int, std::string>& reports,
                       const std::function<void(int from, const std::string& report)>& read) const {
  std::vector<Sent> sent;
  sent.reserve(reports.size());
  for (const auto& [to, text] : reports) {
    Sent& report = sent.emplace_back(text);
    mpi_.issend(report.text.data(), report.text.size(), mpi_.byte, to, tag, own_, &report.request);
  }
  const auto is_over = [&](Word& request) {
    int flag = 0;
    mpi_.test(&request, &flag, mpi_.status_ignore);
    return flag != 0;
  };
  alignas(16) char status[64] = {};
  Word barrier = 0;
  bool is_in_barrier = false;
  for (;;) {
    int flag = 0, size = 0;
    mpi_.iprobe(mpi_.any_source, tag, own_, &flag, status);
    if (flag != 0) {
      const int from = mpi_.source_of(status);
      mpi_.get_count(status, mpi_.byte, &size);
      std::string report(size, '\0');
      mpi_.recv(report.data(), size, mpi_.byte, from, tag, own_, status);
      read(from, report);
      continue;
    }
    if (is_in_barrier) {
      if (is_over(barrier)) return;
    } else {
      while (!sent.empty() && is_over(sent.back().request)) sent.pop_back();
      is_in_barrier = sent.empty();
      if (is_in_barrier) mpi_.ibarrier(own_, &barrier);
    }
    ::sched_yield();
  }
}

void Exchange::gather(std::string& bytes) const {
  for (int step = 1; step < size_; step *= 2) {
    if ((rank_ & step) != 0) {
      const std::uint64_t count = bytes.size();
      mpi_.send(&count, sizeof count, mpi_.byte, rank_ - step, kTag, own_);
      for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece)
        mpi_.send(bytes.data() + begin, std::min(kPiece, bytes.size() - begin), mpi_.byte,
                  rank_ - step, kTag, own_);
      return;
    }
    if (rank_ + step >= size_) continue;
    std::uint64_t count = 0;
    void* const no_status = reinterpret_cast<void*>(mpi_.status_ignore);
    mpi_.recv(&count, sizeof count, mpi_.byte, rank_ + step, kTag, own_, no_status);
    const std::size_t before = bytes.size();
    bytes.resize(before + count);
    for (std::size_t begin = before; begin < bytes.size(); begin += kPiece)
      mpi_.recv(bytes.data() + begin, std::min(kPiece, bytes.size() - begin), mpi_.byte,
                rank_ + step, kTag, own_, no_status);
  }
}

}  // namespace poise::profile
