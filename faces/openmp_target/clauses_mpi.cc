// SPDX-License-Identifier: BSD-3-Clause
// Tests the clauses of target regions. clauses_mpi [NAME] runs one test, or all. The regions belong
// to rank 0 and are compiled by an unchanged clang. Prints failed checks and exits with status 1,
// or prints "all is right".
#include <chameleon.h>
#include <cstdio>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

int wrong = 0, rank = 0, size = 1;

void check(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "rank %d: does not hold: %s\n", rank, what);
}

void wait() { check(chameleon_distributed_taskwait(0) == CHAM_SUCCESS, "the wait succeeds"); }

constexpr int kRegions = 40;

/// For each region, the process that ran it and the result.
struct Outcome {
  std::vector<int> process = std::vector<int>(kRegions), made = std::vector<int>(kRegions, -1);
  int elsewhere() const {
    int count = 0;
    for (const int of_one : process) count += of_one != getpid();
    return count;
  }
};

/// Runs regions of rank 0 repeatedly until another rank has run one, and checks the result of each.
template <typename Meet, typename Expected>
void travels(const char* what, Meet meet, Expected expected) {
  int elsewhere = 0;
  for (int round = 0; round < 50 && elsewhere == 0 && (round == 0 || size > 1); ++round) {
    Outcome outcome;
    for (int t = 0; rank == 0 && t < kRegions; ++t) meet(t, &outcome.process[t], &outcome.made[t]);
    wait();
    for (int t = 0; rank == 0 && t < kRegions; ++t) check(outcome.made[t] == expected(t), what);
    elsewhere = rank == 0 ? outcome.elsewhere() : 0;
    MPI_Bcast(&elsewhere, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  check(size == 1 || elsewhere > 0, (std::string(what) + " runs on another rank").c_str());
}

void teams() {
  const auto meet = [](int t, int* ran_in, int* made) {
#pragma omp target teams num_teams(1) map(from : ran_in[0 : 1], made[0 : 1]) device(1002)
    {
      usleep(500);
      ran_in[0] = getpid();
      made[0] = 3 * t;
    }
  };
  travels("a region of teams", meet, [](int t) { return 3 * t; });
}

void shared_loops() {
  const auto meet = [](int t, int* ran_in, int* made) {
    int cells[64];
#pragma omp target map(from : ran_in[0 : 1], made[0 : 1]) private(cells) device(1002)
    {
#pragma omp parallel for num_threads(2)
      for (int i = 0; i < 64; ++i) cells[i] = i + t;
      usleep(500);
      made[0] = 0;
      for (const int cell : cells) made[0] += cell;
      ran_in[0] = getpid();
    }
  };
  travels("a parallel loop with private data", meet, [](int t) { return 64 * t + 63 * 32; });
}

void reductions() {
  const auto meet = [](int t, int* ran_in, int* made) {
    int& sum = *made = 5;
    const int twice = 2 * t;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) \
    map(from : ran_in[0 : 1]) thread_limit(2) device(1002)
    for (int i = 0; i < 20; ++i) {
      usleep(20);
      sum += twice;
      ran_in[0] = getpid();
    }
  };
  travels("a reduction", meet, [](int t) { return 5 + 40 * t; });
}

void nowait_teams() {
  const auto meet = [](int t, int* ran_in, int* made) {
    int copy[3] = {t, t + 1, t + 2};
#pragma omp target teams num_teams(1) map(from : ran_in[0 : 1], made[0 : 1]) firstprivate(copy) \
    device(0) nowait
    {
      usleep(500);
      ran_in[0] = getpid();
      made[0] = copy[0] + copy[1] + copy[2];
    }
    copy[1] = 1000;
  };
  travels("teams of an own copy, with nowait", meet, [](int t) { return 3 * t + 3; });
}

void updates() {
  std::vector<int> numbers(50, 1);
  int* all = numbers.data();
#pragma omp target data map(tofrom : all[0 : 50])
  {
#pragma omp target device(1002)
    for (int i = 0; i < 50; ++i) all[i] += i;
    wait();
#pragma omp target update from(all[0 : 50])
    check(all[49] == 50, "an update brings what a region wrote");
    all[49] = 7;
#pragma omp target update to(all[0 : 50])
#pragma omp target device(1002)
    all[49] *= 2;
    wait();
  }
  check(all[49] == 14, "an update takes what the program wrote");
}

struct Holder {
  int count;
  int* numbers;
};
#pragma omp declare mapper(deep : Holder h) map(h, h.numbers[0 : h.count])

void mappers() {
  int numbers[4] = {1, 2, 3, 4};
  Holder holder{4, numbers};
#pragma omp target map(tofrom : numbers[3 : 1]) device(1002)
  numbers[3] += 1;
#pragma omp target map(mapper(deep), tofrom : holder) device(1002)
  for (int i = 0; i < holder.count; ++i) holder.numbers[i] *= 2;
#pragma omp target map(tofrom : numbers[0 : 1]) device(1002)
  numbers[0] += 1;
  wait();
  check(numbers[0] == 3 && numbers[3] == 10, "a region with a mapper keeps its place");

#pragma omp target enter data map(mapper(deep), to : holder)
  for (int t = 0; t < kRegions; ++t) {
#pragma omp target map(to : holder) device(1002)
    {
      usleep(100);
      holder.numbers[2] += 1;
    }
  }
  wait();
#pragma omp target exit data map(mapper(deep), from : holder)
  check(numbers[2] == 6 + kRegions, "what a mapper held is reached");
}

struct Pointing {
  double before = 0;
  int* numbers;
  int by[2] = {1, 2};
  void add() {
#pragma omp target is_device_ptr(numbers) device(1002)
    {
      usleep(100);
      numbers[0] += 1;
    }
  }
  void add_by() {
#pragma omp target is_device_ptr(numbers) device(1002)
    numbers[0] += by[1];
  }
  void add_without_clause() {
#pragma omp target device(1002)
    numbers[0] += 3;
  }
};

void pointers_of_members() {
  int number = 0;
  Pointing pointing{0, &number};
  for (int t = 0; t < kRegions; ++t) {
    pointing.add();
    pointing.add_by();
    pointing.add_without_clause();
  }
  wait();
  check(number == 6 * kRegions, "an address that a structure holds is used on its own rank");
}

/// Checks that an eight-byte value is never mistaken for an address if no clause names it.
void numbers_like_addresses() {
  std::vector<std::uintptr_t> number(1);
  number[0] = reinterpret_cast<std::uintptr_t>(number.data());
  const auto expected = [&](int t) { return static_cast<int>(number[0] % 1000) + t; };
  const auto meet = [&](int t, int* ran_in, int* made) {
    const std::uintptr_t like = number[0];
#pragma omp target map(from : ran_in[0 : 1], made[0 : 1]) device(1002)
    {
      usleep(500);
      ran_in[0] = getpid();
      made[0] = static_cast<int>(like % 1000) + t;
    }
  };
  travels("a number like an address", meet, expected);
}

/// Tests that regions keep their order even if it is unknown how much memory they access.
void unknown_extents() {
  std::vector<int> numbers(1000, 0);
  int *all = numbers.data(), expected = 0;
  for (int t = 0; t < kRegions; ++t) {
#pragma omp target map(tofrom : all[500 : 1]) device(1002)
    {
      usleep(100);
      all[500] += 1;
    }
#pragma omp target is_device_ptr(all) device(1002)
    all[500] = all[500] * 2 % 1009;
#pragma omp target map(tofrom : all[ : 0]) device(1002)
    all[500] = (all[500] + 3) * 5 % 1013;
    expected = ((expected + 1) * 2 % 1009 + 3) * 5 % 1013;
  }
  wait();
  check(all[500] == expected, "a region that was given an address keeps its place");
}

/// Tests that regions keep their order if they change the same numbers through a pointer in a
/// structure that `target enter data` has mapped. Each rank runs regions on two threads.
void reached_through_held() {
  int numbers[3] = {};
  Holder holder{3, numbers};
#pragma omp target enter data map(to : holder, holder.numbers[0 : 3])
  for (int t = 0; t < kRegions; ++t) {
#pragma omp target map(to : holder) device(1002)
    {
      const int before = holder.numbers[1];
      usleep(200);
      holder.numbers[1] = before + 1;
    }
  }
#pragma omp parallel num_threads(2)
  chameleon_distributed_taskwait(0);
#pragma omp target exit data map(from : holder.numbers[0 : 3]) map(release : holder)
  check(numbers[1] == kRegions, "regions that reach the same data run one after another");
}

void devices() {
  int x = 0;
#pragma omp target map(tofrom : x) device(CHAMELEON_HOST) nowait
  x += 1;
  check(x == 1, "a region for the host is run where it is met");
#pragma omp target map(tofrom : x) device(omp_get_initial_device()) nowait
  x += 1;
  check(x == 2, "a region for the initial device is run where it is met");
#pragma omp target map(tofrom : x) nowait
  x += 1;
  check(x == 2, "a region without a device waits to be run");
  for (int device = 0; device < omp_get_num_devices(); ++device) {
#pragma omp target map(tofrom : x) device(device) nowait
    x += 1;
  }
  check(x == 2 && omp_get_num_devices() == 1, "there is one device, and its regions wait");
  wait();
  check(x == 4, "regions for the device are run");
}

void presence() {
  int cells[10] = {};
#pragma omp target data map(tofrom : cells)
  {
    check(omp_target_is_present(cells, 0), "what is held is present");
#pragma omp target map(present, tofrom : cells) device(1002)
    cells[9] = 1;
    wait();
  }
  check(cells[9] == 1, "a region finds what is present");
  check(!omp_target_is_present(cells, 0), "what is no longer held is not");
}

// Each of the following functions tests a clause. The clause must end the program, or do nothing
// but print a message.

void absence() {
  int cells[10] = {};
#pragma omp target map(present, tofrom : cells) device(1002)
  cells[9] = 1;
  wait();
}

void limit() {
  int x = 0;
#if __clang_major__ == 16  // older clangs lack thread_limit; newer ones need a newer libomp
#pragma omp target map(tofrom : x) thread_limit(2) device(1002)
#endif
  x += 1;
  wait();
  check(x == 1, "a region with a limit of threads is run");
}

/// Tests OMP_TARGET_OFFLOAD=disabled.
void disabled() {
  int x = 0;
#pragma omp target map(tofrom : x) device(1002)
  x += 1;
  check(x == 1 && omp_get_num_devices() == 0, "the host is the only device");
}

struct Named {
  const char* name;
  void (*function)();
  bool in_all;
};
const Named kAll[] = {{"teams", teams, true},
                      {"shared_loops", shared_loops, true},
                      {"reductions", reductions, true},
                      {"nowait_teams", nowait_teams, true},
                      {"updates", updates, true},
                      {"mappers", mappers, true},
                      {"pointers_of_members", pointers_of_members, true},
                      {"numbers_like_addresses", numbers_like_addresses, true},
                      {"unknown_extents", unknown_extents, true},
                      {"reached_through_held", reached_through_held, true},
                      {"devices", devices, true},
                      {"presence", presence, true},
                      {"absence", absence, false},
                      {"limit", limit, false},
                      {"disabled", disabled, false}};

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(chameleon_init() == CHAM_SUCCESS, "chameleon_init succeeds");
  for (const Named& one : kAll)
    if (argc > 1 ? std::string(argv[1]) == one.name : one.in_all) one.function();
  check(chameleon_finalize() == CHAM_SUCCESS, "chameleon_finalize succeeds");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong == 0) std::printf("all is right\n");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
