// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/variables.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

#include "poise/base/check.h"
#include "poise/base/error.h"
#include "poise/base/offload_policies.h"
#include "poise/base/text.h"

namespace poise {

namespace {

using namespace reader;

constexpr std::string_view kPrefix = "POISE_";
constexpr std::string_view kSwitch[] = {"0", "1"};
constexpr std::string_view kClocks[] = {"cpu", "wall"};
constexpr std::string_view kModes[] = {"auto", "root", "replicated", "hierarchical"};
constexpr std::string_view kPlaces[] = {"rank", "thread"};
constexpr std::string_view kPolicies[] = {
#define POISE_NAME(name, sight, what) #name,
    POISE_OFFLOAD_POLICIES(POISE_NAME)
#undef POISE_NAME
};
constexpr std::string_view kPolicyHelp =
#define POISE_HELP(name, sight, what) "; " #name ": " what
    POISE_OFFLOAD_POLICIES(POISE_HELP);
#undef POISE_HELP
constexpr std::string_view kProgressThread[] = {"auto", "on", "off"};
constexpr std::string_view kJugglePolicies[] = {"auto", "proactive", "reactive", "hybrid", "off"};
constexpr std::string_view kNuma[] = {"across", "within"};
constexpr std::string_view kOffload[] = {"default", "disabled", "mandatory"};

constexpr Knob kTaskSettings[] = {
    {"policy", 0, 0, std::size(kPolicies) - 1, kPolicyHelp.substr(2), kPolicies},
    {"pull", 1, 0, 1, "idle ranks send steal requests", kSwitch},
    {"push", 1, 0, 1, "loaded ranks lend without a request", kSwitch},
    {"min_gain", 0.1, 0, 1, "policy cost: lend if that ends the wait sooner by this share"},
    {"min_local", 2, 0, 1e9, "policies paired, lightest: min queued tasks of a lender"},
    {"min_absolute", 2, 0, 1e18,
     "policies paired, lightest: min difference of queued tasks between two ranks"},
    {"min_relative", 0.05, 0, 1,
     "policies paired, lightest: min difference of queued tasks divided by the larger number"},
    {"share", 0.5, 0, 1,
     "policies paired, lightest: share of the difference that one decision lends"},
    {"max_tasks", 1, 1, 1e9, "policies paired, lightest: max tasks lent per decision"},
    {"poll_us", 5, 0, 1e6, "min microseconds between two polls of a busy thread"},
    {"progress_thread", 0, 0, 2,
     "a thread that polls during long tasks; auto: if threads may call MPI concurrently",
     kProgressThread},
    {"progress_us", 2000, 1, 1e9, "min microseconds between two polls of the progress thread"},
    {"large_bytes", 16384, 1, 1e9, "items from this size are sent separately, without a copy"},
    {"chunk_bytes", 1073741824, 1, 2147483647,
     "max bytes of one MPI message; items of thousands of messages are slow"},
    {"batch_bytes", 4194304, 1, 1e15, "max bytes lent per decision, and waiting at a borrower"},
    {"shared_bytes", 68719476736, 0, 1e15, "address space per rank for memory shared in the node"},
    {"delay_us", 0, 0, 1e6, "for tests: max microseconds by which messages are delayed at random"},
    {"patience_s", 60, 0, 1e9, "seconds in a wait after which missing ranks are named (0: never)"},
    {"summary", 0, 0, 1, "print the counters of all ranks at the end", kSwitch},
};

constexpr std::string_view kFile = "a file that can be written",
                           kTime = "a time such as 2s or 100ms", kNumber = "a number of at least 0";

constexpr Variable kBefore[] = {
    // The objects runtime applies its variables in this order. POISE_STRATEGY implies the period
    // auto. POISE_PERIOD comes after POISE_STRATEGY, so a period that the user sets replaces auto.
    {"POISE_STRATEGY", objects | charm, "a strategy that poise strategies lists, with its knobs",
     "", "the strategy that balances; objects: if no period is set, it implies POISE_PERIOD=auto"},
    {"POISE_PERIOD", objects | charm, "a number of steps, 0 (never) or auto", "0",
     "steps between decisions; 0: only when the program asks; auto: when it pays; Charm++: only "
     "the mini-apps read it"},
    {"POISE_TRACE", objects | charm, kFile, "",
     "record a trace with one phase per decision: .poise, or .json and .json.br for vt"},
    {"POISE_TIMELINE", objects, kFile, "",
     "record when every place worked, waited and balanced, for poise timeline and Perfetto; the "
     "second collection of objects writes t.2.json instead of t.json, the third t.3.json"},
    {"POISE_LOG", objects | charm, "a file that can be written, or - for stderr", "",
     "write one line per decision"},
    {"POISE_BUDGET", objects | charm, kTime, "", "time limit of a decision; unset: none"},
    {"POISE_CLOCK", objects, "", "cpu",
     "the clock that measures steps; wall: for steps that wait for something other than the "
     "processor",
     kClocks},
    {"POISE_MODE", objects, "", "auto",
     "which ranks decide: rank 0, every rank by itself, or all ranks together; auto: hierarchical "
     "above 256 places on several hosts, else root",
     kModes},
    {"POISE_PLACES", objects, "", "rank", "what holds objects: each rank or each of its threads",
     kPlaces},
    {"POISE_LEND", objects, "", "0",
     "1: idle ranks run steps of other ranks' objects; needs POISE_PLACES=rank; the variables of "
     "tasks then apply",
     kSwitch},
    {"POISE_RANKS_PER_HOST", objects, "a number of ranks", "0",
     "number of consecutive ranks that count as one host; 0: ranks that share memory"},
    {"OMP_NUM_THREADS", objects, "a number of threads", "",
     "threads of a rank, at most 4096; unset: 1"},
    {"POISE_MACHINE", charm, "a machine, as for --machine", "",
     "description of each host; unset: it is discovered"},
};

constexpr Variable kAfter[] = {
    {"POISE_TASKS_TRACE", tasks, kFile, "",
     "record which task ran where and when, for poise timeline and Perfetto"},
    {"POISE_TASKS_HELPER", tasks, "", "auto", "deprecated name of POISE_TASKS_PROGRESS_THREAD",
     kProgressThread},
    {"POISE_TASKS_HELPER_US", tasks, "1 to 1000000000", "2000",
     "deprecated name of POISE_TASKS_PROGRESS_US"},
    {"MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION", chameleon, kNumber, "",
     "selects policy paired; its min_local"},
    {"MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION", chameleon, kNumber, "",
     "selects policy paired; its min_absolute"},
    {"MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION", chameleon, kNumber, "",
     "selects policy paired; its min_relative"},
    {"PERCENTAGE_DIFF_TASKS_TO_MIGRATE", chameleon, kNumber, "",
     "selects policy paired; its share"},
    {"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE", chameleon, kNumber, "",
     "selects policy paired; its max_tasks"},
    {"CHAMELEON_TOOL", chameleon, "anything", "", "0 or disabled: start no tool"},
    {"CHAMELEON_TOOL_LIBRARIES", chameleon, "paths separated by :", "",
     "shared libraries searched for a tool; the first that accepts is used"},
    {"OMP_TARGET_OFFLOAD", target, "", "default",
     "disabled: regions run on their own rank; mandatory: the program ends if a region would run "
     "there",
     kOffload},
    {"LIBOMP_USE_HIDDEN_HELPER_TASK", target, "0 or 1", "0",
     "set to 0 unless it is set, so that nowait regions are submitted in time"},
    {"POISE_JUGGLE_POLICY", juggle, "", "auto",
     "auto (balance where it helps), proactive (every period), reactive (when threads block), "
     "hybrid (both) or off",
     kJugglePolicies},
    {"POISE_JUGGLE_PERIOD", juggle, "a time from 1ms to 3600s such as 100ms", "100ms",
     "Time between two balancing points, such as 20ms"},
    {"POISE_JUGGLE_CPUS", juggle, "a list of cpus such as 0-3,8", "",
     "Cpus to use: 0-3,8 (default: all that are allowed)"},
    {"POISE_JUGGLE_NUMA", juggle, "", "across",
     "Whether threads stay within their memory domain or move across", kNuma},
    {"POISE_JUGGLE_TUNING", juggle, "NAME=VALUE,... such as noise=0.1", "",
     "Tuned numbers to change for an experiment; poise strategies --tuning lists them"},
    {"POISE_JUGGLE_WAITS", juggle, "a file and a key", "",
     "set by poise juggle for the program: where its threads report that they wait"},
    {"POISE_MACHINES", command | charm, "folders separated by :", "",
     "folders with descriptions of machines, searched before the installed ones"},
    {"XDG_DATA_HOME", command, "a folder", "",
     "where poise measure and poise run keep their results, in the folder poise; unset: "
     "~/.local/share"},
    {"NO_COLOR", command, "anything", "", "if set: no bold and no colours"},
    {"TERM", command | juggle, "a kind of terminal", "",
     "dumb: no bold and no colours, and --live prints lines"},
    {"POISE_PROFILE", preloaded, "a file", "",
     "set by poise profile for the ranks: where rank 0 writes the profile"},
    {"POISE_PROFILE_PARTS", preloaded, "a folder", "",
     "set by poise profile: where each rank keeps its finished phases until the end"},
    {"POISE_PROFILE_PERIOD_NS", preloaded, "0 or 10000000 to 86400000000000", "0",
     "set by poise profile: length of the phases in nanoseconds, if --period gives one; "
     "0: phases are found"},
    {"POISE_REORDER", preloaded, "0, 1 or verbose", "0",
     "1: the ranks of topologies created with reorder = true are reordered for the machine "
     "(docs/profile.md); verbose: also prints what was gained"},
    {"POISE_REORDER_MACHINE", preloaded, "a machine", "",
     "the machine whose places the job's ranks occupy in order; unset: the job's hosts"},
    {"POISE_GRAPH_LOAD_S", partitioners, "a number above 0", "1e-6",
     "seconds that a vertex weight of 1 stands for"},
    {"POISE_GRAPH_BYTES", partitioners, "a number above 0", "8",
     "bytes that an edge weight of 1 stands for, and in ParMETIS a vertex size of 1"},
    {"POISE_GRAPH_MACHINE", partitioners, "a machine", "",
     "the machine whose places the ranks are, in order; unset: the job's hosts"},
    {kNotedNames, objects | tasks | charm | command, "names", "",
     "set by poise for the programs that it starts: misspelt names that it has reported"},
    {"POISE_LIBRARY", python, "a file", "",
     "the libpoise.so that import poise loads instead of the package's own"},
    {"POISE_SEEDS", tests, "a number", "", "seeds that random unit tests run"},
    {"POISE_SLOW_TESTS", tests, "0 or 1", "0",
     "1: run all unit tests even in the build with the address sanitizer"},
    {"POISE_SEED", tests, "a number", "", "seed of the test that kills the thread balancer"},
    {"POISE_KILLS", tests, "a number", "", "how often that test kills it"},
    {"POISE_FUZZ_SEEDS", tests, "a folder", "", "inputs that the fuzzers' tests replay"},
    {"POISE_STRESS_TASKS", tests, "a number", "", "tasks of the random test of tasks"},
    {"POISE_STRESS_SEED", tests, "a number", "", "seed of the random test of tasks"},
    {"POISE_HUGE_ITEM", tests, "anything", "", "also lend an item of more than 2 GiB"},
    {"POISE_TEST_DATA", tests, "a folder", "",
     "real topologies and traces, for tests and benchmarks"},
    {"POISE_PROFILE_LIBRARY", tests, "a file", "", "the profiler that tests preload"},
    {"POISE_TEST_PYTHON", tests, "a program", "", "a Python that has mpi4py"},
    {"POISE_VM_KERNEL", tests, "a file", "", "kernel of the emulated machine"},
    {"POISE_CLUSTER_INSIDE", tests, "anything", "", "set inside the cluster of namespaces"},
};

constexpr std::pair<unsigned, std::string_view> kReaders[] = {
    {command, "commands"},
    {juggle, "poise juggle"},
    {objects, "objects"},
    {tasks, "tasks"},
    {chameleon, "CHAMELEON"},
    {target, "omp target"},
    {charm, "Charm++"},
    {tests, "tests"},
    {python, "Python"},
    {preloaded, "the profile's library"},
    {partitioners, "calls of ParMETIS and Zoltan"},
};

std::string changed(std::string_view text, int (*change)(int)) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [=](unsigned char c) { return static_cast<char>(change(c)); });
  return result;
}

/// All rows of the table, including those that are derived from the settings of the tasks runtime.
/// The strings in the rows live as long as the program.
std::vector<Variable> all_variables() {
  static const auto* const texts = [] {
    auto* made = new std::vector<std::string>;
    for (const Knob& knob : kTaskSettings) {
      made->push_back(task_variable(knob.name));
      made->push_back(fmt::format("{} to {}", knob.min, knob.max));
      made->push_back(knob.choices.empty()
                          ? fmt::format("{}", knob.initial)
                          : std::string(knob.choices[static_cast<std::size_t>(knob.initial)]));
    }
    return made;
  }();
  std::vector<Variable> all(std::begin(kBefore), std::end(kBefore));
  for (std::size_t i = 0; const Knob& knob : kTaskSettings) {
    const std::string* const of_row = &(*texts)[3 * i++];
    all.push_back({of_row[0], tasks, of_row[1], of_row[2], knob.help, knob.choices});
  }
  all.insert(all.end(), std::begin(kAfter), std::end(kAfter));
  return all;
}

const Variable* find(std::string_view name) {
  for (const Variable& row : variables())
    if (row.name == name) return &row;
  return nullptr;
}

/// True if the text may be a misspelling of `name`: it differs in one letter or, if the name has
/// eight letters or more after the prefix POISE_, in at most two. So POISE_HOME, which a module
/// file may set, is not taken for POISE_MODE.
bool resembles(std::string_view text, std::string_view name) {
  const std::size_t prefix = name.starts_with(kPrefix) ? kPrefix.size() : 0;
  const std::size_t letters = name.size() - prefix;
  return edit_distance(text, name) <= std::clamp<std::size_t>(letters / 4, 1, 2);
}

/// Returns the variable whose name is nearest to the text, or null if no name resembles it. If
/// several names are equally near, a variable that the program reads is preferred.
const Variable* meant_by(std::string_view text, unsigned readers) {
  const Variable* nearest = nullptr;
  const auto distance = [&](const Variable& row) {
    return 2 * edit_distance(text, row.name) + ((row.readers & readers) == 0);
  };
  for (const Variable& row : variables()) {
    const bool is_own = row.name.starts_with(kPrefix) || row.readers == chameleon;
    if (!is_own || row.readers == tests || !resembles(text, row.name)) continue;
    if (!nearest || distance(row) < distance(*nearest)) nearest = &row;
  }
  return nearest;
}

/// True if the name may be a misspelt variable of Poise that this program should report. Names that
/// begin with POISE_TASKS_ are not reported by programs on the tasks runtime, because that runtime
/// refuses them with an error, nor by commands, because commands may start such programs.
bool may_be_meant(std::string_view name, unsigned readers) {
  if (name.starts_with(kTasksPrefix) && (readers & (tasks | command)) != 0) return false;
  return name.starts_with(kPrefix) || (readers & chameleon) != 0;
}

std::string_view name_in(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// Returns the misspelt variables that the command which started this program has already reported.
std::vector<std::string_view> noted_names(const char* const* environment) {
  for (; *environment; ++environment)
    if (name_in(*environment) == kNotedNames)
      return split(std::string_view(*environment).substr(kNotedNames.size() + 1), ' ');
  return {};
}

std::string note_on(std::string_view name, unsigned readers) {
  if (const Variable* const row = find(name)) {
    constexpr unsigned kOfJobs = objects | tasks | charm;
    const bool is_ignored = name.starts_with(kPrefix) && (row->readers & kOfJobs) != 0 &&
                            (row->readers & (readers | command)) == 0;
    if (!is_ignored) return "";
    return fmt::format("{} has no effect: {} read it, {} do not{}", name,
                       readers_text(row->readers), readers_text(readers & kOfJobs),
                       readers == objects && row->readers == tasks ? " without POISE_LEND=1" : "");
  }
  const Variable* const meant = may_be_meant(name, readers) ? meant_by(name, readers) : nullptr;
  if (!meant) return "";
  return fmt::format("{} has no effect: there is no such variable; did you mean {}?", name,
                     meant->name);
}

}  // namespace

std::span<const Variable> variables() {
  static const std::vector<Variable> all = all_variables();
  return all;
}

const Variable& variable(std::string_view name) {
  const Variable* const found = find(name);
  POISE_CHECK(found != nullptr);
  return *found;
}

std::span<const Knob> task_settings() { return kTaskSettings; }

std::string task_variable(std::string_view setting) {
  return std::string(kTasksPrefix) + changed(setting, std::toupper);
}

std::string readers_text(unsigned readers) {
  std::string text;
  for (const auto& [bit, words] : kReaders)
    if (readers & bit) text += fmt::format("{}{}", text.empty() ? "" : ", ", words);
  return text;
}

std::vector<std::string> notes_on(const char* const* environment, unsigned readers) {
  const std::vector<std::string_view> noted = noted_names(environment);
  std::vector<std::string> notes;
  for (; *environment; ++environment) {
    const std::string_view name = name_in(*environment);
    if (std::ranges::find(noted, name) != noted.end()) continue;
    if (std::string note = note_on(name, readers); !note.empty()) notes.push_back(std::move(note));
  }
  std::sort(notes.begin(), notes.end());  // environment variables come in no particular order
  return notes;
}

std::map<std::string, std::string> notes_on_misspelt(const char* const* environment) {
  const std::vector<std::string_view> noted = noted_names(environment);
  std::map<std::string, std::string> notes;
  for (; *environment; ++environment) {
    const std::string_view name = name_in(*environment);
    if (find(name) || std::ranges::find(noted, name) != noted.end()) continue;
    if (std::string note = note_on(name, command | juggle); !note.empty())
      notes.emplace(name, std::move(note));
  }
  return notes;
}

std::size_t choice_of(const Variable& variable, std::string_view text) {
  for (std::size_t i = 0; i < variable.choices.size(); ++i)
    if (variable.choices[i] == text) return i;
  const std::string_view nearest = nearest_name(text, variable.choices);
  fail("\"{}\" is not allowed; the choices are {}{}", text, fmt::join(variable.choices, ", "),
       nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest));
}

std::uint32_t count_of(const Variable& variable, std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number > std::numeric_limits<std::int32_t>::max())
    fail("\"{}\" is not {}", text, variable.takes);
  return *number;
}

double duration_s_of(const Variable& variable, std::string_view text) {
  const auto seconds = parse_duration_s(text);
  if (!seconds) fail("\"{}\" is not {}", text, variable.takes);
  return *seconds;
}

}  // namespace poise
