// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices as tasks: the first rank has all of them, and the other ranks run some.
#include <cstdio>
#include <mpi.h>
#include <vector>

#include "runtimes/tasks/context.h"

namespace tasks = poise::tasks;

constexpr int kProducts = 200, kRows = 100;

struct Product {
  std::vector<double> a, b, c;
};

const auto multiply = tasks::function(
    "multiply",
    [](std::span<const double> a, std::span<const double> b, std::span<double> c, int n) {
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
          for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    });

int main(int argc, char** argv) {
  int thread_level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
  {
    tasks::Context context(MPI_COMM_WORLD, {.threads = 1});  // collective
    const std::vector<double> ones(kRows * kRows, 1), zeros(kRows * kRows);
    std::vector<Product> products(context.rank() == 0 ? kProducts : 0, {ones, ones, zeros});
    for (auto& p : products)
      context.submit(multiply, tasks::in(p.a), tasks::in(p.b), tasks::inout(p.c), kRows);
    context.wait();  // collective
    int wrong = 0;
    for (const auto& p : products) wrong += p.c.back() != kRows;
    if (context.rank() == 0) std::printf("%d products, %d of them wrong\n", kProducts, wrong);
  }
  MPI_Finalize();
}
