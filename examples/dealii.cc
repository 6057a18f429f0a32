// SPDX-License-Identifier: BSD-3-Clause
// A mesh of deal.II that Zoltan divides among the ranks, or Poise if libpoise_zoltan.so is
// preloaded (docs/parmetis.md). Prints how even the parts are, and how many faces lie between two
// parts.
//
//   LIBRARIES="-ldeal.ii -ltbb -ltrilinos_teuchoscomm -ltrilinos_teuchoscore"
//   mpicxx examples/dealii.cc -I/usr/include/trilinos $LIBRARIES -o mesh
//   mpiexec -n 4 -x LD_PRELOAD=$PWD/libpoise_zoltan.so ./mesh
#include <algorithm>
#include <cstdio>
#include <deal.II/base/mpi.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/grid/grid_generator.h>
#include <vector>

using Mesh = dealii::parallel::shared::Triangulation<2>;

namespace {

/// Builds the mesh of a square. Cells near one corner are smaller than the others.
void build(Mesh& mesh) {
  dealii::GridGenerator::hyper_cube(mesh);
  mesh.refine_global(6);
  for (int step = 0; step < 3; ++step) {
    for (const auto& cell : mesh.active_cell_iterators())
      if (cell->center().norm() < 0.3) cell->set_refine_flag();
    mesh.execute_coarsening_and_refinement();  // also divides the new mesh among the ranks
  }
}

/// Returns the number of faces of this cell that lie between two parts. A face is counted only for
/// one of its two cells: for the smaller one or, if both have the same size, for the one in the
/// part with the lower number.
template <typename Cell>
int faces_between_parts(const Cell& cell) {
  int faces = 0;
  for (const unsigned face : cell->face_indices()) {
    if (cell->at_boundary(face) || cell->neighbor(face)->has_children()) continue;
    const auto part = cell->subdomain_id(), other = cell->neighbor(face)->subdomain_id();
    faces += cell->neighbor_is_coarser(face) ? part != other : part < other;
  }
  return faces;
}

}  // namespace

int main(int argc, char** argv) {
  const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  Mesh mesh(MPI_COMM_WORLD, Mesh::none, false, Mesh::partition_zoltan);
  build(mesh);
  const unsigned num_ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  std::vector<unsigned> cells(num_ranks);
  int faces = 0;
  for (const auto& cell : mesh.active_cell_iterators()) {  // each rank knows every cell's part
    ++cells[cell->subdomain_id()];
    faces += faces_between_parts(cell);
  }
  if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) != 0) return 0;
  const unsigned largest = *std::max_element(cells.begin(), cells.end());
  std::printf("%u cells, the largest part has %.3f times the average, %d faces between parts\n",
              mesh.n_active_cells(), double(largest) * num_ranks / mesh.n_active_cells(), faces);
}
