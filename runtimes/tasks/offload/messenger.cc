// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/messenger.h"

#include <utility>

#include "runtimes/tasks/offload/task_format.h"

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

namespace {

struct MessageHeader {
  std::uint32_t tag = 0;  // written by the transport
  MessageKind kind = MessageKind::load;
  std::uint8_t num_loads = 0;
  bool confirms_results = false;  // News::confirms_results
  std::uint32_t received = 0;     // News::received
  double requested_at_s = 0;      // time at which a steal request was sent; the answer echoes it
  Load load;                      // the sender's load
};

std::uint32_t rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

std::uint32_t size_of(MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  return size;
}

LendingAgent::Settings agent_settings(const Knobs& settings, const Policy& policy) {
  const OffloadPolicy& chosen = offload_policy(settings.choice("policy"));
  const bool lends = chosen.sight != OffloadPolicy::Sight::nothing;
  return {.pull = settings["pull"] > 0 && lends,
          .loans = {
              .policy = &chosen,
              .push = settings["push"] > 0 && lends,
              .takes_all = static_cast<bool>(policy.decide),
              .min_gain = settings["min_gain"],
              .batch_bytes = settings["batch_bytes"],
              .thresholds = {settings["min_local"], settings["min_absolute"],
                             settings["min_relative"], settings["share"], settings["max_tasks"]}}};
}

// Returns the maximum number of ranks about which the lending agent stores data. It is at least the
// number of all ranks if the policy compares all ranks or chooses replicas.
std::size_t max_peers(const LoanSettings& loans, const Policy& policy, std::uint32_t num_ranks) {
  return loans.sees_all_ranks() || policy.replicate
             ? std::max<std::size_t>(num_ranks, lending_tuning::kMaxPeers)
             : lending_tuning::kMaxPeers;
}

}  // namespace

Messenger::Messenger(MPI_Comm communicator, const Locality& locality, const Knobs& settings,
                     const Policy& policy, TaskPool& the_pool)
    : pool(the_pool),
      transport(communicator, static_cast<std::size_t>(settings["chunk_bytes"]),
                settings["delay_us"] * 1e-6),
      arena(communicator, locality.nodes, static_cast<std::size_t>(settings["shared_bytes"])),
      doorbells(communicator, arena),
      agent(
          rank_in(communicator), size_of(communicator),
          [of_rank = locality.of_rank](std::uint32_t other) { return of_rank[other]; },
          agent_settings(settings, policy),
          max_peers(agent_settings(settings, policy).loans, policy, size_of(communicator)),
          locality.node_of(rank_in(communicator))),
      rank(rank_in(communicator)),
      num_ranks(size_of(communicator)),
      large_bytes(static_cast<std::size_t>(settings["large_bytes"])) {
  if (policy.load) agent.report_load(0);
}

Writer Messenger::begin(MessageKind kind, std::uint32_t to, double requested_at_s) {
  const News news = agent.news_for(to, pool.state(), wall_now_s());
  Writer writer;
  writer.put(MessageHeader{.kind = kind,
                           .num_loads = static_cast<std::uint8_t>(news.others.size()),
                           .confirms_results = news.confirms_results,
                           .received = news.received,
                           .requested_at_s = requested_at_s,
                           .load = news.own});
  for (const Load& load : news.others) writer.put(load);
  return writer;
}

void Messenger::send(std::uint32_t to, Writer&& header, std::vector<Payload> payloads,
                     std::shared_ptr<const void> keep) {
  send_quietly(to, std::move(header), std::move(payloads), std::move(keep));
  doorbells.notify(to);
}

void Messenger::send_quietly(std::uint32_t to, Writer&& header, std::vector<Payload> payloads,
                             std::shared_ptr<const void> keep) {
  ++counters.messages;
  transport.send(to, header.take(), std::move(payloads), std::move(keep));
}

Message Messenger::open(const Transport::Arrival& arrival) {
  Reader reader({arrival.header.get(), arrival.bytes});
  const auto header = reader.get<MessageHeader>();
  const std::uint32_t from = arrival.from;
  if (header.kind != MessageKind::load) doorbells.received_from(from);
  News news{header.load, {}, header.received, header.confirms_results};
  for (int i = 0; i < header.num_loads; ++i) news.others.push_back(reader.get<Load>());
  agent.hear(from, news, now_s);
  return {arrival, reader, from, header.kind, header.requested_at_s, header.load.wait};
}

bool Messenger::is_sent_as_payload(std::size_t bytes, const Writer& header) const {
  return travels_as_payload(bytes, header.size(), large_bytes);
}

}  // namespace poise::tasks
