// What a context counts on each rank, and the failures of its tasks.
#pragma once

#include <cstdint>
#include <string>

namespace poise::tasks {

/// A task that ended with an exception.
struct Failure {
  std::string function, text;
  std::uint32_t rank = 0;  // that ran it
};

/// Of one rank, since its context was created.
struct Counters {
  std::uint64_t submitted = 0, ran_own = 0, ran_borrowed = 0;  // tasks
  double working_s = 0;                                        // in tasks, summed over threads
  double waiting_s = 0;                                        // in waits, with and without tasks
  double transfer_s = 0;  // packing and unpacking lent tasks and their results
  double idle_s = 0;  // of all threads in waits that have ended: neither in tasks nor in transfers
  std::uint64_t lent = 0, returned = 0, failed = 0;  // tasks
  std::uint64_t requests = 0, declines = 0;          // steal requests sent, and those declined
  std::uint64_t loans = 0;                           // messages with lent tasks
  std::uint64_t bytes_lent = 0, bytes_back = 0, messages = 0;
  // Bytes that lent tasks read and wrote: sent in messages, copied once in the shared memory of the
  // node, and accessed in place.
  std::uint64_t bytes_sent = 0, bytes_copied = 0, bytes_in_place = 0;
  std::uint64_t replicas_sent = 0, replicas_won = 0;  // copies sent, and received copies run here
  std::uint64_t answers = 0;                          // loans that answered a steal request
  std::uint64_t lent_to_one = 0;                      // most tasks lent to a single rank
  std::uint32_t most_to = 0;                          // that rank
};

}  // namespace poise::tasks
