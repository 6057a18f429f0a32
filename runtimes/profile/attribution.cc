// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/attribution.h"

#include "runtimes/profile/tuning.h"

namespace poise::profile {

namespace {

using Send = std::function<void(int, std::uint64_t, std::uint64_t)>;

/// Adds the messages of a binomial tree. v = (rank - root) mod size is the position of a rank; the
/// root has position 0.
void broadcast(const Collective& c, const Send& send) {
  const int v = (c.rank - c.root + c.size) % c.size;
  int step = 1;
  // Position v receives from the position whose number is v without its lowest set bit.
  while (step < c.size && (v & step) == 0) step <<= 1;
  for (step >>= 1; step > 0; step >>= 1)
    if (v + step < c.size) send((v + step + c.root) % c.size, 1, c.bytes);
}

void reduce(const Collective& c, const Send& send) {
  const int v = (c.rank - c.root + c.size) % c.size;
  if (v != 0) send(((v & (v - 1)) + c.root) % c.size, 1, c.bytes);
}

void disseminate(const Collective& c, const Send& send) {
  for (int step = 1; step < c.size; step *= 2) send((c.rank + step) % c.size, 1, 0);
}

/// Adds the messages of recursive doubling. If the number of ranks is not a power of two, let p be
/// the largest power of two below it. Each rank r >= p first sends its data to rank r - p, and
/// receives the result from that rank at the end.
void double_recursively(const Collective& c, const Send& send) {
  int power = 1;
  while (2 * power <= c.size) power *= 2;
  const int rest = c.size - power;
  if (c.rank >= power) return send(c.rank - power, 1, c.bytes);
  for (int step = 1; step < power; step *= 2) send(c.rank ^ step, 1, c.bytes);
  if (c.rank < rest) send(c.rank + power, 1, c.bytes);
}

void ring(const Collective& c, std::uint64_t messages, std::uint64_t bytes, const Send& send) {
  send((c.rank + 1) % c.size, messages, bytes);
}

void allreduce(const Collective& c, const Send& send) {
  if (c.bytes <= tuning::kLongAllreduce_bytes) return double_recursively(c, send);
  const std::uint64_t steps = 2 * (c.size - 1);
  ring(c, steps, steps * c.bytes / c.size, send);
}

/// Adds the messages of a ring: each rank sends to its right neighbour all blocks except the
/// neighbour's own.
void allgatherv(const Collective& c, const Send& send) {
  std::uint64_t bytes = 0;
  for (int other = 0; other < c.size; ++other)
    if (other != (c.rank + 1) % c.size) bytes += c.block_bytes(other);
  ring(c, c.size - 1, bytes, send);
}

void directly(const Collective& c, const Send& send) {
  for (int other = 0; other < c.size; ++other)
    if (other != c.rank) send(other, 1, c.block_bytes ? c.block_bytes(other) : c.bytes);
}

}  // namespace

void sends_of(const Collective& c, const Send& send) {
  if (c.size < 2) return;
  const std::uint64_t others = c.size - 1;
  switch (c.meaning) {
    case Meaning::barrier: return disseminate(c, send);
    case Meaning::bcast: return broadcast(c, send);
    case Meaning::reduce: return reduce(c, send);
    case Meaning::allreduce: return allreduce(c, send);
    case Meaning::allgather: return ring(c, others, others * c.bytes, send);
    case Meaning::allgatherv: return allgatherv(c, send);
    case Meaning::gather:
    case Meaning::gatherv:
      if (c.rank != c.root) send(c.root, 1, c.bytes);
      return;
    case Meaning::scatter:
    case Meaning::scatterv:
      if (c.rank == c.root) directly(c, send);
      return;
    case Meaning::scan:
    case Meaning::exscan:
      for (int step = 1; c.rank + step < c.size; step *= 2) send(c.rank + step, 1, c.bytes);
      return;
    default: return directly(c, send);
  }
}

}  // namespace poise::profile
