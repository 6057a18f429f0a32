// Checks that all ranks make together when a context starts. Every function here is collective.
#pragma once

#include <cstdint>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include "runtimes/tasks/start/function.h"

#include "poise/base/knobs.h"

namespace poise::tasks {

/// The text of `rank`, on all ranks.
std::string broadcast_text(MPI_Comm communicator, std::string text, int rank);

/// The error of the first rank that gives one, preceded by the rank unless it is rank 0; empty if
/// no rank gives any.
std::string first_error(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if any rank gives an error: its own there, first_error elsewhere.
void throw_if_any_failed(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if one of these settings differs between ranks.
void check_equal_on_all_ranks(MPI_Comm communicator, std::span<const char* const> names,
                              const Knobs& settings);

/// A number for each function, by FunctionId, that is the same on all ranks: its index in the order
/// of names. Throws Error on every rank if ranks registered different functions, and names one.
std::vector<std::uint32_t> number_functions(MPI_Comm communicator,
                                            const std::vector<const Registered*>& functions);

}  // namespace poise::tasks
