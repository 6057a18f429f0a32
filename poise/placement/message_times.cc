// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/message_times.h"

#include <algorithm>

namespace poise {

namespace {

/// Adds up what the messages of one pair of tasks cost the places and resources that they use.
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

  /// To be called when all messages are added: both places of a pair wait for the slowest of the
  /// resources that their messages cross.
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

double latency_s(const Machine& machine, const CostModel& costs, PlaceId from, PlaceId to) {
  const bool is_inside = machine.node_of_place(from) == machine.node_of_place(to);
  return (is_inside ? costs.inside : costs.network).latency_s * machine.message_factor(from, to);
}

MessageTimes message_times(const Machine& machine, const Workload& workload, const CostModel& costs,
                           const Placement& placement) {
  Tally tally(machine, costs);
  std::vector<double> latency(machine.num_places(), 0);
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    if (from == to) continue;
    const auto count = static_cast<double>(message.count),
               bytes = static_cast<double>(message.bytes);
    tally.add(from, to, count, bytes,
              end_times(machine, costs, workload.loads_include, count, bytes, from, to));
    latency[to] = std::max(latency[to], latency_s(machine, costs, from, to));
  }
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    if (from != to) tally.wait(from, to);
  }
  MessageTimes times = std::move(tally.times());
  for (PlaceId p = 0; p < machine.num_places(); ++p) times.exposed_s[p] += latency[p];
  return times;
}

double physical_message_s(const Machine& machine, const CostModel& costs, const Message& message,
                          PlaceId from, PlaceId to) {
  if (from == to) return 0;
  const auto count = static_cast<double>(message.count), bytes = static_cast<double>(message.bytes);
  const EndTimes ends = end_times(machine, costs, LoadsInclude::none, count, bytes, from, to);
  const double slowest_s =
      ResourceRates(machine, costs)
          .slowest_s(machine.domain_of(from), machine.domain_of(to), count, bytes);
  return ends.sender_s + ends.receiver_s + slowest_s + latency_s(machine, costs, from, to);
}

double busy_s(double work_s, double overhead_s, double exposed_s, double overlap) {
  return std::max(work_s + overhead_s + (1 - overlap) * exposed_s, exposed_s);
}

double physical_migration_s(const Machine& machine, const Workload& workload,
                            const CostModel& costs, const Placement& before,
                            const Placement& after) {
  const std::vector<Migration> moves = migrations(before, after);
  Tally tally(machine, costs);
  for (const Migration& move : moves) {
    const auto bytes = static_cast<double>(workload.tasks[move.task].bytes);
    const double pack_s = costs.seconds_per_migrated_task + bytes * costs.seconds_per_migrated_byte;
    tally.add(move.from, move.to, 1, bytes, {pack_s, pack_s});
  }
  for (const Migration& move : moves) tally.wait(move.from, move.to);
  const MessageTimes& times = tally.times();
  double longest_s = 0;
  for (const Migration& move : moves)
    for (const PlaceId p : {move.from, move.to})
      longest_s = std::max(longest_s, times.overhead_s[p] + times.exposed_s[p]);
  return longest_s;
}

}  // namespace poise
