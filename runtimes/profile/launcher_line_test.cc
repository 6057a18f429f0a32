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

TEST(launcher_line, keeps_the_libraries_that_options_of_the_user_preload) {
  const Variables ours = {{"LD_PRELOAD", "ours.so"}};
  EXPECT_EQ(with_variables({"mpirun", "-x", "LD_PRELOAD=a.so", "x", ":", "-x", "LD_PRELOAD", "y"},
                           Launcher::open_mpi, ours),
            (Words{"mpirun", "-x", "LD_PRELOAD=ours.so", "-x", "LD_PRELOAD=ours.so:a.so", "x", ":",
                   "-x", "LD_PRELOAD=ours.so", "-x", "LD_PRELOAD=ours.so", "y"}));
  EXPECT_EQ(with_variables({"mpirun", "-genv", "LD_PRELOAD", "a.so", "x", ":", "-env", "LD_PRELOAD",
                            "b.so", "y"},
                           Launcher::hydra, ours),
            (Words{"mpirun", "-genv", "LD_PRELOAD", "ours.so", "-genv", "LD_PRELOAD",
                   "ours.so:a.so", "x", ":", "-env", "LD_PRELOAD", "ours.so:b.so", "y"}));
}

}  // namespace
}  // namespace poise::profile
