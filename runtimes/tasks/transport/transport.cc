// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/collective.h"

#include "poise/base/check.h"
#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

constexpr int kHeaderTag = 1;
// MPI guarantees that tags up to 32767 are valid. Payloads use kNumPayloadTags of these tags, from
// kFirstPayloadTag on.
constexpr std::uint32_t kFirstPayloadTag = 2, kNumPayloadTags = 32000;

std::uint32_t payload_tag(const std::byte* header) {
  std::uint32_t tag;
  std::memcpy(&tag, header, sizeof(tag));
  return tag;
}

}  // namespace

Transport::Transport(MPI_Comm communicator, std::size_t chunk_bytes, double max_delay_s)
    : chunk_bytes_(chunk_bytes), max_delay_s_(max_delay_s), random_(1) {
  complete([&](MPI_Request* request) { MPI_Comm_idup(communicator, &communicator_, request); });
  int rank = 0;
  MPI_Comm_rank(communicator_, &rank);
  random_ = Random(mix(static_cast<unsigned>(rank)));
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_ARE_FATAL);
}

Transport::~Transport() { MPI_Comm_free(&communicator_); }

template <typename Start>
std::size_t Transport::in_chunks(const Payload& payload, Start start) const {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < payload.bytes; begin += chunk_bytes_, ++count)
    start(static_cast<std::byte*>(payload.data) + begin,
          std::min(chunk_bytes_, payload.bytes - begin));
  return count;
}

void Transport::send(int to, std::vector<std::byte> header, std::vector<Payload> payloads,
                     std::shared_ptr<const void> keep) {
  const std::uint32_t tag = kFirstPayloadTag + next_tag_;
  if (!payloads.empty()) next_tag_ = (next_tag_ + 1) % kNumPayloadTags;
  POISE_CHECK(header.size() <= INT_MAX);
  std::memcpy(header.data(), &tag, sizeof(tag));
  const auto sending = std::make_shared<Sending>();
  sending->header = std::move(header);
  sending->keep = std::move(keep);
  sending->has_payloads = !payloads.empty();
  payload_sends_ += sending->has_payloads;
  const auto start = [&](const std::byte* data, int bytes, int with_tag) {
    MPI_Isend(data, bytes, MPI_BYTE, to, with_tag, communicator_,
              &send_requests_.emplace_back(MPI_REQUEST_NULL));
    sendings_.push_back(sending);
    ++sending->open;
  };
  start(sending->header.data(), sending->header.size(), kHeaderTag);
  for (const Payload& payload : payloads)
    in_chunks(payload, [&](std::byte* data, int bytes) { start(data, bytes, tag); });
  ++sent_;
  if (payloads.empty()) drop_if_sent();
}

// Frees the request of the header just sent if it is already complete, as for most small headers.
// Otherwise the next poll tests it.
void Transport::drop_if_sent() {
  int complete = 0;
  MPI_Test(&send_requests_.back(), &complete, MPI_STATUS_IGNORE);
  if (!complete) return;
  send_requests_.pop_back();
  sendings_.pop_back();
}

void Transport::fetch(const Arrival& arrival, std::span<const Payload> into,
                      std::function<void()> then) {
  const auto receiving = std::make_shared<Receiving>();
  receiving->arrival = arrival;
  receiving->then = std::move(then);
  const int tag = payload_tag(arrival.header.get());
  for (const Payload& payload : into)
    receiving->open += in_chunks(payload, [&](std::byte* data, int bytes) {
      MPI_Irecv(data, bytes, MPI_BYTE, arrival.from, tag, communicator_,
                &receive_requests_.emplace_back(MPI_REQUEST_NULL));
      receivings_.push_back(receiving);
    });
  POISE_CHECK(receiving->open > 0);
}

template <typename Part, typename Done>
void Transport::test(std::vector<MPI_Request>& requests, std::vector<std::shared_ptr<Part>>& parts,
                     Done done) {
  if (requests.empty()) return;
  int completed = 0;
  indices_.resize(requests.size());
  MPI_Testsome(requests.size(), requests.data(), &completed, indices_.data(), MPI_STATUSES_IGNORE);
  if (completed <= 0) return;
  for (int i = 0; i < completed; ++i) {
    auto& part = parts[indices_[i]];
    if (--part->open == 0) done(std::move(part));
    part = nullptr;
  }
  std::erase(requests, MPI_REQUEST_NULL);
  std::erase(parts, nullptr);
}

bool Transport::finds_header(MPI_Message& message, MPI_Status& status) {
  int there = 0;
  MPI_Improbe(MPI_ANY_SOURCE, kHeaderTag, communicator_, &there, &message, &status);
  return there != 0;
}

// In some MPI libraries, a probe first searches the messages already read from the network, and
// reads from the network only afterwards. So if the last poll was long ago, a probe that finds
// nothing is repeated: the second probe finds what the first one has read.
void Transport::receive_headers() {
  const double now_s = wall_now_s();
  bool again = now_s - last_poll_s_ > lending_tuning::kMinPause_s;
  last_poll_s_ = now_s;
  for (std::size_t i = 0; i < lending_tuning::kMaxAtOnce; ++i) {
    MPI_Message message;
    MPI_Status status;
    if (!finds_header(message, status) &&
        !(std::exchange(again, false) && finds_header(message, status)))
      return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto receiving = std::make_shared<Receiving>();
    receiving->arrival = {status.MPI_SOURCE, new_bytes(bytes), static_cast<std::size_t>(bytes)};
    MPI_Request request;
    int complete = 0;
    MPI_Imrecv(receiving->arrival.header.get(), bytes, MPI_BYTE, &message, &request);
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    ++received_;
    receiving->open = 1;
    if (complete) {
      arrived_.push_back(receiving);
    } else {
      receive_requests_.push_back(request);
      receivings_.push_back(receiving);
    }
  }
}

bool Transport::poll(const std::function<void(const Arrival&)>& handle) {
  test(send_requests_, sendings_,
       [&](std::shared_ptr<Sending> sending) { payload_sends_ -= sending->has_payloads; });
  test(receive_requests_, receivings_,
       [&](std::shared_ptr<Receiving> receiving) { arrived_.push_back(std::move(receiving)); });
  receive_headers();
  if (max_delay_s_ > 0 || !held_.empty()) release_held(wall_now_s());
  // The functions called below may change the transport, for example by send() or fetch(). So
  // arrived_ is emptied before the first call.
  const auto arrived = std::exchange(arrived_, {});
  for (const auto& receiving : arrived) {
    if (receiving->then)
      receiving->then();
    else
      handle(receiving->arrival);
  }
  return arrived.size() >= lending_tuning::kMaxAtOnce;
}

// For tests: holds back about half of the headers, each for a random time.
void Transport::hold_back(const std::shared_ptr<Receiving>& header) {
  const double delay_s = random_.below(2) ? max_delay_s_ * random_.uniform() : 0;
  held_.push_back({wall_now_s() + delay_s, header});
}

void Transport::release_held(double now_s) {
  for (auto& receiving : std::exchange(arrived_, {})) {
    if (receiving->then || max_delay_s_ <= 0)
      arrived_.push_back(std::move(receiving));
    else
      hold_back(receiving);
  }
  for (Held& held : held_)
    if (held.until_s <= now_s || max_delay_s_ <= 0) arrived_.push_back(std::move(held.header));
  std::erase_if(held_, [](const Held& held) { return !held.header; });
}

void Transport::drain(const std::function<void(const Arrival&)>& handle) {
  max_delay_s_ = 0;
  for (;;) {
    poll(handle);
    std::uint64_t open[2] = {sent_ - received_, send_requests_.size() + receive_requests_.size()};
    reduce(communicator_, open, 2, MPI_SUM);
    if (open[0] == 0 && open[1] == 0) return;
  }
}

}  // namespace poise::tasks
