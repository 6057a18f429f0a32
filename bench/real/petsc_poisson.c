/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a Poisson problem on N x N points with PETSc, several times. Usage: petsc_poisson N SOLVES
 * SHARE Rank 0 gets the fraction SHARE of all rows and the other ranks divide the rest evenly; with
 * SHARE 0 all ranks get the same number of rows. */
#include <petscksp.h>
#include <stdlib.h>

static PetscErrorCode fill(Mat matrix, PetscInt n) {
  PetscInt first, end;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(matrix, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    const PetscInt x = row % n, y = row / n;
    PetscInt columns[5], count = 0;
    PetscScalar values[5];
    columns[count] = row, values[count++] = 4;
    if (x > 0) columns[count] = row - 1, values[count++] = -1;
    if (x < n - 1) columns[count] = row + 1, values[count++] = -1;
    if (y > 0) columns[count] = row - n, values[count++] = -1;
    if (y < n - 1) columns[count] = row + n, values[count++] = -1;
    PetscCall(MatSetValues(matrix, 1, &row, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat matrix;
  Vec solution, right_side;
  KSP solver;
  PetscMPIInt rank, size;
  PetscLogDouble start, end;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  if (argc < 4) SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_USER, "usage: petsc_poisson N SOLVES SHARE");
  const PetscInt n = atoi(argv[1]), solves = atoi(argv[2]), rows = n * n;
  const double share = atof(argv[3]);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscInt own = PETSC_DECIDE;
  if (share > 0 && size > 1) {
    const PetscInt of_rank_0 = (PetscInt)(share * (double)rows), rest = rows - of_rank_0,
                   others = size - 1;
    own = rank == 0 ? of_rank_0 : rest / others + (rank - 1 < rest % others ? 1 : 0);
  }
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, own, own, rows, rows, 5, NULL, 5, NULL, &matrix));
  PetscCall(fill(matrix, n));
  PetscCall(MatCreateVecs(matrix, &solution, &right_side));
  PetscCall(VecSet(right_side, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetType(solver, KSPCG));
  PetscCall(KSPSetTolerances(solver, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 100000));
  PC preconditioner;
  PetscCall(KSPGetPC(solver, &preconditioner));
  PetscCall(PCSetType(preconditioner, PCJACOBI));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(PetscTime(&start));
  for (PetscInt i = 0; i < solves; ++i) PetscCall(KSPSolve(solver, right_side, solution));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Time of the solves: %.6f s\n", end - start));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&solution));
  PetscCall(VecDestroy(&right_side));
  PetscCall(MatDestroy(&matrix));
  PetscCall(PetscFinalize());
  return 0;
}
