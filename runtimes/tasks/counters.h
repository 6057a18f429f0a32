// What a context counts on each rank, and the failures of its tasks.
#pragma once

#include <cstdint>
#include <string>

namespace poise::tasks {

/// A function that ended with an exception.
struct Failure {
  std::string function, text;
  std::uint32_t rank = 0;  // where it ran
};

struct Counters {
  std::uint64_t submitted = 0, ran_own = 0, ran_borrowed = 0;
  // In tasks; in waits, with and without tasks; with what was lent, on its way there and back; and
  // what all threads' waits that have ended leave beside both: idle.
  double working_s = 0, waiting_s = 0, transfer_s = 0, idle_s = 0;
  std::uint64_t lent = 0, returned = 0, failed = 0;
  std::uint64_t requests = 0, declines = 0, loans = 0, bytes_lent = 0, bytes_back = 0, messages = 0;
  // Of the data that lent tasks read and wrote: sent in messages, copied once in the memory of the
  // node, and not copied at all.
  std::uint64_t bytes_sent = 0, bytes_copied = 0, bytes_in_place = 0;
  std::uint64_t replicas_sent = 0, replicas_won = 0;  // copies sent; of those received, run here
  std::uint64_t answers = 0;                          // loans that were asked for
  std::uint64_t lent_to_one = 0;                      // of the tasks lent, to this rank, the most
  std::uint32_t most_to = 0;
};

}  // namespace poise::tasks
