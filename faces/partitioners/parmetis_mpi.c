/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls ParMETIS's functions as a program does that was written for ParMETIS, on a distributed grid
   in which the first rank's vertices are four times as heavy. Checks the parts and the cut. With
   the argument "more", asks for one more part than ranks, which only ParMETIS itself can answer;
   with the argument "comma", runs in a locale of this name. Prints what does not hold and exits 1.
 */
#include <locale.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int32_t idx_t;
typedef float real_t;
int ParMETIS_V3_PartKway(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*,
                         real_t*, real_t*, idx_t*, idx_t*, idx_t*, MPI_Comm*);
int ParMETIS_V3_PartGeomKway(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*,
                             real_t*, idx_t*, idx_t*, real_t*, real_t*, idx_t*, idx_t*, idx_t*,
                             MPI_Comm*);
#ifdef HAS_ADAPTIVE /* PT-Scotch lacks AdaptiveRepart */
int ParMETIS_V3_AdaptiveRepart(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*,
                               idx_t*, idx_t*, real_t*, real_t*, real_t*, idx_t*, idx_t*, idx_t*,
                               MPI_Comm*);
#endif

enum { kRows = 24, kColumns = 40 }; /* size of the part of the grid that a rank owns */

static int rank, num_ranks, wrong;
static MPI_Comm comm;

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "rank %d: does not hold: %s\n", rank, what);
}

/* Describes a grid whose rows are distributed over the ranks in blocks. Numbers of vertices begin
   at `base`. */
typedef struct Grid {
  idx_t base, n, edges;
  idx_t *vtxdist, *xadj, *adjncy, *vwgt, *vsize, *adjwgt, *part;
  real_t *tpwgts, *xyz;
} Grid;

static Grid grid_of(idx_t base) {
  Grid grid = {base, kRows * kColumns, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const idx_t all_rows = (idx_t)num_ranks * kRows;
  idx_t v, i, side;
  grid.vtxdist = malloc(sizeof(idx_t) * (size_t)(num_ranks + 1));
  grid.tpwgts = malloc(sizeof(real_t) * (size_t)(num_ranks + 1));
  grid.xadj = malloc(sizeof(idx_t) * (size_t)(grid.n + 1));
  grid.adjncy = malloc(sizeof(idx_t) * (size_t)grid.n * 4);
  grid.adjwgt = malloc(sizeof(idx_t) * (size_t)grid.n * 4);
  grid.vwgt = malloc(sizeof(idx_t) * (size_t)grid.n);
  grid.vsize = malloc(sizeof(idx_t) * (size_t)grid.n);
  grid.part = malloc(sizeof(idx_t) * (size_t)grid.n);
  grid.xyz = malloc(sizeof(real_t) * (size_t)grid.n * 2);
  for (i = 0; i <= num_ranks; ++i) grid.vtxdist[i] = base + i * grid.n;
  for (i = 0; i <= num_ranks; ++i) grid.tpwgts[i] = 1.0f / (real_t)num_ranks;
  for (v = 0; v < grid.n; ++v) {
    const idx_t row = rank * kRows + v / kColumns, column = v % kColumns;
    grid.xadj[v] = base + grid.edges;
    grid.vwgt[v] = rank == 0 ? 400 : 100;
    grid.vsize[v] = 50;
    grid.xyz[2 * v] = (real_t)row, grid.xyz[2 * v + 1] = (real_t)column;
    for (side = 0; side < 4; ++side) {
      const idx_t r = row + (side == 0) - (side == 1), c = column + (side == 2) - (side == 3);
      if (r < 0 || r >= all_rows || c < 0 || c >= kColumns) continue;
      grid.adjncy[grid.edges] = base + r * kColumns + c;
      grid.adjwgt[grid.edges++] = side < 2 ? 3 : 2;
    }
  }
  grid.xadj[grid.n] = base + grid.edges;
  return grid;
}

static void free_grid(Grid* grid) {
  free(grid->vtxdist), free(grid->xadj), free(grid->adjncy), free(grid->vwgt), free(grid->vsize);
  free(grid->adjwgt), free(grid->part), free(grid->tpwgts), free(grid->xyz);
}

static long sum(long value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, comm);
  return value;
}

/* Checks that every part number is valid, that every part has its share of the weight, and that the
   cut equals the one that results if one rank counts all parts. */
static void check_parts(const Grid* grid, idx_t cut, int parts) {
  idx_t* const all = malloc(sizeof(idx_t) * (size_t)(grid->n * num_ranks));
  long* const load = calloc((size_t)parts, sizeof(long));
  long own_cut = 0, total = 0;
  idx_t v, i;
  MPI_Allgather(grid->part, grid->n, MPI_INT32_T, all, grid->n, MPI_INT32_T, comm);
  for (v = 0; v < grid->n; ++v) {
    const idx_t part = grid->part[v] - grid->base;
    check(part >= 0 && part < parts, "every part number is valid");
    if (part >= 0 && part < parts) load[part] += grid->vwgt[v];
    for (i = grid->xadj[v] - grid->base; i < grid->xadj[v + 1] - grid->base; ++i)
      if (all[grid->adjncy[i] - grid->base] != grid->part[v]) own_cut += grid->adjwgt[i];
  }
  own_cut = sum(own_cut) / 2;
  if (parts == num_ranks) check(cut == own_cut, "the cut is the weight of edges between parts");
  MPI_Allreduce(MPI_IN_PLACE, load, parts, MPI_LONG, MPI_SUM, comm);
  for (i = 0; i < parts; ++i) total += load[i];
  for (i = 0; i < parts; ++i)
    check((double)load[i] * parts < 1.1 * (double)total,
          "a part has at most a tenth more than its share");
  free(all), free(load);
}

static void part(idx_t base, idx_t more) {
  Grid grid = grid_of(base);
  idx_t wgtflag = 3, numflag = base, ncon = 1, ndims = 2, parts = num_ranks + more, cut = -1;
  idx_t options[4] = {0, 0, 0, 0};
  real_t ubvec = 1.05f;
  idx_t i;
  for (i = 0; i < parts; ++i) grid.tpwgts[i] = 1.0f / (real_t)parts;
  check(ParMETIS_V3_PartKway(grid.vtxdist, grid.xadj, grid.adjncy, grid.vwgt, grid.adjwgt, &wgtflag,
                             &numflag, &ncon, &parts, grid.tpwgts, &ubvec, options, &cut, grid.part,
                             &comm) == 1,
        "PartKway returns METIS_OK");
  check_parts(&grid, cut, parts);
  check(ParMETIS_V3_PartGeomKway(grid.vtxdist, grid.xadj, grid.adjncy, grid.vwgt, grid.adjwgt,
                                 &wgtflag, &numflag, &ndims, grid.xyz, &ncon, &parts, grid.tpwgts,
                                 &ubvec, options, &cut, grid.part, &comm) == 1,
        "PartGeomKway returns METIS_OK");
  check_parts(&grid, cut, parts);
  free_grid(&grid);
}

/* Without weights, wgtflag may still say that there are weights; PT-Scotch allows this. */
static void part_without_weights(void) {
  Grid grid = grid_of(0);
  idx_t wgtflag = 3, numflag = 0, ncon = 1, parts = num_ranks, cut = -1, i;
  idx_t options[4] = {0, 0, 0, 0};
  real_t ubvec = 1.05f;
  check(ParMETIS_V3_PartKway(grid.vtxdist, grid.xadj, grid.adjncy, NULL, NULL, &wgtflag, &numflag,
                             &ncon, &parts, grid.tpwgts, &ubvec, options, &cut, grid.part,
                             &comm) == 1,
        "weights may be null");
  for (i = 0; i < grid.n; ++i) grid.vwgt[i] = 1;
  for (i = 0; i < grid.edges; ++i) grid.adjwgt[i] = 1;
  check_parts(&grid, cut, parts);
  free_grid(&grid);
}

#ifdef HAS_ADAPTIVE
static long moved(const Grid* grid) {
  long count = 0;
  idx_t v;
  for (v = 0; v < grid->n; ++v) count += grid->part[v] != rank + grid->base;
  return sum(count);
}

static long repart(real_t itr) {
  Grid grid = grid_of(0);
  idx_t wgtflag = 3, numflag = 0, ncon = 1, parts = num_ranks, cut = -1;
  idx_t options[4] = {0, 0, 0, 0};
  real_t ubvec = 1.05f;
  long count;
  check(ParMETIS_V3_AdaptiveRepart(grid.vtxdist, grid.xadj, grid.adjncy, grid.vwgt, grid.vsize,
                                   grid.adjwgt, &wgtflag, &numflag, &ncon, &parts, grid.tpwgts,
                                   &ubvec, &itr, options, &cut, grid.part, &comm) == 1,
        "AdaptiveRepart returns METIS_OK");
  if (itr > 1) check_parts(&grid, cut, parts);
  count = moved(&grid);
  free_grid(&grid);
  return count;
}

static void refuse(void) {
  Grid grid = grid_of(0);
  idx_t wgtflag = 3, numflag = 0, ncon = 1, parts = num_ranks, cut = -1;
  idx_t options[4] = {0, 0, 0, 0};
  real_t ubvec = 1.05f;
  if (rank == num_ranks - 1) grid.vwgt[5] = -1;
  check(ParMETIS_V3_PartKway(grid.vtxdist, grid.xadj, grid.adjncy, grid.vwgt, grid.adjwgt, &wgtflag,
                             &numflag, &ncon, &parts, grid.tpwgts, &ubvec, options, &cut, grid.part,
                             &comm) == -2,
        "a negative weight on one rank is an error on all");
  grid.vwgt[5] = 1, grid.adjwgt[5] = 2000000000;
  setenv("POISE_GRAPH_BYTES", "1e14", 1);
  check(ParMETIS_V3_PartKway(grid.vtxdist, grid.xadj, grid.adjncy, grid.vwgt, grid.adjwgt, &wgtflag,
                             &numflag, &ncon, &parts, grid.tpwgts, &ubvec, options, &cut, grid.part,
                             &comm) == -2,
        "more bytes than libpoise can count are an error");
  unsetenv("POISE_GRAPH_BYTES");
  free_grid(&grid);
}

/* The order of AdaptiveRepart's arguments. */
enum {
  kVtxdist,
  kXadj,
  kAdjncy,
  kVwgt,
  kVsize,
  kAdjwgt,
  kWgtflag,
  kNumflag,
  kNcon,
  kNparts,
  kTpwgts,
  kUbvec,
  kItr,
  kOptions,
  kEdgecut,
  kPart,
  kComm,
  kArguments
};

/* The arguments of a valid call of AdaptiveRepart. Each test makes one of them wrong. */
typedef struct Request {
  Grid grid;
  idx_t wgtflag, numflag, ncon, parts, cut, options[4];
  real_t ubvec, itr;
  void* arguments[kArguments];
} Request;

static void prepare(Request* r) {
  memset(r, 0, sizeof *r);
  r->grid = grid_of(0);
  r->wgtflag = 3, r->ncon = 1, r->parts = num_ranks, r->ubvec = 1.05f, r->itr = 1000;
  r->arguments[kVtxdist] = r->grid.vtxdist, r->arguments[kXadj] = r->grid.xadj;
  r->arguments[kAdjncy] = r->grid.adjncy, r->arguments[kVwgt] = r->grid.vwgt;
  r->arguments[kVsize] = r->grid.vsize, r->arguments[kAdjwgt] = r->grid.adjwgt;
  r->arguments[kWgtflag] = &r->wgtflag, r->arguments[kNumflag] = &r->numflag;
  r->arguments[kNcon] = &r->ncon, r->arguments[kNparts] = &r->parts;
  r->arguments[kTpwgts] = r->grid.tpwgts, r->arguments[kUbvec] = &r->ubvec;
  r->arguments[kItr] = &r->itr, r->arguments[kOptions] = r->options;
  r->arguments[kEdgecut] = &r->cut, r->arguments[kPart] = r->grid.part;
  r->arguments[kComm] = &comm;
}

/* Checks that AdaptiveRepart returns `expected` on all ranks and that only the rank `teller`, or
   every rank if it is -1, prints a line that contains `reason`. */
static void fails(const Request* r, int expected, int teller, const char* reason) {
  void* const* const a = r->arguments;
  const int stderr_before = dup(STDERR_FILENO), tells = teller == -1 || teller == rank;
  char text[1000] = "";
  FILE* const printed = tmpfile();
  int result;
  dup2(fileno(printed), STDERR_FILENO);
  result = ParMETIS_V3_AdaptiveRepart(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
                                      a[10], a[11], a[12], a[13], a[14], a[15], a[16]);
  dup2(stderr_before, STDERR_FILENO);
  close(stderr_before);
  rewind(printed);
  text[fread(text, 1, sizeof text - 1, printed)] = '\0';
  fclose(printed);
  check(result == expected, "all ranks return the same error");
  check(tells ? strstr(text, reason) != NULL : *text == '\0', reason);
  if (tells && strstr(text, reason) == NULL) fprintf(stderr, "it prints \"%s\"\n", text);
}

/* Only the last rank names a machine that does not exist, so only that rank must print an error. */
static void say_why(void) {
  Request r;
  prepare(&r);
  if (rank == num_ranks - 1) setenv("POISE_GRAPH_MACHINE", "no such machine", 1);
  fails(&r, -4, num_ranks - 1, "no such machine");
  unsetenv("POISE_GRAPH_MACHINE");
  free_grid(&r.grid);
}

/* The last rank passes a wrong number. */
static void refuse_numbers(void) {
  Request r;
  prepare(&r);
  {
    const struct {
      idx_t *number, wrong;
      const char* reason;
    } cases[] = {{&r.grid.vwgt[1], -3, "vwgt[1] is -3; it must be at least 0"},
                 {&r.grid.vsize[2], -1, "vsize[2] is -1; it must be at least 0"},
                 {&r.grid.adjwgt[1], -3, "adjwgt[1] is -3; it must be at least 0"},
                 {&r.grid.adjncy[1], 999999, "adjncy[1] is 999999; it must be from 0 to "},
                 {&r.grid.adjncy[1], -1, "adjncy[1] is -1; it must be from 0 to "},
                 {&r.grid.xadj[0], 1, "xadj[0] is 1; it must be numflag, which is 0"},
                 {&r.grid.xadj[2], 1, "xadj[2] is 1; it must be at least "},
                 {&r.grid.xadj[r.grid.n], -5, "xadj[960] is -5; it must be at least "},
                 {&r.grid.vtxdist[0], 1, "vtxdist[0] is 1; it must be numflag, which is 0"},
                 {&r.grid.vtxdist[num_ranks], -1, " is -1; it must be at least "},
                 {&r.numflag, 5, "numflag is 5; it must be 0 or 1"}};
    const struct {
      real_t *number, wrong;
      const char* reason;
    } reals[] = {{&r.grid.tpwgts[0], 0, "tpwgts[0] is 0; it must be finite and above 0"},
                 {&r.grid.tpwgts[0], (real_t)NAN, "tpwgts[0] is nan; it must be finite"},
                 {&r.itr, -1, "itr is -1; it must be finite and above 0"},
                 {&r.itr, (real_t)NAN, "itr is nan; it must be finite"}};
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
      const idx_t right = *cases[i].number;
      if (rank == num_ranks - 1) *cases[i].number = cases[i].wrong;
      fails(&r, -2, num_ranks - 1, cases[i].reason);
      *cases[i].number = right;
    }
    for (i = 0; i < sizeof reals / sizeof *reals; ++i) {
      const real_t right = *reals[i].number;
      if (rank == num_ranks - 1) *reals[i].number = reals[i].wrong;
      fails(&r, -2, num_ranks - 1, reals[i].reason);
      *reals[i].number = right;
    }
  }
  free_grid(&r.grid);
}

/* A program whose idx_t has 64 bits seems to pass no vertices if there is one rank. */
static void refuse_no_vertices(void) {
  Request r;
  idx_t i;
  prepare(&r);
  for (i = 0; i <= num_ranks; ++i) r.grid.vtxdist[i] = 0;
  fails(&r, -2, -1, " is 0, so no rank has a vertex; this library takes an idx_t of 32 bits");
  free_grid(&r.grid);
}

/* As ParMETIS does, Poise refuses a graph without any work to distribute. */
static void refuse_no_weights(void) {
  Request r;
  prepare(&r);
  memset(r.grid.vwgt, 0, sizeof(idx_t) * (size_t)r.grid.n);
  fails(&r, -2, 0, "all vwgt are 0; a vertex must have a weight above 0");
  free_grid(&r.grid);
}

/* The last rank passes another number than the other ranks. */
static void refuse_different_numbers(void) {
  Request r;
  prepare(&r);
  if (rank == num_ranks - 1) r.itr = 1;
  fails(&r, -2, -1, "itr, tpwgts or POISE_GRAPH_MACHINE differs between ranks");
  free_grid(&r.grid);
}

/* The last rank passes a null pointer. The exception is `comm`, which is null on all ranks: without
   a communicator, a rank cannot tell the others that it has failed. */
static void refuse_null_pointers(void) {
  const struct {
    int argument;
    const char* reason;
  } cases[] = {{kVtxdist, "vtxdist is null"}, {kXadj, "xadj is null"},
               {kAdjncy, "adjncy is null"},   {kWgtflag, "wgtflag is null"},
               {kNumflag, "numflag is null"}, {kNcon, "ncon is null"},
               {kNparts, "nparts is null"},   {kItr, "itr is null"},
               {kEdgecut, "edgecut is null"}, {kPart, "part is null"}};
  Request r;
  size_t i;
  prepare(&r);
  for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
    void* const right = r.arguments[cases[i].argument];
    if (rank == num_ranks - 1) r.arguments[cases[i].argument] = NULL;
    fails(&r, -2, num_ranks - 1, cases[i].reason);
    r.arguments[cases[i].argument] = right;
  }
  r.arguments[kComm] = NULL;
  fails(&r, -2, -1, "comm is null");
  free_grid(&r.grid);
}

/* Poise cannot answer the call of the last rank, and this program does not link ParMETIS, which
   could. The other ranks must not wait for the last rank. */
static void leave_calls_of_one_rank(void) {
  Request r;
  const int is_last = rank == num_ranks - 1;
  prepare(&r);
  r.parts += is_last;
  fails(&r, -4, num_ranks - 1, "link ParMETIS");
  r.parts = num_ranks, r.ncon = is_last ? 2 : 1;
  fails(&r, -4, num_ranks - 1, "link ParMETIS");
  r.ncon = 1, r.options[0] = is_last, r.options[3] = 2; /* PARMETIS_PSR_UNCOUPLED */
  fails(&r, -4, num_ranks - 1, "cannot use PARMETIS_PSR_UNCOUPLED");
  free_grid(&r.grid);
}

/* The last rank owns all vertices, which form a ring. In PartKway migrations cost nothing, so the
   parts must be even, although nearly all vertices have to move. */
static void part_ring_of_last_rank(void) {
  const idx_t n = rank == num_ranks - 1 ? 300 * num_ranks : 0;
  idx_t* const numbers = malloc(sizeof(idx_t) * (size_t)(4 * n + num_ranks + 2));
  idx_t *const vtxdist = numbers, *const xadj = vtxdist + num_ranks + 1;
  idx_t *const adjncy = xadj + n + 1, *const part = adjncy + 2 * n;
  real_t* const tpwgts = malloc(sizeof(real_t) * (size_t)num_ranks);
  real_t ubvec = 1.05f;
  idx_t wgtflag = 0, numflag = 0, ncon = 1, parts = num_ranks, cut = -1, options[4] = {0}, i, p;
  for (i = 0; i <= num_ranks; ++i) vtxdist[i] = i == num_ranks ? 300 * num_ranks : 0;
  for (i = 0; i < num_ranks; ++i) tpwgts[i] = 1.0f / (real_t)num_ranks;
  for (i = 0; i < n; ++i) adjncy[2 * i] = (i + 1) % n, adjncy[2 * i + 1] = (i + n - 1) % n;
  for (i = 0; i <= n; ++i) xadj[i] = 2 * i;
  check(ParMETIS_V3_PartKway(vtxdist, xadj, adjncy, NULL, NULL, &wgtflag, &numflag, &ncon, &parts,
                             tpwgts, &ubvec, options, &cut, part, &comm) == 1,
        "one rank may have all vertices");
  for (p = 0; p < num_ranks; ++p) {
    long size = 0;
    for (i = 0; i < n; ++i) size += part[i] == p;
    size = sum(size);
    check(size >= 270 && size <= 330, "parts are even, whatever it costs to make them so");
  }
  free(numbers), free(tpwgts);
}

/* The last rank has no vertices and passes null pointers for them. */
static void part_without_vertices(void) {
  Grid grid = grid_of(0);
  idx_t wgtflag = 3, numflag = 0, ncon = 1, parts = num_ranks, cut = -1, i;
  idx_t options[4] = {0, 0, 0, 0};
  real_t ubvec = 1.05f;
  const int is_empty = rank == num_ranks - 1;
  for (i = 0; i < grid.edges; ++i) /* replaces edges that would lead to the last rank */
    if (grid.adjncy[i] >= grid.vtxdist[num_ranks - 1]) grid.adjncy[i] = grid.vtxdist[rank];
  grid.vtxdist[num_ranks] = grid.vtxdist[num_ranks - 1];
  check(ParMETIS_V3_PartKway(
            grid.vtxdist, is_empty ? NULL : grid.xadj, is_empty ? NULL : grid.adjncy,
            is_empty ? NULL : grid.vwgt, is_empty ? NULL : grid.adjwgt, &wgtflag, &numflag, &ncon,
            &parts, grid.tpwgts, &ubvec, options, &cut, is_empty ? NULL : grid.part, &comm) == 1,
        "a rank may have no vertices");
  free_grid(&grid);
}
#endif

int main(int argc, char** argv) {
  const int more = argc > 1 && strcmp(argv[1], "more") == 0;
  MPI_Init(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "comma") == 0) {
    if (setlocale(LC_NUMERIC, "comma") == NULL) puts("there is no locale with decimal commas");
    setenv("POISE_GRAPH_LOAD_S", "1.5e-6", 1);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  part(0, more);
  if (!more) part_without_weights();
#ifdef HAS_ADAPTIVE
  part(1, 0);
  if (num_ranks > 1) {
    const long often = repart(1e-5f), seldom = repart(1000);
    check(often < seldom, "fewer vertices move if migrations cost more");
  }
  refuse();
  say_why();
  refuse_numbers();
  refuse_no_vertices();
  refuse_no_weights();
  if (num_ranks > 1) refuse_different_numbers();
  refuse_null_pointers();
  leave_calls_of_one_rank();
  if (num_ranks > 1) part_without_vertices();
  part_ring_of_last_rank();
#endif
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0 && wrong == 0) puts("all is right");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return wrong != 0;
}
