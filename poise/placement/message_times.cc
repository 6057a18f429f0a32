// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/message_times.h"

#include <algorithm>
#include <utility>

#include "poise/placement/domain_pairs.h"
#include "poise/placement/latencies.h"

namespace poise {

namespace {

/// True if the entry stands for 0 messages with 0 bytes. It is ignored, because nothing is sent.
bool is_empty(const Message& message) { return message.count == 0 && message.bytes == 0; }

/// Adds up the times that messages or migrations take at places and on resources.
class Tally {
 public:
  Tally(const Machine& machine, const CostModel& costs)
      : machine_(machine), resources_(machine, costs) {
    times_.overhead_s.resize(machine.num_places());
    times_.exposed_s.resize(machine.num_places());
    times_.resource_s.resize(resources_.count());
  }

  void add(PlaceId from, PlaceId to, double count, double bytes, EndTimes ends) {
    times_.overhead_s[from] += ends.sender_s;
    times_.overhead_s[to] += ends.receiver_s;
    resources_.for_each_crossed(machine_.domain_of(from), machine_.domain_of(to),
                                [&](ResourceId r, double s_per_message, double s_per_byte) {
                                  times_.resource_s[r] +=
                                      count * s_per_message + bytes * s_per_byte;
                                });
  }

  /// Makes both places of a pair wait for the slowest of the resources that their messages cross.
  /// Must be called after all messages have been added.
  void wait(PlaceId from, PlaceId to) {
    double slowest_s = 0;
    resources_.for_each_crossed(machine_.domain_of(from), machine_.domain_of(to),
                                [&](ResourceId r, double, double) {
                                  slowest_s = std::max(slowest_s, times_.resource_s[r]);
                                });
    for (const PlaceId p : {from, to})
      times_.exposed_s[p] = std::max(times_.exposed_s[p], slowest_s);
  }

  MessageTimes& times() { return times_; }

 private:
  const Machine& machine_;
  const Resources resources_;
  MessageTimes times_;
};

/// Adds up the times of a phase's messages. All messages between two different domains use the same
/// resources and have the same factors.
class MessageTally {
 public:
  MessageTally(const Machine& machine, const Workload& workload, const CostModel& costs,
               const Placement& placement)
      : machine_(machine),
        workload_(workload),
        costs_(costs),
        placement_(placement),
        is_flat_inside_(machine.has_equal_messages_inside() && machine.has_equal_bytes_inside()),
        resources_(machine, costs),
        latencies_(machine, costs,
                   workload.messages.size() + workload.tasks.size() + machine.num_places()) {
    times_.overhead_s.resize(machine.num_places());
    times_.exposed_s.resize(machine.num_places());
    times_.latency_s.resize(machine.num_places());
    times_.resource_s.resize(resources_.count());
  }

  MessageTimes times_without_waiting() && {
    add_messages();
    return std::move(times_);
  }

  MessageTimes times() && {
    add_messages();
    add_waiting();
    for (PlaceId p = 0; p < machine_.num_places(); ++p) times_.exposed_s[p] += times_.latency_s[p];
    return std::move(times_);
  }

 private:
  struct Sum {
    double count = 0, bytes = 0;
    EndTimes of_message, of_byte;
    double latency_s = 0;
  };
  using Sums = DomainPairs<Sum>;
  using Slowest = DomainPairs<double>;

  template <typename Visit>
  void for_each_message(const Visit& visit) const {
    for (const Message& message : workload_.messages) {
      const PlaceId from = placement_.of(message.from), to = placement_.of(message.to);
      if (from != to && !is_empty(message)) visit(message, from, to);
    }
  }

  void add_messages() {
    Sums sums;
    const auto flush = [&](const Sums::Entry& entry) {
      const Sum& sum = entry.value;
      resources_.for_each_crossed(
          entry.from, entry.to, [&](ResourceId r, double s_per_message, double s_per_byte) {
            times_.resource_s[r] += sum.count * s_per_message + sum.bytes * s_per_byte;
          });
    };
    for_each_message([&](const Message& message, PlaceId from, PlaceId to) {
      const double count = message.count, bytes = message.bytes;
      const auto facts = [&](DomainId, DomainId) {
        return Sum{0, 0, ends(1, 0, from, to), ends(0, 1, from, to), latencies_.of(from, to)};
      };
      Sum& sum = sums.of(machine_.domain_of(from), machine_.domain_of(to), facts, flush);
      sum.count += count;
      sum.bytes += bytes;
      const bool shares_factors =
          is_flat_inside_ || machine_.domain_of(from) != machine_.domain_of(to);
      const EndTimes here =
          shares_factors
              ? EndTimes{count * sum.of_message.sender_s + bytes * sum.of_byte.sender_s,
                         count * sum.of_message.receiver_s + bytes * sum.of_byte.receiver_s}
              : ends(count, bytes, from, to);
      times_.overhead_s[from] += here.sender_s;
      times_.overhead_s[to] += here.receiver_s;
      times_.latency_s[to] =
          std::max(times_.latency_s[to],
                   shares_factors ? sum.latency_s : poise::latency_s(machine_, costs_, from, to));
    });
    sums.clear(flush);
  }

  /// Makes both places of each pair wait for the slowest of the resources that their messages
  /// cross.
  void add_waiting() {
    Slowest slowest;
    const auto forget = [](const Slowest::Entry&) {};
    const auto slowest_of = [&](DomainId from, DomainId to) {
      double seconds = 0;
      resources_.for_each_crossed(from, to, [&](ResourceId r, double, double) {
        seconds = std::max(seconds, times_.resource_s[r]);
      });
      return seconds;
    };
    for_each_message([&](const Message&, PlaceId from, PlaceId to) {
      const double seconds =
          slowest.of(machine_.domain_of(from), machine_.domain_of(to), slowest_of, forget);
      for (const PlaceId p : {from, to})
        times_.exposed_s[p] = std::max(times_.exposed_s[p], seconds);
    });
  }

  EndTimes ends(double count, double bytes, PlaceId from, PlaceId to) const {
    return end_times(machine_, costs_, workload_.loads_include, count, bytes, from, to);
  }

  const Machine& machine_;
  const Workload& workload_;
  const CostModel& costs_;
  const Placement& placement_;
  const bool is_flat_inside_;  // inside a domain all factors are 1
  const Resources resources_;
  Latencies latencies_;
  MessageTimes times_;
};

}  // namespace

EndTimes end_times(const Machine& machine, const CostModel& costs, LoadsInclude loads_include,
                   double count, double bytes, PlaceId from, PlaceId to) {
  if (from == to || loads_include == LoadsInclude::send_and_receive) return {};
  const bool is_inside = machine.node_of_place(from) == machine.node_of_place(to);
  const TransportCosts& transport = is_inside ? costs.inside : costs.network;
  const double message_factor = is_inside ? machine.message_factor(from, to) : 1,
               byte_factor = is_inside ? machine.byte_factor(from, to) : 1;
  EndTimes ends{count * transport.send_s + bytes * transport.copy_s_per_byte,
                count * transport.receive_s * message_factor +
                    bytes * transport.copy_s_per_byte * byte_factor};
  if (loads_include == LoadsInclude::send) ends.sender_s = 0;
  return ends;
}

MessageTimes message_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                           const Placement& placement) {
  return MessageTally(machine, workload, costs, placement).times();
}

MessageTimes message_times_without_waiting(const Machine& machine, const Workload& workload,
                                           const CostModel& costs, const Placement& placement) {
  return MessageTally(machine, workload, costs, placement).times_without_waiting();
}

double physical_message_s(const Machine& machine, const CostModel& costs, const Message& message,
                          PlaceId from, PlaceId to) {
  if (from == to || is_empty(message)) return 0;
  const double count = message.count, bytes = message.bytes;
  const EndTimes ends = end_times(machine, costs, LoadsInclude::none, count, bytes, from, to);
  const double slowest_s =
      ResourceRates(machine, costs)
          .slowest_s(machine.domain_of(from), machine.domain_of(to), count, bytes);
  return ends.sender_s + ends.receiver_s + slowest_s + latency_s(machine, costs, from, to);
}

double busy_s(double work_s, double overhead_s, double exposed_s, double overlap) {
  return std::max(work_s + overhead_s + (1 - overlap) * exposed_s, exposed_s);
}

std::vector<double> physical_migration_s(const Machine& machine, const Workload& workload,
                                         const CostModel& costs, const Placement& before,
                                         const Placement& after) {
  const std::vector<Migration> moves = migrations(before, after);
  Tally tally(machine, costs);
  for (const Migration& move : moves) {
    const double parts = workload.tasks[move.task].parts, bytes = workload.tasks[move.task].bytes;
    const double pack_s =
        parts * costs.seconds_per_migrated_task + bytes * costs.seconds_per_migrated_byte;
    tally.add(move.from, move.to, parts, bytes, {pack_s, pack_s});
  }
  for (const Migration& move : moves) tally.wait(move.from, move.to);
  MessageTimes& times = tally.times();
  for (PlaceId p = 0; p < machine.num_places(); ++p) times.exposed_s[p] += times.overhead_s[p];
  return std::move(times.exposed_s);
}

}  // namespace poise
