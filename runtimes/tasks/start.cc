#include "runtimes/tasks/start.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>

#include "runtimes/tasks/agreement.h"
#include "runtimes/tasks/settings.h"

#include "poise/base/error.h"

namespace poise::tasks {

namespace {
constexpr unsigned kMaxThreads = 4096;
// By these ranks read what others sent, and what all do together at the end.
constexpr const char* kOfAll[] = {"large_bytes", "chunk_bytes", "shared_bytes", "summary"};
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

bool wants_helper(const Knobs& settings) {
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
  int leader = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &leader);
  if (leader > 0 && !path.empty()) path += fmt::format(".rank{}", leader);
  const std::string agreed = said_by(communicator, path, 0);
  if (agreed.empty()) return agreed;
  const int number = ++num_paths;
  return number == 1 ? agreed : fmt::format("{}.{}", agreed, number);
}

Knobs agreed_settings(MPI_Comm communicator, const Options& options) {
  std::string error;
  Knobs settings(setting_knobs());
  try {
    settings = read_settings(options.settings);
    if (options.threads < 1 || options.threads > kMaxThreads)
      fail("a tasks::Context cannot have {} threads; it takes 1 to {}", options.threads,
           kMaxThreads);
    if (settings.choice("helper") == "on" && !may_any_thread_call())
      fail("POISE_TASKS_HELPER=on needs MPI_THREAD_SERIALIZED or more; MPI was started with less");
  } catch (const Error& wrong) {
    error = wrong.what();
  }
  agree_on_success(communicator, error);
  for (const char* name : kOfAll)
    agree_on_value(communicator, fmt::format("the setting {} of tasks", name),
                   static_cast<std::uint64_t>(settings[name]));
  return settings;
}

}  // namespace poise::tasks
