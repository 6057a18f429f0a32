#include "runtimes/tasks/offload/engine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtimes/tasks/transport/clock.h"

#include "poise/base/check.h"

namespace poise::tasks {

namespace {

constexpr std::size_t kNews = 3;  // loads of others in each head
constexpr double kGossipEvery_s = 200e-6;

struct Head {
  std::uint32_t tag = 0;  // the post's
  std::uint8_t kind = 0;
  std::uint8_t num_news = 0;
  std::uint64_t borrowed = 0;  // tasks that have arrived from the receiver since the start
  double asked_at_s = 0;       // of a request; echoed by its answer
  Load load;                   // of the sender
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

std::vector<double> distances_to(const Neighbours& neighbours) {
  std::vector<double> distances;
  for (const Neighbour& neighbour : neighbours.of_rank) distances.push_back(neighbour.distance);
  return distances;
}

}  // namespace

Exchange::Exchange(MPI_Comm communicator, const Neighbours& neighbours, const Knobs& settings,
                   Policy policy, Workplace& workplace)
    : settings_(settings),
      workplace_(workplace),
      post_(communicator, static_cast<std::size_t>(settings["chunk_bytes"]),
            settings["delay_us"] * 1e-6),
      arena_(communicator, neighbours.nodes, static_cast<std::size_t>(settings["shared_bytes"])),
      bells_(communicator, arena_),
      board_(communicator, arena_),
      rank_(static_cast<std::uint32_t>(rank_in(communicator))),
      num_ranks_(static_cast<std::uint32_t>(size_of(communicator))),
      wave_(rank_, num_ranks_),
      loads_(rank_, distances_to(neighbours)),
      random_(rank_ + 1),
      peers_(num_ranks_),
      tokens_(arena_),
      pull_(settings["pull"] > 0 && settings.choice("policy") != "none"),
      push_(settings["push"] > 0 && settings.choice("policy") != "none"),
      policy_(static_cast<std::size_t>(settings["policy"])),
      program_(std::move(policy)),
      min_gain_(settings["min_gain"]),
      batch_bytes_(settings["batch_bytes"]),
      large_bytes_(static_cast<std::size_t>(settings["large_bytes"])),
      thresholds_{settings["min_local"], settings["min_absolute"], settings["min_relative"],
                  settings["share"], settings["max_tasks"]} {
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
    peers_[rank].at = neighbours.of_rank[rank];
    if (rank == rank_) continue;
    nearest_first_.push_back(rank);
    if (!board_.is_seen_by(rank)) unseen_by_.push_back(rank);
  }
  std::stable_sort(nearest_first_.begin(), nearest_first_.end(),
                   [this](std::uint32_t a, std::uint32_t b) {
                     return peers_[a].at.distance < peers_[b].at.distance;
                   });
}

void Exchange::step(double now_s, std::uint64_t wait, bool all_inside, unsigned threads) {
  now_s_ = now_s;
  threads_ = threads;
  if (wait > wave_.wait()) {
    in_wait_ = true;
    wait_since_s_ = now_s;
    unanswered_.clear();
    ask_pause_s_ = next_ask_s_ = 0;
    std::vector<WaveMessage> out;
    wave_.enter(out);
    send_waves(out);
  }
  const bool left = post_.poll([this](const Post::Arrival& arrival) { handle(arrival); });
  const Workplace::State state = workplace_.state();
  send_results(state);
  tell_node(state);
  if (num_ranks_ > 1 && in_wait_) {
    want_replicas(state);
    send_replicas();
    use_replicas(state);
    lend_if_it_pays(state);
    call_if_unanswered();
    ask_if_hungry(state);
    gossip(state);
  }
  if (!wave_.done() && all_inside && results_.empty() && finished_.empty() &&
      !post_.larges_under_way()) {
    const Workplace::State now = workplace_.state();
    std::vector<WaveMessage> out;
    if (now.idle()) wave_.idle(now.created, now.finished, out);
    send_waves(out);
  }
  under_way_.store(left || post_.under_way(), std::memory_order_relaxed);
  const bool has_lent = free_slots_.size() < slots_.size();
  hears_all_.store(bells_.ring_for_all() && !post_.sends_under_way() && !has_lent,
                   std::memory_order_relaxed);
  if (!wave_.done()) return;
  in_wait_ = false;
  drop_replicas();
  kept_results_.clear();
  kept_bytes_ = 0;
}

void Exchange::drain() {
  post_.drain([this](const Post::Arrival& arrival) { handle(arrival); });
  POISE_ASSERT(!bells_.rings());  // all that was announced has come
  drop_replicas();
}

Load Exchange::own_load(const Workplace::State& state) const {
  const double running_s = state.lendable > 0 && state.queued_s > 0
                               ? 0.5 * static_cast<double>(state.running) * state.queued_s /
                                     static_cast<double>(state.lendable)
                               : 0;
  Load load{.rank = rank_, .version = version_};
  load.wait = in_wait_ ? wave_.wait() : 0;
  load.said_s = clock_s();
  load.busy_s = (state.queued_s + running_s) / threads_;
  load.task_s = state.lendable > 0 && state.all_times_known
                    ? static_cast<float>(state.queued_s / static_cast<double>(state.lendable))
                    : 0;
  load.queued = static_cast<float>(state.lendable);
  load.threads = static_cast<float>(threads_);
  load.stated = program_.load ? static_cast<float>(stated_load_) : load.queued;
  return load;
}

Writer Exchange::begin(Kind kind, std::uint32_t to, double asked_at_s) {
  ++version_;
  const std::vector<Load> news = loads_.news(to, kNews);
  Head head{.kind = static_cast<std::uint8_t>(kind),
            .num_news = static_cast<std::uint8_t>(news.size()),
            .borrowed = peers_[to].borrowed,
            .asked_at_s = asked_at_s,
            .load = own_load(workplace_.state())};
  Writer writer;
  writer.put(head);
  for (const Load& load : news) writer.put(load);
  return writer;
}

void Exchange::send(std::uint32_t to, Writer&& head, std::vector<Large> larges,
                    std::shared_ptr<const void> keep) {
  post(to, std::move(head), std::move(larges), std::move(keep));
  bells_.ring(to);
}

void Exchange::post(std::uint32_t to, Writer&& head, std::vector<Large> larges,
                    std::shared_ptr<const void> keep) {
  ++counters_.messages;
  post_.send(static_cast<int>(to), head.take(), std::move(larges), std::move(keep));
}

// Ranks of a node have one clock; what others say is as old as it is known here.
void Exchange::hear(Load load, std::uint32_t from) {
  if (std::isinf(peers_[from].at.distance)) load.said_s = now_s_;
  loads_.hear(load);
}

void Exchange::handle(const Post::Arrival& arrival) {
  Reader reader({arrival.head.get(), arrival.bytes});
  const auto head = reader.get<Head>();
  const auto from = static_cast<std::uint32_t>(arrival.from);
  if (static_cast<Kind>(head.kind) != Kind::load) bells_.answer(from);
  hear(head.load, from);
  for (int i = 0; i < head.num_news; ++i) hear(reader.get<Load>(), from);
  Peer& peer = peers_[from];
  for (; peer.arrived < head.borrowed; ++peer.arrived) {
    peer.all_on_the_way_s -= peer.on_the_way_s.front();
    peer.on_the_way_s.pop_front();
  }
  if (peer.on_the_way_s.empty()) peer.all_on_the_way_s = 0;  // no rounding errors remain
  switch (static_cast<Kind>(head.kind)) {
    case Kind::tasks:
      answered(from, head.asked_at_s, true);
      handle_tasks(arrival, reader, from);
      break;
    case Kind::results: handle_results(arrival, reader, from); break;
    case Kind::request:
      if (head.load.wait <= done_wait()) break;  // it asks anew in the next
      peer.asks = asked_now_ = true;
      peer.asked_at_s = head.asked_at_s;
      break;
    case Kind::decline: answered(from, head.asked_at_s, false); break;
    case Kind::load: break;
    case Kind::replica: handle_replica(arrival, reader, from); break;
    case Kind::claim: handle_claim(reader, from); break;
    case Kind::grant: claimed(reader, from, true); break;
    case Kind::refuse: claimed(reader, from, false); break;
    case Kind::wave: {
      waves_.fetch_add(1, std::memory_order_relaxed);
      std::vector<WaveMessage> out;
      wave_.handle(from, reader.get<WaveMessage>(), out);
      send_waves(out);
      break;
    }
  }
}

void Exchange::send_waves(const std::vector<WaveMessage>& messages) {
  for (const WaveMessage& message : messages) {
    Writer writer = begin(Kind::wave, message.to);
    writer.put(message);
    send(message.to, std::move(writer));
  }
}

// Who has nothing to lend, and had nothing, has said so.
void Exchange::tell_node(const Workplace::State& state) {
  if (unseen_by_.size() + 1 == num_ranks_) return;
  Load load = own_load(state);
  if (load.queued == 0 && told_node_.queued == 0 && load.wait == told_node_.wait) return;
  load.version = ++version_;
  board_.say(load);
  told_node_ = load;
}

// Before something is made of it.
void Exchange::hear_node() {
  if (unseen_by_.size() + 1 == num_ranks_) return;
  for (const std::uint32_t rank : nearest_first_)
    if (const auto load = board_.said_by(rank)) loads_.hear(*load);
}

// Tells one rank after the other, while there is something to tell. Nobody is disturbed by it.
void Exchange::gossip(const Workplace::State& state) {
  if (!push_ && !pull_) return;    // nobody acts on it
  if (unseen_by_.empty()) return;  // all know
  if (state.lendable <= threads_ || now_s_ < next_gossip_s_) return;
  next_gossip_s_ = now_s_ + kGossipEvery_s;
  const std::uint32_t to = loads_.next_listener();
  post(to, begin(Kind::load, to));
}

}  // namespace poise::tasks
