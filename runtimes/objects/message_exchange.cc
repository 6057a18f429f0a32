// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/message_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "poise/base/check.h"

namespace poise::objects {

namespace {

void deliver(std::span<const std::byte> messages, LocalObjects& objects) {
  while (!messages.empty()) {
    const PackedMessage message = take_message(messages);
    for (const ObjectId to : message.to)
      // find() returns null if the message was passed on to another rank.
      if (LocalObject* const object = objects.find(to))
        object->inbox.emplace_back(message.from, message.payload);
  }
}

void sort_by_sender(std::vector<Mail>& inbox) {
  const auto by_sender = [](const Mail& a, const Mail& b) { return a.from() < b.from(); };
  if (!std::is_sorted(inbox.begin(), inbox.end(), by_sender))
    std::stable_sort(inbox.begin(), inbox.end(), by_sender);
}

/// Tells where an object is. The object's home, the rank that always knows where the object is,
/// sends this answer to each rank from which it got a message for the object.
struct Answer {
  ObjectId id;
  std::uint32_t position;
};

}  // namespace

/// Moves the messages for this rank into kept_ and returns those for other ranks, by rank. Returns
/// the buffers of the previous step to the workers and the messenger for reuse.
std::vector<MessageBuffer> MessageExchange::collect(
    std::span<const std::unique_ptr<Worker>> workers, const JobLayout& layout) {
  std::vector<MessageBuffer> outgoing(layout.num_ranks);
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
  previous.erase(previous.begin(), previous.begin() + workers.size());
  for (MessageBuffer& buffer : previous) buffer.clear();
  messenger_.reuse(std::move(previous));
  return outgoing;
}

void MessageExchange::exchange_with_ranks(std::span<const std::unique_ptr<Worker>> workers,
                                          LocalObjects& objects, ObjectDirectory& directory,
                                          std::vector<MessageBuffer>& outgoing) {
  std::vector<ObjectId> sent_to_homes;
  for (const auto& worker : workers) {
    sent_to_homes.insert(sent_to_homes.end(), worker->sent_to_homes.begin(),
                         worker->sent_to_homes.end());
    worker->sent_to_homes.clear();
  }
  GhostDirectory* const ghosts = directory.ghosts();
  bool any = !sent_to_homes.empty();
  std::vector<Messenger::Received> received =
      messenger_.sparse_all_to_all(outgoing, ghosts != nullptr ? &any : nullptr);
  if (ghosts != nullptr && any) {
    pass_on(received, objects, directory);
    // A home (the rank that always knows where an object is) sends no answer about an object that
    // is on the home itself. So an object that is still unknown after the answers is on its home.
    for (const ObjectId id : sent_to_homes)
      if (const auto [home, is_known] = ghosts->find(id); !is_known) ghosts->learn(id, home);
  }
  for (auto& [from, buffer] : received) keep(std::move(buffer));
}

/// Passes on the messages that this rank got because it is the home of their receivers. Tells the
/// ranks of the senders where the receivers are.
void MessageExchange::pass_on(const std::vector<Messenger::Received>& received,
                              LocalObjects& objects, ObjectDirectory& directory) {
  const std::size_t num_ranks = directory.layout().num_ranks;
  std::vector<MessageBuffer> forwarded(num_ranks), answers(num_ranks);
  for (const auto& [from, buffer] : received)
    for (auto bytes = buffer.content(); !bytes.empty();) {
      const PackedMessage message = take_message(bytes);
      for (const ObjectId to : message.to) {
        if (objects.find(to) != nullptr) continue;
        const auto [position, is_known] = directory.ghosts()->find(to);
        POISE_CHECK(is_known);
        append_message(forwarded[directory.layout().rank_at(position)].open(),
                       {message.from, {&to, 1}, message.payload});
        const Answer answer{to, position};
        answers[from].open().append(&answer, sizeof answer);
      }
    }
  for (auto& [from, buffer] : messenger_.sparse_all_to_all(forwarded)) keep(std::move(buffer));
  for (const auto& [from, buffer] : messenger_.sparse_all_to_all(answers))
    for (auto bytes = buffer.content(); !bytes.empty(); bytes = bytes.subspan(sizeof(Answer))) {
      Answer answer{};
      std::memcpy(&answer, bytes.data(), sizeof answer);
      directory.ghosts()->learn(answer.id, answer.position);
    }
}

MessageExchange::Times MessageExchange::exchange(std::span<const std::unique_ptr<Worker>> workers,
                                                 LocalObjects& objects,
                                                 ObjectDirectory& directory) {
  const JobLayout& layout = directory.layout();
  Times times;
  std::vector<MessageBuffer> outgoing = collect(workers, layout);
  const double start_s = wall_now_s();
  if (layout.num_ranks > 1) exchange_with_ranks(workers, objects, directory, outgoing);
  times.wait_s = wall_now_s() - start_s;
  const double cpu_s = thread_cpu_now_s();
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    if (static_cast<int>(rank) == layout.rank) continue;
    outgoing[rank].clear();
    workers[0]->outgoing()[rank] = std::move(outgoing[rank]);
  }
  for (LocalObject& object : objects) object.inbox.clear();
  for (const MessageBuffer& buffer : kept_) deliver(buffer.content(), objects);
  for (LocalObject& object : objects) sort_by_sender(object.inbox);
  times.deliver_s = thread_cpu_now_s() - cpu_s;
  return times;
}

}  // namespace poise::objects
