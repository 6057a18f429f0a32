/* SPDX-License-Identifier: BSD-3-Clause */
/* Zoltan_LB_Partition with LB_METHOD=GRAPH, answered by poise_plan_distributed(), or by
   poise_plan() if one rank alone asks for several parts. Compile this file by the MPI compiler of
   the program, as a shared library to preload (docs/parmetis.md):

       mpicc -shared -fPIC poise_zoltan.c $(pkg-config --cflags --libs poise) -o libpoise_zoltan.so

   All calls reach the Zoltan that the program links; this file only notes parameters and query
   functions on the way. Decisions that Poise cannot make are left to that Zoltan. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for RTLD_NEXT */
#endif
#include <poise/poise_graph.h>
#include <strings.h>
#include <zoltan.h>

typedef struct Query {
  ZOLTAN_VOID_FN* function;
  void* data;
} Query;

/* The data that this library stores about one Zoltan_Struct. */
typedef struct Known {
  struct Zoltan_Struct* zoltan;
  struct Known* next;
  MPI_Comm comm; /* a duplicate, because Zoltan allows the program to free its own */
  int id_size, local_size, load_size, edge_size;
  int num_parts, parts_per_rank; /* -1: not set, which means one part per rank */
  int is_graph, moves_cost, returns_imports, returns_exports, is_strange;
  int migrates, has_part_sizes; /* migrates: Zoltan_LB_Partition also moves the objects */
  double steps;                 /* cost of an edge divided by the cost of moving an object */
  Query num_objects, objects, num_edges, num_edges_multi, edges, edges_multi, size, size_multi;
  /* Returns the part in which an object is; if not set, the part is the object's rank. */
  Query part;
  Query num_fixed; /* returns the number of objects that must be in certain parts */
} Known;

static Known* first_known;

static Known* known(struct Zoltan_Struct* zoltan) {
  Known* each = first_known;
  while (each != NULL && each->zoltan != zoltan) each = each->next;
  return each;
}

/* Stores the address of Zoltan's function with this name. Aborts if the program links no Zoltan. */
static void find_real(const char* name, void* function) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "poise: the program links no Zoltan with %s; link it, or call libpoise\n",
            name);
    abort();
  }
  memcpy(function, &found, sizeof found);
}

struct Zoltan_Struct* Zoltan_Create(MPI_Comm comm) {
  struct Zoltan_Struct* (*real)(MPI_Comm) = NULL;
  Known* const made = (Known*)calloc(1, sizeof *made);
  struct Zoltan_Struct* zoltan;
  find_real(__func__, &real);
  zoltan = real(comm);
  if (made == NULL || zoltan == NULL || MPI_Comm_dup(comm, &made->comm) != MPI_SUCCESS)
    return free(made), zoltan;
  made->zoltan = zoltan, made->next = first_known;
  made->id_size = made->local_size = 1; /* Zoltan's defaults */
  made->num_parts = made->parts_per_rank = -1;
  made->moves_cost = 1, made->steps = 100, made->returns_imports = made->returns_exports = 1;
  first_known = made;
  return zoltan;
}

void Zoltan_Destroy(struct Zoltan_Struct** zoltan) {
  void (*real)(struct Zoltan_Struct**) = NULL;
  Known** each = &first_known;
  find_real(__func__, &real);
  while (*each != NULL && (zoltan == NULL || (*each)->zoltan != *zoltan)) each = &(*each)->next;
  if (*each != NULL) {
    Known* const gone = *each;
    *each = gone->next;
    MPI_Comm_free(&gone->comm);
    free(gone);
  }
  real(zoltan);
}

static void note_parameter(Known* zoltan, const char* name, const char* value) {
  if (strcasecmp(name, "NUM_GID_ENTRIES") == 0) zoltan->id_size = atoi(value);
  if (strcasecmp(name, "NUM_LID_ENTRIES") == 0) zoltan->local_size = atoi(value);
  if (strcasecmp(name, "OBJ_WEIGHT_DIM") == 0) zoltan->load_size = atoi(value);
  if (strcasecmp(name, "EDGE_WEIGHT_DIM") == 0) zoltan->edge_size = atoi(value);
  if (strcasecmp(name, "NUM_GLOBAL_PARTS") == 0 || strcasecmp(name, "NUM_GLOBAL_PARTITIONS") == 0)
    zoltan->num_parts = atoi(value);
  if (strcasecmp(name, "NUM_LOCAL_PARTS") == 0 || strcasecmp(name, "NUM_LOCAL_PARTITIONS") == 0)
    zoltan->parts_per_rank = atoi(value);
  if (strcasecmp(name, "AUTO_MIGRATE") == 0)
    zoltan->migrates = *value == 'T' || *value == 't' || atoi(value) != 0;
  if (strcasecmp(name, "LB_METHOD") == 0) zoltan->is_graph = strcasecmp(value, "GRAPH") == 0;
  if (strcasecmp(name, "LB_APPROACH") == 0)
    zoltan->moves_cost = strcasecmp(value, "PARTITION") != 0;
  if (strcasecmp(name, "PHG_REPART_MULTIPLIER") == 0) zoltan->steps = atof(value);
  if (strcasecmp(name, "RETURN_LISTS") == 0) {
    zoltan->is_strange |= strncasecmp(value, "PART", 4) == 0;
    zoltan->returns_imports =
        strncasecmp(value, "ALL", 3) == 0 || strcasestr(value, "IMPORT") != NULL;
    zoltan->returns_exports =
        strncasecmp(value, "ALL", 3) == 0 || strcasestr(value, "EXPORT") != NULL;
  }
}

int Zoltan_Set_Param(struct Zoltan_Struct* zoltan, const char* name, const char* value) {
  int (*real)(struct Zoltan_Struct*, const char*, const char*) = NULL;
  Known* const found = known(zoltan);
  find_real(__func__, &real);
  if (found != NULL) note_parameter(found, name, value);
  return real(zoltan, name, value);
}

#define POISE_SETTER(NAME, TYPE, MEMBER)                                             \
  int NAME(struct Zoltan_Struct* zoltan, TYPE* function, void* data) {               \
    int (*real)(struct Zoltan_Struct*, TYPE*, void*) = NULL;                         \
    Known* const found = known(zoltan);                                              \
    find_real(__func__, &real);                                                      \
    if (found != NULL) {                                                             \
      found->MEMBER.function = (ZOLTAN_VOID_FN*)function, found->MEMBER.data = data; \
    }                                                                                \
    return real(zoltan, function, data);                                             \
  }
POISE_SETTER(Zoltan_Set_Num_Obj_Fn, ZOLTAN_NUM_OBJ_FN, num_objects)
POISE_SETTER(Zoltan_Set_Obj_List_Fn, ZOLTAN_OBJ_LIST_FN, objects)
POISE_SETTER(Zoltan_Set_Num_Edges_Fn, ZOLTAN_NUM_EDGES_FN, num_edges)
POISE_SETTER(Zoltan_Set_Num_Edges_Multi_Fn, ZOLTAN_NUM_EDGES_MULTI_FN, num_edges_multi)
POISE_SETTER(Zoltan_Set_Edge_List_Fn, ZOLTAN_EDGE_LIST_FN, edges)
POISE_SETTER(Zoltan_Set_Edge_List_Multi_Fn, ZOLTAN_EDGE_LIST_MULTI_FN, edges_multi)
POISE_SETTER(Zoltan_Set_Obj_Size_Fn, ZOLTAN_OBJ_SIZE_FN, size)
POISE_SETTER(Zoltan_Set_Obj_Size_Multi_Fn, ZOLTAN_OBJ_SIZE_MULTI_FN, size_multi)
POISE_SETTER(Zoltan_Set_Part_Fn, ZOLTAN_PART_FN, part)
POISE_SETTER(Zoltan_Set_Part_Multi_Fn, ZOLTAN_PART_MULTI_FN, part)
POISE_SETTER(Zoltan_Set_Num_Fixed_Obj_Fn, ZOLTAN_NUM_FIXED_OBJ_FN, num_fixed)

int Zoltan_Set_Fn(struct Zoltan_Struct* zoltan, ZOLTAN_FN_TYPE type, ZOLTAN_VOID_FN* function,
                  void* data) {
  int (*real)(struct Zoltan_Struct*, ZOLTAN_FN_TYPE, ZOLTAN_VOID_FN*, void*) = NULL;
  Known* const found = known(zoltan);
  Query* query = NULL;
  find_real(__func__, &real);
  if (found != NULL) switch (type) {
      case ZOLTAN_NUM_OBJ_FN_TYPE: query = &found->num_objects; break;
      case ZOLTAN_OBJ_LIST_FN_TYPE: query = &found->objects; break;
      case ZOLTAN_NUM_EDGES_FN_TYPE: query = &found->num_edges; break;
      case ZOLTAN_NUM_EDGES_MULTI_FN_TYPE: query = &found->num_edges_multi; break;
      case ZOLTAN_EDGE_LIST_FN_TYPE: query = &found->edges; break;
      case ZOLTAN_EDGE_LIST_MULTI_FN_TYPE: query = &found->edges_multi; break;
      case ZOLTAN_OBJ_SIZE_FN_TYPE: query = &found->size; break;
      case ZOLTAN_OBJ_SIZE_MULTI_FN_TYPE: query = &found->size_multi; break;
      case ZOLTAN_PART_FN_TYPE:
      case ZOLTAN_PART_MULTI_FN_TYPE: query = &found->part; break;
      case ZOLTAN_NUM_FIXED_OBJ_FN_TYPE: query = &found->num_fixed; break;
      default: break;
    }
  if (query != NULL) query->function = function, query->data = data;
  return real(zoltan, type, function, data);
}

/* If the length is -1, Zoltan deletes all part sizes that this rank has set. */
int Zoltan_LB_Set_Part_Sizes(struct Zoltan_Struct* zoltan, int are_global, int length, int* parts,
                             int* weights, float* sizes) {
  int (*real)(struct Zoltan_Struct*, int, int, int*, int*, float*) = NULL;
  Known* const found = known(zoltan);
  find_real(__func__, &real);
  if (found != NULL && length != 0) found->has_part_sizes = length > 0;
  return real(zoltan, are_global, length, parts, weights, sizes);
}

/* The answer to one call of Zoltan_LB_Partition. */
typedef struct Answer {
  Known* zoltan;
  int rank, count, is_alone; /* count: own objects; is_alone: see is_alone() */
  ZOLTAN_ID_PTR ids, local;
  poise_own_tasks own;
  /* The objects that come to this rank, as Zoltan lists them: global ids, local ids on the rank
     that they leave, and that rank. */
  int num_imports, room;
  ZOLTAN_ID_PTR import_ids, import_local;
  int* import_ranks;
  int failure;
  char why[POISE_GRAPH_TEXT]; /* the reason of the failure, or empty */
} Answer;

static void* array_of(size_t count, size_t size) { return calloc(count + 1, size); }

/* Stores the error code of a query function. A warning does not count as a failure, in Zoltan and
   in Poise. */
static void note_failure(Answer* answer, int error) {
  if (error != ZOLTAN_OK && error != ZOLTAN_WARN) answer->failure = error;
}

/* Stores that a number that belongs to an object is negative. */
static void refuse_negative(Answer* answer, const char* what, ZOLTAN_ID_TYPE object, int number) {
  answer->failure = ZOLTAN_FATAL;
  snprintf(answer->why, sizeof answer->why, "the %s of object %llu is %d; it must be at least 0",
           what, (unsigned long long)object, number);
}

/* Returns the weight of an object or of one of its edges, in its unit. Stores a failure if the
   weight is wrong. */
static double weight_of(Answer* answer, const char* what, ZOLTAN_ID_TYPE object, double weight,
                        const poise_unit* unit) {
  char name[64];
  if (poise_is_weight(weight, unit)) return weight * unit->value;
  answer->failure = ZOLTAN_FATAL;
  snprintf(name, sizeof name, "the weight of %s %llu", what, (unsigned long long)object);
  poise_tell_weight(answer->why, name, weight, unit);
  return 0;
}

static void ask_sizes(Answer* answer, uint64_t* bytes, double unit_bytes) {
  const Known* const zoltan = answer->zoltan;
  const int per_local = zoltan->local_size;
  const int are_told = zoltan->size_multi.function != NULL || zoltan->size.function != NULL;
  int* const sizes = (int*)array_of((size_t)answer->count, sizeof(int));
  int i, error = ZOLTAN_OK;
  if (sizes != NULL && zoltan->size_multi.function != NULL) {
    ((ZOLTAN_OBJ_SIZE_MULTI_FN*)zoltan->size_multi.function)(zoltan->size_multi.data, 1, per_local,
                                                             answer->count, answer->ids,
                                                             answer->local, sizes, &error);
    note_failure(answer, error);
  } else if (sizes != NULL && zoltan->size.function != NULL) {
    for (i = 0; i < answer->count; ++i) {
      sizes[i] = ((ZOLTAN_OBJ_SIZE_FN*)zoltan->size.function)(
          zoltan->size.data, 1, per_local, answer->ids + i, answer->local + i * per_local, &error);
      note_failure(answer, error);
    }
  }
  for (i = 0; sizes != NULL && i < answer->count; ++i) {
    if (sizes[i] < 0) refuse_negative(answer, "size", answer->ids[i], sizes[i]);
    if (zoltan->moves_cost) bytes[i] = are_told ? (uint64_t)sizes[i] : (uint64_t)unit_bytes;
  }
  if (sizes == NULL) answer->failure = ZOLTAN_MEMERR;
  free(sizes);
}

static void ask_num_edges(Answer* answer, int* numbers) {
  const Known* const zoltan = answer->zoltan;
  const int per_local = zoltan->local_size;
  int i, error = ZOLTAN_OK;
  if (zoltan->num_edges_multi.function != NULL) {
    ((ZOLTAN_NUM_EDGES_MULTI_FN*)zoltan->num_edges_multi.function)(
        zoltan->num_edges_multi.data, 1, per_local, answer->count, answer->ids, answer->local,
        numbers, &error);
    note_failure(answer, error);
  } else {
    for (i = 0; i < answer->count; ++i) {
      numbers[i] = ((ZOLTAN_NUM_EDGES_FN*)zoltan->num_edges.function)(
          zoltan->num_edges.data, 1, per_local, answer->ids + i, answer->local + i * per_local,
          &error);
      note_failure(answer, error);
    }
  }
  for (i = 0; i < answer->count; ++i)
    if (numbers[i] < 0) refuse_negative(answer, "number of edges", answer->ids[i], numbers[i]);
}

static void ask_edges(Answer* answer, int* numbers, ZOLTAN_ID_PTR others, int* ranks,
                      float* weights) {
  const Known* const zoltan = answer->zoltan;
  const int per_local = zoltan->local_size;
  int i, next = 0, error = ZOLTAN_OK;
  if (zoltan->edges_multi.function != NULL) {
    ((ZOLTAN_EDGE_LIST_MULTI_FN*)zoltan->edges_multi.function)(
        zoltan->edges_multi.data, 1, per_local, answer->count, answer->ids, answer->local, numbers,
        others, ranks, zoltan->edge_size, weights, &error);
    note_failure(answer, error);
    return;
  }
  for (i = 0; i < answer->count; next += numbers[i++]) {
    ((ZOLTAN_EDGE_LIST_FN*)zoltan->edges.function)(
        zoltan->edges.data, 1, per_local, answer->ids + i, answer->local + i * per_local,
        others + next, ranks + next, zoltan->edge_size, weights + next, &error);
    note_failure(answer, error);
  }
}

/* Calls the program's query functions for the edges of its objects. `numbers` and own.indptr must
   already hold the number of edges of each object. */
static void ask_messages(Answer* answer, int* numbers, const poise_unit* unit) {
  poise_own_tasks* const own = &answer->own;
  const int is_weighted = answer->zoltan->edge_size == 1;
  const size_t edges = (size_t)own->indptr[own->num_tasks];
  ZOLTAN_ID_PTR others = (ZOLTAN_ID_PTR)array_of(edges, sizeof(ZOLTAN_ID_TYPE));
  int* const ranks = (int*)array_of(edges, sizeof(int));
  float* const weights = (float*)array_of(edges, sizeof(float));
  uint64_t* const neighbours = (uint64_t*)array_of(edges, 8);
  uint64_t* const sent = (uint64_t*)array_of(edges, 8);
  uint32_t* const owners = (uint32_t*)array_of(edges, 4);
  size_t i, edge;
  own->neighbours = neighbours, own->neighbour_ranks = owners, own->message_bytes = sent;
  if (others && ranks && weights && neighbours && sent && owners) {
    ask_edges(answer, numbers, others, ranks, weights);
    for (i = 0; i < own->num_tasks; ++i)
      for (edge = (size_t)own->indptr[i]; edge < own->indptr[i + 1]; ++edge) {
        neighbours[edge] = others[edge], owners[edge] = (uint32_t)ranks[edge];
        sent[edge] = (uint64_t)weight_of(answer, "an edge of object", answer->ids[i],
                                         is_weighted ? (double)weights[edge] : 1, unit);
      }
  } else {
    answer->failure = ZOLTAN_MEMERR;
  }
  free(others), free(ranks), free(weights);
}

/* Calls the program's query functions for its `count` objects: their ids, weights, sizes and
   numbers of edges. */
static void ask_objects(Answer* answer, float* loads, int* numbers, double unit_bytes) {
  const Known* const zoltan = answer->zoltan;
  int error = ZOLTAN_OK;
  ((ZOLTAN_OBJ_LIST_FN*)zoltan->objects.function)(zoltan->objects.data, 1, zoltan->local_size,
                                                  answer->ids, answer->local, zoltan->load_size,
                                                  loads, &error);
  note_failure(answer, error);
  if (answer->failure == ZOLTAN_OK) ask_sizes(answer, (uint64_t*)answer->own.bytes, unit_bytes);
  if (answer->failure == ZOLTAN_OK) ask_num_edges(answer, numbers);
}

/* Calls the program's query functions for its objects and edges, as Zoltan does. */
static void ask(Answer* answer, const poise_units* units) {
  const Known* const zoltan = answer->zoltan;
  poise_own_tasks* const own = &answer->own;
  int error = ZOLTAN_OK;
  const int count =
      ((ZOLTAN_NUM_OBJ_FN*)zoltan->num_objects.function)(zoltan->num_objects.data, &error);
  const size_t n = (size_t)(answer->count = count > 0 ? count : 0);
  float* const loads = (float*)array_of(n, sizeof(float));
  int* const numbers = (int*)array_of(n, sizeof(int));
  uint64_t* const ids = (uint64_t*)array_of(n, 8);
  uint64_t* const indptr = (uint64_t*)array_of(n + 1, 8);
  double* const load_s = (double*)array_of(n, sizeof(double));
  size_t i;
  answer->ids = (ZOLTAN_ID_PTR)array_of(n, sizeof(ZOLTAN_ID_TYPE));
  answer->local = (ZOLTAN_ID_PTR)array_of(n * (size_t)zoltan->local_size, sizeof(ZOLTAN_ID_TYPE));
  own->num_tasks = n, own->global_ids = ids, own->indptr = indptr, own->load_s = load_s;
  own->bytes = (uint64_t*)array_of(n, 8);
  if (!loads || !numbers || !ids || !own->bytes || !indptr || !load_s || !answer->ids ||
      !answer->local)
    answer->failure = ZOLTAN_MEMERR;
  else
    note_failure(answer, count < 0 ? ZOLTAN_FATAL : error);
  if (answer->failure == ZOLTAN_OK) ask_objects(answer, loads, numbers, units->bytes.value);
  /* After a failure, the query functions may have written wrong values. */
  for (i = 0; answer->failure == ZOLTAN_OK && i < n; ++i) {
    ids[i] = answer->ids[i];
    load_s[i] = weight_of(answer, "object", answer->ids[i],
                          zoltan->load_size == 1 ? (double)loads[i] : 1, &units->load_s);
    indptr[i + 1] = indptr[i] + (uint64_t)numbers[i];
  }
  if (answer->failure == ZOLTAN_OK) ask_messages(answer, numbers, &units->bytes);
  free(loads), free(numbers);
}

/* Returns why ask() failed, or null. */
static const char* failure_of(const Answer* answer) {
  if (answer->failure == ZOLTAN_OK) return NULL;
  if (answer->failure == ZOLTAN_MEMERR) return "there is not enough memory";
  return answer->why[0] != '\0' ? answer->why : "a query function failed";
}

static void free_answer(Answer* answer) {
  const poise_own_tasks* const own = &answer->own;
  free(answer->ids), free(answer->local);
  free((void*)own->global_ids), free((void*)own->bytes), free((void*)own->indptr);
  free((void*)own->load_s), free((void*)own->neighbours), free((void*)own->neighbour_ranks);
  free((void*)own->message_bytes);
}

/* Appends the objects that come from rank `from`. The message has, for each object, its global id
   and its local id on that rank. */
static void append_imports(void* receiver, uint32_t from, const void* data, uint64_t bytes) {
  Answer* const answer = (Answer*)receiver;
  const int per_local = answer->zoltan->local_size;
  const ZOLTAN_ID_TYPE* entry = (const ZOLTAN_ID_TYPE*)data;
  const int count = (int)(bytes / (sizeof(ZOLTAN_ID_TYPE) * (size_t)(1 + per_local)));
  const size_t all = (size_t)(answer->num_imports + count);
  int i;
  answer->import_ids = (ZOLTAN_ID_PTR)realloc(answer->import_ids, all * sizeof(ZOLTAN_ID_TYPE));
  answer->import_local = (ZOLTAN_ID_PTR)realloc(
      answer->import_local, (all * (size_t)per_local + 1) * sizeof(ZOLTAN_ID_TYPE));
  answer->import_ranks = (int*)realloc(answer->import_ranks, all * sizeof(int));
  if (!answer->import_ids || !answer->import_local || !answer->import_ranks) {
    answer->failure = ZOLTAN_MEMERR;
    return;
  }
  for (i = 0; i < count; ++i, ++answer->num_imports) {
    answer->import_ids[answer->num_imports] = *entry++;
    answer->import_ranks[answer->num_imports] = (int)from;
    memcpy(answer->import_local + answer->num_imports * per_local, entry,
           sizeof(ZOLTAN_ID_TYPE) * (size_t)per_local);
    entry += per_local;
  }
}

/* Collective. Tells each rank which objects come to it. `to` has the new rank of each own object.
 */
static void tell_imports(Answer* answer, const poise_communication* ranks, const uint32_t* to) {
  const int per_object = 1 + answer->zoltan->local_size;
  const uint32_t own = (uint32_t)answer->rank;
  uint64_t* const first = (uint64_t*)array_of(ranks->num_ranks + 1, 8);
  uint64_t* const bytes = (uint64_t*)array_of(ranks->num_ranks, 8);
  uint32_t* const receivers = (uint32_t*)array_of(ranks->num_ranks, 4);
  const void** const data = (const void**)array_of(ranks->num_ranks, sizeof(void*));
  ZOLTAN_ID_PTR entries =
      (ZOLTAN_ID_PTR)array_of((size_t)(answer->count * per_object), sizeof(ZOLTAN_ID_TYPE));
  uint64_t num_sends = 0;
  uint32_t r;
  int i;
  if (first && bytes && receivers && data && entries) {
    for (i = 0; i < answer->count; ++i) first[to[i] + 1] += to[i] != own;
    for (r = 0; r < ranks->num_ranks; ++r) first[r + 1] += first[r];
    for (r = 0; r < ranks->num_ranks; ++r) {
      if (first[r + 1] == first[r]) continue;
      receivers[num_sends] = r, data[num_sends] = entries + first[r] * (uint64_t)per_object;
      bytes[num_sends++] =
          (first[r + 1] - first[r]) * (uint64_t)per_object * sizeof(ZOLTAN_ID_TYPE);
    }
    for (i = 0; i < answer->count; ++i) {
      ZOLTAN_ID_PTR entry;
      if (to[i] == own) continue;
      entry = entries + first[to[i]]++ * (uint64_t)per_object;
      entry[0] = answer->ids[i];
      memcpy(entry + 1, answer->local + i * (per_object - 1),
             sizeof(ZOLTAN_ID_TYPE) * (size_t)(per_object - 1));
    }
  } else {
    answer->failure = ZOLTAN_MEMERR;
  }
  if (ranks->exchange(ranks->context, num_sends, receivers, data, bytes, append_imports, answer) !=
      MPI_SUCCESS)
    answer->failure = ZOLTAN_FATAL;
  free(first), free(bytes), free(receivers), free(data), free(entries);
}

typedef struct Numbered {
  uint64_t id;
  uint32_t index;
} Numbered;

static int compare_ids(const void* a, const void* b) {
  const uint64_t left = ((const Numbered*)a)->id, right = ((const Numbered*)b)->id;
  return left < right ? -1 : left > right;
}

/* Returns for each edge the index of the object to which it leads. On an error, returns null and
   stores the reason in `why`. */
static uint32_t* receivers_of(const Answer* answer, const char** why) {
  const poise_own_tasks* const own = &answer->own;
  const size_t n = (size_t)own->num_tasks, edges = (size_t)own->indptr[n];
  Numbered* const sorted = (Numbered*)array_of(n, sizeof(Numbered));
  uint32_t* indices = (uint32_t*)array_of(edges, sizeof(uint32_t));
  size_t i;
  *why = sorted && indices ? NULL : "there is not enough memory";
  for (i = 0; *why == NULL && i < n; ++i)
    sorted[i].id = own->global_ids[i], sorted[i].index = (uint32_t)i;
  if (*why == NULL) qsort(sorted, n, sizeof *sorted, compare_ids);
  for (i = 0; *why == NULL && i < edges; ++i) {
    const Numbered wanted = {own->neighbours[i], 0};
    const Numbered* const found =
        (const Numbered*)bsearch(&wanted, sorted, n, sizeof *sorted, compare_ids);
    if (found == NULL)
      *why = "an edge leads to an object that is not in the list of objects";
    else
      indices[i] = found->index;
  }
  free(sorted);
  if (*why == NULL) return indices;
  free(indices);
  return NULL;
}

/* Decides if there is only one rank: returns the part of each object, or null on an error. The
   parts are the places of a machine. */
static uint32_t* decide_alone(Answer* answer) {
  const poise_units units = poise_units_of_environment();
  const char* const given = getenv("POISE_GRAPH_MACHINE");
  const Known* const zoltan = answer->zoltan;
  const poise_own_tasks* const own = &answer->own;
  const char* why = poise_units_trouble(&units);
  poise_machine* machine = NULL;
  poise_workload* workload = NULL;
  uint32_t *to = NULL, *indices = NULL;
  const int parts = zoltan->num_parts > 1 ? zoltan->num_parts : zoltan->parts_per_rank;
  char text[32];
  snprintf(text, sizeof text, "core:%d", parts);
  if (why == NULL && poise_machine_create(given == NULL || *given == '\0' ? text : given, &machine))
    why = poise_last_error();
  if (why == NULL && poise_machine_num_places(machine) != (uint64_t)parts)
    why = "POISE_GRAPH_MACHINE must have as many places as the call asks for parts";
  if (why == NULL) {
    ask(answer, &units);
    to = (uint32_t*)array_of((size_t)answer->count, sizeof(uint32_t));
    why = to == NULL ? "there is not enough memory" : failure_of(answer);
  }
  if (why == NULL && answer->count > 0 && (indices = receivers_of(answer, &why)) != NULL &&
      (poise_workload_create(own->num_tasks, own->load_s, &workload) ||
       poise_workload_set_messages_csr(workload, own->indptr, indices, NULL, own->message_bytes) ||
       poise_plan(machine, workload, NULL, "poise:from_scratch=1", 0, to)))
    why = poise_last_error();
  if (why != NULL) fprintf(stderr, "poise: Zoltan_LB_Partition: %s\n", why);
  poise_workload_destroy(workload);
  poise_machine_destroy(machine);
  free(indices);
  if (why == NULL) return to;
  answer->failure = ZOLTAN_FATAL;
  free(to);
  return NULL;
}

/* Returns the new rank of each own object, or null if a rank failed. Collective. */
static uint32_t* decide(Answer* answer, const poise_communication* ranks) {
  const poise_units units = poise_units_of_environment();
  poise_machine* const machine = poise_machine_of_job(answer->zoltan->comm, "");
  const char* why = poise_units_trouble(&units);
  const double steps = answer->zoltan->steps > 0 ? answer->zoltan->steps : 1;
  char strategy[POISE_GRAPH_TEXT];
  uint32_t* to = NULL;
  int is_ready;
  poise_write_strategy(strategy, answer->zoltan->moves_cost ? steps : POISE_MOST_STEPS);
  if (why == NULL && machine == NULL) why = poise_last_error();
  if (why == NULL) {
    ask(answer, &units);
    to = (uint32_t*)array_of((size_t)answer->count, sizeof(uint32_t));
    why = to == NULL ? "there is not enough memory" : failure_of(answer);
  }
  is_ready = why == NULL;
  MPI_Allreduce(MPI_IN_PLACE, &is_ready, 1, MPI_INT, MPI_MIN, answer->zoltan->comm);
  if (is_ready && poise_plan_distributed(ranks, machine, &answer->own, strategy, 0, to, NULL,
                                         NULL) != POISE_OK) {
    is_ready = 0;
    why = poise_reason(
        "LB_APPROACH, PHG_REPART_MULTIPLIER or POISE_GRAPH_MACHINE differs between ranks; set the "
        "same values on all ranks");
    if (strstr(why, "its own error says why")) why = NULL;
  }
  if (why != NULL && (answer->rank == 0 || poise_units_trouble(&units) == NULL))
    fprintf(stderr, "poise: rank %d: Zoltan_LB_Partition: %s\n", answer->rank, why);
  poise_machine_destroy(machine);
  if (is_ready) return to;
  answer->failure = ZOLTAN_FATAL;
  free(to);
  return NULL;
}

/* Lists the objects that change their part; `to` has the new part of each own object. Returns their
   number. */
static int write_exports(const Answer* answer, const uint32_t* to, ZOLTAN_ID_PTR* ids,
                         ZOLTAN_ID_PTR* local, int** ranks, int** parts) {
  const int per_local = answer->zoltan->local_size;
  const size_t n = (size_t)answer->count;
  int i, count = 0;
  *ids = (ZOLTAN_ID_PTR)array_of(n, sizeof(ZOLTAN_ID_TYPE));
  *local = (ZOLTAN_ID_PTR)array_of(n * (size_t)per_local, sizeof(ZOLTAN_ID_TYPE));
  *ranks = (int*)array_of(n, sizeof(int));
  *parts = (int*)array_of(n, sizeof(int));
  for (i = 0; i < answer->count; ++i) {
    if (to[i] == (uint32_t)answer->rank) continue;
    (*ids)[count] = answer->ids[i];
    memcpy(*local + count * per_local, answer->local + i * per_local,
           sizeof(ZOLTAN_ID_TYPE) * (size_t)per_local);
    (*parts)[count] = (int)to[i];
    (*ranks)[count] = answer->is_alone ? answer->rank : (int)to[i];
    ++count;
  }
  return count;
}

static void free_list(ZOLTAN_ID_PTR* ids, ZOLTAN_ID_PTR* local, int** ranks, int** parts) {
  free(*ids), free(*local), free(*ranks), free(*parts);
  *ids = *local = NULL, *ranks = *parts = NULL;
}

/* Returns the new part of each object that comes to this rank. It is the rank's own part. */
static int* parts_of_imports(const Answer* answer) {
  int* const parts = (int*)array_of((size_t)answer->num_imports, sizeof(int));
  int i;
  for (i = 0; parts != NULL && i < answer->num_imports; ++i) parts[i] = answer->rank;
  return parts;
}

/* True if the communicator has one rank, which asks for several parts. Programs that have the whole
   graph on every rank make such calls. */
static int is_alone(const Known* zoltan) {
  int num_ranks = 0;
  MPI_Comm_size(zoltan->comm, &num_ranks);
  return num_ranks == 1 && (zoltan->num_parts > 1 || zoltan->parts_per_rank > 1);
}

/* True if Poise can answer the call with the settings of this rank. The method must be GRAPH. Each
   object has a single id, and objects and edges have at most one weight each. No object is fixed,
   and all parts are equally large. There is one part per rank, or only one rank. The program has no
   function that returns the part of an object, so an object's part is its rank. The program itself
   migrates the objects. */
static int can_answer(const Known* zoltan) {
  int num_ranks = 0;
  if (!zoltan->is_graph || zoltan->is_strange || zoltan->migrates || zoltan->has_part_sizes ||
      zoltan->num_fixed.function != NULL || zoltan->part.function != NULL)
    return 0;
  MPI_Comm_size(zoltan->comm, &num_ranks);
  if (!is_alone(zoltan) &&
      (zoltan->parts_per_rank != -1 || (zoltan->num_parts != -1 && zoltan->num_parts != num_ranks)))
    return 0;
  return zoltan->id_size == 1 && zoltan->load_size <= 1 && zoltan->edge_size <= 1 &&
         zoltan->num_objects.function != NULL && zoltan->objects.function != NULL &&
         (zoltan->num_edges.function != NULL || zoltan->num_edges_multi.function != NULL) &&
         (zoltan->edges.function != NULL || zoltan->edges_multi.function != NULL);
}

/* True if Poise can answer this call on all ranks. Ranks may have set different parameters, such as
   NUM_LOCAL_PARTS. Collective. */
static int is_for_poise(const Known* zoltan) {
  int is_here;
  if (zoltan == NULL) return 0;
  is_here = can_answer(zoltan);
  MPI_Allreduce(MPI_IN_PLACE, &is_here, 1, MPI_INT, MPI_MIN, zoltan->comm);
  return is_here;
}

int Zoltan_LB_Partition(struct Zoltan_Struct* zoltan, int* changes, int* id_size, int* local_size,
                        int* num_imports, ZOLTAN_ID_PTR* import_ids, ZOLTAN_ID_PTR* import_local,
                        int** import_ranks, int** import_parts, int* num_exports,
                        ZOLTAN_ID_PTR* export_ids, ZOLTAN_ID_PTR* export_local, int** export_ranks,
                        int** export_parts) {
  int (*real)(struct Zoltan_Struct*, int*, int*, int*, int*, ZOLTAN_ID_PTR*, ZOLTAN_ID_PTR*, int**,
              int**, int*, ZOLTAN_ID_PTR*, ZOLTAN_ID_PTR*, int**, int**) = NULL;
  Answer answer;
  poise_mpi mpi;
  poise_communication ranks;
  uint32_t* to;
  memset(&answer, 0, sizeof answer);
  answer.zoltan = known(zoltan);
  if (!is_for_poise(answer.zoltan)) {
    find_real(__func__, &real);
    return real(zoltan, changes, id_size, local_size, num_imports, import_ids, import_local,
                import_ranks, import_parts, num_exports, export_ids, export_local, export_ranks,
                export_parts);
  }
  if (poise_mpi_start(answer.zoltan->comm, &mpi, &ranks) != MPI_SUCCESS) return ZOLTAN_FATAL;
  answer.rank = (int)ranks.rank;
  answer.is_alone = is_alone(answer.zoltan);
  to = answer.is_alone ? decide_alone(&answer) : decide(&answer, &ranks);
  *id_size = 1, *local_size = answer.zoltan->local_size;
  /* Zoltan returns these values for lists that the program did not request. */
  *changes = 0, *num_imports = -1, *num_exports = -1;
  *import_ids = *import_local = *export_ids = *export_local = NULL;
  *import_ranks = *import_parts = *export_ranks = *export_parts = NULL;
  if (to != NULL) {
    const int count =
        write_exports(&answer, to, export_ids, export_local, export_ranks, export_parts);
    *changes = count > 0;
    MPI_Allreduce(MPI_IN_PLACE, changes, 1, MPI_INT, MPI_MAX, answer.zoltan->comm);
    if (answer.is_alone) /* objects that change their part stay on the only rank */
      answer.num_imports = write_exports(&answer, to, &answer.import_ids, &answer.import_local,
                                         &answer.import_ranks, import_parts);
    else
      tell_imports(&answer, &ranks, to), *import_parts = parts_of_imports(&answer);
    *import_ids = answer.import_ids, *import_local = answer.import_local;
    *import_ranks = answer.import_ranks;
    if (answer.zoltan->returns_exports)
      *num_exports = count;
    else
      free_list(export_ids, export_local, export_ranks, export_parts);
    if (answer.zoltan->returns_imports)
      *num_imports = answer.num_imports;
    else
      free_list(import_ids, import_local, import_ranks, import_parts);
  }
  free(to);
  free_answer(&answer);
  poise_mpi_end(&mpi);
  return answer.failure;
}
