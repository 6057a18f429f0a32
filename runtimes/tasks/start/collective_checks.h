// What all ranks must agree on before a context exists; every function here is collective.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include "runtimes/tasks/start/function.h"

#include "poise/base/knobs.h"

namespace poise::tasks {

/// A rank's text, on all ranks.
std::string broadcast_text(MPI_Comm communicator, std::string text, int rank);

/// The error of the first rank that gives one, with that rank's number if it is another; empty if
/// none gives any.
std::string first_error(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if any gives a text: its own there, the first such rank's elsewhere.
void throw_if_any_failed(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if one of these settings differs between ranks, naming both extremes.
void check_equal_on_all_ranks(MPI_Comm communicator, std::span<const char* const> names,
                              const Knobs& settings);

/// The position of each function, by id, in the order of names. Throws Error on every rank if
/// some registered others, naming one and the ranks.
std::vector<std::uint32_t> number_functions(MPI_Comm communicator,
                                            const std::vector<const Registered*>& functions);

}  // namespace poise::tasks
