// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/message_ends.h"

#include <algorithm>

#include "runtimes/profile/tuning.h"

namespace poise::profile {

namespace {

std::uint64_t stream_of(const Envelope& envelope, std::int32_t source, std::int32_t to) {
  const auto ranks =
      std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | static_cast<std::uint32_t>(to);
  const std::uint64_t tag = static_cast<std::uint32_t>(envelope.tag);
  // Each field is multiplied by a different odd constant, and the products are added. Envelopes
  // that differ in any field therefore have different sums, except by coincidence.
  const std::uint64_t stream = mixed(envelope.communicator * 0x9e3779b97f4a7c15u +
                                     ranks * 0xc2b2ae3d27d4eb4fu + tag * 0x165667b19e3779f9u);
  return stream < 2 ? 2 : stream;
}

bool may_match_the_same(const Envelope& a, const Envelope& b) {
  constexpr auto either = [](std::int32_t x, std::int32_t y) {
    return x == y || x == Envelope::kAny || y == Envelope::kAny;
  };
  return a.communicator == b.communicator && either(a.partner, b.partner) && either(a.tag, b.tag);
}

}  // namespace

MessageEnds::Id MessageEnds::begin(Side& side, bool is_send, const Envelope& envelope,
                                   std::int64_t begun_ns) {
  if (has_given_up_ || side.counts.size() >= tuning::kMaxStreams) return kNone;
  Id id;
  if (free_.empty()) {
    id = operations_.size();
    operations_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Operation& operation = operations_[id];
  operation.envelope = envelope;
  operation.end.begun_ns = begun_ns;
  operation.is_send = is_send;
  operation.is_numbered = operation.is_complete = operation.is_queued = false;
  return id;
}

MessageEnds::Id MessageEnds::begin_send(const Envelope& envelope, std::int64_t begun_ns) {
  const Id id = begin(sends_, true, envelope, begun_ns);
  if (id != kNone) number(operations_[id]);
  return id;
}

MessageEnds::Id MessageEnds::begin_receive(const Envelope& envelope, std::int64_t begun_ns) {
  const Id id = begin(receives_, false, envelope, begun_ns);
  if (id == kNone) return id;
  if (envelope.is_exact() && (queue_.empty() || !must_queue(envelope))) {
    number(operations_[id]);
    return id;
  }
  operations_[id].is_queued = true;
  queue_.push_back(id);
  if (queue_.size() > tuning::kMaxQueuedReceives) give_up();
  return id;
}

bool MessageEnds::must_queue(const Envelope& envelope) const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](Id id) { return may_match_the_same(operations_[id].envelope, envelope); });
}

void MessageEnds::number(Operation& operation) {
  number(operation.is_send, operation.envelope, operation.end);
  operation.is_numbered = true;
}

void MessageEnds::number(bool is_send, const Envelope& envelope, MessageEnd& end) {
  Side& side = is_send ? sends_ : receives_;
  const std::uint32_t slot = envelope.partner + 5 * static_cast<std::uint32_t>(envelope.tag);
  Recent& recent = side.recent[slot % side.recent.size()];
  if (recent.count == nullptr || recent.envelope != envelope) {
    const std::uint64_t stream = is_send ? stream_of(envelope, rank_, envelope.partner)
                                         : stream_of(envelope, envelope.partner, rank_);
    const std::size_t before = side.counts.size();
    std::uint32_t* const count = &side.counts[stream];
    // If the insertion has moved the table's values, the cached pointers to them are invalid.
    if (side.counts.size() != before) side.recent = {};
    recent = {envelope, stream, count};
  }
  end.partner = envelope.partner;
  end.tag = envelope.tag;
  end.stream = recent.stream;
  end.number = (*recent.count)++;
}

bool MessageEnds::sent(const Envelope& envelope, std::int64_t entered_ns, std::int64_t took_ns) {
  if (has_given_up_ || sends_.counts.size() >= tuning::kMaxStreams) return false;
  MessageEnd end{.begun_ns = entered_ns, .wait_begun_ns = entered_ns, .took_ns = took_ns};
  number(true, envelope, end);
  keep(true, end);
  return true;
}

bool MessageEnds::received(const Envelope& envelope, std::int64_t posted_ns,
                           std::int64_t wait_begun_ns, std::int64_t took_ns) {
  if (queue_.empty()) {
    if (has_given_up_ || receives_.counts.size() >= tuning::kMaxStreams) return false;
    MessageEnd end{.begun_ns = posted_ns, .wait_begun_ns = wait_begun_ns, .took_ns = took_ns};
    number(false, envelope, end);
    keep(false, end);
    return true;
  }
  const Id id = begin_receive(envelope, posted_ns);
  if (id == kNone) return false;
  complete(id, wait_begun_ns, took_ns);
  return true;
}

void MessageEnds::resolve() {
  // A receive gets its number as soon as its source and tag are known and no earlier receive in the
  // queue can match the same messages.
  std::vector<Id> left;
  std::vector<Id> numbered;
  for (const Id id : queue_) {
    Operation& operation = operations_[id];
    const bool is_free =
        operation.envelope.is_exact() && std::none_of(left.begin(), left.end(), [&](Id before) {
          return may_match_the_same(operations_[before].envelope, operation.envelope);
        });
    if (!is_free) {
      left.push_back(id);
      continue;
    }
    number(operation);
    operation.is_queued = false;
    if (operation.is_complete) numbered.push_back(id);
  }
  queue_.swap(left);
  for (const Id id : numbered) finish(id);
}

void MessageEnds::complete(Id id, std::int64_t wait_begun_ns, std::int64_t took_ns) {
  Operation& operation = operations_[id];
  operation.end.wait_begun_ns = wait_begun_ns;
  operation.end.took_ns = took_ns;
  operation.is_complete = true;
  if (operation.is_numbered) return finish(id);
  resolve();
}

void MessageEnds::finish(Id id) {
  const Operation& operation = operations_[id];
  free_.push_back(id);
  keep(operation.is_send, operation.end);
}

void MessageEnds::keep(bool is_send, const MessageEnd& end) {
  if (has_given_up_ || (stride_ > 1 && !is_kept(end))) return;
  Side& side = is_send ? sends_ : receives_;
  side.kept.push_back(end);
  if (side.kept.size() < tuning::kMaxEnds) return;
  // The stride is a power of two, so all sends and receives that is_kept() keeps with the doubled
  // stride were also kept with the old stride.
  stride_ *= 2;
  halve(sends_);
  halve(receives_);
}

bool MessageEnds::is_kept(const MessageEnd& end) const {
  // A stream is all messages from one rank to another with the same communicator and tag. Sixteen
  // successive messages of a stream are kept or dropped together, depending on a hash of their
  // index / 16. For the first sixteen messages of every stream, index / 16 is 0, so a hash of the
  // tag is used instead. Otherwise a program with many short streams (for example, a program whose
  // tags are loop indices) would keep either all of its messages or none.
  const std::uint64_t sixteen = end.number / 16;
  const std::uint64_t key =
      sixteen == 0 ? static_cast<std::uint64_t>(std::uint32_t(end.tag)) << 32 : sixteen;
  return (mixed(key) & (stride_ - 1)) == 0;
}

void MessageEnds::halve(Side& side) {
  std::erase_if(side.kept, [&](const MessageEnd& end) { return !is_kept(end); });
}

}  // namespace poise::profile
