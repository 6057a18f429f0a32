// SPDX-License-Identifier: BSD-3-Clause
// Dense matrix products as tasks, with a different number of tasks on each rank.
//
// The benchmark of Klinkenberg et al. 2020, section 4: `matmul --size 150 --tasks 200,0` gives all
// tasks to the first of two ranks. Every product is checked.
#include <chrono>
#include <iostream>
#include <mpi.h>
#include <vector>

#include "miniapps/arguments.h"
#include "miniapps/tasks_program.h"
#include "runtimes/tasks/context.h"

#include "poise/base/random.h"

namespace {

namespace tasks = poise::tasks;

// The function is not inlined, so that the task and the OpenMP loop run the same machine code.
[[gnu::noinline]] void multiply(std::span<const double> a, std::span<const double> b,
                                std::span<double> c, int n) {
  const std::size_t size = n;
  std::fill(c.begin(), c.end(), 0.0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < size; ++k) {
      const double factor = a[i * size + k];  // a copy, because GCC must assume that c overlaps a
      for (std::size_t j = 0; j < size; ++j) c[i * size + j] += factor * b[k * size + j];
    }
}
const auto kMultiply = tasks::function("multiply", multiply);

struct Product {
  std::vector<double> a, b, c;
  Product(int n, int number) : a(n * n), b(a.size()), c(a.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = (i + number) % 7;
      b[i] = i % 5 - 2.0;
    }
  }
  /// Checks c x = a (b x) for x = (1, 2, 3, ...), exactly, as all numbers are small integers.
  bool right(int n) const {
    const std::size_t size = n;
    const auto times = [&](const std::vector<double>& m, const std::vector<double>& x) {
      std::vector<double> y(size);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) y[i] += m[i * size + j] * x[j];
      return y;
    };
    std::vector<double> x(size);
    for (std::size_t i = 0; i < size; ++i) x[i] = i + 1;
    return times(c, x) == times(a, times(b, x));
  }
};

struct Wanted {
  int size = 100, steps = 3;
  // Number of tasks of each rank. The last entry applies to all further ranks as well.
  std::vector<int> tasks = {100};
  unsigned threads = 1;
  std::string settings;
  bool summary = false, openmp = false, versus_openmp = false, random = false;
};

/// Computes all products as tasks, which ranks may offload to each other. With `openmp`, for
/// comparison, each rank computes its own products with OpenMP threads instead.
void compute(tasks::Context& context, const Wanted& wanted, bool openmp,
             std::span<Product> products) {
  if (!openmp) {
    for (Product& p : products)
      context.submit(kMultiply, tasks::in(p.a), tasks::in(p.b), tasks::out(p.c), wanted.size);
    context.wait();
    return;
  }
  const int size = wanted.size;
#pragma omp parallel num_threads(wanted.threads)
#pragma omp single
  for (Product& p : products) {
#pragma omp task firstprivate(size) shared(p)
    multiply(p.a, p.b, p.c, size);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Computes all products and returns the time in seconds. Adds the number of wrong products to
/// `wrong`. Fills the products with -1 afterwards, so that a later step must compute them again.
double timed(tasks::Context& context, const Wanted& wanted, bool openmp,
             std::span<Product> products, int& wrong) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  compute(context, wanted, openmp, products);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (Product& p : products) {
    wrong += !p.right(wanted.size);
    std::fill(p.c.begin(), p.c.end(), -1.0);
  }
  return took.count();
}

/// The products that this rank computes in a step: all of them or, with --random, a random number
/// of them, beginning with the first.
std::span<Product> products_in(int step, int rank, const Wanted& wanted,
                               std::vector<Product>& products) {
  if (!wanted.random) return products;
  const std::uint64_t drawn = poise::mix((std::uint64_t{1} * rank << 32) + step);
  return std::span(products).first(drawn % (products.size() + 1));
}

int run(const Wanted& wanted) {
  tasks::Context context(MPI_COMM_WORLD, {wanted.threads, wanted.settings});
  const std::size_t mine = std::min<std::size_t>(context.rank(), wanted.tasks.size() - 1);
  std::vector<Product> products;
  for (int t = 0; t < wanted.tasks[mine]; ++t) products.emplace_back(wanted.size, t);
  int wrong = 0;
  double all_s = 0;
  for (int step = 0; step < wanted.steps; ++step) {
    const std::span<Product> now = products_in(step, context.rank(), wanted, products);
    const auto by_openmp = [&] { return timed(context, wanted, true, now, wrong); };
    const bool openmp_first = wanted.versus_openmp && step % 2 == 1;
    double openmp_s = openmp_first ? by_openmp() : 0;
    const double took_s = timed(context, wanted, wanted.openmp, now, wrong);
    all_s += took_s;
    if (wanted.versus_openmp && !openmp_first) openmp_s = by_openmp();
    if (context.rank() > 0) continue;
    std::cout << "step " << step << ": " << took_s << " s";
    if (wanted.versus_openmp) std::cout << ", by OpenMP " << openmp_s << " s";
    std::cout << '\n';
  }
  if (wanted.summary) std::cout << context.summary();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (context.rank() == 0)
    std::cout << "all steps: " << all_s << " s\n"
              << (wrong ? "products are WRONG\n" : "all products are right\n");
  return wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  poise::miniapps::Arguments arguments(
      "Dense matrix products as tasks that ranks offload to each other", "matmul");
  arguments.add("--size", wanted.size, "rows of a matrix", 1, 10000);
  arguments.add("--tasks", wanted.tasks,
                "products per rank, like 60,0; the last number holds for all further ranks");
  arguments.add("--steps", wanted.steps, "number of times that all products are computed", 0,
                1000000000);
  arguments.add("--threads", wanted.threads, "threads per rank", 1, 10000);
  arguments.add_flag("--random", wanted.random,
                     "in each step a rank computes a random number of its products");
  arguments.add_flag("--openmp", wanted.openmp,
                     "compute each rank's products on its own threads, without offloading");
  arguments.add_flag("--versus-openmp", wanted.versus_openmp,
                     "compare with OpenMP: compute every step both ways");
  arguments.add("--settings", wanted.settings,
                "settings of the tasks runtime, like policy=paired,pull=0");
  arguments.add_flag("--summary", wanted.summary, "print a summary of all ranks' counters");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  return poise::miniapps::run_under_mpi("matmul", argc, argv, [&] { return run(wanted); });
}
