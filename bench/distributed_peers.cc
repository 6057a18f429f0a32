// SPDX-License-Identifier: BSD-3-Clause
// Usage: mpiexec -n RANKS distributed_peers TOOL TASKS RECIPE. All ranks decide together about one
// workload; each rank knows its own tasks only. TOOL is poise, zoltan (Zoltan's PHG in repartition
// mode) or ptscotch (PT-Scotch's ParMETIS_V3_PartKway). Prints as JSON the seconds of the decision
// on the slowest rank, and a ratio of times that Poise predicts: ten steps with the new placement
// plus the migrations, divided by ten steps with the current placement. Exits with status 77 if the
// tool was not found when this program was built.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <mpi.h>
#include <string>
#include <string_view>
#include <vector>
#ifdef HAS_ZOLTAN
#include <zoltan.h>
#endif

#include <poise/poise_mpi.h>

#include "poise/base/clock.h"
#include "poise/distributed/split_testing.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

#ifdef HAS_PTSCOTCH
extern "C" int ParMETIS_V3_PartKway(const int*, const int*, const int*, const int*, const int*,
                                    const int*, const int*, const int*, const int*, const float*,
                                    const float*, const int*, int*, int*, MPI_Comm*);
#endif

namespace poise {
namespace {

/// Maximum load of a part, relative to the mean load, that Zoltan and PT-Scotch may accept.
constexpr float kTolerance = 1.03f;
constexpr const char* kToleranceText = "1.03";

struct Job {
  int rank = 0, num_ranks = 1;
  Machine machine;
  Workload workload;
  Placement current;
  OwnArrays own;
  TaskId first = 0;  // id of this rank's first task; a rank has consecutive tasks
  Problem problem() const { return {machine, workload, current, machine.costs()}; }
};

Job job_of(const char* recipe, TaskId num_tasks) {
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  Machine machine =
      with_formula(machine_from_text(fmt::format("node:{} core:2", std::max(1, num_ranks / 2))),
                   CostFormula::physical);
  Workload workload = generate(parse_recipe(recipe), num_tasks, 1)[0];
  Placement current = blocked(workload.num_tasks(), machine.num_places());
  Job job{rank, num_ranks, std::move(machine), std::move(workload), std::move(current), {}, 0};
  job.own = split(job.problem())[rank];
  const PlaceId place = rank;
  while (job.current.of(job.first) != place) ++job.first;
  return job;
}

/// Scales a value to a whole number from 1 to 1001, because PT-Scotch adds up weights in 32 bits.
int weight(double value, double largest) { return 1 + (largest > 0 ? 1000 * value / largest : 0); }

std::vector<std::uint32_t> by_poise(const Job& job) {
  poise_mpi mpi;
  poise_communication table;
  poise_mpi_start(MPI_COMM_WORLD, &mpi, &table);
  Communicator ranks(table);
  auto plan = plan_distributed(ranks, job.machine, job.own.view(true), parse_strategy("poise"), 0);
  poise_mpi_end(&mpi);
  return plan.rank_of_task;
}

/// The graph of this rank as Zoltan and PT-Scotch need it: each edge is stored at both ends, and
/// its weight is the sum of both directions.
struct Symmetric {
  std::vector<int> first{0}, to, weight, load, owner;
};

Symmetric symmetric(const Job& job) {
  std::vector<std::vector<std::pair<int, double>>> rows(job.own.ids.size());
  double largest = 0, largest_load_s = 0;
  for (const Message& message : job.workload.messages) {
    largest = std::max(largest, 2.0 * message.bytes);
    const std::pair<TaskId, TaskId> ends[] = {{message.from, message.to},
                                              {message.to, message.from}};
    for (const auto& [own, other] : ends)
      if (own >= job.first && own < job.first + rows.size() && own != other)
        rows[own - job.first].emplace_back(other, message.bytes);
  }
  for (const Task& task : job.workload.tasks)
    largest_load_s = std::max(largest_load_s, task.load_s);
  Symmetric graph;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    std::sort(rows[t].begin(), rows[t].end());
    for (std::size_t i = 0; i < rows[t].size();) {
      const int other = rows[t][i].first;
      double bytes = 0;
      for (; i < rows[t].size() && rows[t][i].first == other; ++i) bytes += rows[t][i].second;
      graph.to.push_back(other);
      graph.owner.push_back(job.current.of(other));
      graph.weight.push_back(weight(bytes, largest));
    }
    graph.first.push_back(graph.to.size());
    graph.load.push_back(weight(job.own.load_s[t], largest_load_s));
  }
  return graph;
}

#ifdef HAS_PTSCOTCH
std::vector<std::uint32_t> by_ptscotch(const Job& job, const Symmetric& graph) {
  std::vector<int> first_of_rank;
  for (TaskId t = 0; t < job.workload.num_tasks(); ++t)
    while (first_of_rank.size() <= job.current.of(t)) first_of_rank.push_back(t);
  first_of_rank.push_back(job.workload.num_tasks());
  const int with_weights = 3, from_0 = 0, one = 1, options[3] = {0, 0, 0};
  const std::vector<float> shares(job.num_ranks, 1.0f / job.num_ranks);
  std::vector<int> part(graph.load.size() + 1);
  int cut = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (ParMETIS_V3_PartKway(first_of_rank.data(), graph.first.data(), graph.to.data(),
                           graph.load.data(), graph.weight.data(), &with_weights, &from_0, &one,
                           &job.num_ranks, shares.data(), &kTolerance, options, &cut, part.data(),
                           &comm) != 1)
    MPI_Abort(MPI_COMM_WORLD, 1);
  return {part.begin(), part.end() - 1};
}
#endif

#ifdef HAS_ZOLTAN
struct Asked {
  const Job& job;
  const Symmetric& graph;
};
const Asked& asked(void* data) { return *static_cast<const Asked*>(data); }

int num_objects(void* data, int* error) {
  *error = ZOLTAN_OK;
  return asked(data).graph.load.size();
}
void objects(void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR local, int, float* weights,
             int* error) {
  const auto& [job, graph] = asked(data);
  for (std::size_t t = 0; t < graph.load.size(); ++t) {
    ids[t] = job.first + t;
    local[t] = t;
    weights[t] = graph.load[t];
  }
  *error = ZOLTAN_OK;
}
void num_edges(void* data, int, int, int count, ZOLTAN_ID_PTR, ZOLTAN_ID_PTR local, int* numbers,
               int* error) {
  const Symmetric& graph = asked(data).graph;
  for (int i = 0; i < count; ++i) numbers[i] = graph.first[local[i] + 1] - graph.first[local[i]];
  *error = ZOLTAN_OK;
}
void edges(void* data, int, int, int count, ZOLTAN_ID_PTR, ZOLTAN_ID_PTR local, int*,
           ZOLTAN_ID_PTR others, int* owners, int, float* weights, int* error) {
  const Symmetric& graph = asked(data).graph;
  for (int i = 0; i < count; ++i)
    for (int e = graph.first[local[i]]; e < graph.first[local[i] + 1]; ++e) {
      const auto entry = e;
      *others++ = graph.to[entry];
      *owners++ = graph.owner[entry];
      *weights++ = graph.weight[entry];
    }
  *error = ZOLTAN_OK;
}

std::vector<std::uint32_t> by_zoltan(const Job& job, const Symmetric& graph) {
  float version = 0;
  Zoltan_Initialize(0, nullptr, &version);
  Zoltan_Struct* zoltan = Zoltan_Create(MPI_COMM_WORLD);
  const char* settings[][2] = {{"DEBUG_LEVEL", "0"},
                               {"LB_METHOD", "GRAPH"},
                               {"GRAPH_PACKAGE", "PHG"},
                               {"LB_APPROACH", "REPARTITION"},
                               {"NUM_GID_ENTRIES", "1"},
                               {"NUM_LID_ENTRIES", "1"},
                               {"OBJ_WEIGHT_DIM", "1"},
                               {"EDGE_WEIGHT_DIM", "1"},
                               {"RETURN_LISTS", "EXPORT"},
                               {"IMBALANCE_TOL", kToleranceText},
                               {"SEED", "1"}};
  for (const auto& [name, value] : settings) Zoltan_Set_Param(zoltan, name, value);
  Asked data{job, graph};
  Zoltan_Set_Num_Obj_Fn(zoltan, num_objects, &data);
  Zoltan_Set_Obj_List_Fn(zoltan, objects, &data);
  Zoltan_Set_Num_Edges_Multi_Fn(zoltan, num_edges, &data);
  Zoltan_Set_Edge_List_Multi_Fn(zoltan, edges, &data);
  int changes = 0, id_size = 0, local_size = 0, imports = 0, exports = 0;
  ZOLTAN_ID_PTR import_ids = nullptr, import_local = nullptr, ids = nullptr, local = nullptr;
  int *import_ranks = nullptr, *import_parts = nullptr, *ranks = nullptr, *parts = nullptr;
  const int done = Zoltan_LB_Partition(zoltan, &changes, &id_size, &local_size, &imports,
                                       &import_ids, &import_local, &import_ranks, &import_parts,
                                       &exports, &ids, &local, &ranks, &parts);
  if (done != ZOLTAN_OK && done != ZOLTAN_WARN) MPI_Abort(MPI_COMM_WORLD, 1);
  std::vector<std::uint32_t> to(graph.load.size(), job.rank);
  for (int i = 0; i < exports; ++i) to[local[i]] = ranks[i];
  Zoltan_LB_Free_Part(&import_ids, &import_local, &import_ranks, &import_parts);
  Zoltan_LB_Free_Part(&ids, &local, &ranks, &parts);
  Zoltan_Destroy(&zoltan);
  return to;
}
#endif

bool has(std::string_view tool) {
#ifdef HAS_ZOLTAN
  if (tool == "zoltan") return true;
#endif
#ifdef HAS_PTSCOTCH
  if (tool == "ptscotch") return true;
#endif
  return tool == "poise";
}

std::vector<std::uint32_t> decided([[maybe_unused]] std::string_view tool, const Job& job,
                                   [[maybe_unused]] const Symmetric& graph) {
#ifdef HAS_ZOLTAN
  if (tool == "zoltan") return by_zoltan(job, graph);
#endif
#ifdef HAS_PTSCOTCH
  if (tool == "ptscotch") return by_ptscotch(job, graph);
#endif
  return by_poise(job);
}

/// Collective. Returns the places of the tasks of all ranks, in the order of the ranks. `to` has
/// the places of this rank's tasks.
Placement gathered(const Job& job, const std::vector<std::uint32_t>& to) {
  std::vector<int> counts(job.num_ranks), starts(counts.size(), 0);
  const int own = to.size();
  MPI_Allgather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < starts.size(); ++r) starts[r] = starts[r - 1] + counts[r - 1];
  std::vector<PlaceId> all(job.workload.tasks.size());
  MPI_Allgatherv(to.data(), own, MPI_UINT32_T, all.data(), counts.data(), starts.data(),
                 MPI_UINT32_T, MPI_COMM_WORLD);
  return Placement(std::move(all));
}

void measure(std::string_view tool, TaskId num_tasks, const char* recipe) {
  const Job job = job_of(recipe, num_tasks);
  const Symmetric graph = tool == "poise" ? Symmetric() : symmetric(job);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = wall_now_s();
  const std::vector<std::uint32_t> to = decided(tool, job, graph);
  double taken_s = wall_now_s() - start_s;
  MPI_Allreduce(MPI_IN_PLACE, &taken_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const Placement after = gathered(job, to);
  const auto metrics = [&job](const Placement& placement) {
    return evaluate(job.machine, job.workload, job.machine.costs(), job.current, placement);
  };
  const Metrics now = metrics(job.current), then = metrics(after);
  if (job.rank != 0) return;
  fmt::print(
      "{{\"tool\": \"{}\", \"ranks\": {}, \"tasks\": {}, \"recipe\": \"{}\", \"seconds\": "
      "{:.4f}, "
      "\"iteration_over_keeping\": {:.4f}, \"cost_over_keeping\": {:.4f}, \"moved\": {:.4f}}}\n",
      tool, job.num_ranks, job.workload.tasks.size(), recipe, taken_s,
      then.iteration_s / now.iteration_s,
      (10 * then.iteration_s + then.migration_s) / (10 * now.iteration_s),
      1.0 * then.migrations / job.workload.num_tasks());
}

}  // namespace
}  // namespace poise

int main(int argc, char** argv) {
  if (argc != 4) return fmt::print(stderr, "usage: distributed_peers TOOL TASKS RECIPE\n"), 2;
  if (!poise::has(argv[1])) return 77;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE,
                  &provided);  // PT-Scotch 7 calls MPI from several threads at once.
  poise::measure(argv[1], std::atoi(argv[2]), argv[3]);
  MPI_Finalize();
}
