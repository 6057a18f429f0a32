// SPDX-License-Identifier: BSD-3-Clause
// Messages of the offload engine, and the data that all its parts need to send and answer them.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <vector>

#include "runtimes/tasks/counters.h"
#include "runtimes/tasks/policy.h"
#include "runtimes/tasks/pool/pool.h"
#include "runtimes/tasks/transport/arena.h"
#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/doorbell.h"
#include "runtimes/tasks/transport/locality.h"
#include "runtimes/tasks/transport/transport.h"

#include "poise/base/knobs.h"
#include "poise/online/lending_agent.h"

namespace poise::tasks {

enum class MessageKind : std::uint8_t {
  tasks,
  results,
  steal_request,
  decline,
  load,
  termination,
  replica,
  claim,
  grant,
  refuse
};

/// A message that has arrived. The loads and counts at its beginning have already been read and
/// passed to the agent that decides about lending.
struct Message {
  const Transport::Arrival& arrival;
  Reader reader;  // reads what follows the header and the loads
  std::uint32_t from = 0;
  MessageKind kind = MessageKind::load;
  // The time at which a steal request was sent, in the request and in the answer to it; 0 in other
  // messages.
  double requested_at_s = 0;
  std::uint64_t wait = 0;  // number of the wait that the sender is in
};

/// Not thread-safe.
class Messenger {
 public:
  /// Collective.
  Messenger(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
            const Policy& policy, TaskPool& pool);

  /// Begins a message to rank `to`. Writes the header, the loads of this rank and of other ranks,
  /// and the number of tasks lent by rank `to` that have arrived here since the last message to
  /// that rank.
  Writer begin(MessageKind kind, std::uint32_t to, double requested_at_s = 0);
  /// Sends a message. `keep` stays alive until everything is sent.
  void send(std::uint32_t to, Writer&& header, std::vector<Payload> payloads = {},
            std::shared_ptr<const void> keep = nullptr);
  /// Sends a message without ringing the receiver's doorbell.
  void send_quietly(std::uint32_t to, Writer&& header, std::vector<Payload> payloads = {},
                    std::shared_ptr<const void> keep = nullptr);
  /// Opens an arrived message, and passes the loads and counts in it to the agent that decides
  /// about lending.
  Message open(const Transport::Arrival& arrival);

  /// True if a data item is sent as a payload instead of in the header: because it is large, or
  /// because the header would become longer than MPI can count.
  bool is_sent_as_payload(std::size_t bytes, const Writer& header) const;

  TaskPool& pool;
  Transport transport;
  Arena arena;
  Doorbells doorbells;
  LendingAgent agent;
  Counters counters;
  double now_s = 0;  // when the present step began
  // Tasks of this rank whose results have arrived.
  std::vector<std::unique_ptr<Task>> finished;
  const std::uint32_t rank, num_ranks;
  const std::size_t large_bytes;
};

}  // namespace poise::tasks
