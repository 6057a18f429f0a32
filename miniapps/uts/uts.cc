// SPDX-License-Identifier: BSD-3-Clause
// Unbalanced tree search: counts the nodes of a tree whose subtrees have unpredictable sizes. The
// search starts with one task on rank 0. A task visits a limited number of nodes and submits the
// unvisited rest as new tasks. With `--steps` or `--plain`, the children of the root are divided
// evenly among the steps and ranks, and each step ends with a barrier.
#include <atomic>
#include <chrono>
#include <iostream>
#include <limits>
#include <mpi.h>
#include <vector>

#include "miniapps/arguments.h"
#include "miniapps/tasks_program.h"
#include "miniapps/uts/tree.h"
#include "runtimes/tasks/context.h"

namespace {

namespace tasks = poise::tasks;
namespace uts = poise::uts;

constexpr std::size_t kNodesPerTask = 16;  // number of unvisited nodes with which a task starts
// Number of nodes that a task visits before it submits the rest.
int share = 2000;
const uts::Tree* tree = nullptr;

struct Found {
  std::atomic<std::uint64_t> nodes{0}, leaves{0};
  std::atomic<int> height{0};
} found;

struct Start {
  std::uint32_t count = 0;
  std::array<uts::Node, kNodesPerTask> nodes;
};

extern const tasks::Function<void, Start> kSearch;

void hand_over(const std::vector<uts::Node>& stack) {
  for (std::size_t begin = 0; begin < stack.size(); begin += kNodesPerTask) {
    Start start;
    start.count = std::min(kNodesPerTask, stack.size() - begin);
    std::copy_n(stack.begin() + begin, start.count, start.nodes.begin());
    tasks::Context::current().submit(kSearch, start);
  }
}

void search(const Start& start) {
  std::vector<uts::Node> stack(start.nodes.begin(), start.nodes.begin() + start.count);
  std::uint64_t nodes = 0, leaves = 0;
  int height = 0;
  while (!stack.empty() && nodes < static_cast<std::uint64_t>(share)) {
    const uts::Node node = stack.back();
    stack.pop_back();
    const int children = uts::num_children(*tree, node);
    for (int i = 0; i < children; ++i) stack.push_back(uts::child_of(node, i));
    ++nodes;
    leaves += children == 0;
    height = std::max(height, node.height);
  }
  hand_over(stack);
  found.nodes += nodes;
  found.leaves += leaves;
  int before = found.height;
  while (before < height && !found.height.compare_exchange_weak(before, height)) {
  }
}
const tasks::Function<void, Start> kSearch = tasks::function("search", search);

struct Wanted {
  std::string tree = "T1", settings;
  unsigned threads = 1;
  int steps = 1;
  bool summary = false, plain = false;
};

/// Searches this rank's subtrees of one step: as tasks or, with --plain, without tasks.
void search_in_step(tasks::Context& context, const Wanted& wanted, int step) {
  const uts::Node root = uts::root_of(*tree);
  int num_ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  for (int i = step * num_ranks + context.rank(); i < uts::num_children(*tree, root);
       i += wanted.steps * num_ranks) {
    Start start{1, {}};
    start.nodes[0] = uts::child_of(root, i);
    if (wanted.plain)
      search(start);
    else
      context.submit(kSearch, start);
  }
  if (!wanted.plain) context.wait();
  MPI_Barrier(MPI_COMM_WORLD);
}

void search_in_steps(tasks::Context& context, const Wanted& wanted) {
  if (wanted.plain) share = std::numeric_limits<int>::max();
  if (context.rank() == 0) ++found.nodes;  // the root
  for (int step = 0; step < wanted.steps; ++step) search_in_step(context, wanted, step);
}

void search_from_root(tasks::Context& context) {
  if (context.rank() == 0) {
    Start start{1, {}};
    start.nodes[0] = uts::root_of(*tree);
    context.submit(kSearch, start);
  }
  context.wait();
}

int run(const Wanted& wanted) {
  tree = &uts::find_tree(wanted.tree);
  tasks::Context context(MPI_COMM_WORLD, {wanted.threads, wanted.settings});
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  if (wanted.steps > 1 || wanted.plain)
    search_in_steps(context, wanted);
  else
    search_from_root(context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::uint64_t sums[2] = {found.nodes, found.leaves};
  int height = found.height;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &height, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (wanted.summary) {
    const std::string text = context.summary();
    std::cout << text;
  }
  const bool right = sums[0] == tree->nodes && sums[1] == tree->leaves && height == tree->height;
  if (context.rank() == 0)
    std::cout << wanted.tree << ": " << sums[0] << " nodes, " << sums[1] << " leaves, height "
              << height << " in " << took.count() << " s, " << sums[0] / took.count() / 1e6
              << " million nodes/s: " << (right ? "as published\n" : "NOT as published\n");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  poise::miniapps::Arguments arguments("Unbalanced tree search", "uts");
  arguments.add("tree", wanted.tree, "the sample tree: T1, T2, T3, T4 or T5");
  arguments.add("--share", share,
                "nodes that a task visits before it submits the rest as new tasks", 1, 1000000000);
  arguments.add("--threads", wanted.threads, "threads per rank", 1, 10000);
  arguments.add("--settings", wanted.settings,
                "settings of the tasks runtime, like policy=paired,pull=0");
  arguments.add("--steps", wanted.steps,
                "divide the children of the root among this number of steps and all ranks", 1,
                1000000000);
  arguments.add_flag("--plain", wanted.plain, "each rank searches its subtrees without tasks");
  arguments.add_flag("--summary", wanted.summary, "print a summary of all ranks' counters");
  if (const auto over = arguments.status_after_parsing(argc, argv)) return *over;
  return poise::miniapps::run_under_mpi("uts", argc, argv, [&] { return run(wanted); });
}
