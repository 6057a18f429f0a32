// SPDX-License-Identifier: BSD-3-Clause

#include "apps/commands/launcher_options.h"

#include <gtest/gtest.h>

#include "poise/base/text.h"

namespace poise::apps {
namespace {

std::vector<std::string> words_of(const char* command) {
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' ')) words.emplace_back(word);
  return words;
}

std::string placing(const char* command, Launcher launcher) {
  return placing_option(words_of(command), launcher);
}

TEST(LauncherOptions, for_each_launcher_recognises_the_options_that_place_or_bind_ranks) {
  EXPECT_EQ(placing("mpirun -np 4 -rankfile f ./program", Launcher::openmpi), "-rankfile");
  EXPECT_EQ(placing("mpirun --npernode 2 ./program", Launcher::openmpi), "--npernode");
  EXPECT_EQ(placing("mpirun -x A=1 --map-by=node ./program", Launcher::openmpi), "--map-by");
  EXPECT_EQ(placing("mpirun --mca rmaps_base_mapping_policy node ./program", Launcher::openmpi),
            "--mca rmaps_base_mapping_policy");
  EXPECT_EQ(placing("mpiexec -genv A 1 -machinefile f ./program", Launcher::mpich), "-machinefile");
  EXPECT_EQ(placing("mpiexec --bind-to core ./program", Launcher::mpich), "--bind-to");
  EXPECT_EQ(placing("srun -n4 --ntasks-per-node=2 ./program", Launcher::slurm),
            "--ntasks-per-node");
  EXPECT_EQ(placing("srun -mblock ./program", Launcher::slurm), "-mblock");
}

TEST(LauncherOptions, does_not_mistake_options_of_the_program_for_options_of_the_launcher) {
  EXPECT_EQ(placing("mpirun --oversubscribe ./program -rf f", Launcher::openmpi), "");
  EXPECT_EQ(placing("mpirun --mca btl self,tcp -np 2 ./program --bind-to x", Launcher::openmpi),
            "");
  EXPECT_EQ(placing("mpiexec -l -n 2 ./program -f input", Launcher::mpich), "");
  EXPECT_EQ(placing("mpiexec -genvall ./program -f input", Launcher::mpich), "");
  EXPECT_EQ(placing("srun --mpi=pmix ./program -m 3", Launcher::slurm), "");
  EXPECT_EQ(placing("srun -n4 ./program -m 3", Launcher::slurm), "");
  EXPECT_EQ(placing("srun -N 2 -l ./program -m 3", Launcher::slurm), "");
  EXPECT_EQ(placing("mpirun", Launcher::openmpi), "");
}

TEST(LauncherOptions, finds_an_option_of_the_launcher_but_not_one_of_the_program) {
  const auto has_app = [](const char* command) {
    return has_option(words_of(command), Launcher::openmpi, "app");
  };
  EXPECT_TRUE(has_app("mpirun --oversubscribe -x A --app file"));
  EXPECT_TRUE(has_app("mpirun -app file"));
  EXPECT_FALSE(has_app("mpirun -np 2 ./program --app file"));
  EXPECT_FALSE(has_app("mpirun -x --app ./program"));
}

TEST(LauncherOptions, finds_the_program_after_the_options_of_the_launcher) {
  const auto program = [](const char* command, Launcher launcher) {
    const std::vector<std::string> words = words_of(command);
    const std::size_t index = program_index(words, launcher);
    return index < words.size() ? words[index] : "none";
  };
  EXPECT_EQ(program("mpirun --mca btl self,tcp -np 2 a -x b", Launcher::openmpi), "a");
  EXPECT_EQ(program("mpiexec -l -genv A 1 -n 2 a -f b", Launcher::mpich), "a");
  EXPECT_EQ(program("srun -N 2 -n4 --mpi=pmix -l a -m 3", Launcher::slurm), "a");
  EXPECT_EQ(program("srun -n 4 -- a b", Launcher::slurm), "a");
  EXPECT_EQ(program("srun -n 4 --", Launcher::slurm), "none");
  EXPECT_EQ(program("srun -n", Launcher::slurm), "none");
}

}  // namespace
}  // namespace poise::apps
