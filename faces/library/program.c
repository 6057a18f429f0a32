// SPDX-License-Identifier: BSD-3-Clause

/* Tests libpoise from C: the calls of a program, and the errors that it gets for wrong arguments.
   Prints failed checks and exits with status 1. */
#include <math.h>
#include <poise/poise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTasks = 6, kPlaces = 4 };
static int wrong;

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "does not hold: %s (%s)\n", what, poise_last_error());
}

static void works(int result) { check(result == POISE_OK, "a call works"); }

static void refuses(int result, const char* text) {
  check(result == POISE_BAD_INPUT && strstr(poise_last_error(), text) != NULL, text);
  check(strchr(poise_last_error(), '\n') == NULL, "an error is one line");
}

static const double kLoads[kTasks] = {1, 1, 1, 1, 2, 2};
static const uint64_t kSizes[kTasks] = {10, 20, 30, 40, 50, 60};
static const uint64_t kIndptr[kTasks + 1] = {0, 1, 2, 3, 4, 5, 6}; /* a ring */
static const uint32_t kTo[kTasks] = {1, 2, 3, 4, 5, 0};
static const uint64_t kBytes[kTasks] = {100, 100, 100, 100, 100, 100};
static uint32_t current[kTasks] = {0, 0, 0, 0, 0, 0};

static poise_workload* a_workload(void) {
  poise_workload* workload = NULL;
  works(poise_workload_create(kTasks, kLoads, &workload));
  works(poise_workload_set_sizes(workload, kSizes));
  works(poise_workload_set_messages_csr(workload, kIndptr, kTo, NULL, kBytes));
  return workload;
}

/* The makespan of the strategy greedy is known here: 8 s of work on 4 places, with no task longer
   than 2 s. */
static void plan_and_move(const poise_machine* machine, const poise_workload* workload) {
  uint32_t places[kTasks];
  const uint64_t ids[kTasks] = {1000, 1001, 1002, 1003, 1004, UINT64_MAX};
  const poise_moves *all = NULL, *out = NULL, *in = NULL;
  poise_metrics metrics;
  uint64_t i, arriving = 0;
  int64_t place;
  works(poise_plan(machine, workload, current, "greedy", 0, places));
  works(poise_evaluate(machine, workload, current, places, &metrics));
  check(metrics.makespan_s == 2 && metrics.average_s == 2, "greedy is perfect here");
  works(poise_exports(kTasks, ids, current, places, -1, &all));
  works(poise_exports(kTasks, ids, current, places, 0, &out));
  check(all->count == metrics.migrations && out->count == all->count,
        "all migrations leave place 0");
  for (i = 0; i < all->count; ++i)
    check(all->global_id[i] == ids[all->task[i]] && all->from[i] == 0 &&
              all->to[i] == places[all->task[i]],
          "a move has its id and both places");
  for (place = 0; place < kPlaces; ++place) {
    works(poise_imports(kTasks, NULL, current, places, place, &in));
    for (i = 0; i < in->count; ++i)
      check(in->to[i] == place && in->global_id[i] == in->task[i],
            "an import has this place and its task's global id");
    arriving += in->count;
    poise_moves_destroy(in);
  }
  check(arriving == all->count, "each move is imported once");
  poise_moves_destroy(all);
  poise_moves_destroy(out);
  works(poise_plan(machine, workload, places, "keep", 0, places));
}

static int to_place_one(const struct poise_problem* problem, uint32_t* place, void* argument) {
  uint32_t t;
  ++*(int*)argument;
  if (problem->version != POISE_PLUGIN_VERSION || problem->load_s[5] != 2) return 7;
  for (t = 0; t < problem->num_tasks; ++t) place[t] = 1;
  return 0;
}

static int to_nowhere(const struct poise_problem* problem, uint32_t* place, void* argument) {
  (void)argument;
  place[3] = problem->num_places;
  return 0;
}

static int stop_at_second(void* argument, uint64_t done, uint64_t total, const char* what) {
  (void)argument, (void)what;
  return total == 3 && done == 1;
}

static void compare(const poise_machine* machine, const poise_workload* workload) {
  int calls = 0;
  poise_own_strategy own[2];
  poise_comparison* c = NULL;
  const poise_comparison_row* row;
  own[0].name = "one", own[0].decide = to_place_one, own[0].argument = &calls;
  own[1].name = "nowhere", own[1].decide = to_nowhere, own[1].argument = NULL;
  works(poise_compare(machine, workload, current, "keep,greedy", own, 2, 0, NULL, NULL, &c));
  check(poise_comparison_num_rows(c) == 4 && calls == 1, "there are four rows");
  row = poise_comparison_get(c, 2);
  check(!strcmp(row->strategy, "one") && !row->error && row->metrics.makespan_s == 8 &&
            row->metrics.migrations == 6 && row->place_of_task[5] == 1,
        "an own strategy is a row");
  row = poise_comparison_get(c, 3);
  check(row->error && strstr(row->error, "nowhere[3] is 4") && !row->place_of_task,
        "a wrong own strategy is a row that says why");
  check(poise_comparison_best(c) == 1 && poise_comparison_bound_s(c) >= 2, "greedy is best");
  check(poise_comparison_get(c, 4) == NULL, "there is no fifth row");
  poise_comparison_destroy(c);
  c = NULL;
  check(poise_compare(machine, workload, current, "keep,greedy,refine", NULL, 0, 0, stop_at_second,
                      NULL, &c) == POISE_CANCELLED &&
            c == NULL,
        "a callback stops a comparison");
}

static void trace(const poise_machine* machine, const poise_workload* workload, const char* path) {
  poise_trace *t = NULL, *again = NULL;
  poise_workload* read = NULL;
  poise_machine* recorded = NULL;
  poise_simulation* s = NULL;
  const poise_simulation_row* row;
  uint32_t places[kTasks];
  uint64_t id = 0, step;
  double sum_s = 0, wall_s = 0;
  works(poise_trace_create(kPlaces, machine, &t));
  works(poise_trace_add_phase(t, 3, 8.5, workload, current));
  refuses(poise_trace_add_phase(t, 3, 8.5, workload, current), "the ids of phases must increase");
  works(poise_trace_write(t, path, NULL));
  works(poise_trace_read(path, NULL, &again));
  check(poise_trace_num_phases(again) == 1 && poise_trace_num_places(again) == kPlaces, "sizes");
  works(poise_trace_phase(again, 0, &id, &wall_s, &read));
  works(poise_trace_places(again, 0, places));
  works(poise_trace_machine(again, &recorded));
  check(id == 3 && wall_s == 8.5 && poise_workload_num_tasks(read) == kTasks &&
            poise_machine_num_places(recorded) == kPlaces &&
            !memcmp(places, current, sizeof places),
        "a trace that is written is read");
  refuses(poise_trace_phase(again, 1, NULL, NULL, &read), "there is no phase 1");
  refuses(poise_simulate(machine, again, NULL, "greedy", NULL, 0, 10, 4, NAN, 0, NULL, NULL, &s),
          "decision_s is nan");
  works(poise_simulate(machine, again, NULL, "greedy", NULL, 0, 10, 4, 0.5, 0, NULL, NULL, &s));
  check(poise_simulation_num_rows(s) == 2 && poise_simulation_num_steps(s) == 10, "ten steps");
  row = poise_simulation_get(s, 0);
  check(row->total_s >= 80 && row->decisions == 0, "without balancing each step takes 8 s");
  row = poise_simulation_get(s, 1);
  for (step = 0; step < 10; ++step)
    sum_s += row->step_iteration_s[step] + row->step_decision_s[step] + row->step_migration_s[step];
  check(row->decisions == 2 && row->decision_s == 1, "the simulation decides before steps 4 and 8");
  check(fabs(sum_s - row->total_s) < 1e-9, "the steps add up to the total");
  poise_simulation_destroy(s);
  poise_machine_destroy(recorded);
  poise_workload_destroy(read);
  poise_trace_destroy(again);
  poise_trace_destroy(t);
}

static void refuse_arrays(const poise_machine* machine) {
  poise_workload* w = a_workload();
  poise_workload* none = NULL;
  double loads[kTasks] = {1, 1, 1, 1, 1, 1};
  uint64_t indptr[kTasks + 1] = {0, 1, 2, 3, 4, 5, 6};
  uint32_t to[kTasks] = {1, 2, 3, 4, 5, 0}, places[kTasks] = {0, 0, 0, 0, 0, 0};
  const uint32_t minus_one = UINT32_MAX;
  const double positions[2 * kTasks] = {0, 0, 0, 0, 0, HUGE_VAL};
  const int32_t blocks[kTasks] = {-1, 0, 1, -1, -1, -1};
  loads[2] = NAN;
  refuses(poise_workload_create(kTasks, loads, &none), "load_s[2] is nan");
  loads[2] = -1;
  refuses(poise_workload_create(kTasks, loads, &none), "load_s[2] is -1");
  check(none == NULL, "no machine is made");
  refuses(poise_workload_create(UINT64_MAX, loads, &none), "num_tasks is 18446744073709551615");
  refuses(poise_workload_create(0, loads, &none), "at least 1");
  indptr[0] = 1;
  refuses(poise_workload_set_messages_csr(w, indptr, to, NULL, NULL), "indptr[0] is 1");
  indptr[0] = 0, indptr[3] = 9;
  refuses(poise_workload_set_messages_csr(w, indptr, to, NULL, NULL), "indptr[4] is 4, less than");
  indptr[3] = 3, to[4] = 6;
  refuses(poise_workload_set_messages_csr(w, indptr, to, NULL, NULL), "indices[4] is 6");
  refuses(poise_workload_set_messages(w, 1, &minus_one, to, NULL, NULL), "from[0] is -1");
  refuses(poise_workload_set_messages(w, 1, NULL, to, NULL, NULL), "from is null");
  refuses(poise_workload_set_positions(w, 2, positions), "position[5] is inf");
  refuses(poise_workload_set_positions(w, 4, positions), "dimensions is 4");
  refuses(poise_workload_set_memory(w, NULL, NULL, blocks, 1, kSizes), "shared_block[2] is 1");
  refuses(poise_workload_set_subphases(w, 65, loads), "num_subphases is 65");
  refuses(poise_workload_set_kinds(w, 1, loads, 0, NULL), "num_kinds is 1");
  refuses(poise_workload_set_kinds(w, 65, loads, 0, NULL), "num_kinds is 65");
  refuses(poise_workload_set_communication(w, "sends", 0), "did you mean \"send\"");
  refuses(poise_workload_set_communication(w, "none", 2), "overlap is 2");
  places[5] = kPlaces;
  refuses(poise_plan(machine, w, places, "greedy", 0, places), "current[5] is 4");
  check(places[5] == kPlaces && places[0] == 0, "the placement is as it was");
  refuses(poise_plan(machine, w, current, "gredy", 0, places), "did you mean \"greedy\"");
  refuses(poise_plan(machine, w, current, "greedy,nuco", 0, places), "is a list");
  refuses(poise_plan(machine, NULL, current, "greedy", 0, places), "workload is null");
  refuses(poise_plan((const poise_machine*)w, w, current, "greedy", 0, places),
          "machine is a handle of another type");
  works(poise_workload_set_background(w, 2, loads + 3));
  refuses(poise_plan(machine, w, current, "greedy", 0, places),
          "\"background load\" has 2 entries");
  poise_workload_destroy(w);
  poise_workload_destroy(NULL);
}

static void machines(void) {
  poise_machine *machine = NULL, *again = NULL;
  const char* text = NULL;
  refuses(poise_machine_create("node:2 core:", &machine), "core:");
  refuses(poise_machine_create(NULL, &machine), "description is null");
  refuses(poise_machine_from_json("{", 1, &machine), "the text");
  refuses(poise_machine_from_hwloc_xml("<x/>", 4, &machine), "the text");
  works(poise_machine_create("node:2 core:2", &machine));
  works(poise_machine_set_model(machine, "physical"));
  works(poise_machine_set_cost(machine, "seconds_per_migrated_byte", 0.5));
  refuses(poise_machine_set_cost(machine, "alpha", 1), "seconds_per_message");
  refuses(poise_machine_set_cost(machine, "seconds_per_message", -1), "seconds_per_message");
  refuses(poise_machine_set_model(machine, "fast"), "physical");
  works(poise_machine_json(machine, &text));
  works(poise_machine_from_json(text, strlen(text), &again));
  check(poise_machine_num_places(again) == 4 && strstr(text, "0.5") != NULL, "a machine is JSON");
  poise_machine_destroy(again);
  poise_machine_destroy(machine);
}

static void tables(void) {
  poise_strategy_row row;
  poise_knob_row knob;
  uint64_t i, k, knobs = 0;
  for (i = 0; poise_strategy_get(i, &row) == POISE_OK; ++i) {
    check(*row.name && *row.summary, "a strategy has a name and a summary");
    for (k = 0; k < row.num_knobs; ++k, ++knobs) {
      works(poise_knob_get(i, k, &knob));
      check(*knob.name && knob.min <= knob.initial && knob.initial <= knob.max,
            "a knob is in range");
    }
  }
  check(i >= 15 && knobs >= 15, "the table has its rows");
  check(*poise_version() == '0' && strstr(poise_built_with(), "hwloc") != NULL, "the version");
}

int main(int argc, char** argv) {
  poise_machine* machine = NULL;
  poise_workload* workload = a_workload();
  poise_arrays* arrays = NULL;
  const struct poise_problem* problem;
  char path[256];
  snprintf(path, sizeof path, "%s.poise", argc > 1 ? argv[1] : argv[0]);
  check(!strcmp(poise_last_error(), ""), "at first there is no error");
  works(poise_machine_create("node:2 core:2", &machine));
  plan_and_move(machine, workload);
  compare(machine, workload);
  trace(machine, workload, path);
  remove(path);
  refuse_arrays(machine);
  machines();
  tables();
  works(poise_arrays_create(machine, workload, current, 0, &arrays));
  problem = poise_arrays_problem(arrays);
  check(problem->num_places == kPlaces && problem->indptr[kTasks] == kTasks &&
            problem->node[3] == 1 && !strcmp(problem->level_name[0], "node") &&
            problem->bytes[0] == 100,
        "a problem is plain arrays");
  poise_arrays_destroy(arrays);
  poise_workload_destroy(workload);
  poise_machine_destroy(machine);
  if (wrong == 0) puts("all is right");
  return wrong > 0;
}
