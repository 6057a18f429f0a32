// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/start/start.h"

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>

#include "runtimes/tasks/settings.h"
#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/end_job.h"
#include "runtimes/tasks/start/variable_notes.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/variables.h"
#include "poise/online/offload_policy.h"

extern char** environ;

namespace poise::tasks {

namespace {
// Settings that must be equal on all ranks, because the message format and collective calls depend
// on them.
constexpr const char* kEqualOnAllRanks[] = {"large_bytes", "chunk_bytes", "shared_bytes",
                                            "summary"};

// If a program passes a negative number, `threads` is huge. The error shows the negative number.
void check_threads(unsigned threads) {
  if (threads < 1 || threads > kMaxThreads)
    fail("the number of threads is {}; a tasks::Context can have 1 to {} threads",
         static_cast<std::int32_t>(threads), kMaxThreads);
}

void check_progress_thread(const Knobs& settings, const char* setting) {
  if (settings.choice("progress_thread") == "on" && !may_any_thread_call())
    fail(
        "{} needs MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE, but MPI_Init_thread provided a "
        "lower level; ask MPI_Init_thread for one of these levels, or remove the setting",
        setting);
}

/// Checks now that the trace file can be opened, because the trace is written at the end of the
/// run.
void try_trace(const std::string& path) {
  try {
    write_file(path, "");
  } catch (const Error& error) {
    fail("POISE_TASKS_TRACE: {}", error.what());
  }
}

/// Calls `call`. Returns the text of the Error that it throws, or an empty text if it throws none.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void check_mpi(MPI_Comm communicator) {
  end_job_on_uncaught_errors();
  int initialized = 0, finalized = 0, level = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized) fail("a tasks::Context needs MPI: call MPI_Init_thread first");
  if (finalized)
    fail("a tasks::Context needs MPI, but MPI is finalized; create it before MPI_Finalize");
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_SINGLE)
    fail(
        "MPI was started with MPI_THREAD_SINGLE; ask MPI_Init_thread for MPI_THREAD_FUNNELED or "
        "more");
  if (communicator == MPI_COMM_NULL)
    fail(
        "the communicator of a tasks::Context is MPI_COMM_NULL; create the context only on ranks "
        "that belong to the communicator");
  int has_two_groups = 0;
  MPI_Comm_test_inter(communicator, &has_two_groups);
  if (has_two_groups)
    fail(
        "the communicator of a tasks::Context is an intercommunicator; merge its groups by "
        "MPI_Intercomm_merge");
}

int thread_level() {
  int level = 0;
  MPI_Query_thread(&level);
  return level;
}

bool may_any_thread_call() { return thread_level() >= MPI_THREAD_SERIALIZED; }

bool wants_progress_thread(const Knobs& settings) {
  if (offload_policy(settings.choice("policy")).sight == OffloadPolicy::Sight::nothing)
    return false;
  if (settings.choice("progress_thread") == "auto") return thread_level() == MPI_THREAD_MULTIPLE;
  return settings.choice("progress_thread") == "on";
}

bool is_main_thread() {
  int flag = 0;
  MPI_Is_thread_main(&flag);
  return flag;
}

std::string next_trace_path(MPI_Comm communicator) {
  static std::atomic<int> num_paths = 0;
  const char* const variable = std::getenv("POISE_TASKS_TRACE");
  std::string path = variable ? variable : "";
  int leader = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &leader);
  MPI_Comm_rank(communicator, &rank);
  if (leader > 0 && !path.empty()) path += fmt::format(".rank{}", leader);
  path = broadcast_text(communicator, path, 0);
  if (path.empty()) return path;
  const int number = ++num_paths;
  if (number > 1) path += fmt::format(".{}", number);
  end_job_on_error(communicator, error_of([&] {
                     if (rank == 0) try_trace(path);
                   }));
  return path;
}

Knobs agreed_settings(MPI_Comm communicator, const ContextOptions& options) {
  Knobs settings(setting_knobs());
  throw_if_any_failed(communicator, error_of([&] {
                        if (!options.settings.empty()) apply_program(settings, options.settings);
                        check_threads(options.threads);
                        check_progress_thread(settings, "tasks: progress_thread=on");
                      }));
  check_equal_on_all_ranks(communicator, kEqualOnAllRanks, settings);
  end_job_on_error(communicator, error_of([&] {
                     apply_environment(settings, environ);
                     check_progress_thread(settings, "POISE_TASKS_PROGRESS_THREAD=on");
                   }));
  // This call fails either on all ranks or on none.
  end_job_on_error(communicator, error_of([&] {
                     check_equal_on_all_ranks(communicator, kEqualOnAllRanks, settings);
                   }));
  note_variables(communicator, reader::tasks);
  return settings;
}

}  // namespace poise::tasks
