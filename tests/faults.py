#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutation testing: puts faults into poise/, one at a time, and counts those that the tests kill.

    tests/faults.py [--seed 1] [--faults 200] [--jobs 2] [--only poise/search] [--fast] [--minutes M] [-o FILE.json]

A fault changes one operator, number or statement of a .cc file. The seed determines which of all possible faults
are tried. A fault is killed if the unit tests of the library fail or do not end. The tests in the folder of the
changed file are built and run first, and the others only if these pass; slow tests come last. With --fast, slow
tests are left out, so that the number of killed faults is a lower bound. A fault that the compiler refuses is
replaced by another one. The sources are first copied to build/faults, where each job has its own build, so that the
working tree does not change. If a fault survives, either a test is missing, or the change has no effect (for
example, because one of two equal candidates is chosen). The survivors are printed, so that somebody can decide
which it is.

Each verdict is stored in FILE.json immediately. With the same FILE, a later run judges only faults without a stored
verdict, and faults that survived before their source file or its tests changed. So a run of hours may be divided into
short ones (--minutes).
"""
import argparse
import concurrent.futures
import datetime
import hashlib
import json
import pathlib
import platform
import queue
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The test programs, in the order in which they run against a build with a planted fault. One exception: the program
# that tests the folder of the fault runs first.
PROGRAMS = ["base", "workload", "machine", "placement", "search", "partition", "online", "trace", "library",
            "apps", "strategies", "distributed", "simulate", "diagnosis"]
# Limit on the CPU time of a program with a fault: this many times its CPU time without the fault, plus 10 s.
CPU_TIMES = 5
# A test is slow if it takes longer than this many seconds without a fault. Few faults are killed only by slow tests.
SLOW_S = 3
# Memory limit of a program with a fault. Without a limit, a faulty loop that never ends could use up all memory.
MEMORY_BYTES = 4 << 30

SWAPS = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
    " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " += ": " -= ", " -= ": " += ",
    " && ": " || ", " || ": " && ", "std::min(": "std::max(", "std::max(": "std::min(",
    "true": "false", "false": "true", "continue;": "break;", "(!": "(",
}
TOKEN = re.compile("|".join([re.escape(t) if not t.isalpha() else rf"\b{t}\b" for t in SWAPS])
                   + r"|(?<![\w.'\"])\d+(?![\w.'\"])")
STATEMENT = re.compile(r"^\s+(?!return|const|auto|using|static|throw|for|if|else|while|case|break|namespace|#|//)"
                       r"[\w.\->\[\]()*]+(\(.*\)| [-+*/|&]?= .*|\+\+|--);$")
# Lines that are never changed, because no test could notice the change, or because only the text of a message would
# change.
NO_FAULT = re.compile(r"^\s*(#|//|///|\*|static_assert|POISE_ASSERT)|reserve\(|shrink_to_fit|fmt::format|throw |_THROW|"
                      r"^\s*\"|prefetch|namespace|template|using |operator")


def without_comment(line):
    """Returns the part of a line before its comment, as far as this can be found without a parser."""
    return line.split("//")[0].rstrip()


def sites(path):
    """Returns all possible faults of a file, as (line number from 0, old line, new line)."""
    found = []
    for number, line in enumerate(path.read_text().splitlines()):
        code = without_comment(line)
        if not code.strip() or NO_FAULT.search(line) or '"' in code:
            continue
        for match in TOKEN.finditer(code):
            old = match.group()
            new = SWAPS[old] if old in SWAPS else str(int(old) + 1)
            found.append((number, line, line[:match.start()] + new + line[match.end():]))
        if STATEMENT.match(code):
            found.append((number, line, "  ;  // " + code.strip()))
    return found


class Job:
    """One copy of the sources and its build."""

    def __init__(self, folder, fast):
        self.source = folder / "source"
        self.build = folder / "build"
        self.fast = fast  # slow tests are left out
        self.slow = {}  # names of the slow tests of each program
        self.cpu_s = {}  # CPU seconds that each program needs without a fault

    def prepare(self, threads):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
        for copy in list(self.source.rglob("*")):
            if copy.is_file() and str(copy.relative_to(self.source)) not in names:
                copy.unlink()  # the original was deleted from the working tree after the last run
        for name in names:
            copy, content = self.source / name, (ROOT / name).read_bytes()
            if not copy.exists() or copy.read_bytes() != content:  # only changed files are copied and built again
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod((ROOT / name).stat().st_mode)
        # When a fault is undone, the original sources must be built again; ccache still has their objects.
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DPOISE_ASSERTIONS=2", "-DPOISE_BENCH=OFF",
                        "-DPOISE_CHARM=OFF", *launcher], check=True, stdout=subprocess.DEVNULL)
        if subprocess.run(self.ninja(PROGRAMS, threads), stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"faults: the unchanged sources do not build; run ninja -C {self.build} to see why")
        for program in PROGRAMS:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            times = self.build / f"{program}_times.json"
            if killer := self.killer(program, f"--gtest_output=json:{times}"):
                sys.exit(f"faults: a test fails although no fault is injected: {killer}; make this test pass first")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.cpu_s[program] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.slow[program] = [f"{suite['name']}.{test['name']}"
                                  for suite in json.loads(times.read_text())["testsuites"]
                                  for test in suite["testsuite"] if float(test["time"].rstrip("s")) > SLOW_S]

    def ninja(self, programs, threads=1):
        return ["ninja", "-C", self.build, f"-j{threads}", *(f"{program}_test" for program in programs)]

    def killer(self, program, *options):
        """Runs a test program. Returns None if all tests pass. Otherwise returns the program's name and the test that
        failed first or, if no test is known to have failed, the exit status."""
        def limit():
            seconds = int(CPU_TIMES * self.cpu_s[program] + 10) if program in self.cpu_s else resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [self.build / "bin" / f"{program}_test", "--gtest_brief=1", "--gtest_fail_fast", *options]
        try:  # the time-out ends a program that sleeps for ever
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1800,
                                 preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return f"{program}: does not end"
        if run.returncode == 0:
            return None
        failed = re.search(r"\[  FAILED  \] (\S+)", run.stdout)
        return f"{program}: {failed.group(1) if failed else f'exit status {run.returncode}'}"

    def judge(self, fault):
        """Returns the fault with the verdict "killed", "survived" or "refused" (by the compiler)."""
        path = self.source / fault["file"]
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        lines[fault["line"] - 1] = fault["new"] + "\n"
        path.write_text("".join(lines))
        try:
            folder = fault["file"].split("/")[1]
            own = [program for program in PROGRAMS if program == folder] or PROGRAMS[:1]
            for programs in own, [program for program in PROGRAMS if program not in own]:
                if subprocess.run(self.ninja(programs), capture_output=True).returncode != 0:
                    return fault | {"verdict": "refused"}
                for program in programs:
                    if killer := self.killer(program, "--gtest_filter=-" + ":".join(self.slow[program])):
                        return fault | {"verdict": "killed", "by": killer}
            for program in PROGRAMS if not self.fast else []:
                slow = ":".join(self.slow[program])
                if slow and (killer := self.killer(program, f"--gtest_filter={slow}")):
                    return fault | {"verdict": "killed", "by": killer}
            return fault | {"verdict": "survived", "fast": self.fast}
        finally:
            path.write_text(text)


def sha1_of(text):
    return hashlib.sha1(text.encode()).hexdigest()


def content_of(paths):
    """Returns a hash of the content of these files."""
    return sha1_of("".join(path.read_text() for path in sorted(paths)))[:12]


def draw(seed, only):
    """Returns all possible faults in the order in which they are tried. If a file changes, the faults of other files
    stay in the same order. Equal faults of one line are listed once."""
    faults = {}
    for path in sorted(ROOT.glob("poise/**/*.cc")):
        name = str(path.relative_to(ROOT))
        if name.endswith("_test.cc") or not name.startswith(only):
            continue
        tested = content_of([path, *path.parent.glob("*_test.cc")])
        for line, old, new in sites(path):
            fault = {"file": name, "line": line + 1, "old": old.strip(), "new": new, "content": tested}
            faults[sha1_of(f"{seed} {key_of(fault)}")] = fault
    return [faults[number] for number in sorted(faults)]


def key_of(fault):
    """Returns a key of the fault that stays the same if lines before the fault are added or removed."""
    return f"{fault['file']}: {fault['old']} -> {fault['new'].strip()}"


class Verdicts:
    """The verdicts so far. If a file is given, they are stored in it after each fault."""

    def __init__(self, path, seed, fast):
        self.path, self.seed, self.fast, self.of_key = path, seed, fast, {}
        if path and path.exists():
            kept = json.loads(path.read_text())
            if kept["seed"] != seed:
                sys.exit(f"faults: {path} holds faults drawn with --seed {kept['seed']}; "
                         f"use --seed {kept['seed']} or another file")
            self.of_key = {key_of(fault): fault for fault in kept["faults"]}

    def known(self, fault):
        """Returns the stored verdict, or None if the fault must be judged. A fault that survived is judged again if its
        file or the tests beside it have changed, or if only fast tests judged it and all tests are to run now."""
        kept = self.of_key.get(key_of(fault))
        if kept and kept["verdict"] == "survived":
            if kept["content"] != fault["content"] or (kept.get("fast") and not self.fast):
                return None
        return kept and kept | {"line": fault["line"]}

    def store(self, fault):
        self.of_key[key_of(fault)] = fault
        if not self.path:
            return
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        whole = {"name": "faults", "commit": commit, "date": datetime.date.today().isoformat(),
                 "machine": platform.processor() or platform.machine(), "seed": self.seed,
                 "faults": list(self.of_key.values())}
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(whole, indent=1) + "\n")
        partial.replace(self.path)


def show(number, fault):
    print(f"{number:4} {fault['verdict']:8} {fault['file']}:{fault['line']}  {fault['old']}  ->  "
          f"{fault['new'].strip()}  {fault.get('by', '')}", flush=True)


def judge_all(faults, args, verdicts):
    """Judges faults until args.faults of them have compiled or the time is over. Returns those with their verdicts, and
    the number of faults that the compiler refused."""
    end = time.monotonic() + 60 * args.minutes
    idle, judged, refused = queue.Queue(), [], 0
    known = {key_of(fault): kept for fault in faults if (kept := verdicts.known(fault))}
    if sum(fault["verdict"] != "refused" for fault in known.values()) < args.faults:
        for number in range(args.jobs):
            job = Job(ROOT / "build" / "faults" / str(number), args.fast)
            job.prepare(args.jobs)
            idle.put(job)

    def judge(fault):
        if key_of(fault) in known:
            return known[key_of(fault)]
        if time.monotonic() >= end:
            return None
        job = idle.get()
        try:
            return job.judge(fault)
        finally:
            idle.put(job)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        candidates = iter(faults)
        running = {pool.submit(judge, fault) for fault, _ in zip(candidates, range(args.jobs))}
        while running and len(judged) < args.faults:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                if (fault := future.result()) is None:
                    continue
                if key_of(fault) not in known:
                    verdicts.store(fault)
                if fault["verdict"] == "refused":
                    refused += 1
                else:
                    judged.append(fault)
                    show(len(judged), fault)
                if len(judged) + len(running) < args.faults and (another := next(candidates, None)):
                    running.add(pool.submit(judge, another))
    return judged, refused


def main():
    parser = argparse.ArgumentParser(description="counts the faults in poise/ that the unit tests kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="poise/", help="only files whose path begins with this")
    parser.add_argument("--fast", action="store_true", help=f"leave out tests that take more than {SLOW_S} s")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no fault after this time")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="file of verdicts; a later run continues it")
    args = parser.parse_args()

    faults = draw(args.seed, args.only)
    if not faults:
        parser.error(f"--only {args.only}: no .cc file in poise/ has a path that begins with {args.only}; try poise/search")
    print(f"{len(faults)} faults are possible; {args.faults} are tried, seed {args.seed}", flush=True)
    start = time.monotonic()
    judged, refused = judge_all(faults, args, Verdicts(args.output, args.seed, args.fast))
    survivors = [fault for fault in judged if fault["verdict"] == "survived"]
    killed = len(judged) - len(survivors)
    print(f"killed {killed} of {len(judged)} ({100 * killed / max(1, len(judged)):.1f} %); {refused} more did not "
          f"compile; {time.monotonic() - start:.0f} s")
    for fault in survivors:
        show(0, fault)


if __name__ == "__main__":
    main()
