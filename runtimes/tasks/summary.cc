#include "runtimes/tasks/summary.h"

#include <algorithm>
#include <fmt/core.h>
#include <vector>

#include "runtimes/tasks/collective.h"

namespace poise::tasks {

namespace {
constexpr std::size_t kMostLines = 32;
}

std::string summary_of(MPI_Comm communicator, const Counters& counters) {
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  std::vector<Counters> all(static_cast<std::size_t>(size));
  complete([&](MPI_Request* request) {
    MPI_Igather(&counters, sizeof(Counters), MPI_BYTE, all.data(), sizeof(Counters), MPI_BYTE, 0,
                communicator, request);
  });
  if (rank != 0) return {};
  std::string text =
      fmt::format("{:>5} {:>9} {:>9} {:>9} {:>9} {:>6} {:>8} {:>8} {:>9} {:>8} {:>8}\n", "rank",
                  "submitted", "ran own", "ran lent", "lent away", "loans", "requests", "declined",
                  "MB lent", "busy s", "wait s");
  for (std::size_t r = 0; r < std::min(all.size(), kMostLines); ++r) {
    const Counters& c = all[r];
    text +=
        fmt::format("{:>5} {:>9} {:>9} {:>9} {:>9} {:>6} {:>8} {:>8} {:>9.3f} {:>8.3f} {:>8.3f}\n",
                    r, c.submitted, c.ran_own, c.ran_borrowed, c.lent, c.loans, c.requests,
                    c.declines, static_cast<double>(c.bytes_lent) * 1e-6, c.working_s, c.waiting_s);
  }
  if (all.size() > kMostLines)
    text += fmt::format("… and {} more ranks\n", all.size() - kMostLines);
  return text;
}

}  // namespace poise::tasks
