// Where the ranks or PEs of a job sit, and the machine that they make up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "poise/machine/machine.h"

namespace poise::balance {

/// What a rank or PE knows of itself.
struct Seat {
  std::uint32_t host = 0;  // hosts are numbered from 0, and each has a seat
  std::int32_t core_os_index =
      -1;  // where it is bound to the processing units of one core; -1: not
};

/// The processing unit of the core that the calling thread is bound to, or -1.
std::int32_t bound_core();

/// This host with its measured factors, or one place where its hardware cannot be read.
Machine own_node();

/// The node with the costs of messages between processes, and a network factor, where nobody
/// measured messages between hosts.
Machine with_assumptions(const Machine& node);

/// Places are numbered along the machine, so that those of a host follow one another.
struct Seated {
  Machine machine;
  std::vector<std::uint32_t> seat_of_place;
};

/// All hosts are taken to be like `node`. A seat bound to one core has the place of that core,
/// others fill their host in order. `host_names` has one entry per host.
Seated seated(const Machine& node, std::span<const Seat> seats,
              std::span<const std::string> host_names, std::uint32_t places_per_seat = 1);

}  // namespace poise::balance
