// SPDX-License-Identifier: BSD-3-Clause
// A tool that makes all decisions: how many tasks go to which rank, which tasks these are, and what
// the load of a rank is. The data that the tool attaches to tasks travel with them, as annotations
// do. The other callbacks only inform the tool. Prints failed checks and exits with status 1, or
// prints "all is right".
#include <algorithm>
#include <array>
#include <atomic>
#include <chameleon.h>
#include <chameleon_tools.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/leaks.h"

namespace {

enum class Mode { numbers, tasks, data, replicas };

constexpr int kTasks = 150;
Mode mode = Mode::numbers;
int my_rank = 0, num_ranks = 1;
std::atomic<int> wrong{0}, asked{0}, encoded{0}, decoded{0}, loads_asked{0};
std::atomic<int> syncs{0}, slowed{0};
cham_t_get_task_data_t get_task_data = nullptr;
cham_t_get_task_param_info_t param_info = nullptr;
cham_t_get_task_meta_info_t meta_info = nullptr;

void check(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "rank %d, mode %d: does not hold: %s\n", my_rank, static_cast<int>(mode),
               what);
}

/// Returns the index of a task among the tasks of its rank. `id` identifies the task among those of
/// all ranks.
int number_of(int id) { return id / num_ranks; }

// Selects all tasks with even indices and sends them to the last rank.
cham_t_migration_tupel_t* select_tasks(const int32_t* load_per_rank, TYPE_TASK_ID* ids_local,
                                       int32_t num_local, int32_t, int32_t* num_tuples) {
  ++asked;
  check(load_per_rank[0] >= 0, "loads are known");
  auto* tuples = static_cast<cham_t_migration_tupel_t*>(
      std::malloc(sizeof(cham_t_migration_tupel_t) * (num_local + 1)));
  *num_tuples = 0;
  for (int32_t i = 0; i < num_local; ++i)
    if (number_of(ids_local[i]) % 2 == 0)
      tuples[(*num_tuples)++] = cham_t_migration_tupel_create(ids_local[i], num_ranks - 1);
  return tuples;
}

void select_numbers(int32_t* tasks_per_rank, const int32_t* load_per_rank, int32_t num_local,
                    int32_t num_stolen) {
  ++asked;
  for (int rank = 0; rank < num_ranks; ++rank) {
    check(tasks_per_rank[rank] == 0, "the array is zeroed");
    // This tool reports 7 * number of tasks + 5 as the load of a rank. Ranks attach this load to
    // every message that they send.
    check(load_per_rank[rank] == 0 || load_per_rank[rank] % 7 == 5,
          "loads are those that the tool has computed");
  }
  check(num_local >= 0 && num_stolen >= 0, "the numbers of queued tasks are not negative");
  if (num_local > 1) tasks_per_rank[num_ranks - 1] = 2;
}

// Checks the task ids that the runtime passes. Every rank has created tasks. If two ranks used
// the same id, get_task_data() could return a task of this rank for the id of another rank's task.
int32_t determine_load(TYPE_TASK_ID* ids_local, int32_t num_local, TYPE_TASK_ID*,
                       int32_t num_replicated, TYPE_TASK_ID* ids_stolen, int32_t num_stolen,
                       TYPE_TASK_ID*, int32_t) {
  ++loads_asked;
  for (int32_t i = 0; i < num_local; ++i)
    check(get_task_data(ids_local[i]) != nullptr, "an own task is found by its id");
  for (int32_t i = 0; i < num_stolen; ++i)
    check(get_task_data(ids_stolen[i]) == nullptr,
          "a task of another rank is not found before it runs here");
  return 7 * (num_local + num_replicated + num_stolen) + 5;
}

void select_nothing(int32_t*, const int32_t*, int32_t, int32_t) {}

// Replicates half of the tasks to the last rank.
cham_t_replication_info_t* select_replicas(const int32_t*, int32_t num_local, int32_t* num_infos) {
  ++asked;
  static int last;
  last = num_ranks - 1;
  auto* info =
      static_cast<cham_t_replication_info_t*>(std::malloc(sizeof(cham_t_replication_info_t)));
  *info = cham_t_replication_info_create(num_local / 2, 1, &last);
  *num_infos = 1;
  return info;
}

void* encode(cham_migratable_task_t* task, cham_t_data_t* data, int32_t* size) {
  ++encoded;
  check(data->value == static_cast<std::uint64_t>(chameleon_get_task_id(task)) + 1000,
        "the tool's data of a task is what the tool set");
  *size = 100;
  auto* bytes = static_cast<char*>(std::malloc(100));
  std::memset(bytes, data->value % 100, 100);
  return bytes;
}

void decode(cham_migratable_task_t* task, cham_t_data_t* data, void* buffer, int32_t size) {
  ++decoded;
  const auto expected =
      static_cast<char>((static_cast<unsigned>(chameleon_get_task_id(task)) + 1000) % 100);
  const auto* bytes = static_cast<const char*>(buffer);
  check(size == 100 && std::count(bytes, bytes + 100, expected) == 100, "the data arrives");
  data->value = 77;
}

void created(cham_migratable_task_t* task, cham_t_data_t* data, const void*) {
  data->value = static_cast<std::uint64_t>(chameleon_get_task_id(task)) + 1000;
}

bool knows_itself(chameleon_annotations_t* annotations, int id) {
  int value = 0;
  char* text = nullptr;
  return annotations && chameleon_get_annotation_int(annotations, "id", &value) && value == id &&
         chameleon_get_annotation_string(annotations, "kind", &text) && std::strcmp(text, "x") == 0;
}

// Counts, by task id, what happened on this rank to the tasks of the first rank, which is the only
// one with tasks.
constexpr std::size_t kMaxIds = 4 * kTasks + 1;
enum What { kStartedHere, kEndedHere, kCancelledHere, kReplicatedHere, kNumWhats };
std::array<std::array<std::atomic<int>, kMaxIds>, kNumWhats> happened{};

void where(int* rank, int id);

// Checks what the runtime tells the tool about a task. It must be the same on all ranks.
void check_what_is_known(cham_migratable_task_t* task, int id) {
  const cham_t_task_param_info_t given = param_info(task);
  check(given.num_args == 2 && given.arg_sizes[0] == sizeof(int), "arguments are known");
  check(given.arg_types[0] == CHAM_OMP_TGT_MAPTYPE_FROM, "an output is one");
  check((given.arg_types[1] & CHAM_OMP_TGT_MAPTYPE_LITERAL) != 0,
        "a literal argument is marked as a literal");
  check(static_cast<int>(reinterpret_cast<intptr_t>(given.arg_pointers[1])) == id,
        "the value of a literal argument arrives");
  const cham_t_task_meta_info_t code = meta_info(task);
  check(code.entry_ptr == reinterpret_cast<intptr_t>(where),
        "the address of the code is that of the call");
  check((code.entry_ptr - code.entry_image_offset) % 4096 == 0,
        "the offset of the code in its image is plausible");
}

void scheduled(cham_migratable_task_t* task, cham_t_task_flag_t flag, cham_t_data_t* data,
               cham_t_task_schedule_type_t what, cham_migratable_task_t* before, cham_t_task_flag_t,
               cham_t_data_t*) {
  const int id = chameleon_get_task_id(task);
  check(((flag & cham_t_task_local) != 0) == (my_rank == 0), "only the first rank has own tasks");
  check(((flag & cham_t_task_remote) != 0) == (my_rank > 0), "tasks on all other ranks are remote");
  check(before == nullptr, "no task runs inside another");
  check(what != cham_t_task_yield, "no task yields");
  if (mode == Mode::data && (flag & cham_t_task_remote))
    check(data->value == 77, "what was decoded is there when the task starts");
  check(knows_itself(chameleon_get_task_annotations_opaque(task), id), "annotations are there");
  const What kind = what == cham_t_task_start ? kStartedHere
                    : what == cham_t_task_end ? kEndedHere
                                              : kCancelledHere;
  ++happened[kind][number_of(id)];
  if (flag & cham_t_task_replicated) happened[kReplicatedHere][number_of(id)] = 1;
  check((flag & cham_t_task_replicated) || what != cham_t_task_cancel, "only copies are cancelled");
  check_what_is_known(task, id);
}

// Stores a number in the data that the tool keeps per thread. Later callbacks check this number to
// verify that this callback came first on their thread.
void thread_began(cham_t_data_t* data) { data->value = 11; }
void serial_began(cham_t_data_t* data) {
  check(data->value == 11, "the thread began before");
  data->value = 12;
}
void thread_ended(cham_t_data_t* data) {
  check(data->value == 12, "the thread ends once, after all else");
  data->value = 13;
}

void synchronised(cham_t_sync_region_type_t type, cham_t_sync_region_status_t status,
                  cham_t_data_t* data, const void*) {
  check(type == cham_t_sync_region_taskwait && data->value == 12,
        "a wait ends on the thread on which it began");
  check(status == (syncs % 2 == 0 ? cham_t_sync_region_start : cham_t_sync_region_end),
        "a wait starts, then ends");
  ++syncs;
}

int32_t frequency(cham_migratable_task_t* task, int32_t load, int32_t num_created) {
  check(task != nullptr, "the callback gets a task");
  check(num_created > 0 && num_created % kTasks == 0,
        "all tasks are created before the first one starts");
  if (num_ranks == 1)
    check(load == kTasks - 1 - slowed, "all tasks that have not started are in the queue");
  check(load >= 0 && load < kTasks, "the number of queued tasks is plausible");
  ++slowed;
  return 1;  // a delay of one microsecond
}

int initialize(cham_t_function_lookup_t lookup, cham_t_data_t*) {
  const auto set = reinterpret_cast<cham_t_set_callback_t>(lookup("cham_t_set_callback"));
  const auto on = [&](cham_t_callback_types_t which, auto function) {
    check(set(which, reinterpret_cast<cham_t_callback_t>(function)) == cham_t_set_always,
          "every callback is taken");
  };
  get_task_data = reinterpret_cast<cham_t_get_task_data_t>(lookup("cham_t_get_task_data"));
  param_info = reinterpret_cast<cham_t_get_task_param_info_t>(lookup("cham_t_get_task_param_info"));
  meta_info = reinterpret_cast<cham_t_get_task_meta_info_t>(lookup("cham_t_get_task_meta_info"));
  on(cham_t_callback_task_create, created);
  on(cham_t_callback_task_schedule, scheduled);
  on(cham_t_callback_thread_init, thread_began);
  on(cham_t_callback_post_init_serial, serial_began);
  on(cham_t_callback_thread_finalize, thread_ended);
  on(cham_t_callback_sync_region, synchronised);
  on(cham_t_callback_change_freq_for_execution, frequency);
  if (mode == Mode::numbers) {
    on(cham_t_callback_select_num_tasks_to_offload, select_numbers);
    on(cham_t_callback_determine_local_load, determine_load);
  }
  if (mode == Mode::tasks) {
    // The runtime must ignore select_numbers, because select_tasks decides how many tasks move.
    on(cham_t_callback_select_num_tasks_to_offload, select_numbers);
    on(cham_t_callback_select_tasks_for_migration, select_tasks);
  }
  if (mode == Mode::replicas) {
    on(cham_t_callback_select_num_tasks_to_offload, select_nothing);
    on(cham_t_callback_select_num_tasks_to_replicate, select_replicas);
  }
  if (mode == Mode::data) {
    on(cham_t_callback_encode_task_tool_data, encode);
    on(cham_t_callback_decode_task_tool_data, decode);
  }
  return 1;
}

void where(int* rank, int id) {
  check(knows_itself(chameleon_get_task_annotations(id), id), "a task sees its annotations");
  std::this_thread::sleep_for(std::chrono::microseconds(500));
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
}

cham_migratable_task_t* make_task(int* ran_on) {
  static int last_number = 0;
  const int id = ++last_number * num_ranks + my_rank;
  chameleon_map_data_entry_t arguments[2] = {
      chameleon_map_data_entry_create(ran_on, sizeof(int), CHAM_OMP_TGT_MAPTYPE_FROM),
      chameleon_map_data_entry_create(reinterpret_cast<void*>(intptr_t{id}), sizeof(void*),
                                      CHAM_OMP_TGT_MAPTYPE_LITERAL)};
  auto* task = chameleon_create_task(reinterpret_cast<void*>(where), 2, arguments);
  check(chameleon_get_task_id(task) == id, "the task has the given id");
  chameleon_annotations_t* annotations = chameleon_create_annotation_container();
  chameleon_set_annotation_int(annotations, "id", id);
  chameleon_set_annotation_string(annotations, "kind", "x");
  chameleon_set_task_annotations(task, annotations);
  return task;
}

/// Runs tasks in the mode `mode`. Checks that each task that leaves rank 0 may do so in this mode,
/// and that it goes to the rank that the tool chose. Returns the number of tasks that ran on each
/// rank.
std::vector<int> run_tasks() {
  std::vector<int> ran_on(kTasks, -1), ids(kTasks), count(num_ranks);
  for (std::size_t t = 0; t < kTasks; ++t) {
    auto* task = make_task(&ran_on[t]);
    if (my_rank > 0) continue;  // all ranks create tasks, but only rank 0 submits them
    ids[t] = chameleon_get_task_id(task);
    if (mode == Mode::replicas && t == 0) {  // the program itself replicates this task
      int ranks[] = {num_ranks - 1, 0};
      chameleon_set_task_replication_info(task, 2, ranks);
    }
    chameleon_add_task(task);
  }
  check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "the wait succeeds");
  for (std::size_t t = 0; t < kTasks && my_rank == 0; ++t) {
    ++count[ran_on[t]];
    const bool away = ran_on[t] != 0;
    if (mode == Mode::tasks)
      check(!away || number_of(ids[t]) % 2 == 0,
            "only tasks that the tool selected leave their rank");
    if (mode != Mode::data)
      check(!away || ran_on[t] == num_ranks - 1, "tasks go where the tool says");
  }
  return count;
}

int sum_over_ranks(int value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

// Checks that each task starts and ends once on a single rank, and that all other copies of a
// replicated task are cancelled.
void check_schedule() {
  std::array<std::array<int, kMaxIds>, kNumWhats> here{}, all{};
  for (std::size_t what = 0; what < kNumWhats; ++what)
    for (std::size_t id = 0; id < kMaxIds; ++id) here[what][id] = happened[what][id].exchange(0);
  MPI_Allreduce(here.data(), all.data(), kNumWhats * kMaxIds, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (std::size_t id = 0; id < kMaxIds; ++id) {
    const int runs = all[kStartedHere][id];
    check(runs == all[kEndedHere][id] && runs <= 1, "what starts ends, once");
    check(here[kCancelledHere][id] + here[kStartedHere][id] <= 1, "what is cancelled does not run");
    if (my_rank == 0 && all[kReplicatedHere][id])
      check(here[kCancelledHere][id] + here[kStartedHere][id] == 1,
            "the original of a task that ran elsewhere is cancelled");
  }
  if (mode == Mode::replicas) {
    const auto& marked = all[kReplicatedHere];
    check(std::accumulate(marked.begin(), marked.end(), 0) > 0 || num_ranks == 1,
          "replicated tasks are marked");
  }
}

void run(Mode which) {
  mode = which;
  asked = encoded = decoded = loads_asked = syncs = slowed = 0;
  check(chameleon_init() == CHAM_SUCCESS, "chameleon_init succeeds");
  check(chameleon_thread_init() == CHAM_SUCCESS, "the thread's start");
  chameleon_post_init_serial();
  const std::vector<int> count = run_tasks();
  chameleon_thread_finalize();
  check(chameleon_finalize() == CHAM_SUCCESS, "chameleon_finalize succeeds");
  check(syncs == 2, "the tool is told of the beginning and the end of one wait");
  check_schedule();
  const int all_decoded = sum_over_ranks(decoded);
  check(sum_over_ranks(slowed) == kTasks, "the tool was asked once about the pace of each task");
  if (my_rank > 0 || num_ranks == 1) return;
  const int away = kTasks - count[0];
  check(away > 0, "some tasks ran on other ranks");
  if (mode == Mode::data) {
    check(encoded >= away && all_decoded >= away,
          "the tool's data travel with each task that leaves its rank");
  } else {
    check(asked > 0, "the tool was asked");
  }
  if (mode == Mode::numbers) check(loads_asked > 0, "the tool said its load");
}

}  // namespace

extern "C" cham_t_start_tool_result_t* cham_t_start_tool(unsigned) {
  static cham_t_start_tool_result_t result = {initialize, nullptr, {0}};
  return &result;
}

int main(int argc, char** argv) {
  poise::init_mpi(argc, argv, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  for (const Mode which : {Mode::numbers, Mode::tasks, Mode::data, Mode::replicas}) run(which);
  int all_wrong = wrong;
  MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (my_rank == 0) std::puts(all_wrong ? "something is WRONG" : "all is right");
  poise::check_leaks();
  MPI_Finalize();
  return all_wrong ? 1 : 0;
}
