// SPDX-License-Identifier: BSD-3-Clause
// The CPU seconds that messages between two places cost the sender and the receiver. They are
// looked up in a table, for searches that need them millions of times.
#pragma once

#include <vector>

#include "poise/machine/factor_table.h"
#include "poise/machine/machine.h"
#include "poise/workload/workload.h"

namespace poise {

/// Gives the same results as message_s() (formula `nuco`: the receiver bears the whole cost) and
/// end_times() (formula `physical`). Keeps a reference to the machine.
class PairCosts {
 public:
  PairCosts(const Machine& machine, const CostModel& costs, LoadsInclude loads_include);

  /// True if sending a message costs its sender CPU time.
  bool senders_pay() const { return senders_pay_; }
  /// True if all messages inside a domain cost the same, independent of the two places.
  bool is_flat_inside() const { return factors_.is_flat_inside(); }

  /// Seconds that place `to` spends on receiving; 0 if `from` is the same place.
  double receive_s(double count, double bytes, PlaceId from, PlaceId to) const {
    const Receiving& costs = receiving(from, to);
    double seconds = 0;
    if (count != 0)
      seconds = count * (costs.has_factors ? costs.message_s * factors_.message(from, to)
                                           : costs.message_s);
    if (costs.byte_s != 0 && bytes != 0)
      seconds +=
          bytes * (costs.has_factors ? costs.byte_s * factors_.byte(from, to) : costs.byte_s);
    return seconds;
  }
  /// Seconds that place `from` spends on sending; 0 if `to` is the same place.
  double send_s(double count, double bytes, PlaceId from, PlaceId to) const {
    if (!senders_pay_ || from == to) return 0;
    return (node_of_[from] == node_of_[to] ? send_inside_ : send_network_).seconds(count, bytes);
  }

  /// The seconds per message and per byte at one end of the messages.
  struct Rates {
    double message_s = 0, byte_s = 0;
    double seconds(double count, double bytes) const { return count * message_s + bytes * byte_s; }
  };
  /// The rates of messages between place `own` and place `other`. The functions take an Arc of a
  /// task at `own`, or sums of arcs with the same members.
  struct BothWays {
    Rates receive;         // cost at `own` of receiving messages from `other`
    Rates others_receive;  // cost at `other` of receiving messages from `own`
    Rates send;            // cost at the sender, the same for both directions

    /// Seconds that the messages cost place `own`.
    template <typename Sums>
    double own_s(const Sums& sums) const {
      return receive.seconds(sums.in, sums.in_bytes) + send.seconds(sums.out, sums.out_bytes);
    }
    /// Seconds that the messages cost place `other`.
    template <typename Sums>
    double others_s(const Sums& sums) const {
      return others_receive.seconds(sums.out, sums.out_bytes) +
             send.seconds(sums.in, sums.in_bytes);
    }
  };
  /// Gives the same results as receive_s() and send_s(), for both directions at once: faster than
  /// four calls of these functions.
  BothWays both_ways(PlaceId own, PlaceId other) const {
    if (own == other) return {};
    const bool is_inside = node_of_[own] == node_of_[other];
    const Receiving& costs = is_same_everywhere_ || is_inside ? receive_inside_ : receive_network_;
    return {receive_rates(costs, other, own), receive_rates(costs, own, other),
            is_inside ? send_inside_ : send_network_};
  }

  /// The result of receive_s() for two different places of one domain. Valid only if
  /// is_flat_inside().
  double receive_inside_s(double count, double bytes) const {
    return count * receive_inside_.message_s + bytes * receive_inside_.byte_s;
  }
  double send_inside_s(double count, double bytes) const {
    return send_inside_.seconds(count, bytes);
  }

 private:
  struct Receiving {
    double message_s = 0, byte_s = 0;
    bool has_factors = true;  // true: the costs are multiplied by the factors of the pair of places
  };
  const Receiving& receiving(PlaceId from, PlaceId to) const {
    return is_same_everywhere_ || node_of_[from] == node_of_[to] ? receive_inside_
                                                                 : receive_network_;
  }
  Rates receive_rates(const Receiving& costs, PlaceId from, PlaceId to) const {
    if (!costs.has_factors) return {costs.message_s, costs.byte_s};
    return {costs.message_s * factors_.message(from, to),
            costs.byte_s == 0 ? 0 : costs.byte_s * factors_.byte(from, to)};
  }

  FactorTable factors_;
  bool senders_pay_ = false, is_same_everywhere_ = true;
  Receiving receive_inside_, receive_network_;
  Rates send_inside_, send_network_;  // 0 if senders_pay_ is false
  std::vector<NodeId> node_of_;       // per place
};

}  // namespace poise
