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
    const Sending& costs = node_of_[from] == node_of_[to] ? send_inside_ : send_network_;
    return count * costs.message_s + bytes * costs.byte_s;
  }

  /// The result of receive_s() for two different places of one domain. Valid only if
  /// is_flat_inside().
  double receive_inside_s(double count, double bytes) const {
    return count * receive_inside_.message_s + bytes * receive_inside_.byte_s;
  }
  double send_inside_s(double count, double bytes) const {
    return count * send_inside_.message_s + bytes * send_inside_.byte_s;
  }

 private:
  struct Sending {
    double message_s = 0, byte_s = 0;
  };
  struct Receiving {
    double message_s = 0, byte_s = 0;
    bool has_factors = true;  // true: the costs are multiplied by the factors of the pair of places
  };
  const Receiving& receiving(PlaceId from, PlaceId to) const {
    return is_same_everywhere_ || node_of_[from] == node_of_[to] ? receive_inside_
                                                                 : receive_network_;
  }

  FactorTable factors_;
  bool senders_pay_ = false, is_same_everywhere_ = true;
  Receiving receive_inside_, receive_network_;
  Sending send_inside_, send_network_;
  std::vector<NodeId> node_of_;  // per place
};

}  // namespace poise
