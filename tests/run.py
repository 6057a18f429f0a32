#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs the tests of a tier and prints where the time went.

usage: tests/run.py quick|usual|full

quick  unit tests and the command line, release build
usual  every test that needs no special hardware: both compilers, both MPIs, sanitizers, fuzzers briefly
full   also what takes hours: repeated MPI tests, long fuzzing, many seeds, the emulated machine;
       its result is kept in bench/results/full_test.json

`./dev test [quick|full]` installs what is missing, then calls this. The last line of output counts the
tests; the status is 1 if any failed. Tests that carry the label `timed` measure time: if one fails it
is run once more, alone, and the output names it.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "full_test.json"
TIERS = ["quick", "usual", "full"]
NUM_SLOWEST = 10  # number of the slowest tests listed at the end

FUZZ_S = {"usual": "10", "full": "600"}
# Races show up in some runs only, so a change of a runtime must pass its tests 50 times in a row.
NUM_REPEATS = 50
OTHER_MPI = ("-E", r"^profile\.")  # these scripts try both MPIs in every build
ONCE = ("-E", "all_nonsense")  # thousands of launches
NUM_SEEDS = "10000"

# Tests that also run under the address sanitizer: tests of the tasks runtime and of its interfaces for other languages,
# on few ranks.
SANITIZED_TASKS = (
    r"^(mpi.(tasks_on_(1|2|4)|tasks_of_8_briefly|tasks_in_(c|fortran)|matmul_(c|fortran)|chameleon_fortran"
    r"|target_calls|(chameleon|chameleon_tool|chameleon_application|target_regions_of_clang_16"
    r"|target_clauses_of_clang_16)_on_2)|miniapps.nbody_lent_on_(2|4)_ranks)$")
# Random tests run more seeds than usual if POISE_SEEDS is set (tests/support/seeds.h).
SEEDED = "for test in build/bin/*_test; do timeout 7200 $test --gtest_brief=1 || exit 1; done"
RACY = r"^workload.*Recorder|^mpi.tasks_(on_2|funneled|serialized)$"


@dataclasses.dataclass
class Part:
    """One line of the report on a test run. It stands for a single command, or for all tests of a build."""
    name: str
    tiers: tuple
    command: list = None  # a command to run as it is, in the root folder
    preset: str = None  # otherwise: build `targets` of this preset, then run ctest with `options`
    targets: tuple = ()
    options: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)


def parts(tier):
    usual = ("usual", "full")
    table = [
        Part("architecture", TIERS, [sys.executable, "tests/tidy.py"]),
        Part("format", TIERS, ["bash", "-c", "git ls-files '*.h' '*.cc' '*.c' | xargs clang-format-16 --dry-run -Werror"]),
        Part("release build: unit tests and the command", ("quick",), preset="ci",
             targets=("unit_tests",), options=("-LE", "mpi|long|timed", "-E", "NOT_BUILT|^(install|charm|miniapps)")),
        Part("release build", ("usual",), preset="ci", options=("-LE", "long")),
        Part("release build", ("full",), preset="ci"),
        Part("address and undefined-behaviour sanitizers, clang", usual, preset="asan",
             targets=("unit_tests", "fuzzers"),
             options=("-LE", "cli|mpi|long")),
        Part("tasks of several ranks under them, from all languages", usual, preset="asan",
             targets=("tasks_mpi", "matmul_c", "face_programs", "nbody"), options=("-R", SANITIZED_TASKS)),
        Part("thread sanitizer", usual, preset="tsan", targets=("workload_test", "tasks_mpi"), options=("-R", RACY)),
        Part("the other MPI", ("usual",), preset="mpich", targets=("mpi_tests",), options=("-L", "mpi", "-LE", "long", *OTHER_MPI)),
        Part("the other MPI", ("full",), preset="mpich", targets=("mpi_tests",), options=("-L", "mpi")),
        Part("fuzzers", usual, ["tests/fuzz/run", FUZZ_S.get(tier)]),
        Part("pages as HTML", ("full",), ["./dev", "docs"]),
        Part(f"unit tests with {NUM_SEEDS} seeds", ("full",), ["bash", "-c", SEEDED], environment={"POISE_SEEDS": NUM_SEEDS}),
        Part(f"MPI tests {NUM_REPEATS} times", ("full",), preset="ci",
             options=("-L", "mpi", *ONCE, "--repeat", f"until-fail:{NUM_REPEATS}")),
        Part(f"MPI tests {NUM_REPEATS} times, the other MPI", ("full",), preset="mpich", targets=("mpi_tests",),
             options=("-L", "mpi", *ONCE, "--repeat", f"until-fail:{NUM_REPEATS}")),
        Part("an emulated machine of four memory domains", ("full",), [sys.executable, "tests/vm/vm_test.py", "-v"],
             environment={"PYTHONDONTWRITEBYTECODE": "1"}),
    ]
    return [part for part in table if tier in part.tiers]


@dataclasses.dataclass
class Result:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    build_s: float = 0
    seconds: float = 0
    failures: list = dataclasses.field(default_factory=list)
    second_tries: list = dataclasses.field(default_factory=list)  # tests that passed only when they were repeated
    slowest: list = dataclasses.field(default_factory=list)  # (seconds, test)


def say(text):
    print(f"\033[1m== {text}\033[0m" if sys.stderr.isatty() else f"== {text}", file=sys.stderr, flush=True)


def folder_of(preset):
    return ROOT / {"ci": "build", "mpich": "build-mpich"}.get(preset, f"build/{preset}")


def is_configured(folder):
    """True if the folder was configured for this checkout. A copied folder would build into the original checkout."""
    cache = folder / "CMakeCache.txt"
    home = re.search(r"(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache.read_text()) if cache.exists() else None
    return (folder / "build.ninja").exists() and home is not None and pathlib.Path(home[1]).resolve() == ROOT


def build(preset, targets):
    """Configures if necessary and builds. The output is shown only if that fails."""
    folder = folder_of(preset)
    commands = [["ninja", "-C", str(folder), *targets]]
    if not is_configured(folder):
        commands.insert(0, ["cmake", "--preset", preset, "--fresh"])
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            print(done.stdout[-20000:], file=sys.stderr)
            return False
    return True


def ctest(folder, options, environment, jobs=2):
    """Runs ctest; returns {name: (status, seconds, output)}."""
    report = folder / "Testing" / "report.xml"
    report.unlink(missing_ok=True)
    subprocess.run(["ctest", "--test-dir", str(folder), "-j", str(jobs), "--output-junit", str(report), *options],
                   cwd=ROOT, env=os.environ | environment, stdout=subprocess.DEVNULL, check=False)
    if not report.exists():
        return {}
    cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
    return {case.get("name"): (case.get("status"), float(case.get("time")), case.findtext("system-out") or "")
            for case in cases}


def timed_tests(folder):
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "-N", "-L", "timed"], stdout=subprocess.PIPE,
                            text=True, check=False)
    return set(re.findall(r"Test +#\d+: (\S+)", listed.stdout))


def run_build(part, result):
    """Runs the tests of a build and counts them one by one."""
    begin = time.monotonic()
    if not build(part.preset, part.targets):
        result.failures.append("it does not build")
        return
    result.build_s = time.monotonic() - begin
    folder = folder_of(part.preset)
    cases = ctest(folder, part.options, part.environment)
    if not cases:
        result.failures.append("no test ran")
    timed = timed_tests(folder)
    for name, (status, seconds, output) in cases.items():
        if status == "fail" and name in timed:
            say(f"{name} failed and measures time: once more, alone")
            again = ctest(folder, ("-R", f"^{re.escape(name)}$"), part.environment, jobs=1)
            status, seconds, output = again.get(name, (status, seconds, output))
            if status == "run":
                result.second_tries.append(name)
        if status == "run":
            result.passed += 1
        elif status in ("notrun", "disabled"):
            result.skipped += 1
        else:
            result.failures.append(name)
            print(f"{name} failed:\n{output[-8000:]}", file=sys.stderr)
        result.slowest.append((seconds, name))


def run_command(part, result):
    done = subprocess.run(part.command, cwd=ROOT, env=os.environ | part.environment, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode:
        result.failures.append(f"status {done.returncode}")
    else:
        result.passed = 1


def run(part):
    say(part.name)
    result = Result(part.name)
    begin = time.monotonic()
    if part.preset:
        run_build(part, result)
    else:
        run_command(part, result)
    result.failed = len(result.failures)
    result.seconds = time.monotonic() - begin
    say(f"{part.name}: {result.seconds:.0f} s, {result.build_s:.0f} of it building; {result.passed} passed, {result.failed} failed")
    for failure in result.failures:
        print(f"FAILED: {part.name}: {failure}", file=sys.stderr, flush=True)
    return result


def print_times(results):
    print(f"\n{'seconds':>8} {'of it building':>15} {'passed':>7} {'failed':>7} {'skipped':>8}  part")
    for result in results:
        print(f"{result.seconds:8.0f} {result.build_s:15.0f} {result.passed:7} {result.failed:7} {result.skipped:8}"
              f"  {result.name}")
    slowest = sorted((test + (result.name,) for result in results for test in result.slowest), reverse=True)
    print(f"\nthe slowest tests:\n{'seconds':>8}  test")
    for seconds, name, part in slowest[:NUM_SLOWEST]:
        print(f"{seconds:8.1f}  {name} ({part})")
    for result in results:
        for name in result.second_tries:
            print(f"passed on the second try: {name} ({result.name})")


def keep(results):
    """Stores the last result of the full tier for those who do not want to run it."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    rows = [{"part": result.name, "passed": result.passed, "failed": result.failed, "skipped": result.skipped,
             "seconds": round(result.seconds), "failures": result.failures, "second_tries": result.second_tries}
            for result in results]
    RESULT.write_text(json.dumps({"date": str(datetime.date.today()), "commit": commit,
                                  "cpus": os.cpu_count(), "kernel": platform.release(), "parts": rows}, indent=1) + "\n")


def main():
    if sys.argv[1:] not in [[tier] for tier in TIERS]:
        print(f"usage: tests/run.py {'|'.join(TIERS)}", file=sys.stderr)
        return 2
    results = [run(part) for part in parts(sys.argv[1])]
    print_times(results)
    if sys.argv[1] == "full":
        keep(results)
    passed, failed, skipped = (sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped"))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
