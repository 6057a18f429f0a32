# SPDX-License-Identifier: BSD-3-Clause

"""Builds three programs of Charm++ 8 with Poise's balancers and Charm++'s own: lb_test, kNeighbor and stencil3d. Their
sources are read from the checkout of Charm++, and edited copies are compiled in the build folder. The edits have
three effects: objects sleep instead of computing, so that a host with few cores can run many PEs; communication threads
sleep, too; and some programs print more often, others less often. Also builds charm_replay, with Charm++'s own
balancers only, and reads the option that names the build of Charm++."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from keep import ROOT

# This C++ code is inserted at the top of each source. A signal may end a sleep early; then sleep_us() sleeps again for
# the remaining time. The communication thread of a process polls its sockets without a pause, which would keep one core
# per emulated host busy. If there are fewer cores than emulated hosts, messages and objects that wake up would wait
# milliseconds for a core. Therefore poll() is replaced: a poll that finds nothing sleeps for 100 us.
SLEEP = """#include <cerrno>
#include <ctime>
#include <poll.h>
#include <converse.h>
#if CMK_SMP
extern "C" int poll(pollfd* files, nfds_t count, int timeout_ms) {
  const timespec time = {timeout_ms / 1000, timeout_ms == 0 ? 100000 : timeout_ms % 1000 * 1000000L};
  return ppoll(files, count, timeout_ms < 0 ? nullptr : &time, nullptr);
}
#endif
static void sleep_us(double us) {
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const long long ns = until.tv_nsec + (long long)(us * 1000);
  until.tv_sec += ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}
"""
BALANCERS = ["-module", "PoiseLB", "-module", "PoiseTreeLB", "-module", "PoiseHybridLB", "-module",
             "PoiseJointLB"]
# Per program: its folder, and the edits of its sources, each as (old text, new text).
SOURCES = {
    "lb_test": ("tests/charm++/load_balancing/lb_test", [
        ("work_per_sec = CalibrateWork();", "work_per_sec = 0;"),
        ("work(busywork,&result);", "sleep_us(usec);")]),
    # In the original program, object i of n objects computes N * N steps, where N = 100 i * i / n. In the edited copy
    # it sleeps for half a nanosecond per step instead.
    "kNeighbor": ("examples/charm++/load_balancing/kNeighbor", [
        ("#define CALCPERSTEP\t100", "#define CALCPERSTEP\t10"),
        ("if(currentStep % 10 == 0)", "if (true)"),
        ("      for (int i=0; i<N; i++)\n\tfor (int j=0; j<N; j++) {\n\t  sum += (thisIndex * i + j);\n\t}",
         "      sleep_us(0.5e-3 * N * N);")]),
    # In the original program, an object sweeps over its block `work` times (10 to 100). In the edited copy it sleeps
    # 200 us per sweep instead.
    "stencil3d": ("examples/charm++/load_balancing/stencil3d", [
        ("#define MAX_ITER         100", "#define MAX_ITER         60"),
        ("for(int w=0; w<work; w++) {", "sleep_us(200 * work);\n      {")]),
}


def parser(benchmark, text):
    """Returns a parser that has the option --network. A benchmark adds its own options to the parser."""
    result = argparse.ArgumentParser(prog=f"./dev bench {benchmark}", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--network", metavar="CHARM_HOME", type=pathlib.Path, default=os.environ.get("CHARM_NETWORK"),
                        help="a netlrts-smp build of Charm++ 8 inside its checkout (default: $CHARM_NETWORK)")
    return result


def network_home(options):
    """Returns the build that --network names. If there is none, says how to get one, and returns None."""
    if options.network and (options.network / "bin" / "charmc").exists():
        return options.network.resolve()
    print("no Charm++ 8 for a network: CHARM_SOURCE=PATH ./dev charm netlrts-linux-x86_64-smp builds one, and "
          "CHARM_NETWORK=PATH/netlrts-linux-x86_64-smp names it; skipped", file=sys.stderr)
    return None


class Unusable(Exception):
    """Raised if the installed Charm++ cannot run the benchmark."""


def checked_run(command, folder, environment=None):
    done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Unusable(f"{' '.join(map(str, command))} failed:\n{done.stdout}")


def edited(text, edits, path):
    for old, new in edits:
        if text.count(old) != 1:
            raise Unusable(f"{path} is not that of Charm++ 8.0.1: it has {text.count(old)} times the text {old!r}")
        text = text.replace(old, new)
    return SLEEP + text


def built(home, folder):
    """Builds the programs with `home`/bin/charmc, where `home` must be a build folder inside a checkout of Charm++.
    Returns their paths by name."""
    modules = folder / "balancers"
    checked_run(["cmake", "--preset", "release", "-B", modules, "-DPOISE_TESTS=OFF", "-DPOISE_BENCH=OFF"], ROOT,
                {**os.environ, "CHARM_HOME": str(home)})
    checked_run(["ninja", "-C", modules, "poise_charm_modules"], ROOT)
    return {name: built_program(name, home, folder / home.name / name, modules / "lib") for name in SOURCES}


def built_program(name, home, folder, modules):
    where, edits = SOURCES[name]
    source = home.parent / where
    if not (source / f"{name}.C").exists():
        raise Unusable(f"{home} is not in a checkout of Charm++ 8: there is no {source}/{name}.C")
    inputs = [pathlib.Path(__file__), source / f"{name}.C", modules / "libmodulePoiseLB.a", home / "bin" / "charmc"]
    program = folder / name
    if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return program
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("sim", "predictor"))
    main = folder / f"{name}.C"
    main.write_text(edited(main.read_text(), edits, main))
    charmc, objects = home / "bin" / "charmc", []
    for interface in sorted(folder.glob("*.ci")):
        checked_run([charmc, interface.name], folder)
    for part in sorted(folder.glob("*.C")):
        checked_run([charmc, "-O2", "-c", part.name], folder)
        objects.append(f"{part.stem}.o")
    checked_run([charmc, "-language", "charm++", "-o", name, *objects, *BALANCERS, f"-L{modules}", "-lpoise_charm",
                 f"-Wl,-rpath,{modules}", "-module", "CommonLBs", *scotch(home, folder.parent)], folder)
    return program


def scotch(home, folder):
    """Returns the words that add ScotchLB to a link line. If Charm++ was built without ScotchLB, builds it in `folder`.
    Returns no words if SCOTCH is not installed."""
    words = ["-module", "ScotchLB", "-lscotch", "-lscotcherr"]
    if (home / "lib" / "libmoduleScotchLB.a").exists():
        return words
    charmc, folder, source = home / "bin" / "charmc", folder / "scotch", home.parent / "src" / "ck-ldb"
    if not (folder / "libmoduleScotchLB.a").exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            checked_run([charmc, source / "ScotchLB.ci"], folder)
            checked_run([charmc, "-O2", f"-I{source}", "-I/usr/include/scotch", "-I.", "-c", source / "ScotchLB.C", "-o",
                         "ScotchLB.o"], folder)
            checked_run([charmc, "-o", "libmoduleScotchLB.a", "ScotchLB.o"], folder)
        except Unusable:
            return []
    return [f"-L{folder}", *words]


def built_replay(home, folder):
    """Builds charm_replay/replay.cc with Charm++'s own balancers. Returns its path."""
    source, charmc = ROOT / "bench" / "charm_replay", home / "bin" / "charmc"
    folder = folder / home.name / "replay"
    program = folder / "replay"
    inputs = [pathlib.Path(__file__), source / "replay.cc", source / "replay.ci", charmc]
    if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    checked_run([charmc, source / "replay.ci"], folder)
    checked_run([charmc, "-O2", "-std=c++17", "-I.", "-c", source / "replay.cc", "-o", "replay.o"], folder)
    checked_run([charmc, "-language", "charm++", "-o", "replay", "replay.o", "-module", "CommonLBs",
                 *scotch(home, folder.parent)], folder)
    return program
