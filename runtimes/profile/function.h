// SPDX-License-Identifier: BSD-3-Clause
// The description of an MPI function: how its time is counted, what it does, and which argument is
// where.
#pragma once

#include <cstdint>

namespace poise::profile {

/// An argument of an MPI function, as a register holds it. All arguments are integers or pointers;
/// on 64-bit Linux each takes one register or 8 bytes of stack, and the callee reads only the bytes
/// of its type. So a wrapper can pass arguments on without knowing whether the handles of this MPI
/// are ints or pointers.
using Word = std::uintptr_t;
static_assert(sizeof(Word) == 8, "arguments are passed on as 64-bit words");

/// The kinds of MPI calls. The time inside MPI is added up separately for each kind.
enum class Kind : std::uint8_t { point_to_point, collective, wait, io, other };
inline constexpr int kNumKinds = 5;

/// The meaning of a call for the profile: the kind of messages that it sends, or its effect on the
/// profile itself.
enum class Meaning : std::uint8_t {
  nothing,
  init,
  finalize,
  abort,
  pcontrol,
  poll,
  send,
  send_init,
  receive,
  receive_init,
  probe,
  matched_probe,
  start,
  startall,
  wait,
  waitall,
  waitany,
  waitsome,
  test,
  testall,
  testany,
  testsome,
  cancel,
  request_free,
  window_post,
  window_start,
  window_complete,
  window_wait,
  window_test,
  put,
  get,
  put_and_get,
  type_free,
  communicator_create,
  communicator_create_group,
  cart_create,
  graph_create,
  dist_graph_create,
  dist_graph_create_adjacent,
  communicator_free,
  window_create,
  window_free,
  window_fence,
  file_open,
  file_close,
  file_collective,
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
};

/// True for collectives that send messages, and for their non-blocking and persistent versions.
constexpr bool is_collective(Meaning meaning) { return meaning >= Meaning::barrier; }

/// True for collectives in which every rank waits for all others.
constexpr bool synchronises(Meaning meaning) {
  switch (meaning) {
    case Meaning::barrier:
    case Meaning::allreduce:
    case Meaning::allgather:
    case Meaning::allgatherv:
    case Meaning::alltoall:
    case Meaning::alltoallv:
    case Meaning::alltoallw:
    case Meaning::reduce_scatter:
    case Meaning::reduce_scatter_block: return true;
    default: return false;
  }
}

/// True for functions that access the memory of another rank.
constexpr bool is_remote(Meaning meaning) {
  return meaning >= Meaning::put && meaning <= Meaning::put_and_get;
}
constexpr bool starts_requests(Meaning meaning) {
  return meaning == Meaning::start || meaning == Meaning::startall;
}
/// True for functions that wait for requests or test them.
constexpr bool completes_requests(Meaning meaning) {
  return meaning >= Meaning::wait && meaning <= Meaning::testsome;
}
/// Of the functions that complete requests, true for those that take an array of requests.
constexpr bool has_request_array(Meaning meaning) {
  return meaning != Meaning::wait && meaning != Meaning::test;
}
constexpr bool is_neighbourhood(Meaning meaning) { return meaning >= Meaning::neighbor_allgather; }

/// Whether a function is collective (all ranks of a communicator, a window or a file must call it),
/// and when its operation is complete. `blocking`: when the function returns. `nonblocking`: when a
/// later call that waits for the operation returns. `persistent`: like `nonblocking`, but MPI_Start
/// begins the operation. `none`: the function is not collective.
enum class Mode : std::uint8_t { none, blocking, nonblocking, persistent };

struct Function {
  const char* name;
  Kind kind;
  Meaning meaning;
  // Positions of arguments, the same in C and Fortran; -1 if the function has no such argument.
  std::int8_t buffer = -1, count = -1, type = -1, partitions = -1, peer = -1, receive_count = -1,
              receive_type = -1, comm = -1, request = -1, level = -1, source = -1, tag = -1,
              receive_tag = -1, status = -1, flag = -1, index = -1, index_count = -1,
              created_comm = -1, created_object = -1, reorder = -1, group = -1;
  std::int8_t strings = 0;  // number of hidden arguments in Fortran: the lengths of the strings
  bool is_large = false;    // counts are MPI_Count
  Mode mode = Mode::none;
};

/// True for functions that only ask whether something has happened, like MPI_Test.
constexpr bool is_poll(const Function& function) {
  return function.flag >= 0 || function.meaning == Meaning::testsome ||
         function.meaning == Meaning::poll;
}

enum class Language : std::uint8_t { c, fortran };  // Fortran passes all arguments by address

}  // namespace poise::profile
