// SPDX-License-Identifier: BSD-3-Clause
// Zoltan's PHG in repartition mode on one case written by mapping_bench --export. mapping_peers.py
// builds and runs it where Debian's libtrilinos-zoltan-dev is installed.
//
//     zoltan_repartition CASE.graph CASE.current PLACES ANSWER
//
// Writes one place per line to ANSWER and prints the CPU seconds of the decision.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mpi.h>
#include <sstream>
#include <string>
#include <utility>
#include <vector>
#include <zoltan.h>

#include "poise/base/clock.h"

namespace {

// Maximum load of a place, relative to the mean load. Other tools that ignore the machine get the
// same limit.
constexpr const char* kTolerance = "1.03";

struct Edge {
  ZOLTAN_ID_TYPE to;
  float weight;
};

/// A METIS graph with vertex sizes, vertex weights and edge weights. Each vertex is a task; `place`
/// is where it runs now.
struct Graph {
  std::vector<int> bytes, place;
  std::vector<float> load;
  std::vector<std::vector<Edge>> edges;
  std::size_t size() const { return load.size(); }
};

Graph graph_in(const char* graph_file, const char* current_file) {
  Graph graph;
  std::ifstream lines(graph_file), places(current_file);
  std::string line;
  bool is_head = true;
  while (std::getline(lines, line)) {
    if (line.starts_with('%')) continue;
    if (std::exchange(is_head, false)) continue;
    std::istringstream numbers(line);
    int bytes = 0;
    float load = 0, weight = 0;
    ZOLTAN_ID_TYPE to = 0;
    numbers >> bytes >> load;
    graph.bytes.push_back(bytes);
    graph.load.push_back(load);
    auto& edges = graph.edges.emplace_back();
    while (numbers >> to >> weight) edges.push_back({to - 1, weight});
    places >> graph.place.emplace_back();
  }
  return graph;
}

const Graph& graph_at(void* data) { return *static_cast<const Graph*>(data); }

int num_objects(void* data, int* error) {
  *error = ZOLTAN_OK;
  return static_cast<int>(graph_at(data).size());
}

void objects(void* data, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int, float* weights,
             int* error) {
  const Graph& graph = graph_at(data);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    ids[v] = static_cast<ZOLTAN_ID_TYPE>(v);
    weights[v] = graph.load[v];
  }
  *error = ZOLTAN_OK;
}

void num_edges(void* data, int, int, int count, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int* numbers,
               int* error) {
  for (int i = 0; i < count; ++i)
    numbers[i] = static_cast<int>(graph_at(data).edges[ids[i]].size());
  *error = ZOLTAN_OK;
}

void edges(void* data, int, int, int count, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int*,
           ZOLTAN_ID_PTR others, int* processes, int, float* weights, int* error) {
  for (int i = 0; i < count; ++i)
    for (const Edge& edge : graph_at(data).edges[ids[i]]) {
      *others++ = edge.to;
      *processes++ = 0;
      *weights++ = edge.weight;
    }
  *error = ZOLTAN_OK;
}

void places_now(void* data, int, int, int count, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int* places,
                int* error) {
  for (int i = 0; i < count; ++i) places[i] = graph_at(data).place[ids[i]];
  *error = ZOLTAN_OK;
}

void sizes(void* data, int, int, int count, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int* bytes,
           int* error) {
  for (int i = 0; i < count; ++i) bytes[i] = graph_at(data).bytes[ids[i]];
  *error = ZOLTAN_OK;
}

Zoltan_Struct* prepared(Graph& graph, const char* num_places) {
  Zoltan_Struct* zoltan = Zoltan_Create(MPI_COMM_WORLD);
  const char* settings[][2] = {{"DEBUG_LEVEL", "0"},
                               {"LB_METHOD", "GRAPH"},
                               {"GRAPH_PACKAGE", "PHG"},
                               {"LB_APPROACH", "REPARTITION"},
                               {"NUM_GLOBAL_PARTS", num_places},
                               {"IMBALANCE_TOL", kTolerance},
                               {"NUM_GID_ENTRIES", "1"},
                               {"NUM_LID_ENTRIES", "0"},
                               {"OBJ_WEIGHT_DIM", "1"},
                               {"EDGE_WEIGHT_DIM", "1"},
                               {"RETURN_LISTS", "PARTS"},
                               {"SEED", "1"}};
  for (const auto& [name, value] : settings)
    if (Zoltan_Set_Param(zoltan, name, value) != ZOLTAN_OK) std::exit(1);
  Zoltan_Set_Num_Obj_Fn(zoltan, num_objects, &graph);
  Zoltan_Set_Obj_List_Fn(zoltan, objects, &graph);
  Zoltan_Set_Num_Edges_Multi_Fn(zoltan, num_edges, &graph);
  Zoltan_Set_Edge_List_Multi_Fn(zoltan, edges, &graph);
  Zoltan_Set_Part_Multi_Fn(zoltan, places_now, &graph);
  Zoltan_Set_Obj_Size_Multi_Fn(zoltan, sizes, &graph);
  return zoltan;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  float version = 0;
  if (Zoltan_Initialize(argc, argv, &version) != ZOLTAN_OK) return 1;
  Graph graph = graph_in(argv[1], argv[2]);
  Zoltan_Struct* zoltan = prepared(graph, argv[3]);
  int changes = 0, id_size = 0, local_size = 0, imports = 0, exports = 0;
  ZOLTAN_ID_PTR import_ids = nullptr, import_local = nullptr, ids = nullptr, local = nullptr;
  int *import_processes = nullptr, *import_places = nullptr, *processes = nullptr;
  int* places = nullptr;
  const double start_s = process_cpu_now_s();
  const int done = Zoltan_LB_Partition(zoltan, &changes, &id_size, &local_size, &imports,
                                       &import_ids, &import_local, &import_processes,
                                       &import_places, &exports, &ids, &local, &processes, &places);
  const double took_s = process_cpu_now_s() - start_s;
  if (done != ZOLTAN_OK && done != ZOLTAN_WARN) return 1;
  for (int i = 0; i < exports; ++i) graph.place[ids[i]] = places[i];
  std::ofstream answer(argv[4]);
  for (const int place : graph.place) answer << place << "\n";
  std::printf("%.9f\n", took_s);
  Zoltan_Destroy(&zoltan);
  MPI_Finalize();
}
