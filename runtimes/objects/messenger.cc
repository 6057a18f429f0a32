// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/messenger.h"

#include <algorithm>
#include <cstdint>
#include <sched.h>

#include "runtimes/objects/tuning.h"

#include "poise/base/check.h"

namespace poise::objects {

namespace {

// MPI tags. A rank can be at most one all-to-all exchange ahead of another, so successive exchanges
// alternate between two tags. The first piece of a message is sent with the tag of its exchange,
// all further pieces with that tag plus one.
constexpr int kFirstRoundTag = 10;
constexpr int kPointToPointTag = 20;

int round_tag(int round) { return kFirstRoundTag + 2 * (round % 2); }

int as_int(std::size_t bytes) { return bytes; }

/// Returns the size that the header of a message states.
std::uint64_t size_of(const Buffer& message) {
  std::uint64_t size = 0;
  POISE_CHECK(message.size() >= sizeof size);
  std::memcpy(&size, message.data(), sizeof size);
  return size;
}

}  // namespace

void Messenger::post(int to, const MessageBuffer& message, int tag, bool synchronously) {
  const std::byte* bytes = message.buffer_.data();
  const std::size_t size = message.buffer_.size();
  for (std::size_t at = 0; at < size; at += max_piece_) {
    const int count = as_int(std::min(max_piece_, size - at));
    MPI_Request& request = requests_.emplace_back();
    if (at > 0)
      MPI_Isend(bytes + at, count, MPI_BYTE, to, tag + 1, comm_, &request);
    else if (synchronously)
      MPI_Issend(bytes, count, MPI_BYTE, to, tag, comm_, &request);
    else
      MPI_Isend(bytes, count, MPI_BYTE, to, tag, comm_, &request);
  }
}

/// Takes the smallest spare buffer with enough capacity, or a new one.
MessageBuffer Messenger::buffer_of(std::size_t bytes) {
  auto best = spare_.end();
  for (auto spare = spare_.begin(); spare != spare_.end(); ++spare)
    if (const std::size_t capacity = spare->buffer_.capacity();
        capacity >= bytes && (best == spare_.end() || capacity < best->buffer_.capacity()))
      best = spare;
  if (best == spare_.end()) return {};
  MessageBuffer buffer = std::move(*best);
  spare_.erase(best);
  return buffer;
}

/// Starts to receive the messages that a probe finds, as long as fewer than `max_messages` are
/// being received.
void Messenger::begin_receiving(int tag, std::size_t max_messages, Arriving& arriving) {
  while (arriving.requests.size() < max_messages) {
    int is_there = 0, count = 0;
    MPI_Message message{};
    MPI_Status status{};
    MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &is_there, &message, &status);
    if (is_there == 0) return;
    MPI_Get_count(&status, MPI_BYTE, &count);
    Received& received =
        arriving.messages.emplace_back(Received{status.MPI_SOURCE, buffer_of(count)});
    MPI_Request& request = arriving.requests.emplace_back(MPI_REQUEST_NULL);
    Buffer& buffer = received.buffer.buffer_;
    buffer.resize(count);
    if (buffer.size() == max_piece_)
      receive_whole(received, message, tag);
    else
      MPI_Imrecv(buffer.data(), count, MPI_BYTE, &message, &request);
  }
}

/// Receives a message that may consist of several pieces. Waits for all pieces before any other
/// message is received, because the pieces of all messages from one sender have the same tag.
void Messenger::receive_whole(Received& received, MPI_Message message, int tag) {
  Buffer& buffer = received.buffer.buffer_;
  std::size_t at = buffer.size();
  MPI_Mrecv(buffer.data(), as_int(at), MPI_BYTE, &message, MPI_STATUS_IGNORE);
  const std::uint64_t size = size_of(buffer);
  buffer.resize(size);
  while (at < size) {
    const int count = as_int(std::min(max_piece_, size - at));
    MPI_Recv(buffer.data() + at, count, MPI_BYTE, received.from, tag + 1, comm_, MPI_STATUS_IGNORE);
    at += count;
  }
}

/// Takes a message that has arrived completely; returns false if there is none.
bool Messenger::take_arrived(Arriving& arriving, Received& received) {
  auto& [messages, requests] = arriving;
  // Messages that receive_whole() has received have the request MPI_REQUEST_NULL.
  const auto whole = std::find(requests.begin(), requests.end(), MPI_REQUEST_NULL);
  int index = as_int(whole - requests.begin()), has_arrived = 0;
  if (whole == requests.end())
    MPI_Testany(index, requests.data(), &index, &has_arrived, MPI_STATUS_IGNORE);
  if (index == MPI_UNDEFINED) return false;
  received = std::move(messages[index]);
  messages.erase(messages.begin() + index);
  requests.erase(requests.begin() + index);
  POISE_CHECK(size_of(received.buffer.buffer_) == received.buffer.buffer_.size());
  return true;
}

std::vector<Messenger::Received> Messenger::sparse_all_to_all(std::vector<MessageBuffer>& outgoing,
                                                              bool* any) {
  const int tag = round_tag(round_++);
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    if (outgoing[rank].empty()) continue;
    const std::uint64_t size = outgoing[rank].buffer_.size();
    std::memcpy(outgoing[rank].buffer_.data(), &size, sizeof size);
    post(rank, outgoing[rank], tag, true);
  }
  std::vector<Received> all_received;
  MPI_Request barrier = MPI_REQUEST_NULL;
  const int own_flag = any != nullptr && *any ? 1 : 0;
  int any_flag = 0, is_sent = 0;  // is_sent: all receivers have begun to receive from this rank
  Arriving arriving;
  for (int is_done = 0; is_done == 0 || !arriving.requests.empty();) {
    begin_receiving(tag, outgoing.size(), arriving);
    if (Received received; take_arrived(arriving, received)) {
      all_received.push_back(std::move(received));
      continue;
    }
    if (is_sent != 0) {
      MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(requests_.size(), requests_.data(), &is_sent, MPI_STATUSES_IGNORE);
      if (is_sent != 0 && any == nullptr) MPI_Ibarrier(comm_, &barrier);
      // This reduction finds out whether `any` is true on some rank. The reduction also serves as
      // the barrier, because it cannot complete before every rank has entered it.
      if (is_sent != 0 && any != nullptr)
        MPI_Iallreduce(&own_flag, &any_flag, 1, MPI_INT, MPI_MAX, comm_, &barrier);
    }
    ::sched_yield();  // another rank that still has to send may need this core
  }
  requests_.clear();
  if (any != nullptr) *any = any_flag != 0;
  return all_received;
}

void Messenger::send(int to, MessageBuffer message) {
  message.open();
  const std::uint64_t size = message.buffer_.size();
  std::memcpy(message.buffer_.data(), &size, sizeof size);
  post(to, message, kPointToPointTag, false);
  sent_.push_back(std::move(message));
}

Messenger::Received Messenger::receive() {
  Received received;
  while (!try_receive(received)) ::sched_yield();
  return received;
}

bool Messenger::try_receive(Received& received) {
  begin_receiving(kPointToPointTag, tuning::kMaxArrivingMessages, arriving_);
  return take_arrived(arriving_, received);
}

void Messenger::finish() {
  for (int is_done = 0; is_done == 0;) {
    MPI_Testall(requests_.size(), requests_.data(), &is_done, MPI_STATUSES_IGNORE);
    if (is_done == 0) ::sched_yield();
  }
  requests_.clear();
  sent_.clear();
}

}  // namespace poise::objects
