// Buffers between ranks, when nobody knows from whom to expect one.
#pragma once

#include <mpi.h>
#include <vector>

#include "runtimes/archive/buffer.h"

namespace poise::objects {

/// A buffer on its way, with room in front for what the receiver must know first. Alignment as in
/// a Buffer holds for `content`.
class Parcel {
 public:
  static constexpr std::size_t kHead = 16;

  bool empty() const { return buffer_.size() <= kHead; }
  /// Keeps its memory.
  void clear() { buffer_.resize(0); }
  /// To be appended to.
  Buffer& open() {
    if (buffer_.empty()) buffer_.resize(kHead);
    return buffer_;
  }
  std::span<const std::byte> content() const {
    return buffer_.bytes().subspan(std::min(kHead, buffer_.size()));
  }

 private:
  friend class Exchange;
  Buffer buffer_;
};

/// Point-to-point messages of any size over a communicator of one's own; larger ones travel in
/// pieces, since MPI counts in int. All calls by one thread.
class Exchange {
 public:
  struct Received {
    int from;
    Parcel parcel;
  };

  /// `max_piece` bytes at most in one MPI message.
  explicit Exchange(MPI_Comm comm, std::size_t max_piece = std::size_t{1} << 30)
      : comm_(comm), max_piece_(max_piece) {}

  /// Every rank calls this; parcels[r] goes to rank r unless it is empty, and what others sent to
  /// this rank comes back, in no particular order. Messages travel only where there are parcels:
  /// a non-blocking barrier tells that none is left (Hoefler, Siebert and Lumsdaine, "Scalable
  /// communication protocols for dynamic sparse data exchange", 2010).
  std::vector<Received> all(std::vector<Parcel>& parcels);

  /// Memory for what is received next, in place of what was given before: new memory costs more
  /// than what travels in it.
  void reuse(std::vector<Parcel> parcels) { spare_ = std::move(parcels); }

  /// Sends while others may do the same; finish() waits for all that was sent.
  void send(int to, Parcel parcel);
  Received receive();
  bool try_receive(Received& received);
  void finish();

 private:
  void post(int to, const Parcel& parcel, int tag, bool synchronously);
  bool try_take(int tag, Received& received);
  Received take(MPI_Message message, const MPI_Status& status, int tag);
  Parcel parcel_for(std::size_t bytes);

  MPI_Comm comm_;
  std::size_t max_piece_;
  int round_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Parcel> sent_;   // alive until their requests are done
  std::vector<Parcel> spare_;  // to be used again
};

}  // namespace poise::objects
