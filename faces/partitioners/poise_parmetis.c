/* SPDX-License-Identifier: BSD-3-Clause */
/* ParMETIS's calls PartKway, PartGeomKway and AdaptiveRepart, answered by poise_plan_distributed().
   Compile this file by the MPI compiler of the program, as a shared
   library to preload or to link before ParMETIS (docs/parmetis.md):

       mpicc -shared -fPIC poise_parmetis.c $(pkg-config --cflags --libs poise) -o
   libpoise_parmetis.so

   With -DIDXTYPEWIDTH=64 or -DREALTYPEWIDTH=64, idx_t or real_t is as wide as in such a ParMETIS.
   Calls that Poise cannot answer go to the ParMETIS that the program links, if there is one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for RTLD_NEXT */
#endif
#include <float.h>
#include <poise/poise_graph.h>

#if defined(IDXTYPEWIDTH) && IDXTYPEWIDTH == 64
typedef int64_t idx_t;
#else
typedef int32_t idx_t;
#endif
#if defined(REALTYPEWIDTH) && REALTYPEWIDTH == 64
typedef double real_t;
#else
typedef float real_t;
#endif

/* The return values of ParMETIS's functions. */
enum { kOk = 1, kBadInput = -2, kError = -4 };

int ParMETIS_V3_PartKway(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt, idx_t* adjwgt,
                         idx_t* wgtflag, idx_t* numflag, idx_t* ncon, idx_t* nparts, real_t* tpwgts,
                         real_t* ubvec, idx_t* options, idx_t* edgecut, idx_t* part,
                         MPI_Comm* comm);
int ParMETIS_V3_PartGeomKway(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt, idx_t* adjwgt,
                             idx_t* wgtflag, idx_t* numflag, idx_t* ndims, real_t* xyz, idx_t* ncon,
                             idx_t* nparts, real_t* tpwgts, real_t* ubvec, idx_t* options,
                             idx_t* edgecut, idx_t* part, MPI_Comm* comm);
int ParMETIS_V3_AdaptiveRepart(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt,
                               idx_t* vsize, idx_t* adjwgt, idx_t* wgtflag, idx_t* numflag,
                               idx_t* ncon, idx_t* nparts, real_t* tpwgts, real_t* ubvec,
                               real_t* ipc2redist, idx_t* options, idx_t* edgecut, idx_t* part,
                               MPI_Comm* comm);

/* The arguments of a call, and values that are derived from them. */
typedef struct Call {
  const char* name;
  const idx_t *vtxdist, *xadj, *adjncy, *vwgt, *vsize, *adjwgt;
  const idx_t *given_wgtflag, *given_numflag, *ncon, *nparts, *options;
  const real_t *tpwgts, *given_itr;
  int is_adaptive; /* true: AdaptiveRepart, which has vsize, itr and the option UNCOUPLED */
  idx_t *edgecut, *part;
  MPI_Comm comm;
  poise_mpi mpi;
  poise_communication ranks;
  poise_units units;
  idx_t wgtflag, numflag; /* numflag: the index of the first vertex and the first part */
  double itr; /* cost of a cut edge divided by that of a migrated vertex; 0: migrations are free */
  uint64_t n, edges; /* numbers of vertices and of edge ends of this rank */
  uint32_t* to;      /* new rank of each own vertex */
  uint32_t* owner;   /* rank of each neighbour */
} Call;

/* Prints on rank `teller` why a call fails. Returns `result`. */
static int fails(const Call* call, uint32_t teller, const char* why, int result) {
  if (call->ranks.rank == teller) fprintf(stderr, "poise: %s: %s\n", call->name, why);
  return result;
}

/* Like fails(), for a wrong input. Only the ranks whose own input is wrong print the reason. */
static int fails_by_input(const Call* call, const char* why) {
  const int is_here = strstr(why, "its own error says why") == NULL;
  return fails(call, is_here ? call->ranks.rank : call->ranks.num_ranks, why, kBadInput);
}

/* True if Poise can answer the call with the arguments of this rank. There must be as many
   parts as ranks and one weight per vertex. The present part of a vertex must be its rank, so the
   option PARMETIS_PSR_UNCOUPLED must not be set. A call with null pointers is not left to ParMETIS:
   Poise itself refuses it. */
static int can_answer(const Call* call, int num_ranks) {
  enum { kRelation = 3, kUncoupled = 2 }; /* an index in `options`, and a value there */
  if (call->ncon != NULL && *call->ncon != 1) return 0;
  if (call->nparts != NULL && *call->nparts != num_ranks) return 0;
  return !call->is_adaptive || call->options == NULL || call->options[0] == 0 ||
         call->options[kRelation] != kUncoupled;
}

/* Stores the address of the function with this name in the libraries loaded after this one. If none
   has it, returns 0, and prints an error if `tells`. */
static int find_next(const char* name, void* function, int tells) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL && tells)
    fprintf(stderr,
            "poise: %s: Poise needs as many parts as ranks and one weight per vertex, and cannot "
            "use PARMETIS_PSR_UNCOUPLED; link ParMETIS for other calls\n",
            name);
  /* C cannot convert an object pointer to a function pointer. */
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

/* Returns the machine of the job. If parts have unequal target weights, their places get speeds in
   proportion to these weights. */
static poise_machine* machine_of(const Call* call) {
  char* const speeds = (char*)malloc(16 + 24 * (size_t)call->ranks.num_ranks);
  poise_machine* machine;
  const locale_t before = poise_begin_points();
  size_t end = 0;
  uint32_t i;
  if (speeds != NULL) speeds[0] = '\0';
  for (i = 0; speeds != NULL && call->tpwgts != NULL && i < call->ranks.num_ranks; ++i)
    end += (size_t)sprintf(speeds + end, "%s%.9g", i == 0 ? " speeds:" : ",",
                           (double)call->tpwgts[i] * call->ranks.num_ranks);
  poise_end_points(before);
  machine = poise_machine_of_job(call->comm, speeds == NULL ? "" : speeds);
  free(speeds);
  return machine;
}

/* Returns the rank that owns a vertex (numbered from 0), by binary search in vtxdist. */
static uint32_t owner_of(const Call* call, idx_t vertex) {
  uint32_t low = 0, high = call->ranks.num_ranks;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (call->vtxdist[middle] - call->numflag <= vertex)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static void* array_of(uint64_t count, size_t size) { return malloc((size_t)count * size + 1); }

static int fill(const Call* call, poise_own_tasks* own) {
  uint64_t* const ids = (uint64_t*)array_of(call->n, 8);
  uint64_t* const bytes = (uint64_t*)array_of(call->n, 8);
  uint64_t* const indptr = (uint64_t*)array_of(call->n + 1, 8);
  uint64_t* const neighbours = (uint64_t*)array_of(call->edges, 8);
  uint64_t* const sent = (uint64_t*)array_of(call->edges, 8);
  double* const loads_s = (double*)array_of(call->n, sizeof(double));
  uint64_t i;
  own->num_tasks = call->n;
  own->global_ids = ids, own->load_s = loads_s, own->bytes = bytes, own->indptr = indptr;
  own->neighbours = neighbours, own->neighbour_ranks = call->owner, own->message_bytes = sent;
  if (!ids || !bytes || !indptr || !neighbours || !sent || !loads_s) return 0;
  for (i = 0; i < call->n; ++i) {
    ids[i] = (uint64_t)(call->vtxdist[call->ranks.rank] - call->numflag) + i;
    loads_s[i] = call->units.load_s.value * (call->wgtflag & 2 ? (double)call->vwgt[i] : 1);
    bytes[i] =
        call->is_adaptive
            ? (uint64_t)(call->units.bytes.value * (call->vsize ? (double)call->vsize[i] : 1))
            : 0;
  }
  indptr[0] = 0; /* xadj may be null on a rank without vertices */
  for (i = 0; i <= call->n && call->n > 0; ++i)
    indptr[i] = (uint64_t)(call->xadj[i] - call->numflag);
  for (i = 0; i < call->edges; ++i) {
    neighbours[i] = (uint64_t)(call->adjncy[i] - call->numflag);
    call->owner[i] = owner_of(call, call->adjncy[i] - call->numflag);
    sent[i] =
        (uint64_t)(call->units.bytes.value * (call->wgtflag & 1 ? (double)call->adjwgt[i] : 1));
  }
  return 1;
}

static void free_own(poise_own_tasks* own) {
  free((void*)own->global_ids), free((void*)own->bytes), free((void*)own->indptr);
  free((void*)own->neighbours), free((void*)own->message_bytes), free((void*)own->load_s);
}

/* One end of an edge, as it is sent to the owner of the other end. */
typedef struct EdgeEnd {
  uint64_t vertex; /* the receiver's vertex, numbered from 0 on the receiver */
  int64_t weight;
  uint32_t part; /* the new part of the sender's vertex */
} EdgeEnd;

typedef struct Cut {
  const Call* call;
  int64_t twice; /* twice the weight of all cut edges, because each is counted at both ends */
} Cut;

static void count_cut(void* receiver, uint32_t from, const void* data, uint64_t bytes) {
  Cut* const cut = (Cut*)receiver;
  uint64_t i;
  (void)from;
  for (i = 0; i < bytes / sizeof(EdgeEnd); ++i) {
    EdgeEnd end;
    memcpy(&end, (const char*)data + i * sizeof end, sizeof end);
    if (end.vertex < cut->call->n && cut->call->to[end.vertex] != end.part)
      cut->twice += end.weight;
  }
}

/* Fills `ends` with the edge ends of this rank, grouped by the rank that owns the other end: those
   for rank r have the indices from first[r] to first[r + 1] - 1. */
static void write_ends(const Call* call, uint64_t* first, EdgeEnd* ends) {
  uint64_t v, i;
  uint32_t r;
  for (i = 0; i < call->edges; ++i) ++first[call->owner[i] + 1];
  for (r = 0; r < call->ranks.num_ranks; ++r) first[r + 1] += first[r];
  for (v = 0; v < call->n; ++v)
    for (i = (uint64_t)(call->xadj[v] - call->numflag);
         i < (uint64_t)(call->xadj[v + 1] - call->numflag); ++i) {
      EdgeEnd* const end = &ends[first[call->owner[i]]++];
      end->vertex = (uint64_t)(call->adjncy[i] - call->vtxdist[call->owner[i]]);
      end->weight = call->wgtflag & 1 ? (int64_t)call->adjwgt[i] : 1;
      end->part = call->to[v];
    }
  for (r = call->ranks.num_ranks; r > 0; --r) first[r] = first[r - 1];
  first[0] = 0;
}

/* Stores in *edgecut the total weight of the edges between different parts. Collective. */
static int write_cut(const Call* call) {
  const uint32_t num_ranks = call->ranks.num_ranks;
  uint64_t* const first = (uint64_t*)calloc((size_t)num_ranks + 1, sizeof(uint64_t));
  EdgeEnd* const ends = (EdgeEnd*)array_of(call->edges, sizeof(EdgeEnd));
  uint32_t* const to = (uint32_t*)array_of(num_ranks, sizeof(uint32_t));
  const void** const data = (const void**)array_of(num_ranks, sizeof(void*));
  uint64_t* const bytes = (uint64_t*)array_of(num_ranks, 8);
  Cut cut = {call, 0};
  uint64_t num_sends = 0;
  uint32_t r;
  const int has_memory = first && ends && to && data && bytes;
  int result = has_memory ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  if (has_memory) {
    write_ends(call, first, ends);
    for (r = 0; r < num_ranks; ++r)
      if (r == call->ranks.rank) {
        count_cut(&cut, r, ends + first[r], (first[r + 1] - first[r]) * sizeof(EdgeEnd));
      } else if (first[r + 1] > first[r]) {
        to[num_sends] = r, data[num_sends] = ends + first[r];
        bytes[num_sends++] = (first[r + 1] - first[r]) * sizeof(EdgeEnd);
      }
  }
  if (call->ranks.exchange(call->ranks.context, num_sends, to, data, bytes, count_cut, &cut) !=
      MPI_SUCCESS)
    result = MPI_ERR_OTHER;
  MPI_Allreduce(MPI_IN_PLACE, &cut.twice, 1, MPI_INT64_T, MPI_SUM, call->comm);
  *call->edgecut = (idx_t)(cut.twice / 2);
  free(first), free(ends), free(to), free(data), free(bytes);
  return result;
}

static int plan(const Call* call, const poise_machine* machine) {
  poise_own_tasks own;
  char strategy[POISE_GRAPH_TEXT];
  int planned = POISE_BAD_INPUT, is_filled;
  uint64_t i;
  memset(&own, 0, sizeof own);
  poise_write_strategy(strategy, call->itr > 0 ? call->itr : POISE_MOST_STEPS);
  is_filled = fill(call, &own);
  MPI_Allreduce(MPI_IN_PLACE, &is_filled, 1, MPI_INT, MPI_MIN, call->comm);
  if (is_filled)
    planned =
        poise_plan_distributed(&call->ranks, machine, &own, strategy, 0, call->to, NULL, NULL);
  free_own(&own);
  if (!is_filled) return fails(call, 0, "there is not enough memory", kError);
  if (planned != POISE_OK)
    return fails_by_input(
        call, poise_reason("itr, tpwgts or POISE_GRAPH_MACHINE differs between ranks; use the "
                           "same values on all ranks"));
  for (i = 0; i < call->n; ++i) call->part[i] = (idx_t)call->to[i] + call->numflag;
  return write_cut(call) == MPI_SUCCESS ? kOk : fails(call, 0, "the cut cannot be counted", kError);
}

/* True if an argument is null that Poise needs; `text` names it. */
static int has_null(const Call* call, char* text) {
  const struct {
    const char* name;
    const void* value;
  } needed[] = {{"vtxdist", call->vtxdist},       {"wgtflag", call->given_wgtflag},
                {"numflag", call->given_numflag}, {"ncon", call->ncon},
                {"nparts", call->nparts},         {"edgecut", call->edgecut},
                {"itr", call->given_itr}};
  const size_t count = sizeof needed / sizeof *needed - (call->is_adaptive ? 0 : 1);
  size_t i;
  for (i = 0; i < count; ++i)
    if (needed[i].value == NULL) {
      snprintf(text, POISE_GRAPH_TEXT, "%s is null", needed[i].name);
      return 1;
    }
  return 0;
}

/* Checks an array of count + 1 entries that must begin with numflag and never decrease, such as
   vtxdist. True if it is wrong; `text` says where. */
static int has_wrong_order(const char* name, const idx_t* array, uint64_t count, idx_t numflag,
                           char* text) {
  uint64_t i;
  if (array[0] != numflag) {
    snprintf(text, POISE_GRAPH_TEXT, "%s[0] is %lld; it must be numflag, which is %lld", name,
             (long long)array[0], (long long)numflag);
    return 1;
  }
  for (i = 1; i <= count; ++i)
    if (array[i] < array[i - 1]) {
      snprintf(text, POISE_GRAPH_TEXT,
               "%s[%llu] is %lld; it must be at least %lld, the value of %s[%llu]", name,
               (unsigned long long)i, (long long)array[i], (long long)array[i - 1], name,
               (unsigned long long)(i - 1));
      return 1;
    }
  return 0;
}

/* True if vtxdist is wrong; `text` says where. The reason may be that the program's idx_t has
   another width than here, so the text names the width. */
static int has_wrong_vtxdist(const Call* call, char* text) {
  size_t end;
  if (call->vtxdist[call->ranks.num_ranks] == call->numflag && call->vtxdist[0] == call->numflag)
    snprintf(text, POISE_GRAPH_TEXT, "vtxdist[%u] is %lld, so no rank has a vertex",
             call->ranks.num_ranks, (long long)call->numflag);
  else if (!has_wrong_order("vtxdist", call->vtxdist, call->ranks.num_ranks, call->numflag, text))
    return 0;
  end = strlen(text);
  snprintf(text + end, POISE_GRAPH_TEXT - end, "; this library takes an idx_t of %d bits",
           (int)sizeof(idx_t) * 8);
  return 1;
}

/* Reads the numbers of vertices and edges of this rank. True if the graph is wrong; `text` says
   where. */
static int has_wrong_graph(Call* call, char* text) {
  const idx_t all = call->vtxdist[call->ranks.num_ranks];
  const char* missing = NULL;
  uint64_t i;
  if (has_wrong_vtxdist(call, text)) return 1;
  call->n = (uint64_t)(call->vtxdist[call->ranks.rank + 1] - call->vtxdist[call->ranks.rank]);
  if (call->n == 0) return 0; /* the arrays may be null on a rank without vertices */
  if (call->xadj == NULL) missing = "xadj";
  if (call->part == NULL) missing = "part";
  if (missing == NULL && has_wrong_order("xadj", call->xadj, call->n, call->numflag, text))
    return 1;
  call->edges = missing == NULL ? (uint64_t)(call->xadj[call->n] - call->numflag) : 0;
  if (call->edges > 0 && call->adjncy == NULL) missing = "adjncy";
  if (missing != NULL) {
    snprintf(text, POISE_GRAPH_TEXT, "%s is null, but this rank has vertices", missing);
    return 1;
  }
  for (i = 0; i < call->edges; ++i)
    if (call->adjncy[i] < call->numflag || call->adjncy[i] >= all) {
      snprintf(text, POISE_GRAPH_TEXT, "adjncy[%llu] is %lld; it must be from %lld to %lld",
               (unsigned long long)i, (long long)call->adjncy[i], (long long)call->numflag,
               (long long)all - 1);
      return 1;
    }
  return 0;
}

/* True if a weight is wrong; `text` says which. A null array is right. */
static int has_wrong_weight(const char* name, const idx_t* weights, uint64_t count,
                            const poise_unit* unit, char* text) {
  char entry[64];
  uint64_t i;
  for (i = 0; weights != NULL && i < count; ++i)
    if (!poise_is_weight((double)weights[i], unit)) {
      snprintf(entry, sizeof entry, "%s[%llu]", name, (unsigned long long)i);
      poise_tell_weight(text, entry, (double)weights[i], unit);
      return 1;
    }
  return 0;
}

/* True if a number that must be above 0 is not; `text` says so. */
static int is_wrong_real(const char* name, double value, char* text) {
  if (value > 0 && value <= DBL_MAX) return 0;
  snprintf(text, POISE_GRAPH_TEXT, "%s is %g; it must be finite and above 0", name, value);
  return 1;
}

/* Reads the arguments of this rank. True if one is wrong; `text` says which. */
static int is_wrong(Call* call, char* text) {
  char entry[64];
  uint32_t i;
  if (has_null(call, text)) return 1;
  call->wgtflag = *call->given_wgtflag, call->numflag = *call->given_numflag;
  /* As in PT-Scotch, weights that are null are 1, whatever wgtflag says. */
  if (call->vwgt == NULL) call->wgtflag &= ~2;
  if (call->adjwgt == NULL) call->wgtflag &= ~1;
  if (call->numflag != 0 && call->numflag != 1) {
    snprintf(text, POISE_GRAPH_TEXT, "numflag is %lld; it must be 0 or 1",
             (long long)call->numflag);
    return 1;
  }
  for (i = 0; call->tpwgts != NULL && i < call->ranks.num_ranks; ++i) {
    snprintf(entry, sizeof entry, "tpwgts[%u]", i);
    if (is_wrong_real(entry, (double)call->tpwgts[i], text)) return 1;
  }
  if (call->is_adaptive) call->itr = (double)*call->given_itr;
  return (call->is_adaptive && is_wrong_real("itr", call->itr, text)) ||
         has_wrong_graph(call, text) ||
         has_wrong_weight("vwgt", call->wgtflag & 2 ? call->vwgt : NULL, call->n,
                          &call->units.load_s, text) ||
         has_wrong_weight("vsize", call->vsize, call->n, &call->units.bytes, text) ||
         has_wrong_weight("adjwgt", call->wgtflag & 1 ? call->adjwgt : NULL, call->edges,
                          &call->units.bytes, text);
}

/* Returns the reason why this rank cannot decide, or null if it can. */
static const char* trouble(const Call* call, const poise_machine* machine) {
  if (call->to == NULL || call->owner == NULL) return "there is not enough memory";
  if (poise_units_trouble(&call->units) != NULL) return poise_units_trouble(&call->units);
  return machine == NULL ? poise_last_error() : NULL;
}

/* Answers a call whose arguments are right on all ranks. Collective. */
static int decide(Call* call) {
  poise_machine* machine;
  const char* why;
  int first, result; /* first: the first rank that cannot decide */
  call->to = (uint32_t*)array_of(call->n, sizeof(uint32_t));
  call->owner = (uint32_t*)array_of(call->edges, sizeof(uint32_t));
  machine = machine_of(call);
  why = trouble(call, machine);
  first = why == NULL ? INT_MAX : (int)call->ranks.rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, call->comm);
  if (first == INT_MAX)
    result = plan(call, machine);
  else
    result = fails(call, (uint32_t)first, why, kError);
  poise_machine_destroy(machine);
  free(call->to), free(call->owner);
  return result;
}

/* True if a vertex of this rank has a weight above 0. */
static int has_weight(const Call* call) {
  uint64_t i;
  for (i = 0; i < call->n; ++i)
    if (!(call->wgtflag & 2) || call->vwgt[i] > 0) return 1;
  return 0;
}

static int answer(Call* call) {
  char text[POISE_GRAPH_TEXT];
  int is_wrong_here, result = kBadInput;
  int anywhere[2]; /* whether an argument is wrong, and whether a vertex has a weight, on any rank
                    */
  if (poise_mpi_start(call->comm, &call->mpi, &call->ranks) != MPI_SUCCESS) return kError;
  call->units = poise_units_of_environment();
  anywhere[0] = is_wrong_here = is_wrong(call, text);
  anywhere[1] = !is_wrong_here && has_weight(call);
  MPI_Allreduce(MPI_IN_PLACE, anywhere, 2, MPI_INT, MPI_MAX, call->comm);
  if (is_wrong_here)
    fails(call, call->ranks.rank, text, kBadInput);
  else if (!anywhere[0] && !anywhere[1]) /* all vertices would go to one part */
    fails(call, 0, "all vwgt are 0; a vertex must have a weight above 0", kBadInput);
  else if (!anywhere[0])
    result = decide(call);
  poise_mpi_end(&call->mpi);
  return result;
}

/* Answers the call, stores the return value in *result and returns 1. If ParMETIS must answer,
   stores the address of its function in *next and returns 0. All ranks choose alike. Collective. */
static int answers(Call* call, const MPI_Comm* comm, void* next, int* result) {
  int rank = 0, num_ranks = 0, first; /* first: the first rank whose call Poise cannot answer */
  *result = kBadInput;
  if (comm == NULL) return fprintf(stderr, "poise: %s: comm is null\n", call->name), 1;
  call->comm = *comm;
  MPI_Comm_rank(*comm, &rank);
  MPI_Comm_size(*comm, &num_ranks);
  first = can_answer(call, num_ranks) ? INT_MAX : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, *comm);
  *result = first == INT_MAX ? answer(call) : kError;
  return first == INT_MAX || !find_next(call->name, next, rank == first);
}

/* Returns the arguments that all three functions have. */
static Call call_of(const char* name, const idx_t* vtxdist, const idx_t* xadj, const idx_t* adjncy,
                    const idx_t* vwgt, const idx_t* adjwgt, const idx_t* wgtflag,
                    const idx_t* numflag, const idx_t* ncon, const idx_t* nparts,
                    const real_t* tpwgts, const idx_t* options, idx_t* edgecut, idx_t* part) {
  const Call call = {.name = name,
                     .vtxdist = vtxdist,
                     .xadj = xadj,
                     .adjncy = adjncy,
                     .vwgt = vwgt,
                     .adjwgt = adjwgt,
                     .given_wgtflag = wgtflag,
                     .given_numflag = numflag,
                     .ncon = ncon,
                     .nparts = nparts,
                     .options = options,
                     .tpwgts = tpwgts,
                     .edgecut = edgecut,
                     .part = part};
  return call;
}

int ParMETIS_V3_PartKway(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt, idx_t* adjwgt,
                         idx_t* wgtflag, idx_t* numflag, idx_t* ncon, idx_t* nparts, real_t* tpwgts,
                         real_t* ubvec, idx_t* options, idx_t* edgecut, idx_t* part,
                         MPI_Comm* comm) {
  typedef int (*Function)(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*,
                          real_t*, real_t*, idx_t*, idx_t*, idx_t*, MPI_Comm*);
  Function next = NULL;
  int result;
  Call call = call_of(__func__, vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ncon, nparts,
                      tpwgts, options, edgecut, part);
  if (answers(&call, comm, &next, &result)) return result;
  return next(vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ncon, nparts, tpwgts, ubvec,
              options, edgecut, part, comm);
}

/* Ignores the coordinates, because the graph describes communication better. ParMETIS, too, uses
   coordinates only to save time. */
int ParMETIS_V3_PartGeomKway(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt, idx_t* adjwgt,
                             idx_t* wgtflag, idx_t* numflag, idx_t* ndims, real_t* xyz, idx_t* ncon,
                             idx_t* nparts, real_t* tpwgts, real_t* ubvec, idx_t* options,
                             idx_t* edgecut, idx_t* part, MPI_Comm* comm) {
  typedef int (*Function)(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, real_t*,
                          idx_t*, idx_t*, real_t*, real_t*, idx_t*, idx_t*, idx_t*, MPI_Comm*);
  Function next = NULL;
  int result;
  Call call = call_of(__func__, vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ncon, nparts,
                      tpwgts, options, edgecut, part);
  if (answers(&call, comm, &next, &result)) return result;
  return next(vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ndims, xyz, ncon, nparts,
              tpwgts, ubvec, options, edgecut, part, comm);
}

int ParMETIS_V3_AdaptiveRepart(idx_t* vtxdist, idx_t* xadj, idx_t* adjncy, idx_t* vwgt,
                               idx_t* vsize, idx_t* adjwgt, idx_t* wgtflag, idx_t* numflag,
                               idx_t* ncon, idx_t* nparts, real_t* tpwgts, real_t* ubvec,
                               real_t* ipc2redist, idx_t* options, idx_t* edgecut, idx_t* part,
                               MPI_Comm* comm) {
  typedef int (*Function)(idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*, idx_t*,
                          idx_t*, real_t*, real_t*, real_t*, idx_t*, idx_t*, idx_t*, MPI_Comm*);
  Function next = NULL;
  int result;
  Call call = call_of(__func__, vtxdist, xadj, adjncy, vwgt, adjwgt, wgtflag, numflag, ncon, nparts,
                      tpwgts, options, edgecut, part);
  call.is_adaptive = 1, call.vsize = vsize, call.given_itr = ipc2redist;
  if (answers(&call, comm, &next, &result)) return result;
  return next(vtxdist, xadj, adjncy, vwgt, vsize, adjwgt, wgtflag, numflag, ncon, nparts, tpwgts,
              ubvec, ipc2redist, options, edgecut, part, comm);
}
