// SPDX-License-Identifier: BSD-3-Clause
// Dense matrix products as OpenMP target regions, CHAMELEON's preferred interface; compiled with an
// unmodified clang. Usage: matmul_target SIZE TASKS_OF_RANK_0 TASKS_OF_RANK_1 …
#include <algorithm>
#include <chameleon.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <vector>

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Matrix a is twice the identity matrix, so the product c must be 2 b.
struct Product {
  std::vector<double> a, b, c;
  explicit Product(int n) : a(static_cast<std::size_t>(n * n)), b(a), c(a.size(), -1) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = i % static_cast<std::size_t>(n + 1) == 0 ? 2 : 0;
      b[i] = static_cast<double>(i);
    }
  }
};

void multiply(Product& product, int n) {
  const double *a = product.a.data(), *b = product.b.data();
  double* c = product.c.data();
  const int cells = n * n;
#pragma omp target map(to : a[0 : cells], b[0 : cells]) map(from : c[0 : cells]) \
    device(CHAMELEON_MPI)
  {
    for (int i = 0; i < cells; ++i) c[i] = 0;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

int wrong_cells(const std::vector<Product>& products) {
  int wrong = 0;
  for (const Product& product : products)
    for (std::size_t i = 0; i < product.c.size(); ++i) wrong += product.c[i] != 2 * product.b[i];
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int n = argc > 1 ? std::atoi(argv[1]) : 50;
  const int num_tasks = argc > 2 + rank ? std::atoi(argv[2 + rank]) : 0;
  if (n < 1 || n > 10000 || num_tasks < 0 || chameleon_init() != CHAM_SUCCESS) {
    if (rank == 0) std::fprintf(stderr, "usage: matmul_target SIZE TASKS_OF_RANK_0 …\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<Product> products(static_cast<std::size_t>(num_tasks), Product(n));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin_s = now_s();
  for (Product& product : products) multiply(product, n);
  chameleon_distributed_taskwait(0);
  const double seconds = now_s() - begin_s;
  int wrong = wrong_cells(products);
  chameleon_finalize();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%.4f s; %s\n", seconds, wrong ? "products are WRONG" : "all products are right");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
