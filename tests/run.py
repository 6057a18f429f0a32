#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs the tests of a tier and prints where the time went.

usage: tests/run.py quick|usual|full [PART…]

quick  unit tests and the command line, release build
usual  every test that needs no special hardware: both compilers, both MPIs, sanitizers, fuzzers briefly
full   usual, and what takes hours: repeated MPI tests, long fuzzing, many seeds, the emulated machine. With PART…,
       only these parts run; `--list` lists them. The last result of each part is kept in bench/results/full_test.json

`./dev test [quick|full [PART…]]` installs what is missing, then calls this; `--packages` before the tier lists the
groups of packages that only some tests need. The last line of output counts the tests; the status is 1 if any failed.
Tests that carry the label `timed` measure time: if one fails it is run once more, alone, and the output names it.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

import tiers

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import keep  # noqa: E402

RESULT = "full_test"
SKIPPED = 77  # status of a command that could test nothing
# Number of tests that run at the same time. It exceeds the number of cores, because MPI tests mostly wait for launchers,
# for sleeping tasks and for other ranks. A test that measures time runs alone.
NUM_JOBS = 4 * len(os.sched_getaffinity(0))
NUM_SLOWEST = 10  # number of the slowest tests listed at the end


@dataclasses.dataclass
class Result:
    word: str
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    rounds: int = 1  # how often all tests of the part have run
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


def ctest(folder, options, environment, jobs=NUM_JOBS):
    """Runs ctest; returns {name: (status, seconds, output)}. The status is "missing" if the test's program is not built."""
    report = folder / "Testing" / "report.xml"
    report.unlink(missing_ok=True)
    subprocess.run(["ctest", "--test-dir", str(folder), "-j", str(jobs), "--output-junit", str(report), *options],
                   cwd=ROOT, env=os.environ | environment, stdout=subprocess.DEVNULL, check=False)
    return outcomes(report.read_text()) if report.exists() else {}


def outcomes(report):
    """Reads a report of ctest in JUnit's format; returns the same as ctest()."""
    found = {}
    for case in xml.etree.ElementTree.fromstring(report).iter("testcase"):
        status, skipped = case.get("status"), case.find("skipped")
        if skipped is not None and skipped.get("message") == "Unable to find executable":
            status = "missing"
        found[case.get("name")] = status, float(case.get("time")), case.findtext("system-out") or ""
    return found


def timed_tests(folder):
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "-N", "-L", "timed"], stdout=subprocess.PIPE,
                            text=True, check=False)
    return set(re.findall(r"Test +#\d+: (\S+)", listed.stdout))


def run_tests(part, result):
    """Runs the tests of a build with ctest and counts each test separately."""
    folder = folder_of(part.preset)
    cases = ctest(folder, part.options, part.environment)
    if not cases:
        result.failures.append("no test ran")
    timed = timed_tests(folder)
    for name, (status, seconds, output) in cases.items():
        if status == "fail" and name in timed:
            print(f"{name} failed:\n{output[-8000:]}", file=sys.stderr)
            say(f"{name} measures time: once more, alone")
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
            print(f"{name} failed:\n{output[-8000:] if status != 'missing' else 'its program is not built'}", file=sys.stderr)
        result.slowest.append((seconds, name))


def run_command(part, result):
    done = subprocess.run(part.command, cwd=ROOT, env=os.environ | part.environment, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode == SKIPPED:
        result.skipped = 1
    elif done.returncode:
        result.failures.append(f"status {done.returncode}")
    else:
        result.passed = 1


def run(part):
    say(part.name)
    result = Result(part.word, part.name)
    begin = time.monotonic()
    is_built = not part.preset or build(part.preset, part.targets)
    result.build_s = time.monotonic() - begin if part.preset else 0
    if not is_built:
        result.failures.append("it does not build")
    elif part.command:
        run_command(part, result)
    else:
        run_tests(part, result)
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


def earlier_rounds(part):
    """Returns the stored result of a part if its rounds were interrupted and no test has failed, otherwise None."""
    for row in keep.stored_rows(RESULT):
        if row["part"] == part.word and not row["failures"] and row.get("rounds", 1) < part.rounds:
            return Result(part.word, part.name, row["passed"], row["failed"], row["skipped"], row.get("rounds", 1), row["build_s"],
                          row["seconds"], [], row["second_tries"])
    return None


def joined(before, last):
    """Returns the result of all rounds so far. `last` is the result of the last round; `before` is the result of the
    rounds before it, or None if there were none."""
    if before is None:
        return last
    failures = before.failures + last.failures
    return dataclasses.replace(last, passed=min(before.passed, last.passed), failed=len(failures), rounds=before.rounds + 1,
                               build_s=before.build_s + last.build_s, seconds=before.seconds + last.seconds, failures=failures,
                               second_tries=before.second_tries + last.second_tries)


def store(result, commit):
    """Stores the last result of a part of the full tier, so that other people know the result without running the part.
    The rows of other parts stay as they are."""
    measured = keep.stamp() | {"commit": commit}
    row = {"part": result.word, "runs": result.name, "passed": result.passed, "failed": result.failed, "skipped": result.skipped,
           "rounds": result.rounds, "seconds": round(result.seconds), "build_s": round(result.build_s), "failures": result.failures,
           "second_tries": result.second_tries, "measured": measured}
    order = [part.word for part in tiers.parts("full")]
    rows = [old for old in keep.merged(keep.stored_rows(RESULT), [row], ("part",)) if old["part"] in order]
    keep.write(RESULT, {"benchmark": RESULT, "command": "./dev test full",
                        "results": sorted(rows, key=lambda old: order.index(old["part"]))})
    subprocess.run([sys.executable, "docs/results.py"], cwd=ROOT, check=True)  # a test checks that the page shows these rows


def chosen_parts(tier, words):
    """Returns the named parts of the tier in its order, or all if none is named. Raises ValueError for an unknown name."""
    parts = tiers.parts(tier)
    known = [part.word for part in parts]
    for word in words:
        if tier != "full":
            raise ValueError(f'the tier {tier} has no parts to choose from; use: full {word}')
        if word not in known:
            raise ValueError(f'no part "{word}" of the tier full; known: {", ".join(known)}')
    return [part for part in parts if part.word in words or not words]


def run_all(parts, is_kept):
    """Runs the parts of the full tier and stores each result as soon as it is known, because a run may be interrupted.
    If the tests of a part run for several rounds, it continues after the last stored round."""
    commit = keep.commit()
    results = []
    for part in parts:
        result = earlier_rounds(part) if is_kept else None
        while result is None or result.rounds < part.rounds:
            result = joined(result, run(part))
            if is_kept:
                store(result, commit)
        results.append(result)
    return results


def print_never_run():
    missing = [part.word for part in tiers.never_run(keep.stored_rows(RESULT))]
    if missing:
        print(f"\nparts of the full tier that have no stored result: {', '.join(missing)}")


def main(words):
    is_asked_for_packages = words[:1] == ["--packages"]
    tier, *words = words[is_asked_for_packages:] or [""]
    if tier not in tiers.TIERS:
        print(f"usage: tests/run.py {'|'.join(tiers.TIERS)} [PART…]", file=sys.stderr)
        return 2
    if words == ["--list"]:
        print("\n".join(f"{part.word:<14} {part.name}" for part in tiers.parts(tier)))
        return 0
    try:
        parts = chosen_parts(tier, words)
    except ValueError as error:
        print(f"test: {error}", file=sys.stderr)
        return 2
    if is_asked_for_packages:
        print("\n".join(dict.fromkeys(group for part in parts for group in part.packages)))
        return 0
    results = run_all(parts, is_kept=tier == "full")
    print_times(results)
    if tier == "full":
        print_never_run()
    passed, failed, skipped = (sum(getattr(result, name) for result in results) for name in ("passed", "failed", "skipped"))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
