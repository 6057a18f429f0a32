#include "runtimes/tasks/start/start.h"

#include <atomic>
#include <cstdlib>
#include <fmt/format.h>

#include "runtimes/tasks/settings.h"
#include "runtimes/tasks/start/collective_checks.h"
#include "runtimes/tasks/start/end_job.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

extern char** environ;

namespace poise::tasks {

namespace {
constexpr unsigned kMaxThreads = 4096;
// By these ranks read what others sent, and what all do together at the end.
constexpr const char* kEqualOnAllRanks[] = {"large_bytes", "chunk_bytes", "shared_bytes",
                                            "summary"};

void check_threads(unsigned threads) {
  if (threads < 1 || threads > kMaxThreads)
    fail("a tasks::Context cannot have {} threads; it takes 1 to {}", threads, kMaxThreads);
}

void check_helper(const Knobs& settings, const char* setting) {
  if (settings.choice("helper") == "on" && !may_any_thread_call())
    fail("{} needs MPI_THREAD_SERIALIZED or more; MPI was started with less", setting);
}

/// What cannot be written at the end is said at the start.
void try_trace(const std::string& path) {
  try {
    write_file(path, "");
  } catch (const Error& error) {
    fail("POISE_TASKS_TRACE: {}", error.what());
  }
}

/// What the call throws as an Error, in words.
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

void check_mpi() {
  int initialized = 0, finalized = 0, level = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized) fail("a tasks::Context needs MPI: call MPI_Init_thread first");
  if (finalized) fail("a tasks::Context needs MPI, which is finalized");
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_SINGLE)
    fail(
        "MPI was started with MPI_THREAD_SINGLE; ask MPI_Init_thread for MPI_THREAD_FUNNELED or "
        "more");
}

int thread_level() {
  int level = 0;
  MPI_Query_thread(&level);
  return level;
}

bool may_any_thread_call() { return thread_level() >= MPI_THREAD_SERIALIZED; }

bool wants_progress_thread(const Knobs& settings) {
  if (settings.choice("policy") == "none") return false;
  if (settings.choice("helper") == "auto") return thread_level() == MPI_THREAD_MULTIPLE;
  return settings.choice("helper") == "on";
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

Knobs agreed_settings(MPI_Comm communicator, const Options& options) {
  Knobs settings(setting_knobs());
  throw_if_any_failed(communicator, error_of([&] {
                        if (!options.settings.empty()) settings.set_all("tasks", options.settings);
                        check_threads(options.threads);
                        check_helper(settings, "tasks: helper=on");
                      }));
  check_equal_on_all_ranks(communicator, kEqualOnAllRanks, settings);
  end_job_on_error(communicator, error_of([&] {
                     apply_environment(settings, environ);
                     check_helper(settings, "POISE_TASKS_HELPER=on");
                   }));
  // It fails on all ranks or on none.
  end_job_on_error(communicator, error_of([&] {
                     check_equal_on_all_ranks(communicator, kEqualOnAllRanks, settings);
                   }));
  return settings;
}

}  // namespace poise::tasks
