/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls Zoltan as a program does that was written for it: a ring of objects, those of the first
   rank three times as heavy, is partitioned as a graph and migrated by Zoltan_Migrate. Runs with
   and without the preloaded library of Poise. Prints what does not hold and exits 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zoltan.h>

enum { kObjects = 500, kMax = 100000 };

typedef struct Object {
  ZOLTAN_ID_TYPE id;
  float load;
} Object;

static Object objects[kMax];
static int rank_of[kMax]; /* the rank of each object, for the edges */
static int num_objects, all_objects, rank, num_ranks, wrong;
static int failing_object = -1; /* the query for the edges of this object fails; -1: none fails */
static float edge_weight = 10;
static float first_load; /* load of the last rank's first object; 0: the same as its others */

static void check(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  fprintf(stderr, "rank %d: does not hold: %s\n", rank, what);
}

static int count(void* data, int* error) {
  (void)data, *error = ZOLTAN_OK;
  return num_objects;
}

static void list(void* data, int id_size, int local_size, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR local,
                 int weights, float* loads, int* error) {
  int i;
  (void)data, (void)id_size, (void)local_size, *error = ZOLTAN_OK;
  for (i = 0; i < num_objects; ++i) {
    ids[i] = objects[i].id, local[i] = (ZOLTAN_ID_TYPE)i;
    if (weights == 1) loads[i] = objects[i].load;
  }
}

static int num_edges(void* data, int id_size, int local_size, ZOLTAN_ID_PTR id, ZOLTAN_ID_PTR local,
                     int* error) {
  (void)data, (void)id_size, (void)local_size, (void)local;
  *error = (int)*id == failing_object ? ZOLTAN_FATAL : ZOLTAN_OK;
  return 2;
}

static void edges(void* data, int id_size, int local_size, ZOLTAN_ID_PTR id, ZOLTAN_ID_PTR local,
                  ZOLTAN_ID_PTR others, int* ranks, int weights, float* values, int* error) {
  (void)data, (void)id_size, (void)local_size, (void)local;
  /* A warning does not count as a failure. */
  *error = (int)*id == all_objects - 1 ? ZOLTAN_WARN : ZOLTAN_OK;
  others[0] = (*id + 1) % (ZOLTAN_ID_TYPE)all_objects;
  others[1] = (*id + (ZOLTAN_ID_TYPE)all_objects - 1) % (ZOLTAN_ID_TYPE)all_objects;
  ranks[0] = rank_of[others[0]], ranks[1] = rank_of[others[1]];
  if (weights == 1) values[0] = values[1] = edge_weight;
}

static int size(void* data, int id_size, int local_size, ZOLTAN_ID_PTR id, ZOLTAN_ID_PTR local,
                int* error) {
  (void)data, (void)id_size, (void)local_size, (void)id, (void)local, *error = ZOLTAN_OK;
  return (int)sizeof(Object);
}

static void pack(void* data, int id_size, int local_size, ZOLTAN_ID_PTR id, ZOLTAN_ID_PTR local,
                 int to, int bytes, char* buffer, int* error) {
  (void)data, (void)id_size, (void)local_size, (void)to, (void)bytes, *error = ZOLTAN_OK;
  check(objects[*local].id == *id, "the global id and the local id of an export belong together");
  memcpy(buffer, &objects[*local], sizeof(Object));
  objects[*local].load = -1; /* marks the object as gone */
}

static void unpack(void* data, int id_size, ZOLTAN_ID_PTR id, int bytes, char* buffer, int* error) {
  (void)data, (void)id_size, (void)bytes, *error = ZOLTAN_OK;
  memcpy(&objects[num_objects], buffer, sizeof(Object));
  check(objects[num_objects++].id == *id, "an object comes with its id");
}

/* Removes the objects that are marked as gone. Returns the load of the busiest rank divided by the
   average. */
static double imbalance(void) {
  double load = 0, sum = 0, largest = 0;
  int i, kept = 0, all = 0;
  for (i = 0; i < num_objects; ++i)
    if (objects[i].load > 0) load += (objects[kept++] = objects[i]).load;
  num_objects = kept;
  MPI_Allreduce(&load, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&load, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&num_objects, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(all == all_objects, "no object is lost");
  return largest * num_ranks / sum;
}

static struct Zoltan_Struct* prepared(const char* method, MPI_Comm comm) {
  struct Zoltan_Struct* const zoltan = Zoltan_Create(comm);
  Zoltan_Set_Param(zoltan, "DEBUG_LEVEL", "0");
  Zoltan_Set_Param(zoltan, "LB_METHOD", method);
  Zoltan_Set_Param(zoltan, "OBJ_WEIGHT_DIM", "1");
  Zoltan_Set_Param(zoltan, "EDGE_WEIGHT_DIM", "1");
  Zoltan_Set_Param(zoltan, "RETURN_LISTS", "IMPORT AND EXPORT");
  Zoltan_Set_Num_Obj_Fn(zoltan, count, NULL);
  Zoltan_Set_Obj_List_Fn(zoltan, list, NULL);
  Zoltan_Set_Num_Edges_Fn(zoltan, num_edges, NULL);
  Zoltan_Set_Edge_List_Fn(zoltan, edges, NULL);
  Zoltan_Set_Obj_Size_Fn(zoltan, size, NULL);
  Zoltan_Set_Pack_Obj_Fn(zoltan, pack, NULL);
  Zoltan_Set_Unpack_Obj_Fn(zoltan, unpack, NULL);
  return zoltan;
}

static void start(void) {
  int i;
  num_objects = kObjects, all_objects = kObjects * num_ranks;
  for (i = 0; i < all_objects; ++i) rank_of[i] = i / kObjects;
  for (i = 0; i < kObjects; ++i) {
    objects[i].id = (ZOLTAN_ID_TYPE)(rank * kObjects + i);
    objects[i].load = rank == 0 ? 3000 : 1000;
  }
  if (rank == num_ranks - 1 && first_load != 0) objects[0].load = first_load;
}

static void balance(const char* method) {
  int changes, ids, local, num_imports = 0, num_exports = 0;
  ZOLTAN_ID_PTR import_ids, import_local, export_ids, export_local;
  int *import_ranks, *import_parts, *export_ranks, *export_parts;
  struct Zoltan_Struct* zoltan;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  zoltan = prepared(method, comm);
  MPI_Comm_free(&comm); /* allowed, because Zoltan has a duplicate */
  start();
  if (Zoltan_LB_Partition(zoltan, &changes, &ids, &local, &num_imports, &import_ids, &import_local,
                          &import_ranks, &import_parts, &num_exports, &export_ids, &export_local,
                          &export_ranks, &export_parts) != ZOLTAN_OK) {
    check(0, "Zoltan_LB_Partition returns ZOLTAN_OK");
  } else {
    check(changes == (num_ranks > 1), "objects move if there are several ranks");
    check(Zoltan_Migrate(zoltan, num_imports, import_ids, import_local, import_ranks, import_parts,
                         num_exports, export_ids, export_local, export_ranks,
                         export_parts) == ZOLTAN_OK,
          "Zoltan_Migrate accepts the lists");
    check(imbalance() < 1.1, "loads are even");
    Zoltan_LB_Free_Part(&import_ids, &import_local, &import_ranks, &import_parts);
    Zoltan_LB_Free_Part(&export_ids, &export_local, &export_ranks, &export_parts);
  }
  Zoltan_Destroy(&zoltan);
}

/* Each rank alone divides a ring into four parts, as deal.II does with its meshes. */
static void divide(const char* parameter) {
  enum { kParts = 4 };
  struct Zoltan_Struct* zoltan;
  const int saved_rank = rank;
  int changes, ids, local, num_imports, num_exports, i, part[kObjects] = {0}, cut = 0;
  double load[kParts] = {0};
  ZOLTAN_ID_PTR import_ids, import_local, export_ids, export_local;
  int *import_ranks, *import_parts, *export_ranks, *export_parts;
  rank = 0;
  start();
  num_objects = all_objects = kObjects;
  objects[0].load = 100000; /* of a total load of 1.6 million */
  zoltan = prepared("GRAPH", MPI_COMM_SELF);
  Zoltan_Set_Param(zoltan, parameter, "4");
  if (Zoltan_LB_Partition(zoltan, &changes, &ids, &local, &num_imports, &import_ids, &import_local,
                          &import_ranks, &import_parts, &num_exports, &export_ids, &export_local,
                          &export_ranks, &export_parts) != ZOLTAN_OK) {
    check(0, "Zoltan_LB_Partition returns ZOLTAN_OK for parts of one rank");
  } else {
    for (i = 0; i < num_exports; ++i) part[export_local[i]] = export_parts[i];
    for (i = 0; i < kObjects; ++i) {
      load[part[i]] += objects[i].load;
      cut += part[i] != part[(i + 1) % kObjects];
    }
    for (i = 0; i < kParts; ++i)
      check(load[i] > 0.9 * 1597000 / kParts && load[i] < 1.1 * 1597000 / kParts,
            "parts of one rank are even");
    check(cut < 40, "parts of one rank are connected");
    check(num_imports == num_exports, "objects that change their part are imports and exports");
    Zoltan_LB_Free_Part(&import_ids, &import_local, &import_ranks, &import_parts);
    Zoltan_LB_Free_Part(&export_ids, &export_local, &export_ranks, &export_parts);
  }
  Zoltan_Destroy(&zoltan);
  rank = saved_rank;
}

/* The lists that Zoltan_LB_Partition returns. */
typedef struct Lists {
  int changes, ids, local, num_imports, num_exports;
  ZOLTAN_ID_PTR import_ids, import_local, export_ids, export_local;
  int *import_ranks, *import_parts, *export_ranks, *export_parts;
} Lists;

static int partition(struct Zoltan_Struct* zoltan, Lists* l) {
  return Zoltan_LB_Partition(zoltan, &l->changes, &l->ids, &l->local, &l->num_imports,
                             &l->import_ids, &l->import_local, &l->import_ranks, &l->import_parts,
                             &l->num_exports, &l->export_ids, &l->export_local, &l->export_ranks,
                             &l->export_parts);
}

static void free_lists(Lists* l) {
  Zoltan_LB_Free_Part(&l->import_ids, &l->import_local, &l->import_ranks, &l->import_parts);
  Zoltan_LB_Free_Part(&l->export_ids, &l->export_local, &l->export_ranks, &l->export_parts);
}

/* With LB_APPROACH=PARTITION migrations cost nothing, so the parts must be even, although nearly
   all objects are on the last rank and have to move. */
static void partition_objects_of_last_rank(void) {
  Lists lists;
  int i, sizes[2]; /* the sizes of the smallest and the largest part */
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  Zoltan_Set_Param(zoltan, "LB_APPROACH", "PARTITION");
  Zoltan_Set_Param(zoltan, "PHG_REPART_MULTIPLIER", "0.01"); /* without effect in this approach */
  all_objects = 300 * num_ranks, num_objects = rank == num_ranks - 1 ? all_objects : 0;
  for (i = 0; i < all_objects; ++i) {
    rank_of[i] = num_ranks - 1;
    objects[i].id = (ZOLTAN_ID_TYPE)i, objects[i].load = 1;
  }
  check(partition(zoltan, &lists) == ZOLTAN_OK, "one rank may have all objects");
  sizes[0] = sizes[1] = num_objects + lists.num_imports - lists.num_exports;
  MPI_Allreduce(MPI_IN_PLACE, &sizes[0], 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &sizes[1], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(sizes[0] >= 200 && sizes[1] <= 340, "parts are even, whatever it costs to make them so");
  free_lists(&lists);
  Zoltan_Destroy(&zoltan);
}

/* The call must return on all ranks even if only the first rank sets the number of its parts. */
static void ask_on_one_rank(void) {
  Lists lists;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  if (rank == 0) Zoltan_Set_Param(zoltan, "NUM_LOCAL_PARTS", "1");
  check(partition(zoltan, &lists) == ZOLTAN_OK,
        "Zoltan_LB_Partition returns ZOLTAN_OK if ranks have different parameters");
  free_lists(&lists);
  Zoltan_Destroy(&zoltan);
}

/* Lists that the program did not request are null, so it need not free them. */
static void ask_for_exports_only(void) {
  Lists lists;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  Zoltan_Set_Param(zoltan, "RETURN_LISTS", "EXPORT");
  check(partition(zoltan, &lists) == ZOLTAN_OK, "Zoltan lists exports");
  check(lists.num_imports == -1 && lists.import_ids == NULL && lists.import_local == NULL &&
            lists.import_ranks == NULL && lists.import_parts == NULL,
        "imports are not listed");
  check(rank > 0 || num_ranks == 1 || lists.num_exports > 0, "exports are listed");
  Zoltan_LB_Free_Part(&lists.export_ids, &lists.export_local, &lists.export_ranks,
                      &lists.export_parts);
  Zoltan_Destroy(&zoltan);
}

static double load_of_rank(void) {
  double load = 0;
  int i;
  for (i = 0; i < num_objects; ++i) load += objects[i].load;
  return load;
}

/* The last part must get three quarters of the load, and Zoltan itself must migrate the objects.
   Poise leaves such a call to Zoltan. */
static void migrate_into_unequal_parts(void) {
  int parts[1];
  float sizes[1];
  double all = 0, load;
  Lists lists;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  /* The other parts have size 1 each. */
  parts[0] = num_ranks - 1, sizes[0] = 3 * (float)(num_ranks - 1);
  if (rank == 0) Zoltan_LB_Set_Part_Sizes(zoltan, 1, 1, parts, NULL, sizes);
  Zoltan_Set_Param(zoltan, "AUTO_MIGRATE", "TRUE");
  check(partition(zoltan, &lists) == ZOLTAN_OK, "Zoltan makes unequal parts");
  imbalance();
  load = load_of_rank();
  MPI_Allreduce(&load, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(rank < num_ranks - 1 || (load > 0.65 * all && load < 0.85 * all),
        "a part has the size asked for");
  free_lists(&lists);
  Zoltan_Set_Param(zoltan, "AUTO_MIGRATE", "FALSE");
  Zoltan_LB_Set_Part_Sizes(zoltan, 1, -1, NULL, NULL, NULL);
  start();
  check(partition(zoltan, &lists) == ZOLTAN_OK, "Zoltan makes equal parts again");
  imbalance();
  load = load_of_rank();
  check(load == (rank == 0 ? 3000.0 : 1000.0) * kObjects, "the program moves the objects");
  free_lists(&lists);
  Zoltan_Destroy(&zoltan);
}

static int num_fixed(void* data, int* error) {
  (void)data, *error = ZOLTAN_OK;
  return rank == 0;
}

static void list_fixed(void* data, int num, int id_size, ZOLTAN_ID_PTR ids, int* parts,
                       int* error) {
  (void)data, (void)id_size, *error = ZOLTAN_OK;
  if (num > 0) ids[0] = kObjects / 2, parts[0] = num_ranks - 1;
}

/* One object must be in the last part, no matter where its neighbours are. */
static void fix_an_object(void) {
  Lists lists;
  int i, is_there = 0;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  Zoltan_Set_Num_Fixed_Obj_Fn(zoltan, num_fixed, NULL);
  Zoltan_Set_Fixed_Obj_List_Fn(zoltan, list_fixed, NULL);
  check(partition(zoltan, &lists) == ZOLTAN_OK, "Zoltan fixes an object");
  for (i = 0; rank == 0 && i < lists.num_exports; ++i)
    is_there |= lists.export_ids[i] == kObjects / 2 && lists.export_parts[i] == num_ranks - 1;
  check(rank > 0 || is_there, "a fixed object is where it must be");
  free_lists(&lists);
  Zoltan_Destroy(&zoltan);
}

static int next_part(void* data, int id_size, int local_size, ZOLTAN_ID_PTR id, ZOLTAN_ID_PTR local,
                     int* error) {
  (void)data, (void)id_size, (void)local_size, (void)id, (void)local, *error = ZOLTAN_OK;
  return (rank + 1) % num_ranks;
}

/* The objects are not where their parts are. Zoltan lists an object if its part or its rank
   changes, which is here true of every object. Poise leaves such a call to Zoltan. */
static void list_objects_of_other_parts(void) {
  Lists lists;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  Zoltan_Set_Part_Fn(zoltan, next_part, NULL);
  check(partition(zoltan, &lists) == ZOLTAN_OK, "Zoltan knows parts");
  check(lists.num_exports == kObjects, "objects that only change their part are listed");
  free_lists(&lists);
  Zoltan_Destroy(&zoltan);
}

/* Poise refuses edges that are too heavy to count, instead of taking them for edges of weight 0,
   and negative weights. */
static void refuse_weights(void) {
  Lists lists;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  edge_weight = 1e30f;
  check(partition(zoltan, &lists) < 0, "edges that are too heavy are an error");
  edge_weight = -2;
  check(partition(zoltan, &lists) < 0, "edges with negative weights are an error");
  edge_weight = 10, first_load = -5;
  start();
  check(partition(zoltan, &lists) < 0, "objects with negative weights are an error");
  first_load = 0;
  Zoltan_Destroy(&zoltan);
}

/* A query function fails for one object and succeeds for the objects after it. */
static void fail_a_query(void) {
  int changes, ids, local, num_imports = 0, num_exports = 0;
  ZOLTAN_ID_PTR import_ids, import_local, export_ids, export_local;
  int *import_ranks, *import_parts, *export_ranks, *export_parts;
  struct Zoltan_Struct* zoltan = prepared("GRAPH", MPI_COMM_WORLD);
  start();
  failing_object = 1;
  check(Zoltan_LB_Partition(zoltan, &changes, &ids, &local, &num_imports, &import_ids,
                            &import_local, &import_ranks, &import_parts, &num_exports, &export_ids,
                            &export_local, &export_ranks, &export_parts) < 0,
        "Zoltan_LB_Partition fails if a query fails");
  failing_object = -1;
  Zoltan_Destroy(&zoltan);
}

int main(int argc, char** argv) {
  float version;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  Zoltan_Initialize(argc, argv, &version);
  balance("GRAPH");
  balance("BLOCK"); /* Poise leaves this method to Zoltan */
  divide("NUM_LOCAL_PARTS");
  divide("NUM_GLOBAL_PARTITIONS"); /* an old name of NUM_GLOBAL_PARTS */
  partition_objects_of_last_rank();
  ask_on_one_rank();
  ask_for_exports_only();
  if (num_ranks > 1) migrate_into_unequal_parts();
  if (num_ranks > 1) fix_an_object();
  if (num_ranks > 1) list_objects_of_other_parts();
  if (argc > 1) { /* Zoltan itself might hang here */
    fail_a_query();
    refuse_weights();
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && wrong == 0) puts("all is right");
  MPI_Finalize();
  return wrong != 0;
}
