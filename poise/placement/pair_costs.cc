// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/pair_costs.h"

namespace poise {

PairCosts::PairCosts(const Machine& machine, const CostModel& costs, LoadsInclude loads_include)
    // Under the formula `physical`, cost factors matter only for messages inside a node.
    : factors_(machine, costs.formula == CostFormula::physical
                            ? FactorTable::PairsOfNodes::computed
                            : FactorTable::PairsOfNodes::tabulated) {
  for (PlaceId p = 0; p < machine.num_places(); ++p) node_of_.push_back(machine.node_of_place(p));
  if (costs.formula == CostFormula::nuco) {
    receive_inside_ = {costs.seconds_per_message, costs.seconds_per_byte, true};
    return;
  }
  is_same_everywhere_ = false;
  if (loads_include != LoadsInclude::send_and_receive) {
    receive_inside_ = {costs.inside.receive_s, costs.inside.copy_s_per_byte, true};
    receive_network_ = {costs.network.receive_s, costs.network.copy_s_per_byte, false};
  }
  if (loads_include == LoadsInclude::none) {
    send_inside_ = {costs.inside.send_s, costs.inside.copy_s_per_byte};
    send_network_ = {costs.network.send_s, costs.network.copy_s_per_byte};
    senders_pay_ = true;
  }
}

}  // namespace poise
