// SPDX-License-Identifier: BSD-3-Clause
// A program whose tasks are target regions, compiled by an unchanged clang. Prints failed checks
// and exits with status 1, or prints "all is right" and the number of regions that ran on a
// rank other than their own.
#include <chameleon.h>
#include <cstdio>
#include <mpi.h>
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

/// Multiplies n x n matrices in target regions, which read two mapped matrices and a number that is
/// passed by value, and write a mapped matrix. Returns the number of products that ran on other
/// ranks.
int products(int num_tasks, int n) {
  const auto cells = static_cast<std::size_t>(n * n);
  std::vector<std::vector<double>> a(num_tasks, std::vector<double>(cells, 1)), b(a), c(a);
  std::vector<int> process(num_tasks);
  for (int t = 0; t < num_tasks; ++t) {
    const double *x = a[t].data(), *y = b[t].data();
    double* z = c[t].data();
    int* ran_in = &process[t];
    const double factor = t;
#pragma omp target map(to : x[0 : n * n], y[0 : n * n]) map(from : z[0 : n * n], ran_in[0 : 1]) \
    device(1002)
    {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int k = 0; k < n; ++k) sum += x[i * n + k] * y[k * n + j];
          z[i * n + j] = factor * sum;
        }
      usleep(200);
      *ran_in = getpid();
    }
  }
  wait();
  int elsewhere = 0;
  for (int t = 0; t < num_tasks; ++t) {
    for (const double value : c[t]) check(value == t * n, "a product is right");
    elsewhere += process[t] != getpid();
  }
  return elsewhere;
}

struct Pair {
  int first, second;
};

/// Tests array sections, numbers and structures that are passed by value, and mapped memory of
/// which a region gets only the address.
void forms(int num_tasks) {
  std::vector<int> numbers(100 * num_tasks, 1), sums(num_tasks, -1), counters(3, 0);
  int* all = numbers.data();
  int* sum = sums.data();
  for (int t = 0; t < num_tasks; ++t) {
    const Pair pair{t, 2 * t};  // no longer exists when the region runs, so it must be copied
    const int begin = 100 * t;
#pragma omp target map(to : all[begin : 100]) map(tofrom : sum[t : 1]) firstprivate(pair) nowait
    {
      sum[t] = pair.first + pair.second;
      for (int i = begin; i < begin + 100; ++i) sum[t] += all[i];
    }
  }
  int* shared = counters.data();
#pragma omp target enter data map(to : shared[0 : 3])
  for (int t = 0; t < num_tasks; ++t) {
#pragma omp target nowait  // regions run in order, because all of them write this memory
    shared[1] = 2 * shared[1] + 1;
  }
  wait();
#pragma omp target exit data map(from : shared[0 : 3])
  for (int t = 0; t < num_tasks; ++t) check(sums[t] == 3 * t + 100, "a sum is right");
  check(shared[1] == (1 << num_tasks) - 1, "regions keep their order");
}

/// Tests memory that `target data` has mapped: a region must see what earlier regions wrote, even
/// if its own `map` clause would not copy the data.
void held(int num_tasks) {
  std::vector<int> numbers(100, 1);
  int* all = numbers.data();
#pragma omp target data map(tofrom : all[0 : 100])
  {
    for (int t = 0; t < num_tasks; ++t) {
#pragma omp target map(alloc : all[0 : 100]) device(1002) nowait
      all[7] += 1;
#pragma omp target map(from : all[0 : 100]) device(1002) nowait
      all[8] += 1;
    }
    wait();
  }
  for (int i = 0; i < 100; ++i)
    check(all[i] == (i == 7 || i == 8 ? num_tasks + 1 : 1), "held memory keeps what is written");
}

struct Holder {
  int count;
  int* numbers;
};

/// Tests regions that other ranks cannot run: they must run on their own rank, in order.
void at_home(int num_tasks) {
  int numbers[3] = {1, 1, 1}, ran = 0;
  int* at = &ran;
#pragma omp target is_device_ptr(at) device(1002)
  *at = 1;
  check(ran == 0, "a region waits to be run");
  wait();
  check(ran == 1, "an address");

  Holder holder{3, numbers};
  for (int t = 0; t < num_tasks; ++t) {
#pragma omp target map(tofrom : numbers) device(1002) nowait
    for (int& number : numbers) number += 1;
#pragma omp target map(tofrom : holder, holder.numbers[0 : 3]) nowait
    for (int i = 0; i < holder.count; ++i) holder.numbers[i] *= 2;
#pragma omp target is_device_ptr(at) device(1002) nowait
    *at += 1;
  }
  wait();
  int expected = 1;
  for (int t = 0; t < num_tasks; ++t) expected = 2 * (expected + 1);
  check(numbers[0] == expected && numbers[2] == expected, "a structure's pointer");
  check(ran == num_tasks + 1, "an address that many regions share");

#pragma omp target enter data map(to : holder, holder.numbers[0 : 3])
  for (int t = 0; t < num_tasks; ++t) {
#pragma omp target map(to : holder) device(1002) nowait
    holder.numbers[1] += 1;
  }
  wait();
#pragma omp target exit data map(from : holder.numbers[0 : 3]) map(release : holder)
  check(numbers[1] == expected + num_tasks, "a structure held with what it points to");
}

/// Regions without nowait, and regions before the library is initialized, must run immediately.
void at_once() {
  int x = 1;
#pragma omp target map(tofrom : x)
  x += 1;
  check(x == 2, "a region without nowait is over when it is left");
}

}  // namespace

int main(int argc, char** argv) {
  at_once();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(chameleon_init() == CHAM_SUCCESS, "chameleon_init succeeds");
  at_once();
  int counts[2] = {};
  // Other ranks may be too late to run a region in one short round, but not in all 50 rounds.
  for (int round = 0; round < 50 && counts[0] == 0 && (round == 0 || size > 1); ++round) {
    counts[0] = products(rank == 0 ? 200 : 0, 20);
    MPI_Bcast(counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  check(size == 1 || counts[0] > 0, "regions run on other ranks");
  forms(rank == 0 ? 12 : 0);
  held(rank == 0 ? 12 : 0);
  at_home(rank == 0 ? 12 : 0);
  check(chameleon_finalize() == CHAM_SUCCESS, "chameleon_finalize succeeds");
  counts[1] = wrong;
  MPI_Allreduce(MPI_IN_PLACE, &counts[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && counts[1] == 0)
    std::printf("all is right; %d of 200 regions ran on another rank\n", counts[0]);
  MPI_Finalize();
  return counts[1] ? 1 : 0;
}
