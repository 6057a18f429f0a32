// SPDX-License-Identifier: BSD-3-Clause
// libpoise: Poise's decisions for C, and for every language that can call C. docs/library.md shows
// programs.
//
//     poise_machine* machine;    where tasks can run
//     poise_workload* workload;  what the program measured about itself
//     poise_plan(machine, workload, current, "poise", 0, places);
//
// Rules that hold for every function:
//
// - It returns an enum poise_result; poise_last_error() says in one line what is wrong. Arrays are
//   checked as far as O(n) allows (not finite, negative, out of range, an inconsistent CSR), and
//   the line names index and value. A call that fails changes nothing: neither handles nor results.
// - Tasks and places are numbered from 0 and fit in 32 bits; counts are 64-bit. Times are in
//   seconds, sizes in bytes. All loads of a workload together are at most 1e15 s.
// - The library copies what it keeps: arrays may be freed after the call. Handles belong to the
//   caller; each poise_X_destroy() accepts null. Pointers that a handle returns live as long as the
//   handle.
// - There is no global state. Any number of threads may call functions at the same time, but while
//   one thread changes or destroys a handle, no other thread may use that handle. Builds with
//   assertions refuse such a change.
// - Nothing is printed, and no exception leaves the library. It uses no MPI: under MPI, each rank
//   may call with the same numbers, since the same input gives the same placement on every rank.
//
// The ABI is stable within the SOVERSION. Structures only grow at their end, in a new symbol
// version. C99 and C++.
#pragma once

#include <poise/communication.h>
#include <poise/plugin.h>
#include <poise/result.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text of the last error on this thread: one line, no full stop; "" if there was none. It is
   valid until the next call on this thread fails. */
const char* poise_last_error(void);

/* Return the version, such as "1.2.3", and one line with the compiler and the libraries of this
   build. */
const char* poise_version(void);
const char* poise_built_with(void);

/* ---- Machines ------------------------------------------------------------------------------- */

/* A machine: its places, their speeds, memories and distances. */
typedef struct poise_machine poise_machine;

/* Creates a machine from a description: "live" (this host), a name such as "NUMA32", a file (.json,
   or .xml of hwloc), or a text such as "node:2 numa:2 core:4" (docs/machines.md). */
int poise_machine_create(const char* description, poise_machine** machine);
/* Create a machine from the content of a file: Poise's JSON (docs/machines.md) or hwloc's XML. */
int poise_machine_from_json(const char* text, uint64_t bytes, poise_machine** machine);
int poise_machine_from_hwloc_xml(const char* text, uint64_t bytes, poise_machine** machine);
void poise_machine_destroy(poise_machine* machine);

/* Returns the number n of places. Places are numbered from 0 to n - 1. */
uint64_t poise_machine_num_places(const poise_machine* machine);
/* Returns the machine as JSON. The text is valid until the machine is changed or destroyed. */
int poise_machine_json(poise_machine* machine, const char** text);

/* Set the cost formula, "physical" (default) or "nuco" (docs/model.md), and one number of it.
   `name` is the number's name in the JSON key "costs", such as "seconds_per_migrated_byte". The
   numbers in "inside" and "network" can be set only in JSON. */
int poise_machine_set_model(poise_machine* machine, const char* formula);
int poise_machine_set_cost(poise_machine* machine, const char* name, double value);

/* ---- Workloads: what the program measured in one phase --------------------------------------- */

/* Tasks with their loads, and the messages between them. */
typedef struct poise_workload poise_workload;

/* Creates a workload without messages, of 1 to 2^31 - 1 tasks. load_s has the load of each task:
   its seconds on a place of speed 1. */
int poise_workload_create(uint64_t num_tasks, const double* load_s, poise_workload** workload);
void poise_workload_destroy(poise_workload* workload);
uint64_t poise_workload_num_tasks(const poise_workload* workload);

/* A call of one of the following functions replaces what its last call has set. Data that are never
   set are unknown. */

/* Per task: bytes that a migration sends. */
int poise_workload_set_sizes(poise_workload* workload, const uint64_t* bytes);
/* Per task: not 0 if it must stay where it is. */
int poise_workload_set_pinned(poise_workload* workload, const uint8_t* pinned);

/* Sets the messages of one phase, as a sparse matrix in CSR form. For indptr[t] <= i < indptr[t +
   1], task t sends counts[i] messages (null: 1 each) with bytes[i] in total (null: 0) to task
   indices[i]. A graph of METIS or Zoltan that stores each edge at both ends can be passed
   unchanged. */
int poise_workload_set_messages_csr(poise_workload* workload, const uint64_t* indptr,
                                    const uint32_t* indices, const uint64_t* counts,
                                    const uint64_t* bytes);
/* Sets the messages of one phase as a list: task from[i] sends counts[i] messages (null: 1 each)
   with bytes[i] in total (null: 0) to task to[i]. */
int poise_workload_set_messages(poise_workload* workload, uint64_t num_messages,
                                const uint32_t* from, const uint32_t* to, const uint64_t* counts,
                                const uint64_t* bytes);

/* Coordinates of each task, position[task * dimensions + i]; dimensions from 1 to 3. */
int poise_workload_set_positions(poise_workload* workload, int dimensions, const double* position);
/* Per place: work that belongs to no task. num_places must be the number of places of the machine
   that is passed to poise_plan() and other functions together with this workload. */
int poise_workload_set_background(poise_workload* workload, uint64_t num_places,
                                  const double* seconds);
/* Loads by subphase, load_s[task * num_subphases + subphase]. All places wait for the busiest at
   the end of each subphase. Only the ratios between the loads of one task matter; their sum is the
   load given to poise_workload_create(). At most 64 subphases. */
int poise_workload_set_subphases(poise_workload* workload, uint64_t num_subphases,
                                 const double* load_s);
/* Loads of several kinds, load_s[task * num_kinds + kind], that overlap: work for processor cores
   first, then for GPUs and the like. An iteration takes as long as the busiest kind at the busiest
   place. speeds[place * num_kinds + kind], each above 0; null: the speeds of the machine's places.
   Only the ratios between the loads of one task matter; their sum is the load given to
   poise_workload_create(). From 2 to 64 kinds. Replaces subphases, and they replace kinds. */
int poise_workload_set_kinds(poise_workload* workload, uint64_t num_kinds, const double* load_s,
                             uint64_t num_places, const double* speeds);
/* Capacity: how many cores the tasks at a place may take together. per_place: one limit for every
   place; 0: none. cores: what each task takes; null: one core each. of_places: a limit per place,
   instead of per_place. of_domains: limits per memory domain, in addition. null: no such limits. */
int poise_workload_set_capacity(poise_workload* workload, uint32_t per_place, const uint32_t* cores,
                                uint64_t num_places, const uint32_t* of_places,
                                uint64_t num_domains, const uint32_t* of_domains);
/* Memory of each task: footprint_bytes as long as the task exists, working_bytes in addition while
   it runs, and the number of the block of memory that it shares with other tasks (-1: none). An
   array that is null stands for 0 (shared_block: for -1). block_bytes: the size of each block. */
int poise_workload_set_memory(poise_workload* workload, const uint64_t* footprint_bytes,
                              const uint64_t* working_bytes, const int32_t* shared_block,
                              uint64_t num_blocks, const uint64_t* block_bytes);
/* Per place: bytes of memory that belong to no task. */
int poise_workload_set_place_bytes(poise_workload* workload, uint64_t num_places,
                                   const uint64_t* bytes);
/* Sets which costs of messages the loads contain: "none" (the default), "send" or
   "send_and_receive". Also sets the fraction of communication that the program hides behind work,
   from 0 (the default) to 1. */
int poise_workload_set_communication(poise_workload* workload, const char* loads_include,
                                     double overlap);
/* Adds the loads of an earlier phase, one per task, for strategies that predict loads. Phases are
   added in the order of time, the oldest first. */
int poise_workload_add_past_loads(poise_workload* workload, const double* load_s);

/* ---- Decisions ------------------------------------------------------------------------------- */

/* In these functions a placement is an array with the place of each task. If `current` is null,
   each place has a block of consecutive tasks. */

/* Lets a strategy decide: NAME or NAME:KNOB=VALUE,... (`poise strategies` and docs/strategies.md
   list them), "plugin:FILE.so", or "exec:COMMAND", which may take 60 s. Writes the place of each
   task to place_of_task, which may be the same array as `current`. A strategy cannot be cancelled
   while it runs. */
int poise_plan(const poise_machine* machine, const poise_workload* workload,
               const uint32_t* current, const char* strategy, uint64_t seed,
               uint32_t* place_of_task);

/* What a placement costs; formulas and symbols: docs/model.md. */
typedef struct poise_metrics {
  double iteration_s;       /* predicted time of a phase */
  double makespan_s;        /* work of the busiest place */
  double makespan_bound_s;  /* lower bound on the makespan of any placement */
  double average_s;         /* all work / sum of all speeds */
  double imbalance;         /* makespan / average */
  double max_comm_s;        /* largest communication time of a place */
  uint64_t hop_bytes;       /* bytes of each message times the hops of its path, summed */
  uint64_t internode_bytes; /* bytes between nodes */
  double nuco_messages;     /* messages between places, each weighted by its factor */
  uint64_t migrations;      /* tasks whose place changes */
  uint64_t migrated_bytes;  /* bytes of these tasks; 0 also if sizes are unknown */
  double migration_s;       /* of the place that takes longest to send or receive tasks */
} poise_metrics;

/* Computes the metrics of the placement `after`, with the migrations from `before` to it. */
int poise_evaluate(const poise_machine* machine, const poise_workload* workload,
                   const uint32_t* before, const uint32_t* after, poise_metrics* metrics);

/* Tasks that change their place, in the order of tasks. */
typedef struct poise_moves {
  uint64_t count;
  const uint64_t* global_id; /* id of each task; its number if no ids were given */
  const uint32_t* task;
  const uint32_t* from;
  const uint32_t* to;
} poise_moves;

/* List the tasks that leave `place` (exports) and those that arrive there (imports). If `place` is
   -1, both list all tasks that move. global_ids may be null. */
int poise_exports(uint64_t num_tasks, const uint64_t* global_ids, const uint32_t* before,
                  const uint32_t* after, int64_t place, const poise_moves** moves);
int poise_imports(uint64_t num_tasks, const uint64_t* global_ids, const uint32_t* before,
                  const uint32_t* after, int64_t place, const poise_moves** moves);
void poise_moves_destroy(const poise_moves* moves);

/* ---- Decisions by all ranks together --------------------------------------------------------- */

/* What one rank knows: its own tasks and the messages that they send. Arrays marked "or null" are
   optional. */
typedef struct poise_own_tasks {
  uint64_t num_tasks;
  const uint64_t* global_ids; /* per task, unique over all ranks (not every call checks this) */
  const double* load_s;       /* per task, seconds on a place of speed 1 */
  const uint64_t* bytes;      /* per task, what a migration sends; or null */
  const uint8_t* pinned;      /* per task, not 0 if it must stay; or null */
  /* Messages in CSR form: task t sends to the tasks with the global ids neighbours[i], for
     indptr[t] <= i < indptr[t + 1]. All of them may be null if there are no messages. */
  const uint64_t* indptr;
  const uint64_t* neighbours;
  /* Ranks of the neighbours, which are not checked; null: they are looked up. */
  const uint32_t* neighbour_ranks;
  const uint64_t* counts;        /* number of messages to each neighbour; null: 1 each */
  const uint64_t* message_bytes; /* bytes of all these messages together; null: 0 */
  double background_s;           /* work of this rank's place that belongs to no task */
} poise_own_tasks;

/* Collective over `ranks` (poise/poise_mpi.h makes one from an MPI communicator). Rank r is place r
   of the machine. Machine, strategy and seed must be the same on all ranks. If strategies, seeds or
   the machines' groups of places differ, all ranks return an error; other differences between
   machines, such as the speeds of single places, are not noticed. On ranks with messages,
   neighbour_ranks must be null everywhere or nowhere. The strategy, which cannot be
   "plugin:FILE.so" or "exec:COMMAND", decides about clusters of tasks (docs/distributed.md); it
   should start from the current placement, as `poise` does.

   Writes the rank of each own task to rank_of_task. `exports` lists the tasks that leave this rank,
   in the order of tasks; `imports` lists the tasks that arrive, sorted by the rank from which they
   come. In `imports`, the member `task` is null. rank_of_task, exports and imports may be null.

   If a rank fails, all ranks return POISE_BAD_INPUT and no rank waits. The error on that rank says
   why; the error on the other ranks names it. If the table `ranks` of a rank is wrong, only that
   rank returns an error.
 */
int poise_plan_distributed(const poise_communication* ranks, const poise_machine* machine,
                           const poise_own_tasks* own, const char* strategy, uint64_t seed,
                           uint32_t* rank_of_task, const poise_moves** exports,
                           const poise_moves** imports);

/* ---- Mapping ranks, balancing threads, diagnosing runs -----------------------------------------
 */

/* Maps ranks to places. The tasks of the workload stand for the ranks; loads are ignored. Minimises
   bytes times distance, which is "hops" or "factors" (the machine's latency factors). A place takes
   at most ranks_per_place ranks, or a rank takes cores_per_rank places of one node; at least one of
   the two numbers must be 1. The map's bytes times distance do not exceed those of the map
   `current`; if it is null or puts more ranks on a place, those of block order. With more than 9
   ranks, neither do the bytes between nodes, nor those of the busiest node. */
int poise_map(const poise_machine* machine, const poise_workload* workload, const uint32_t* current,
              const char* distance, uint32_t ranks_per_place, uint32_t cores_per_rank,
              uint64_t seed, uint32_t* place_of_rank);

/* A program of identical threads that compute for phase_s each between two barriers. */
typedef struct poise_threads {
  uint64_t threads, cpus, phases;
  double phase_s;
  double period_s;  /* between two balancing points */
  uint64_t domains; /* number of memory domains of equal size, at least 1; threads stay in theirs */
  double jitter;    /* random variation of each period, as a fraction of it, below 1 */
  uint64_t seed;    /* of the jitter */
} poise_threads;

/* Predicted seconds of all phases (docs/theory.md). */
typedef struct poise_outlook {
  double static_s;           /* threads stay where they start */
  double ideal_s;            /* the limit as the balancing period approaches 0 */
  double reactive_s;         /* threads move when others block */
  double proactive_bound_s;  /* lower bound if threads move only at balancing points */
  double proactive_s;        /* approximate time if threads move only at balancing points */
  double simulated_s;        /* simulation of the idealised algorithm */
  double simulated_swaps_s;  /* simulation in which threads swap as under `poise juggle` */
  double simulated_hybrid_s; /* simulation of the proactive and reactive policies combined */
  uint64_t swap_migrations;  /* migrations of threads in the simulation with swaps */
  const char* advice;        /* one line; valid until the next call on this thread */
} poise_outlook;
int poise_theory(const poise_threads* program, poise_outlook* outlook);

/* Says why a run that `poise profile` recorded lost time, and what would help. Returns the JSON
   document that `poise diagnose --json` prints. The text is valid until the next call on this
   thread. */
int poise_diagnose(const char* path, const char** json);

/* ---- Comparing and simulating ---------------------------------------------------------------- */

/* A strategy of your own. decide() does what poise_strategy() in plugin.h does; it also gets
   `argument`. */
typedef struct poise_own_strategy {
  const char* name;
  int (*decide)(const struct poise_problem* problem, uint32_t* place_of_task, void* argument);
  void* argument;
} poise_own_strategy;

/* Called before each strategy of a comparison and each decision of a simulation, on the calling
   thread: `done` of `total` are finished, `what` is next. If it returns a value other than 0, the
   comparison or simulation stops and returns POISE_CANCELLED. */
typedef int (*poise_progress)(void* argument, uint64_t done, uint64_t total, const char* what);

/* The result of poise_compare(): one row per strategy. */
typedef struct poise_comparison poise_comparison;

/* What one strategy achieves; pointers are valid until the comparison is destroyed. */
typedef struct poise_comparison_row {
  const char* strategy;
  const char* error; /* why it cannot work on this problem; null: it worked */
  poise_metrics metrics;
  double decision_s, decision_wall_s; /* CPU and wall time that it took */
  const uint32_t* place_of_task;      /* null on errors */
} poise_comparison_row;

/* Compares strategies on one problem. `strategies` is a list separated by commas. If it is null,
   all strategies of the table are compared except oracles, which are too slow for use at run time.
   `own` may be null. */
int poise_compare(const poise_machine* machine, const poise_workload* workload,
                  const uint32_t* current, const char* strategies, const poise_own_strategy* own,
                  uint64_t num_own, uint64_t seed, poise_progress progress, void* argument,
                  poise_comparison** comparison);
void poise_comparison_destroy(poise_comparison* comparison);
uint64_t poise_comparison_num_rows(const poise_comparison* comparison);
const poise_comparison_row* poise_comparison_get(const poise_comparison* comparison, uint64_t row);
/* Returns the row with the shortest iteration; of equal rows, the one with the fewest migrated
   bytes. Returns -1 if every strategy failed. */
int64_t poise_comparison_best(const poise_comparison* comparison);
/* Lower bound: no placement has a shorter iteration. */
double poise_comparison_bound_s(const poise_comparison* comparison);

/* Phases over time, and the replay of a trace: one row per strategy. */
typedef struct poise_trace poise_trace;
typedef struct poise_simulation poise_simulation;

/* The times of one strategy in a replay, summed over all phases. */
typedef struct poise_simulation_row {
  const char* strategy; /* the first row: "no balancing" */
  const char* error;    /* null: it worked */
  double total_s, iteration_s, migration_s, decision_s;
  uint64_t decisions, migrations, migrated_bytes;
  const double *step_iteration_s, *step_decision_s, *step_migration_s; /* per step */
} poise_simulation_row;

/* Replays `steps` steps of a trace, with a decision every `every` steps, strategy by strategy.
   `start` is the placement at the beginning; if it is null, the trace's placement is used or,
   without one, blocks of consecutive tasks. Each decision is charged decision_s seconds; if that is
   negative, the time that the decision takes on this host. */
int poise_simulate(const poise_machine* machine, const poise_trace* trace, const uint32_t* start,
                   const char* strategies, const poise_own_strategy* own, uint64_t num_own,
                   uint64_t steps, uint64_t every, double decision_s, uint64_t seed,
                   poise_progress progress, void* argument, poise_simulation** simulation);
void poise_simulation_destroy(poise_simulation* simulation);
uint64_t poise_simulation_num_rows(const poise_simulation* simulation);
uint64_t poise_simulation_num_steps(const poise_simulation* simulation);
const poise_simulation_row* poise_simulation_get(const poise_simulation* simulation, uint64_t row);

/* A row of the table of strategies. */
typedef struct poise_strategy_row {
  const char *name, *summary, *source, *complexity;
  int is_incremental, is_oracle, ignores_messages;
  uint64_t num_knobs;
} poise_strategy_row;
typedef struct poise_knob_row {
  const char *name, *help;
  double initial, min, max;
  const char* choices; /* separated by "|", in the order of their values; "" for a number; valid
                          until the next call on this thread */
} poise_knob_row;
/* Return a strategy of the table, and a knob of a strategy. Both are numbered from 0. If there is
   no such row, they return POISE_BAD_INPUT. */
int poise_strategy_get(uint64_t number, poise_strategy_row* row);
int poise_knob_get(uint64_t strategy, uint64_t knob, poise_knob_row* row);

/* ---- Traces ---------------------------------------------------------------------------------- */

/* Read and write files in the formats of docs/formats.md. If `format` is null, a file's content
   (for reading) or the ending of its name (for writing) determines the format. A written file
   appears complete or not at all. No format stores capacities, past loads, the speeds of kinds, or
   whether loads are those of subphases or of kinds: a workload that is read has none of these, and
   only the sum of each task's loads counts. */
int poise_trace_read(const char* path, const char* format, poise_trace** trace);
int poise_trace_write(const poise_trace* trace, const char* path, const char* format);

/* Creates a trace without phases. `machine` may be null. */
int poise_trace_create(uint64_t num_places, const poise_machine* machine, poise_trace** trace);
void poise_trace_destroy(poise_trace* trace);
/* Appends a phase. Its id must exceed those of earlier phases. wall_s is 0 if it is unknown;
   place_of_task may be null. */
int poise_trace_add_phase(poise_trace* trace, uint64_t id, double wall_s,
                          const poise_workload* workload, const uint32_t* place_of_task);

/* Return the numbers of phases and of places in the trace. */
uint64_t poise_trace_num_phases(const poise_trace* trace);
uint64_t poise_trace_num_places(const poise_trace* trace);
/* Return copies of the trace's machine (POISE_BAD_INPUT if the trace has none) and of a phase. */
int poise_trace_machine(const poise_trace* trace, poise_machine** machine);
int poise_trace_phase(const poise_trace* trace, uint64_t phase, uint64_t* id, double* wall_s,
                      poise_workload** workload);
/* Writes the place of each task of the phase. Returns POISE_BAD_INPUT if the places were not
   recorded. */
int poise_trace_places(const poise_trace* trace, uint64_t phase, uint32_t* place_of_task);

/* ---- Everything as arrays -------------------------------------------------------------------- */

/* A problem whose arrays are owned by this object. */
typedef struct poise_arrays poise_arrays;

/* Converts a problem to the plain arrays of plugin.h. `machine` and `current` may be null. Without
   a machine, all members about places are empty except the background load. */
int poise_arrays_create(const poise_machine* machine, const poise_workload* workload,
                        const uint32_t* current, uint64_t seed, poise_arrays** arrays);
void poise_arrays_destroy(poise_arrays* arrays);
const struct poise_problem* poise_arrays_problem(const poise_arrays* arrays);

#ifdef HWLOC_API_VERSION /* defined if <hwloc.h> was included before this header */
/* Creates a machine from a topology that the program has loaded. Costs that hwloc does not know are
   assumed. */
static inline int poise_machine_from_hwloc(hwloc_topology_t topology, poise_machine** machine) {
  char* xml = 0;
  int bytes = 0, result;
#if HWLOC_API_VERSION >= 0x00020000
  result = hwloc_topology_export_xmlbuffer(topology, &xml, &bytes, 0);
#else
  result = hwloc_topology_export_xmlbuffer(topology, &xml, &bytes);
#endif
  if (result != 0) return POISE_FAILED;
  result = poise_machine_from_hwloc_xml(xml, bytes > 0 ? (uint64_t)bytes - 1 : 0, machine);
  hwloc_free_xmlbuffer(topology, xml);
  return result;
}
#endif

#ifdef __cplusplus
}
#endif
