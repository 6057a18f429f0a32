// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks over MPI. A message has a header and may have payloads: long data that
// follow the header and are sent without being copied first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <span>
#include <vector>

#include "runtimes/tasks/transport/bytes.h"

#include "poise/base/random.h"

namespace poise::tasks {

/// No call blocks except the collective ones. Not thread-safe.
class Transport {
 public:
  /// Uses a duplicate of the communicator. Collective. A payload longer than `chunk_bytes` is sent
  /// as several MPI messages. `max_delay_s`, for tests, is the longest time for which an arrived
  /// header is held back while others overtake it.
  Transport(MPI_Comm communicator, std::size_t chunk_bytes, double max_delay_s = 0);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  MPI_Comm communicator() const { return communicator_; }

  /// Sends a header and payloads. The first 4 bytes of the header are reserved for the transport,
  /// which overwrites them. The object `keep` lives until header and payloads are sent.
  void send(int to, std::vector<std::byte> header, std::vector<Payload> payloads = {},
            std::shared_ptr<const void> keep = nullptr);

  struct Arrival {
    int from = 0;
    std::shared_ptr<std::byte> header;
    std::size_t bytes = 0;
  };
  /// Calls `handle` for each header that has arrived, and progresses all transfers. Returns true if
  /// more headers may be waiting.
  bool poll(const std::function<void(const Arrival&)>& handle);

  /// Receives the next payloads that belong to this header, in the order in which they were sent,
  /// and then calls `then`.
  void fetch(const Arrival& arrival, std::span<const Payload> into, std::function<void()> then);

  /// True if poll() still has to complete a transfer: payloads in either direction, or headers to
  /// this rank that are held back.
  bool in_flight() const {
    return payload_sends_ > 0 || !receive_requests_.empty() || !held_.empty();
  }
  /// True if anything that this rank sent is still in flight.
  bool sends_in_flight() const { return !send_requests_.empty(); }
  /// True if payloads that this rank sent are in flight, so that their memory must stay valid.
  bool payloads_in_flight() const { return payload_sends_ > 0; }

  /// Completes all transfers of all ranks. Collective. Must be the last call before the destructor.
  void drain(const std::function<void(const Arrival&)>& handle);

 private:
  struct Sending {
    std::vector<std::byte> header;
    std::shared_ptr<const void> keep;
    std::size_t open = 0;  // number of incomplete requests
    bool has_payloads = false;
  };
  struct Receiving {
    Arrival arrival;
    std::size_t open = 0;
    /// Called when all payloads have arrived; empty while a header is received.
    std::function<void()> then;
  };
  void drop_if_sent();
  bool finds_header(MPI_Message& message, MPI_Status& status);
  void receive_headers();
  void hold_back(const std::shared_ptr<Receiving>& header);
  void release_held(double now_s);
  template <typename Part, typename Done>
  void test(std::vector<MPI_Request>& requests, std::vector<std::shared_ptr<Part>>& parts,
            Done done);
  template <typename Start>
  std::size_t in_chunks(const Payload& payload, Start start) const;

  MPI_Comm communicator_;
  std::size_t chunk_bytes_;
  std::uint32_t next_tag_ = 0;
  double last_poll_s_ = 0;
  std::uint64_t sent_ = 0, received_ = 0;  // numbers of headers
  std::size_t payload_sends_ = 0;
  std::vector<MPI_Request> send_requests_, receive_requests_;
  std::vector<std::shared_ptr<Sending>> sendings_;      // by request index
  std::vector<std::shared_ptr<Receiving>> receivings_;  // by request index
  std::vector<int> indices_;
  std::vector<std::shared_ptr<Receiving>> arrived_;

  struct Held {
    double until_s = 0;
    std::shared_ptr<Receiving> header;
  };
  double max_delay_s_;
  Random random_;
  std::vector<Held> held_;
};

}  // namespace poise::tasks
