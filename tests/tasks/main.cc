// SPDX-License-Identifier: BSD-3-Clause
// The test program that a launcher starts: all ranks run each test, rank 0 reports, and all ranks
// exit with an error if a test fails on any rank. Arguments are those of GoogleTest and these:
//     --level=funneled|serialized   request this thread level of MPI; default: multiple
//     --domains                     simulate a machine of two memory domains
//     --trouble=NAME                run no tests, but provoke a failure that a script observes
#include <cstdio>
#include <gmock/gmock.h>
#include <mpi.h>
#include <string_view>

#include "tests/support/failures_only.h"
#include "tests/support/leaks.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

struct Wanted {
  int level = MPI_THREAD_MULTIPLE;
  bool two_domains = false;
  std::string_view trouble = {};
};

Wanted wanted_by(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--level=funneled") wanted.level = MPI_THREAD_FUNNELED;
    if (argument == "--level=serialized") wanted.level = MPI_THREAD_SERIALIZED;
    if (argument == "--domains") wanted.two_domains = true;
    if (argument.starts_with("--trouble=")) wanted.trouble = argument.substr(10);
  }
  return wanted;
}

int run_tests(const Wanted& wanted, int level) {
  if (wanted.level < MPI_THREAD_MULTIPLE && level != wanted.level) {
    std::fputs("MPI gives another level of threads than was asked for\n", stderr);
    return 1;
  }
  report_as(own_rank());
  watch_calls(level);
  int failed = RUN_ALL_TESTS();
  reduce(MPI_COMM_WORLD, failed, MPI_MAX);
  check_leaks();
  return failed;
}

int run(int argc, char** argv) {
  const Wanted wanted = wanted_by(argc, argv);
  if (wanted.trouble == "misuse") return run_without_mpi(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  const int level = init_mpi(argc, argv, wanted.level);
  if (wanted.two_domains) pretend_two_domains();
  int failed = 0;
  if (wanted.trouble.empty())
    failed = run_tests(wanted, level);
  else
    run_into(wanted.trouble);
  MPI_Finalize();
  return failed;
}

}  // namespace
}  // namespace poise::tasks

int main(int argc, char** argv) { return poise::tasks::run(argc, argv); }
