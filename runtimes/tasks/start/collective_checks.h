// SPDX-License-Identifier: BSD-3-Clause
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

/// Returns on all ranks the text that `rank` passes.
std::string broadcast_text(MPI_Comm communicator, std::string text, int rank);

/// Returns on all ranks the error of the lowest rank that passes one. The number of that rank
/// precedes the error, unless it is rank 0. Returns an empty text if all ranks pass an empty text.
std::string first_error(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if any rank passes an error. A rank that passes an error throws that
/// error; all other ranks throw the text that first_error() returns.
void throw_if_any_failed(MPI_Comm communicator, const std::string& error);

/// Throws Error on every rank if one of these settings differs between ranks.
void check_equal_on_all_ranks(MPI_Comm communicator, std::span<const char* const> names,
                              const Knobs& settings);

/// Numbers the functions in the alphabetical order of their names, which is the same on all ranks.
/// Returns the numbers, indexed by FunctionId. If ranks registered different functions, throws
/// Error on every rank; its text names one of these functions.
std::vector<std::uint32_t> number_functions(MPI_Comm communicator,
                                            const std::vector<const Registered*>& functions);

}  // namespace poise::tasks
