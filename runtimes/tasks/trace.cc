// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <tuple>

#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"
#include "poise/trace/chrome.h"
#include "poise/trace/timeline.h"

namespace poise::tasks {

namespace {

constexpr std::string_view kWork = kActivities[0], kWait = kActivities[1];

template <typename T>
void keep(std::vector<T>& events, const T& event) {
  if (events.size() < tuning::kMaxEvents) events.push_back(event);
}

struct Loan {
  double at_s = 0;
  std::uint32_t lender = 0;  // the owner, or a borrower that lent the task on
};
/// Maps (the rank that owns a task, the task's index in the owner's table of lent tasks, borrower)
/// to all loans of this task to this borrower, sorted by time.
using Loans = std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::vector<Loan>>;

Loans loans_among(std::span<const RankTrace> ranks) {
  Loans loans;
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    for (const Lent& lent : ranks[r].lent)
      loans[{lent.owner, lent.slot, lent.to}].push_back({lent.at_s, r});
  for (auto& [task, times] : loans)
    std::sort(times.begin(), times.end(),
              [](const Loan& a, const Loan& b) { return a.at_s < b.at_s; });
  return loans;
}

/// Draws one arrow for each task that rank `r` borrowed and ran. The arrow begins at the last loan
/// of the task to rank `r` before the run, and ends where the run begins.
void draw_arrows(ChromeTrace& trace, std::uint32_t r, const RankTrace& rank, const Loans& loans) {
  for (const Ran& ran : rank.ran) {
    const auto found = loans.find({ran.owner, ran.slot, r});
    if (ran.owner == r || found == loans.end()) continue;
    const auto later = std::upper_bound(found->second.begin(), found->second.end(), ran.begin_s,
                                        [](double t, const Loan& loan) { return t < loan.at_s; });
    if (later == found->second.begin()) continue;
    const Loan& loan = *std::prev(later);
    trace.arrow({loan.lender, -1}, loan.at_s, {r, ran.thread}, ran.begin_s, "lent");
  }
}

std::string milliseconds(const Reason::Busy& busy) {
  return fmt::format("{:.3f} ms; without the loan {:.3f} ms", 1e3 * busy.with_s,
                     1e3 * busy.without_s);
}

/// Annotations of a loan: what was lent, and why.
ChromeTrace::Notes notes_on(const Lent& lent, std::uint32_t lender, const std::string& function) {
  const Reason& reason = lent.reason;
  ChromeTrace::Notes notes = {{"task", fmt::format("{} of rank {}", function, lent.owner)},
                              {"bytes there and back", fmt::format("{}", lent.bytes)},
                              {"tasks in the loan", fmt::format("{}", reason.tasks)}};
  if (reason.asked)
    notes.emplace_back("why", fmt::format("rank {} sent a steal request", lent.to));
  else
    notes.emplace_back("why", fmt::format("rank {} would be idle in {:.3f} ms", lent.to,
                                          1e3 * reason.borrower.without_s));
  if (reason.times_known) {
    notes.emplace_back(fmt::format("rank {} busy for", lender), milliseconds(reason.lender));
    notes.emplace_back(fmt::format("rank {} busy for", lent.to), milliseconds(reason.borrower));
  } else {
    notes.emplace_back("busy for", "unknown: the time of some queued function is not known yet");
  }
  return notes;
}

/// Draws a slice "idle" wherever a thread was in a wait but ran no task.
void draw_idleness(ChromeTrace& trace, ChromeTrace::Row row, const RankTrace& rank,
                   std::vector<Waited> busy) {
  std::sort(busy.begin(), busy.end(),
            [](const Waited& a, const Waited& b) { return a.begin_s < b.begin_s; });
  auto next = busy.begin();
  for (const Waited& wait : rank.waits) {
    double since_s = wait.begin_s;
    for (; next != busy.end() && next->begin_s < wait.end_s; ++next) {
      if (next->begin_s - since_s > lending_tuning::kMinPause_s)
        trace.slice(row, "idle", kWait, since_s, next->begin_s);
      since_s = std::max(since_s, next->end_s);
    }
    if (wait.end_s - since_s > lending_tuning::kMinPause_s)
      trace.slice(row, "idle", kWait, since_s, wait.end_s);
  }
}

void draw_rank(ChromeTrace& trace, std::uint32_t r, std::span<const RankTrace> ranks,
               std::span<const std::string> names) {
  const RankTrace& rank = ranks[r];
  trace.name_group(r, fmt::format("rank {}", r));
  trace.name_row({r, -1}, "lends");
  for (const Lent& lent : rank.lent)
    trace.slice({r, -1}, fmt::format("to rank {}", lent.to), "loan", lent.at_s, lent.at_s + 1e-6,
                notes_on(lent, r, names[lent.function]));
  std::map<std::uint32_t, std::vector<Waited>> busy;  // by thread
  // Adds an empty list for each thread, so that a thread without tasks is drawn as idle in all
  // waits.
  for (std::uint32_t thread = 0; thread < rank.num_threads; ++thread) busy[thread];
  for (const Ran& ran : rank.ran) {
    const ChromeTrace::Row row{r, ran.thread};
    busy[ran.thread].push_back({ran.begin_s, ran.end_s});
    const std::string& name = names[ran.function];
    trace.slice(row, ran.owner == r ? name : fmt::format("{} of rank {}", name, ran.owner), kWork,
                ran.begin_s, ran.end_s);
  }
  for (auto& [thread, spans] : busy) {
    trace.name_row({r, thread}, fmt::format("thread {}", thread));
    draw_idleness(trace, {r, thread}, rank, std::move(spans));
  }
}

template <typename T>
std::vector<std::vector<T>> gathered_of(MPI_Comm communicator, const std::vector<T>& own) {
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const int bytes = own.size() * sizeof(T);
  std::vector<int> counts(size), begins(counts.size());
  complete([&](MPI_Request* request) {
    MPI_Igather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, communicator, request);
  });
  std::vector<std::vector<T>> all(counts.size());
  // Rank 0 receives from one rank after another, because the sum of all counts may exceed an int.
  if (rank != 0) MPI_Send(own.data(), bytes, MPI_BYTE, 0, 0, communicator);
  if (rank != 0) return {};
  all[0] = own;
  for (int from = 1; from < size; ++from) {
    auto& its = all[from];
    its.resize(counts[from] / sizeof(T));
    MPI_Recv(its.data(), counts[from], MPI_BYTE, from, 0, communicator, MPI_STATUS_IGNORE);
  }
  return all;
}

}  // namespace

bool is_cut(const RankTrace& rank) {
  return std::max({rank.ran.size(), rank.lent.size(), rank.waits.size()}) >= tuning::kMaxEvents;
}

std::string trace_json(std::span<const RankTrace> ranks, std::span<const std::string> names) {
  ChromeTrace trace;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) draw_rank(trace, r, ranks, names);
  const Loans loans = loans_among(ranks);
  for (std::uint32_t r = 0; r < ranks.size(); ++r) draw_arrows(trace, r, ranks[r], loans);
  return trace.text("tasks");
}

TraceRecorder::TraceRecorder(MPI_Comm communicator, std::span<const std::uint32_t> nodes,
                             std::uint32_t num_threads) {
  own_.num_threads = num_threads;
  complete([&](MPI_Request* request) { MPI_Ibarrier(communicator, request); });
  // The ranks of a node share a clock but leave the barrier at different times. So for all ranks of
  // a node, time 0 is the time at which the lowest rank of the node leaves the barrier.
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  begin_s_ = all_of(communicator, wall_now_s())[nodes[rank]];
}

void TraceRecorder::ran(double begin_s, double end_s, std::uint32_t function, std::uint32_t owner,
                        std::uint64_t slot) {
  const std::lock_guard lock(mutex_);
  const auto thread = threads_.emplace(std::this_thread::get_id(), threads_.size()).first->second;
  keep(own_.ran, {begin_s - begin_s_, end_s - begin_s_, thread, function, owner, slot});
}

void TraceRecorder::lent(Lent lent) {
  lent.at_s -= begin_s_;
  const std::lock_guard lock(mutex_);
  keep(own_.lent, lent);
}

void TraceRecorder::waited(double begin_s, double end_s) {
  const std::lock_guard lock(mutex_);
  keep(own_.waits, {begin_s - begin_s_, end_s - begin_s_});
}

std::vector<RankTrace> TraceRecorder::gathered(MPI_Comm communicator) const {
  auto ran = gathered_of(communicator, own_.ran);
  auto lent = gathered_of(communicator, own_.lent);
  auto waits = gathered_of(communicator, own_.waits);
  const auto threads = gathered_of(communicator, std::vector{own_.num_threads});
  std::vector<RankTrace> ranks(ran.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    ranks[r] = {std::move(ran[r]), std::move(lent[r]), std::move(waits[r]), threads[r][0]};
  return ranks;
}

}  // namespace poise::tasks
