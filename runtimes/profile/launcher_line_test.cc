// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/launcher_line.h"

#include <gtest/gtest.h>

namespace poise::profile {
namespace {

using Words = std::vector<std::string>;

TEST(launcher_line, recognises_launchers_by_name) {
  for (const char* name : {"mpirun", "/usr/bin/mpiexec.hydra", "mpirun.openmpi", "./prterun"})
    EXPECT_TRUE(may_be_launcher(name)) << name;
  for (const char* name : {"srun", "./program", "mpirunner", "env", ""})
    EXPECT_FALSE(may_be_launcher(name)) << name;
}

TEST(launcher_line, recognises_launchers_by_the_version_text_that_they_print) {
  EXPECT_EQ(launcher_of("mpirun (Open MPI) 4.1.4"), Launcher::open_mpi);
  EXPECT_EQ(launcher_of("HYDRA build details:\n Version: 4.0.2"), Launcher::hydra);
  EXPECT_EQ(launcher_of("Intel(R) MPI Library for Linux* OS, Version 2021.19"), Launcher::hydra);
  EXPECT_EQ(launcher_of("something else"), Launcher::other);
}

TEST(launcher_line, inserts_environment_variables_before_the_launcher_arguments_of_the_user) {
  const Words command = {"mpirun", "-np", "2", "a", ":", "-np", "1", "b", "-x"};
  EXPECT_EQ(with_variables(command, Launcher::open_mpi, {{"A", "1"}, {"B", "x=y"}}),
            (Words{"mpirun", "-x", "A=1", "-x", "B=x=y", "-np", "2", "a", ":", "-x", "A=1", "-x",
                   "B=x=y", "-np", "1", "b", "-x"}));
  EXPECT_EQ(with_variables(command, Launcher::hydra, {{"A", "1"}}),
            (Words{"mpirun", "-genv", "A", "1", "-np", "2", "a", ":", "-np", "1", "b", "-x"}));
  EXPECT_EQ(with_variables(command, Launcher::other, {{"A", "1"}}), command);
}

}  // namespace
}  // namespace poise::profile
