#include "runtimes/tasks/transport/transport.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "runtimes/tasks/transport/bytes.h"
#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/transport/collective.h"

#include "poise/base/check.h"

namespace poise::tasks {

namespace {

constexpr int kHeadTag = 1;
constexpr std::uint32_t kFirstLargeTag = 2, kNumLargeTags = 32000;  // MPI promises tags to 32767
constexpr std::size_t kHeadsAtOnce = 16;
constexpr double kLong_s = 20e-6;  // between two looks

std::uint32_t large_tag(const std::byte* head) {
  std::uint32_t tag;
  std::memcpy(&tag, head, sizeof(tag));
  return tag;
}

}  // namespace

Post::Post(MPI_Comm communicator, std::size_t chunk_bytes, double most_delay_s)
    : chunk_bytes_(chunk_bytes), most_delay_s_(most_delay_s), random_(1) {
  complete([&](MPI_Request* request) { MPI_Comm_idup(communicator, &communicator_, request); });
  int rank = 0;
  MPI_Comm_rank(communicator_, &rank);
  random_ = Random(mix(static_cast<unsigned>(rank)));
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_ARE_FATAL);
}

Post::~Post() { MPI_Comm_free(&communicator_); }

template <typename Start>
std::size_t Post::in_chunks(const Large& large, Start start) const {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < large.bytes; begin += chunk_bytes_, ++count)
    start(static_cast<std::byte*>(large.data) + begin,
          static_cast<int>(std::min(chunk_bytes_, large.bytes - begin)));
  return count;
}

void Post::send(int to, std::vector<std::byte> head, std::vector<Large> larges,
                std::shared_ptr<const void> keep) {
  const std::uint32_t tag = kFirstLargeTag + next_tag_;
  if (!larges.empty()) next_tag_ = (next_tag_ + 1) % kNumLargeTags;
  POISE_CHECK(head.size() <= INT_MAX);
  std::memcpy(head.data(), &tag, sizeof(tag));
  const auto sending = std::make_shared<Sending>();
  sending->head = std::move(head);
  sending->keep = std::move(keep);
  sending->has_larges = !larges.empty();
  large_sends_ += sending->has_larges;
  const auto start = [&](const std::byte* data, int bytes, int with_tag) {
    MPI_Isend(data, bytes, MPI_BYTE, to, with_tag, communicator_,
              &send_requests_.emplace_back(MPI_REQUEST_NULL));
    sendings_.push_back(sending);
    ++sending->open;
  };
  start(sending->head.data(), static_cast<int>(sending->head.size()), kHeadTag);
  for (const Large& large : larges)
    in_chunks(large,
              [&](std::byte* data, int bytes) { start(data, bytes, static_cast<int>(tag)); });
  ++sent_;
  if (larges.empty()) forget_if_sent();
}

// A small head has mostly left by now; else the next poll would have to ask for it.
void Post::forget_if_sent() {
  int complete = 0;
  MPI_Test(&send_requests_.back(), &complete, MPI_STATUS_IGNORE);
  if (!complete) return;
  send_requests_.pop_back();
  sendings_.pop_back();
}

void Post::fetch(const Arrival& arrival, std::span<const Large> into, std::function<void()> then) {
  const auto receiving = std::make_shared<Receiving>();
  receiving->arrival = arrival;
  receiving->then = std::move(then);
  const int tag = static_cast<int>(large_tag(arrival.head.get()));
  for (const Large& large : into)
    receiving->open += in_chunks(large, [&](std::byte* data, int bytes) {
      MPI_Irecv(data, bytes, MPI_BYTE, arrival.from, tag, communicator_,
                &receive_requests_.emplace_back(MPI_REQUEST_NULL));
      receivings_.push_back(receiving);
    });
  POISE_CHECK(receiving->open > 0);
}

template <typename Part, typename Done>
void Post::test(std::vector<MPI_Request>& requests, std::vector<std::shared_ptr<Part>>& parts,
                Done done) {
  if (requests.empty()) return;
  int completed = 0;
  indices_.resize(requests.size());
  MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &completed, indices_.data(),
               MPI_STATUSES_IGNORE);
  if (completed <= 0) return;
  for (int i = 0; i < completed; ++i) {
    auto& part = parts[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
    if (--part->open == 0) done(std::move(part));
    part = nullptr;
  }
  std::erase(requests, MPI_REQUEST_NULL);
  std::erase(parts, nullptr);
}

bool Post::finds_head(MPI_Message& message, MPI_Status& status) {
  int there = 0;
  MPI_Improbe(MPI_ANY_SOURCE, kHeadTag, communicator_, &there, &message, &status);
  return there != 0;
}

// Some MPI libraries look at what they have, and only then at what has come: whoever was busy for
// long would find it a task later.
void Post::receive_heads() {
  const double now_s = clock_s();
  bool again = now_s - last_look_s_ > kLong_s;
  last_look_s_ = now_s;
  for (std::size_t i = 0; i < kHeadsAtOnce; ++i) {
    MPI_Message message;
    MPI_Status status;
    if (!finds_head(message, status) &&
        !(std::exchange(again, false) && finds_head(message, status)))
      return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto receiving = std::make_shared<Receiving>();
    receiving->arrival = {status.MPI_SOURCE, new_bytes(static_cast<std::size_t>(bytes)),
                          static_cast<std::size_t>(bytes)};
    MPI_Request request;
    int complete = 0;
    MPI_Imrecv(receiving->arrival.head.get(), bytes, MPI_BYTE, &message, &request);
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

bool Post::poll(const std::function<void(const Arrival&)>& handle) {
  test(send_requests_, sendings_,
       [&](std::shared_ptr<Sending> sending) { large_sends_ -= sending->has_larges; });
  test(receive_requests_, receivings_,
       [&](std::shared_ptr<Receiving> receiving) { arrived_.push_back(std::move(receiving)); });
  receive_heads();
  if (most_delay_s_ > 0 || !held_.empty()) release_held(clock_s());
  // What is handled may send and fetch, so the list is taken first.
  const auto arrived = std::exchange(arrived_, {});
  for (const auto& receiving : arrived) {
    if (receiving->then)
      receiving->then();
    else
      handle(receiving->arrival);
  }
  return arrived.size() >= kHeadsAtOnce;
}

// Every other head waits for a while.
void Post::hold_back(const std::shared_ptr<Receiving>& head) {
  const double delay_s = random_.below(2) ? most_delay_s_ * random_.uniform() : 0;
  held_.push_back({clock_s() + delay_s, head});
}

void Post::release_held(double now_s) {
  for (auto& receiving : std::exchange(arrived_, {})) {
    if (receiving->then || most_delay_s_ <= 0)
      arrived_.push_back(std::move(receiving));
    else
      hold_back(receiving);
  }
  for (Held& held : held_)
    if (held.until_s <= now_s || most_delay_s_ <= 0) arrived_.push_back(std::move(held.head));
  std::erase_if(held_, [](const Held& held) { return !held.head; });
}

void Post::drain(const std::function<void(const Arrival&)>& handle) {
  most_delay_s_ = 0;
  for (;;) {
    poll(handle);
    std::uint64_t open[2] = {sent_ - received_, send_requests_.size() + receive_requests_.size()};
    reduce(communicator_, open, 2, MPI_SUM);
    if (open[0] == 0 && open[1] == 0) return;
  }
}

}  // namespace poise::tasks
