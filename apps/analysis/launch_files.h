// SPDX-License-Identifier: BSD-3-Clause
// The files and the command line with which a launcher starts each rank where a map puts it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/rank_slots.h"
#include "poise/placement/placement.h"

namespace poise::apps {

enum class Launcher : std::uint8_t { openmpi, mpich, slurm, cray, lsf, pbs };
/// Returns the launcher of this name. Throws Error if there is none.
Launcher launcher_named(std::string_view name);
/// Default name of the launcher's file: "rankfile", "hosts", "MPICH_RANK_ORDER" or "map.erf".
std::string_view usual_file(Launcher launcher);
/// True if the launcher fills nodes in order, so that only the last node may have free slots.
bool fills_nodes(Launcher launcher);

struct LaunchFile {
  std::string path, text;
};

struct LaunchPlan {
  std::vector<LaunchFile> files;
  std::vector<std::string>
      commands;  // alternatives, each a line; "./program" stands for the program
};

/// A map of ranks to cores: `placement` gives the first core of each rank. `hosts` has the name of
/// each node, as the launcher knows it.
struct RankMap {
  const Machine& machine;
  const Placement& placement;
  RankShape shape;
  std::span<const std::string> hosts;  // one per node; may be empty if the launcher needs none
};

/// The words and files that a launcher needs in order to start each rank on the cores that a map
/// gives it.
struct LaunchOptions {
  std::vector<LaunchFile> files;
  std::vector<std::string> words;          // words to insert after the launcher's name
  std::vector<std::string> program_words;  // words to insert before the program's name
  /// Environment variables to set for the launcher: pairs of name and value.
  std::vector<std::pair<std::string, std::string>> variables;
};
/// Returns the options for openmpi, mpich or slurm. If Hydra or Slurm cannot bind ranks as this map
/// requires, a shell command before the program binds each rank; a rank that the command cannot
/// bind runs unbound. Throws Error if the command would be too long. `is_open_mpi_5` selects the
/// options of that version.
LaunchOptions launch_options(const RankMap& map, Launcher launcher, const std::string& path,
                             bool is_open_mpi_5);

/// Returns the files and command lines for a launcher. Throws Error if host names are missing, or
/// if the files of the launcher cannot express the map.
///
/// Files of each launcher, with their manuals:
/// - openmpi: a rankfile with logical cores (mpirun(1), "Rankfiles", of Open MPI 4.1; "Rankfiles"
///   in the manual of Open MPI 5.0).
/// - mpich: Hydra's host file and `-bind-to user:` (mpiexec -bind-to -help).
/// - slurm: a host per rank for `--distribution=arbitrary`, and `--cpu-bind=map_cpu` or `mask_cpu`
///   (srun(1)).
/// - cray: MPICH_RANK_ORDER for MPICH_RANK_REORDER_METHOD=3 (intro_mpi(3)).
/// - lsf: an explicit resource file for jsrun (IBM Job Step Manager, "Explicit Resource File (ERF)
///   format").
/// - pbs: a host per rank in the form of PBS_NODEFILE.
///
/// Hydra and Slurm bind the k-th rank of every node to the same cores of its node. If a map needs
/// other bindings, and always for pbs, a shell script binds each rank by taskset(1).
LaunchPlan launch_plan(const RankMap& map, Launcher launcher, const std::string& path);

}  // namespace poise::apps
