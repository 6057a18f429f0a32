// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/message_exchange.h"

#include <algorithm>
#include <utility>

namespace poise::objects {

namespace {

void deliver(std::span<const std::byte> messages, LocalObjects& objects) {
  while (!messages.empty()) {
    const PackedMessage message = take_message(messages);
    for (const ObjectId to : message.to)
      objects.by_id(to).inbox.emplace_back(message.from, message.payload);
  }
}

void sort_by_sender(std::vector<Mail>& inbox) {
  const auto by_sender = [](const Mail& a, const Mail& b) { return a.from() < b.from(); };
  if (!std::is_sorted(inbox.begin(), inbox.end(), by_sender))
    std::stable_sort(inbox.begin(), inbox.end(), by_sender);
}

}  // namespace

/// Moves the messages for this rank into kept_ and returns those for other ranks, by rank. Returns
/// the buffers of the previous step to the workers and the messenger for reuse.
std::vector<MessageBuffer> MessageExchange::collect(
    std::span<const std::unique_ptr<Worker>> workers, const JobLayout& layout) {
  std::vector<MessageBuffer> outgoing(static_cast<std::size_t>(layout.num_ranks));
  std::vector<MessageBuffer> previous = std::exchange(kept_, {});
  previous.resize(std::max(previous.size(), workers.size()));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    std::vector<MessageBuffer>& sent = workers[w]->outgoing();
    for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
      if (static_cast<int>(rank) == layout.rank) {
        kept_.push_back(std::exchange(sent[rank], std::move(previous[w])));
      } else if (outgoing[rank].empty()) {
        std::swap(outgoing[rank], sent[rank]);
      } else {
        const auto messages = sent[rank].content();
        outgoing[rank].open().append(messages.data(), messages.size());
      }
      sent[rank].clear();
    }
  }
  previous.erase(previous.begin(), previous.begin() + static_cast<std::ptrdiff_t>(workers.size()));
  for (MessageBuffer& buffer : previous) buffer.clear();
  messenger_.reuse(std::move(previous));
  return outgoing;
}

MessageExchange::Times MessageExchange::exchange(std::span<const std::unique_ptr<Worker>> workers,
                                                 LocalObjects& objects, const JobLayout& layout) {
  Times times;
  std::vector<MessageBuffer> outgoing = collect(workers, layout);
  const double start_s = wall_now_s();
  if (layout.num_ranks > 1)
    for (auto& [from, buffer] : messenger_.sparse_all_to_all(outgoing)) keep(std::move(buffer));
  times.wait_s = wall_now_s() - start_s;
  const double cpu_s = cpu_now_s();
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    if (static_cast<int>(rank) == layout.rank) continue;
    outgoing[rank].clear();
    workers[0]->outgoing()[rank] = std::move(outgoing[rank]);
  }
  for (LocalObject& object : objects) object.inbox.clear();
  for (const MessageBuffer& buffer : kept_) deliver(buffer.content(), objects);
  for (LocalObject& object : objects) sort_by_sender(object.inbox);
  times.deliver_s = cpu_now_s() - cpu_s;
  return times;
}

}  // namespace poise::objects
