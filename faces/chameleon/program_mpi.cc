// SPDX-License-Identifier: BSD-3-Clause
// A program as users of CHAMELEON write it: an OpenMP team creates tasks, waits, and reads
// annotations back. A tool is linked into the program. Prints failed checks and exits with status
// 1, or prints "all is right".
#include <atomic>
#include <chameleon.h>
#include <chameleon_pre_init.h>
#include <chameleon_tools.h>
#include <chrono>
#include <cstdio>
#include <mpi.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/leaks.h"

namespace {

constexpr int kNaps = 40;
std::atomic<int> wrong{0}, callbacks{0}, created{0}, begun{0}, ended{0}, synced{0};

void check(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "does not hold: %s\n", what);
}

// Integers arrive in slots of the size of a pointer. The upper half of a slot may be undefined.
void multiply(double* a, double* b, double* c, int n, int times) {
  for (int i = 0; i < n * n; ++i) c[i] = 0;
  for (int t = 0; t < times; ++t)
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j] / times;
}

// Tasks without outputs increment a counter of the rank on which they run.
std::atomic<int> ran_nothing{0}, ran_null{0}, ran_empty{0}, ran_failing{0};
void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
void nothing() { pause(), ++ran_nothing; }
void null_pointer(double* x) {
  pause(), ++ran_null;
  if (x) throw std::runtime_error("the task got a non-null pointer for a null argument");
}
void empty(double* x) {
  pause(), ++ran_empty;
  if (!x) throw std::runtime_error("the task got a null pointer for an argument of 0 bytes");
}
void fails(int) {
  pause(), ++ran_failing;
  throw std::runtime_error("this task fails on purpose");
}
void finished(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }
void refuses_to_hear(void*) {
  throw std::runtime_error(
      "this callback throws on purpose; the runtime must ignore this exception");
}
void many(char* a0, char* a1, char* a2, char* a3, char* a4, char* a5, char* a6, char* a7,
          char* sum) {
  *sum = *a0 + *a1 + *a2 + *a3 + *a4 + *a5 + *a6 + *a7;
}

cham_migratable_task_t* make(void* code, std::vector<chameleon_map_data_entry_t> arguments) {
  return chameleon_create_task(code, arguments.size(), arguments.data());
}

constexpr int kTo = CHAM_OMP_TGT_MAPTYPE_TO, kFrom = CHAM_OMP_TGT_MAPTYPE_FROM;
constexpr int kLiteral = CHAM_OMP_TGT_MAPTYPE_LITERAL;

void add_product(double* a, double* b, double* c, int n, int index) {
  const std::size_t bytes = sizeof(double) * (n * n);
  void* const size = reinterpret_cast<void*>(0x7777777700000000 + n);  // the upper half is garbage
  auto* task =
      make(reinterpret_cast<void*>(multiply),
           {chameleon_map_data_entry_create(a, bytes, kTo),
            chameleon_map_data_entry_create(b, bytes, kTo),
            chameleon_map_data_entry_create(c, bytes, kFrom),
            chameleon_map_data_entry_create(size, sizeof(void*), kTo | kLiteral),
            chameleon_map_data_entry_create(reinterpret_cast<void*>(2), sizeof(void*), kLiteral)});
  chameleon_annotations_t* annotations = chameleon_create_annotation_container();
  chameleon_set_annotation_int(annotations, "index", index);
  chameleon_set_annotation_int(annotations, "index", -1);  // has no effect: the first value stays
  chameleon_set_annotation_string(annotations, "name", "product");
  chameleon_set_task_annotations(task, annotations);
  chameleon_set_callback_task_finish(task, finished, &callbacks);
  const int id = chameleon_get_task_id(task);
  check(chameleon_add_task(task) == CHAM_SUCCESS, "a task is added");
  check(chameleon_get_last_local_task_id_added() == id, "the id of the last added task is known");
  int back = 0;
  double none = 0;
  char* name = nullptr;
  chameleon_annotations_t* there = chameleon_get_task_annotations(id);
  check(there && chameleon_get_annotation_int(there, "index", &back) && back == index,
        "annotations");
  check(there && chameleon_get_annotation_string(there, "name", &name) && name[0] == 'p',
        "strings");
  check(there && !chameleon_get_annotation_double(there, "none", &none), "unknown annotations");
}

void products(int num_tasks, int n) {
  const std::size_t size = n * n;
  std::vector<std::vector<double>> a(num_tasks), b(a), c(a);
  for (int iteration = 0; iteration < 2; ++iteration) {
    for (std::size_t t = 0; t < a.size(); ++t)
      a[t].assign(size, 1), b[t].assign(size, 2), c[t].assign(size, -1);
#pragma omp parallel num_threads(2)
    {
#pragma omp for nowait
      for (int t = 0; t < num_tasks; ++t) {
        const std::size_t i = t;
        add_product(a[i].data(), b[i].data(), c[i].data(), n, t);
      }
      check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "the wait succeeds");
    }
    for (const auto& matrix : c)
      for (const double value : matrix) check(value == 2.0 * n, "a product is right");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(callbacks == 2 * num_tasks, "each task is called back once");
}

/// Creates many tasks on the first rank, all with the same `arguments`. Checks that some of them
/// run on other ranks. Tries again if none does, because on a busy machine the other ranks may
/// start to wait too late to get tasks.
void lend(int rank, void* code, std::vector<chameleon_map_data_entry_t> arguments,
          std::atomic<int>& ran, const char* what) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool some_elsewhere = size == 1;
  for (int attempt = 0; attempt == 0 || (attempt < 20 && !some_elsewhere); ++attempt) {
    const int before = ran;
    for (int t = 0; t < kNaps && rank == 0; ++t) chameleon_add_task(make(code, arguments));
    const int result = chameleon_distributed_taskwait(0);
    check(result == (rank == 0 && &ran == &ran_failing ? CHAM_FAILURE : CHAM_SUCCESS), what);
    int counts[2] = {ran - before, rank == 0 ? 0 : ran - before};
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(counts[0] == kNaps, what);
    some_elsewhere = some_elsewhere || counts[1] > 0;
  }
  check(some_elsewhere, what);
}

void lends_what_is_special(int rank) {
  double value = 0;
  lend(rank, reinterpret_cast<void*>(nothing), {}, ran_nothing, "tasks without arguments");
  lend(rank, reinterpret_cast<void*>(null_pointer),
       {chameleon_map_data_entry_create(nullptr, 8, kTo)}, ran_null, "null arguments");
  lend(rank, reinterpret_cast<void*>(empty),
       {chameleon_map_data_entry_create(&value, 0, kTo | kFrom)}, ran_empty, "empty arguments");
  lend(rank, reinterpret_cast<void*>(fails), {{nullptr, 8, kLiteral}}, ran_failing,
       "an exception returns to its owner rank");
}

void many_arguments() {
  std::vector<char> numbers(301, 1);
  std::vector<chameleon_map_data_entry_t> arguments;
  for (char& number : numbers)
    arguments.push_back(chameleon_map_data_entry_create(&number, 1, kTo));
  arguments[8].type = kFrom;
  chameleon_add_task(make(reinterpret_cast<void*>(many), arguments));
  check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "a task with many arguments runs");
  check(numbers[8] == 8, "all arguments arrive in order");
  arguments.resize(2000);
  check(!make(reinterpret_cast<void*>(many), arguments), "too many arguments are refused");
}

void waits(void* id) {
  check(chameleon_distributed_taskwait(0) == CHAM_FAILURE, "a wait in a callback is refused");
  check(chameleon_get_task_annotations(*static_cast<int*>(id)),
        "the task still exists in its callback");
}

// Tests a wait in a callback of a finished task. The wait must be refused, and must not drop the
// finished tasks, because the callback still uses one of them.
void waits_in_a_callback() {
  std::atomic<int> calls{0};
  auto* task = make(reinterpret_cast<void*>(nothing), {});
  int id = chameleon_get_task_id(task);
  chameleon_set_task_annotations(task, chameleon_create_annotation_container());
  chameleon_set_callback_task_finish(task, waits, &id);
  chameleon_set_callback_task_finish(task, finished, &calls);
  check(chameleon_add_task(task) == CHAM_SUCCESS, "a task without arguments is added");
  check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "the wait succeeds");
  check(calls == 1, "all callbacks are called");
}

void corners(int rank) {
  char numbers[9] = {1, 2, 3, 4, 5, 6, 7, 8, 0};
  std::vector<chameleon_map_data_entry_t> arguments;
  for (int i = 0; i < 9; ++i)
    arguments.push_back(chameleon_map_data_entry_create(&numbers[i], 1, i < 8 ? kTo : kFrom));
  auto* task = make(reinterpret_cast<void*>(many), arguments);
  const int id = chameleon_get_task_id(task);
  std::atomic<int> calls{0};
  int nowhere[] = {-5, 1000000};
  chameleon_set_callback_task_finish(task, finished, &calls);
  chameleon_set_callback_task_finish(task, refuses_to_hear, nullptr);
  chameleon_set_callback_task_finish(task, nullptr, nullptr);
  chameleon_set_task_replication_info(task, -1, nowhere);
  chameleon_set_task_replication_info(task, 2, nullptr);
  chameleon_set_task_replication_info(task, 2, nowhere);
  check(chameleon_add_task(task) == CHAM_SUCCESS,
        "replication to ranks that do not exist is ignored");
  check(chameleon_add_task(task) == CHAM_FAILURE, "adding a task a second time fails");
  check(chameleon_add_task(nullptr) == CHAM_FAILURE, "adding a null task fails");
  check(chameleon_get_task_id(nullptr) == -1, "a null task has the id -1");
  check(!chameleon_create_task(nullptr, 0, nullptr), "a task without a function is refused");
  check(!chameleon_create_task(reinterpret_cast<void*>(nothing), 1, nullptr),
        "null instead of arguments is refused");
  check(!chameleon_create_task(reinterpret_cast<void*>(nothing), -1, nullptr),
        "a negative number of arguments is refused");
  check(!chameleon_local_task_has_finished(id), "a task has not finished before the wait");
  check(chameleon_distributed_taskwait(0) == CHAM_FAILURE, "the wait fails if a callback throws");
  check(chameleon_local_task_has_finished(id), "a task has finished after the wait");
  check(numbers[8] == 36, "a task gets nine arguments");
  check(calls == 1, "the callback of a task is called once even if the task was added twice");
  many_arguments();
  waits_in_a_callback();
  lends_what_is_special(rank);
}

cham_t_function_lookup_t look_up;

int initialize(cham_t_function_lookup_t lookup, cham_t_data_t*) {
  look_up = lookup;
  const auto set = reinterpret_cast<cham_t_set_callback_t>(lookup("cham_t_set_callback"));
  const auto on = [&](cham_t_callback_types_t which, auto function) {
    return set(which, reinterpret_cast<cham_t_callback_t>(function));
  };
  cham_t_callback_task_create_t create = [](cham_migratable_task_t*, cham_t_data_t*, const void*) {
    ++created;
  };
  cham_t_callback_task_schedule_t schedule =
      [](cham_migratable_task_t*, cham_t_task_flag_t, cham_t_data_t*,
         cham_t_task_schedule_type_t what, cham_migratable_task_t*, cham_t_task_flag_t,
         cham_t_data_t*) { ++(what == cham_t_task_end ? ended : begun); };
  cham_t_callback_sync_region_t sync = [](cham_t_sync_region_type_t, cham_t_sync_region_status_t,
                                          cham_t_data_t*, const void*) { ++synced; };
  check(on(cham_t_callback_task_create, create) == cham_t_set_always, "a callback is accepted");
  on(cham_t_callback_task_schedule, schedule);
  on(cham_t_callback_sync_region, sync);
  return 1;
}

}  // namespace

extern "C" cham_t_start_tool_result_t* cham_t_start_tool(unsigned version) {
  static cham_t_start_tool_result_t result = {initialize, nullptr, {0}};
  return version == CHAMELEON_VERSION ? &result : nullptr;
}

int main(int argc, char** argv) {
  check(chameleon_distributed_taskwait(0) == CHAM_FAILURE, "a wait before chameleon_init fails");
  check(chameleon_finalize() == CHAM_FAILURE, "chameleon_finalize before chameleon_init fails");
  int rank = 0;
  poise::init_mpi(argc, argv, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 2; ++round) {
    chameleon_pre_init();
#pragma omp parallel num_threads(2)
    check(chameleon_thread_init() == CHAM_SUCCESS, "the thread is initialized");
    chameleon_determine_base_addresses(reinterpret_cast<void*>(nothing));
    chameleon_post_init_serial();
    callbacks = 0;
    products(rank == 0 ? 120 : 0, 20);
    corners(rank);
    const auto info = reinterpret_cast<cham_t_get_rank_info_t>(look_up("cham_t_get_rank_info"))();
    check(info->comm_rank == rank, "the tool knows the rank");
    check(look_up("cham_t_no_such_thing") == nullptr, "unknown names are not found");
#pragma omp parallel num_threads(2)
    chameleon_thread_finalize();
    check(chameleon_finalize() == CHAM_SUCCESS, "chameleon_finalize succeeds");
  }
  int sums[4] = {wrong, created, begun, ended};
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    check(sums[1] == 2 * (240 + 3 * size + 4 * kNaps), "the tool saw every task created");
    check(sums[2] == sums[1] && sums[3] == sums[1], "every task runs, even if some throw");
    std::puts(sums[0] + wrong ? "something is WRONG" : "all is right");
  }
  poise::check_leaks();
  MPI_Finalize();
  return sums[0] || wrong ? 1 : 0;
}
