// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/end_job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/start.h"
#include "runtimes/tasks/transport/collective.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace poise::tasks {

namespace {

constexpr int kExitStatus = 2;
/// Maximum number of seconds to wait for the other ranks. Ranks that find the same error find it at
/// about the same time. If a rank does not arrive within this time, the job is aborted.
constexpr double kMaxWait_s = 2;
/// Launchers read the output of ranks with a delay, and lose what they have not read when a rank
/// aborts the job.
constexpr std::chrono::milliseconds kUntilOutputIsRead{200};

bool has_all_ranks(MPI_Comm communicator) {
  int ranks = 0, all_ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  return ranks == all_ranks;
}

/// Replaces line breaks, because an error may contain the value of a variable with line breaks.
void print_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::fprintf(stderr, "poise: %s\n", text.c_str());
}

/// Waits until all ranks of the job call this function. Returns false after kMaxWait_s.
bool all_ranks_meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  int done = 0;
  const double end_s = wall_now_s() + kMaxWait_s;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0) {
    if (wall_now_s() > end_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::terminate_handler handler_before = nullptr;

[[noreturn]] void end_uncaught() {
  try {
    if (const auto uncaught = std::current_exception()) std::rethrow_exception(uncaught);
  } catch (const Error& error) {
    end_job(error.what());
  } catch (...) {  // not ours
  }
  handler_before();
  std::abort();
}

}  // namespace

void abort_job(MPI_Comm communicator, int status) {
  std::this_thread::sleep_for(kUntilOutputIsRead);
  MPI_Abort(communicator, status);
  std::abort();
}

void end_job(const std::string& error) {
  int initialized = 0, finalized = 0, rank = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  const bool has_mpi = initialized && !finalized;
  if (has_mpi) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_everywhere = has_mpi && is_main_thread() && all_ranks_meet();
  if (rank == 0 || !is_everywhere) print_line(error);
  if (is_everywhere)
    MPI_Finalize();
  else if (has_mpi)
    abort_job(MPI_COMM_WORLD, kExitStatus);
  std::_Exit(kExitStatus);
}

void end_job_on_uncaught_errors() {
  static std::once_flag once;
  std::call_once(once, [] { handler_before = std::set_terminate(end_uncaught); });
}

void end_job_on_error(MPI_Comm communicator, const std::string& error) {
  const std::string first = first_error(communicator, error);
  if (first.empty()) return;
  int rank = 0, can_finalize = has_all_ranks(communicator) && is_main_thread();
  MPI_Comm_rank(communicator, &rank);
  reduce(communicator, can_finalize, MPI_MIN);
  if (rank == 0) print_line(first);
  if (!can_finalize) abort_job(MPI_COMM_WORLD, kExitStatus);
  MPI_Barrier(communicator);  // a rank that exits early would make the launcher kill the others
  MPI_Finalize();
  std::exit(kExitStatus);
}

}  // namespace poise::tasks
