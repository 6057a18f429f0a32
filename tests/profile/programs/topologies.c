// SPDX-License-Identifier: BSD-3-Clause
// Creates topologies of each kind on at least 8 ranks; the first argument is the value of
// `reorder`. For each topology, each rank prints the topology's name, its rank in the topology and
// in MPI_COMM_WORLD, its neighbours as MPI reports them, and the neighbours from which it receives
// a message.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMax = 64 };
static int world_rank, reorder;
static MPI_Comm parent;  // errors return

static void print_list(char* line, const char* name, const int* numbers, int count) {
  sprintf(line + strlen(line), " %s=", name);
  for (int i = 0; i < count; ++i) sprintf(line + strlen(line), "%s%d", i ? "," : "", numbers[i]);
}

// Sends this rank's number to its neighbours, and prints the numbers that it receives from them.
static void print_received(char* line, MPI_Comm comm, int in, int out) {
  int rank, send[kMax], received[kMax];
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < out; ++i) send[i] = rank;
  for (int i = 0; i < in; ++i) received[i] = -1;
  MPI_Neighbor_alltoall(send, 1, MPI_INT, received, 1, MPI_INT, comm);
  print_list(line, "received", received, in);
}

static void report(const char* name, MPI_Comm* comm) {
  char line[4096] = "";
  if (*comm == MPI_COMM_NULL) {
    printf("%s null world=%d\n", name, world_rank);
    return;
  }
  int rank, size, kind, numbers[kMax], others[kMax], more[kMax], out_weights[kMax];
  MPI_Comm_rank(*comm, &rank);
  MPI_Comm_size(*comm, &size);
  MPI_Topo_test(*comm, &kind);
  if (kind == MPI_CART) {
    int count;
    MPI_Cartdim_get(*comm, &count);
    MPI_Cart_get(*comm, count, numbers, others, more);
    print_list(line, "dims", numbers, count);
    print_list(line, "periods", others, count);
    print_list(line, "coordinates", more, count);
    for (int d = 0; d < count; ++d) {
      MPI_Cart_shift(*comm, d, 1, &numbers[0], &numbers[1]);
      for (int i = 0; i < 2; ++i) numbers[i] = numbers[i] == MPI_PROC_NULL ? -1 : numbers[i];
      print_list(line, "shift", numbers, 2);
    }
    print_received(line, *comm, 2 * count, 2 * count);
  } else if (kind == MPI_GRAPH) {
    int nodes, edges, count;
    MPI_Graphdims_get(*comm, &nodes, &edges);
    MPI_Graph_neighbors_count(*comm, rank, &count);
    MPI_Graph_neighbors(*comm, rank, kMax, numbers);
    sprintf(line + strlen(line), " nodes=%d edges=%d", nodes, edges);
    print_list(line, "neighbours", numbers, count);
    print_received(line, *comm, count, count);
  } else if (kind == MPI_DIST_GRAPH) {
    int in, out, weighted;
    MPI_Dist_graph_neighbors_count(*comm, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(*comm, in, numbers, others, out, more, out_weights);
    sprintf(line + strlen(line), " weighted=%d", weighted != 0);
    print_list(line, "in", numbers, in);
    print_list(line, "out", more, out);
    if (weighted) print_list(line, "in_weights", others, in);
    if (weighted) print_list(line, "out_weights", out_weights, out);
    print_received(line, *comm, in, out);
  }
  // The new communicator inherits the parent's error handler.
  const int error = MPI_Send(&rank, 1, MPI_INT, size + 5, 0, *comm);
  printf("%s rank=%d world=%d size=%d error=%s%s\n", name, rank, world_rank, size,
         error == MPI_SUCCESS ? "none" : "returned", line);
  MPI_Comm_free(comm);
}

static void grid(const char* name, MPI_Comm of, int count, int* dims, int* periods) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int error = MPI_Cart_create(of, count, dims, periods, reorder, &comm);
  if (error != MPI_SUCCESS)
    printf("%s world=%d refused\n", name, world_rank);
  else
    report(name, &comm);
}

static void graph(const char* name, int nodes) {
  int index[kMax], edges[2 * kMax];
  for (int i = 0; i < nodes; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 3) % nodes;
    edges[2 * i + 1] = (i + nodes - 3) % nodes;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Graph_create(parent, nodes, index, edges, reorder, &comm);
  report(name, &comm);
}

// Rank 1 describes all edges. Each node i has one edge, to node i + 3 with weight i + 1.
static void one_describes_all(int size, int is_weighted) {
  int sources[kMax], degrees[kMax], ends[kMax], weights[kMax];
  for (int i = 0; i < size; ++i) {
    sources[i] = i, degrees[i] = 1, ends[i] = (i + 3) % size, weights[i] = i + 1;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  const int count = world_rank == 1 ? size : 0;
  int* const empty = count ? weights : MPI_WEIGHTS_EMPTY;
  MPI_Dist_graph_create(parent, count, sources, degrees, ends, is_weighted ? empty : MPI_UNWEIGHTED,
                        MPI_INFO_NULL, reorder, &comm);
  report(is_weighted ? "dist" : "dist_unweighted", &comm);
}

// The last node has no edges. The other nodes form a ring, in which node i sends to node i + 3 and,
// if i is even, also to node i + 1.
static void each_its_own(int size, int is_weighted) {
  int in[kMax], out[kMax], in_weights[kMax], out_weights[kMax], num_in = 0, num_out = 0;
  for (int from = 0; from + 1 < size; ++from)
    for (int step = 3; step >= 1; step -= 2) {
      const int to = (from + step) % (size - 1), weight = 10 * from + step;
      if (step == 1 && from % 2) continue;
      if (to == world_rank) in[num_in] = from, in_weights[num_in++] = weight;
      if (from == world_rank) out[num_out] = to, out_weights[num_out++] = weight;
    }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(parent, num_in, in,
                                 !is_weighted ? MPI_UNWEIGHTED
                                 : num_in     ? in_weights
                                              : MPI_WEIGHTS_EMPTY,
                                 num_out, out,
                                 !is_weighted ? MPI_UNWEIGHTED
                                 : num_out    ? out_weights
                                              : MPI_WEIGHTS_EMPTY,
                                 MPI_INFO_NULL, reorder, &comm);
  report(is_weighted ? "adjacent" : "adjacent_unweighted", &comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  reorder = argc > 1 ? atoi(argv[1]) : 0;
  int size, two[2] = {2, 4}, three[2] = {3, 2}, open[2] = {0, 0}, wraps[2] = {1, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  two[1] = size / 2;
  grid("grid", parent, 2, two, open);
  grid("small_grid", parent, 2, three, wraps);
  int huge[2] = {size, 2}, none[2] = {0, 0};
  grid("huge_grid", parent, 2, huge, open);
  grid("no_grid", parent, 2, none, open);
  MPI_Comm half;
  MPI_Comm_split(parent, world_rank % 2, -world_rank, &half);
  int square[2] = {2, 2};
  grid(world_rank % 2 ? "odd" : "even", half, 2, square, open);
  MPI_Comm_free(&half);
  graph("graph", size);
  graph("small_graph", size - 1);
  one_describes_all(size, 1);
  one_describes_all(size, 0);
  each_its_own(size, 1);
  each_its_own(size, 0);
  MPI_Comm_free(&parent);
  MPI_Finalize();
  return 0;
}
