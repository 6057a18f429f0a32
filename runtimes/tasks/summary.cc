// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/summary.h"

#include <algorithm>
#include <fmt/core.h>
#include <vector>

#include "runtimes/tasks/transport/collective.h"
#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

namespace {
constexpr char kHead[] =
    "{:>5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>6} {:>6} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8}\n";
constexpr char kLine[] =
    "{:>5} {:>9} {:>9} {:>9} {:>9} {:>7} {:>6} {:>6} {:>8} {:>8} {:>9.3f} {:>8.3f} {:>8.3f} "
    "{:>8.3f} {:>8.3f}\n";
}  // namespace

std::string summary_of(MPI_Comm communicator, const Counters& counters) {
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  std::vector<Counters> all(size);
  complete([&](MPI_Request* request) {
    MPI_Igather(&counters, sizeof(Counters), MPI_BYTE, all.data(), sizeof(Counters), MPI_BYTE, 0,
                communicator, request);
  });
  if (rank != 0) return {};
  std::string text = fmt::format(kHead, "rank", "submitted", "ran own", "ran lent", "lent away",
                                 "most to", "loans", "asked", "requests", "declined", "MB lent",
                                 "busy s", "moving s", "idle s", "wait s");
  for (std::size_t r = 0; r < std::min(all.size(), tuning::kMaxSummaryLines); ++r) {
    const Counters& c = all[r];
    const std::string most_to = c.lent > 0 ? std::to_string(c.most_to) : "-";
    text += fmt::format(kLine, r, c.submitted, c.ran_own, c.ran_borrowed, c.lent, most_to, c.loans,
                        c.answers, c.requests, c.declines, c.bytes_lent * 1e-6, c.working_s,
                        c.transfer_s, c.idle_s, c.waiting_s);
  }
  if (all.size() > tuning::kMaxSummaryLines)
    text += fmt::format("… and {} more ranks\n", all.size() - tuning::kMaxSummaryLines);
  return text;
}

}  // namespace poise::tasks
