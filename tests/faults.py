#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts faults into poise/, one at a time, and counts those that the tests kill.

    tests/faults.py [--seed 1] [--faults 200] [--jobs 2] [--only poise/search] [-o FILE.json]

A fault changes one operator, number or statement of a .cc file. Faults are drawn by the seed from all places where
such a change is possible. A fault is killed if the unit tests of the library fail or do not end. A fault that the
compiler refuses is replaced by another one. The sources are first copied to build/faults, where each job has its own
build, so that the working tree does not change. If a fault survives, either a test is missing, or the change has no
effect (for example, because one of two equal candidates is chosen). The survivors are printed, so that somebody can
decide which it is.
"""
import argparse
import concurrent.futures
import datetime
import json
import pathlib
import platform
import queue
import random
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Test programs in the order in which they run against a fault. The program of the fault's own folder runs first.
PROGRAMS = ["base", "workload", "machine", "placement", "search", "partition", "online", "trace", "library",
            "apps", "strategies", "distributed", "simulate", "diagnosis"]
# A program with a fault may use this many times the CPU time that it needs without one, and 10 s more.
CPU_TIMES = 5
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

    def __init__(self, folder):
        self.source = folder / "source"
        self.build = folder / "build"
        self.cpu_s = {}  # what each program needs without a fault

    def prepare(self, threads):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
        for copy in list(self.source.rglob("*")):
            if copy.is_file() and str(copy.relative_to(self.source)) not in names:
                copy.unlink()  # deleted from the working tree since the last run
        for name in names:
            copy, content = self.source / name, (ROOT / name).read_bytes()
            if not copy.exists() or copy.read_bytes() != content:  # what has changed is built again
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod((ROOT / name).stat().st_mode)
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DPOISE_ASSERTIONS=2", "-DPOISE_BENCH=OFF",
                        "-DPOISE_CHARM=OFF"], check=True, stdout=subprocess.DEVNULL)
        if subprocess.run(self.ninja(threads), stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"faults: the unchanged sources do not build; run ninja -C {self.build} to see why")
        for program in PROGRAMS:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if killer := self.killer(program):
                sys.exit(f"faults: a test fails even without a fault ({killer}); make it pass first")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.cpu_s[program] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def ninja(self, threads=1):
        return ["ninja", "-C", self.build, f"-j{threads}", *(f"{program}_test" for program in PROGRAMS)]

    def killer(self, program):
        """Runs a test program. Returns the program's name and the test that failed first (or else the exit status), or
        None if all tests pass."""
        def limit():
            seconds = int(CPU_TIMES * self.cpu_s[program] + 10) if program in self.cpu_s else resource.RLIM_INFINITY
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [self.build / "bin" / f"{program}_test", "--gtest_brief=1", "--gtest_fail_fast"]
        try:  # sleeping for ever is an end of its own
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
            if subprocess.run(self.ninja(), capture_output=True).returncode != 0:
                return fault | {"verdict": "refused"}
            own = fault["file"].split("/")[1]
            for program in sorted(PROGRAMS, key=lambda name: name != own):
                if killer := self.killer(program):
                    return fault | {"verdict": "killed", "by": killer}
            return fault | {"verdict": "survived"}
        finally:
            path.write_text(text)


def draw(seed, only):
    """Returns all possible faults in the order in which they are tried."""
    faults = []
    for path in sorted(ROOT.glob("poise/**/*.cc")):
        name = str(path.relative_to(ROOT))
        if name.endswith("_test.cc") or not name.startswith(only):
            continue
        faults += [{"file": name, "line": line + 1, "old": old.strip(), "new": new}
                   for line, old, new in sites(path)]
    random.Random(seed).shuffle(faults)
    return faults


def main():
    parser = argparse.ArgumentParser(description="counts the faults in poise/ that the unit tests kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="poise/", help="only files whose path begins with this")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    args = parser.parse_args()

    faults = draw(args.seed, args.only)
    if not faults:
        parser.error(f"--only {args.only}: no .cc file in poise/ has a path that begins with {args.only}; try poise/search")
    print(f"{len(faults)} faults are possible; {args.faults} are tried, seed {args.seed}", flush=True)
    idle = queue.Queue()
    for number in range(args.jobs):
        job = Job(ROOT / "build" / "faults" / str(number))
        job.prepare(args.jobs)
        idle.put(job)

    def judge(fault):
        job = idle.get()
        try:
            return job.judge(fault)
        finally:
            idle.put(job)

    judged, refused, start = [], 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        candidates = iter(faults)
        running = {pool.submit(judge, fault) for fault, _ in zip(candidates, range(args.jobs))}
        while running and len(judged) < args.faults:
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                fault = future.result()
                if fault["verdict"] == "refused":
                    refused += 1
                else:
                    judged.append(fault)
                    print(f"{len(judged):4} {fault['verdict']:8} {fault['file']}:{fault['line']}  {fault['old']}"
                          f"  ->  {fault['new'].strip()}  {fault.get('by', '')}", flush=True)
                if len(judged) + len(running) < args.faults and (another := next(candidates, None)):
                    running.add(pool.submit(judge, another))
    survivors = [fault for fault in judged if fault["verdict"] == "survived"]
    killed = len(judged) - len(survivors)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    print(f"killed {killed} of {len(judged)} ({100 * killed / max(1, len(judged)):.1f} %); {refused} more did not "
          f"compile; {time.monotonic() - start:.0f} s")
    if args.output:
        args.output.write_text(json.dumps({
            "name": "faults", "commit": commit, "date": datetime.date.today().isoformat(),
            "machine": platform.processor() or platform.machine(), "seed": args.seed, "num_faults": len(judged),
            "killed": killed, "survivors": survivors}, indent=1) + "\n")


if __name__ == "__main__":
    main()
