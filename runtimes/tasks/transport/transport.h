// Parcels between ranks over MPI: a head, and large items that follow without being copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mpi.h>
#include <span>
#include <vector>

#include "poise/base/random.h"

namespace poise::tasks {

/// Memory of a large item, sent or filled in place.
struct Payload {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Never blocks; not for several threads at once.
class Transport {
 public:
  /// Works on a duplicate of the communicator. Collective. `chunk_bytes`: the longest MPI message
  /// of a large item.
  /// `max_delay_s`: for tests, how long an arrived head may be held back while others overtake it.
  Transport(MPI_Comm communicator, std::size_t chunk_bytes, double max_delay_s = 0);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  MPI_Comm communicator() const { return communicator_; }

  /// The first 4 bytes of a head are the post's own. `keep` lives until all is sent.
  void send(int to, std::vector<std::byte> header, std::vector<Payload> payloads = {},
            std::shared_ptr<const void> keep = nullptr);

  struct Arrival {
    int from = 0;
    std::shared_ptr<std::byte> header;
    std::size_t bytes = 0;
  };
  /// Hands over heads that have arrived, and drives everything under way. Returns whether it
  /// may have left some for the next time.
  bool poll(const std::function<void(const Arrival&)>& handle);

  /// Receives the next large items that follow this head, in the order they were sent.
  void fetch(const Arrival& arrival, std::span<const Payload> into, std::function<void()> then);

  /// Large items from or to here, or heads to here, that have to be driven.
  bool in_flight() const {
    return payload_sends_ > 0 || !receive_requests_.empty() || !held_.empty();
  }
  /// Anything on its way from here, which may have to be driven.
  bool sends_in_flight() const { return !send_requests_.empty(); }
  /// Large items on their way from here, whose memory must stay.
  bool payloads_in_flight() const { return payload_sends_ > 0; }

  /// Completes everything that any rank sent; collective, and the last thing before the end.
  void drain(const std::function<void(const Arrival&)>& handle);

 private:
  struct Sending {
    std::vector<std::byte> header;
    std::shared_ptr<const void> keep;
    std::size_t open = 0;  // requests
    bool has_payloads = false;
  };
  struct Receiving {
    Arrival arrival;
    std::size_t open = 0;
    std::function<void()> then;  // empty for a head
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
  std::uint64_t sent_ = 0, received_ = 0;  // heads
  std::size_t payload_sends_ = 0;
  std::vector<MPI_Request> send_requests_, receive_requests_;
  std::vector<std::shared_ptr<Sending>> sendings_;      // of each request
  std::vector<std::shared_ptr<Receiving>> receivings_;  // of each request
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
