// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtimes/tasks/transport/clock.h"
#include "runtimes/tasks/tuning.h"

#include "poise/base/check.h"

namespace poise::tasks {

namespace {

struct MessageHeader {
  std::uint32_t tag = 0;  // written by the transport
  std::uint8_t kind = 0;
  std::uint8_t num_loads = 0;
  std::uint64_t borrowed = 0;  // tasks received so far from the rank that this message goes to
  double requested_at_s = 0;   // time at which a steal request was sent; the answer echoes it
  Load load;                   // the sender's load
};

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  return size;
}

std::vector<double> distances_to(const Locality& locality) {
  std::vector<double> distances;
  for (const PeerLocality& peer : locality.of_rank) distances.push_back(peer.distance);
  return distances;
}

}  // namespace

OffloadEngine::OffloadEngine(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
                             Policy policy, TaskPool& pool)
    : settings_(settings),
      pool_(pool),
      transport_(communicator, static_cast<std::size_t>(settings["chunk_bytes"]),
                 settings["delay_us"] * 1e-6),
      arena_(communicator, locality.nodes, static_cast<std::size_t>(settings["shared_bytes"])),
      doorbells_(communicator, arena_),
      load_table_(communicator, arena_),
      rank_(static_cast<std::uint32_t>(rank_in(communicator))),
      num_ranks_(static_cast<std::uint32_t>(size_of(communicator))),
      termination_(rank_, num_ranks_),
      loads_(rank_, distances_to(locality)),
      random_(rank_ + 1),
      peers_(num_ranks_),
      tokens_(arena_),
      pull_(settings["pull"] > 0 && settings.choice("policy") != "none"),
      push_(settings["push"] > 0 && settings.choice("policy") != "none"),
      policy_(static_cast<std::size_t>(settings["policy"])),
      custom_policy_(std::move(policy)),
      min_gain_(settings["min_gain"]),
      batch_bytes_(settings["batch_bytes"]),
      large_bytes_(static_cast<std::size_t>(settings["large_bytes"])),
      thresholds_{settings["min_local"], settings["min_absolute"], settings["min_relative"],
                  settings["share"], settings["max_tasks"]} {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    peers_[rank].at = locality.of_rank[rank];
    if (rank == rank_) continue;
    nearest_first_.push_back(rank);
    if (!load_table_.is_visible_to(rank)) gossip_targets_.push_back(rank);
  }
  std::stable_sort(nearest_first_.begin(), nearest_first_.end(),
                   [this](std::uint32_t a, std::uint32_t b) {
                     return peers_[a].at.distance < peers_[b].at.distance;
                   });
}

void OffloadEngine::step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads) {
  now_s_ = now_s;
  threads_ = threads;
  if (wait > termination_.wait()) {
    in_wait_ = true;
    wait_since_s_ = now_s;
    unanswered_.clear();
    steal_pause_s_ = next_steal_s_ = 0;
    std::vector<TerminationMessage> out;
    termination_.enter(out);
    send_termination(out);
  }
  const bool has_more =
      transport_.poll([this](const Transport::Arrival& arrival) { handle(arrival); });
  const TaskPool::State state = pool_.state();
  send_results(state);
  publish_load(state);
  if (num_ranks_ > 1 && in_wait_) {
    want_replicas(state);
    send_replicas();
    use_replicas(state);
    lend_if_useful(state);
    wake_unresponsive_victims();
    steal_if_idle(state);
    gossip(state);
  }
  if (!termination_.done() && all_inside && results_.empty() && finished_.empty() &&
      !transport_.payloads_in_flight()) {
    const TaskPool::State now = pool_.state();
    std::vector<TerminationMessage> out;
    if (now.idle()) termination_.idle(now.created, now.finished, out);
    send_termination(out);
  }
  in_flight_.store(has_more || transport_.in_flight(), std::memory_order_relaxed);
  const bool has_lent = free_slots_.size() < slots_.size();
  all_messages_notify_.store(
      doorbells_.all_ranks_notify() && !transport_.sends_in_flight() && !has_lent,
      std::memory_order_relaxed);
  if (!termination_.done()) return;
  in_wait_ = false;
  drop_replicas();
  kept_results_.clear();
  kept_bytes_ = 0;
}

void OffloadEngine::drain() {
  transport_.drain([this](const Transport::Arrival& arrival) { handle(arrival); });
  POISE_ASSERT(!doorbells_.is_pending());  // every announced message has arrived
  drop_replicas();
}

Load OffloadEngine::own_load(const TaskPool::State& state) const {
  const double running_s = state.lendable > 0 && state.queued_s > 0
                               ? 0.5 * static_cast<double>(state.running) * state.queued_s /
                                     static_cast<double>(state.lendable)
                               : 0;
  Load load{.rank = rank_, .version = version_};
  load.wait = in_wait_ ? termination_.wait() : 0;
  load.stated_at_s = clock_s();
  load.busy_s = (state.queued_s + running_s) / threads_;
  load.task_s = state.lendable > 0 && state.all_times_known
                    ? static_cast<float>(state.queued_s / static_cast<double>(state.lendable))
                    : 0;
  load.queued = static_cast<float>(state.lendable);
  load.threads = static_cast<float>(threads_);
  load.stated = custom_policy_.load ? static_cast<float>(stated_load_) : load.queued;
  return load;
}

Writer OffloadEngine::begin(Kind kind, std::uint32_t to, double requested_at_s) {
  ++version_;
  const std::vector<Load> news = loads_.recent_for(to, tuning::kLoadsPerMessage);
  MessageHeader header{.kind = static_cast<std::uint8_t>(kind),
                       .num_loads = static_cast<std::uint8_t>(news.size()),
                       .borrowed = peers_[to].borrowed,
                       .requested_at_s = requested_at_s,
                       .load = own_load(pool_.state())};
  Writer writer;
  writer.put(header);
  for (const Load& load : news) writer.put(load);
  return writer;
}

void OffloadEngine::send(std::uint32_t to, Writer&& header, std::vector<Payload> payloads,
                         std::shared_ptr<const void> keep) {
  send_quietly(to, std::move(header), std::move(payloads), std::move(keep));
  doorbells_.notify(to);
}

void OffloadEngine::send_quietly(std::uint32_t to, Writer&& header, std::vector<Payload> payloads,
                                 std::shared_ptr<const void> keep) {
  ++counters_.messages;
  transport_.send(static_cast<int>(to), header.take(), std::move(payloads), std::move(keep));
}

// Ranks of one node share a clock. Loads stated by other nodes count as stated on arrival.
void OffloadEngine::update_load(Load load, std::uint32_t from) {
  if (std::isinf(peers_[from].at.distance)) load.stated_at_s = now_s_;
  loads_.update(load);
}

void OffloadEngine::handle(const Transport::Arrival& arrival) {
  Reader reader({arrival.header.get(), arrival.bytes});
  const auto header = reader.get<MessageHeader>();
  const auto from = static_cast<std::uint32_t>(arrival.from);
  if (static_cast<Kind>(header.kind) != Kind::load) doorbells_.received_from(from);
  update_load(header.load, from);
  for (int i = 0; i < header.num_loads; ++i) update_load(reader.get<Load>(), from);
  Peer& peer = peers_[from];
  for (; peer.arrived < header.borrowed; ++peer.arrived) {
    peer.sum_in_flight_s -= peer.in_flight_s.front();
    peer.in_flight_s.pop_front();
  }
  if (peer.in_flight_s.empty()) peer.sum_in_flight_s = 0;  // avoids accumulating rounding errors
  switch (static_cast<Kind>(header.kind)) {
    case Kind::tasks:
      handle_answer(from, header.requested_at_s, true);
      handle_tasks(arrival, reader, from);
      break;
    case Kind::results: handle_results(arrival, reader, from); break;
    case Kind::steal_request:
      if (header.load.wait <= done_wait())
        break;  // the request belongs to an earlier wait; the thief repeats it in the next one
      peer.steal_requested = has_steal_request_ = true;
      peer.requested_at_s = header.requested_at_s;
      break;
    case Kind::decline: handle_answer(from, header.requested_at_s, false); break;
    case Kind::load: break;
    case Kind::replica: handle_replica(arrival, reader, from); break;
    case Kind::claim: handle_claim(reader, from); break;
    case Kind::grant: claimed(reader, from, true); break;
    case Kind::refuse: claimed(reader, from, false); break;
    case Kind::termination: {
      termination_rounds_.fetch_add(1, std::memory_order_relaxed);
      std::vector<TerminationMessage> out;
      termination_.handle(from, reader.get<TerminationMessage>(), out);
      send_termination(out);
      break;
    }
  }
}

void OffloadEngine::send_termination(const std::vector<TerminationMessage>& messages) {
  for (const TerminationMessage& message : messages) {
    Writer writer = begin(Kind::termination, message.to);
    writer.put(message);
    send(message.to, std::move(writer));
  }
}

// Writes this rank's load into the table, unless it has had no tasks since it last did.
void OffloadEngine::publish_load(const TaskPool::State& state) {
  if (gossip_targets_.size() + 1 == num_ranks_) return;
  Load load = own_load(state);
  if (load.queued == 0 && published_load_.queued == 0 && load.wait == published_load_.wait) return;
  load.version = ++version_;
  load_table_.publish(load);
  published_load_ = load;
}

// Updates the known loads from the table; called before a decision that uses them.
void OffloadEngine::read_load_table() {
  if (gossip_targets_.size() + 1 == num_ranks_) return;
  for (const std::uint32_t rank : nearest_first_)
    if (const auto load = load_table_.load_of(rank)) loads_.update(*load);
}

// While this rank has tasks, sends its load to one rank after the other. These messages ring no
// doorbell.
void OffloadEngine::gossip(const TaskPool::State& state) {
  if (!push_ && !pull_) return;         // no rank uses the loads
  if (gossip_targets_.empty()) return;  // every rank reads the load table
  if (state.lendable <= threads_ || now_s_ < next_gossip_s_) return;
  next_gossip_s_ = now_s_ + tuning::kGossipInterval_s;
  const std::uint32_t to = loads_.next_gossip_target();
  send_quietly(to, begin(Kind::load, to));
}

}  // namespace poise::tasks
