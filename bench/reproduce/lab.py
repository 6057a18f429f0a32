# SPDX-License-Identifier: BSD-3-Clause

"""Runs the command `poise` for the tables and plots of all papers: makes and replays traces, and caches the answers."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
POISE = ROOT / "build" / "bin" / "poise"
TIMEOUT_S = 900
SEEDS = tuple(range(1, 7))  # every simulated section runs with these seeds; confidence intervals are computed over them
AT_ONCE = 2  # number of commands that run at the same time; none of them is timed


class Trouble(RuntimeError):
    """Raised if a command failed. The section that needed the command reports it."""


def name_of(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


class Lab:
    """A folder of traces and cached answers. Each command runs only once per build of `poise`, because the same input
    gives the same output. If several tables or plots of papers need the same command, they share its answer, and an
    interrupted run can be continued."""

    def __init__(self, poise=POISE, seeds=SEEDS, folder=None):
        self.poise, self.seeds = pathlib.Path(poise), tuple(seeds)
        self._own = None if folder else tempfile.TemporaryDirectory(prefix="poise_reproduce_")
        self.folder = pathlib.Path(folder or self._own.name).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.build = name_of(*(file.read_bytes().hex() for file in (self.poise, *sorted((ROOT / "machines").glob("*.json")))
                               if file.exists()))
        self.started_s = time.monotonic()

    def close(self):
        if self._own:
            self._own.cleanup()

    def show(self, words):
        """Shows the progress: on a terminal in one line that is overwritten, otherwise with one line per section."""
        line = f"{time.monotonic() - self.started_s:5.0f} s  {words}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def run(self, *words):
        """Returns the output of `poise WORDS...`."""
        words = tuple(map(str, words))
        kept = self.folder / f"{name_of(self.build, *words)}.out"
        if not kept.exists():
            output = self._output(words)
            part = kept.with_suffix(f".{threading.get_ident()}")
            part.write_text(output, encoding="utf-8")
            part.replace(kept)
        return kept.read_text(encoding="utf-8")

    def _output(self, words):
        try:
            done = subprocess.run([self.poise, *words], cwd=self.folder, capture_output=True, text=True,
                                  timeout=TIMEOUT_S, check=False, env={**os.environ, "LC_ALL": "C"})
        except (OSError, subprocess.TimeoutExpired) as failed:
            raise Trouble(f"poise {' '.join(words)}: {failed}") from failed
        if done.returncode != 0:
            raise Trouble(f"poise {' '.join(words)}: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def per_seed(self, work, most=None):
        """Returns the result of work(seed) for each seed, or only for the first `most` seeds. Up to AT_ONCE calls run
        at the same time."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(work, self.seeds[:most]))

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def figure(self, name):
        """Returns the rows of a figure of `poise theory`, as dictionaries."""
        answer = self.json("theory", "--figure", name)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    def theory(self, threads, cpus, phase_s, period_s=0.1, **more):
        words = [word for key, value in more.items() for word in (f"--{key}", value)]
        return self.json("theory", "--threads", threads, "--cpus", cpus, "--phase", f"{phase_s:.9g}s", "--period",
                         f"{period_s:.9g}s", *words)

    def machine(self, name, key, change):
        """Reads the machine `name` of the folder machines/, lets `change` edit it, and stores it in the new
        file NAME_KEY.json. Returns the name of this file."""
        machine = json.loads((ROOT / "machines" / f"{name}.json").read_text(encoding="utf-8"))
        change(machine)
        machine.pop("summary", None)
        path = self.folder / f"{name}_{key}.json"
        path.write_text(json.dumps(machine), encoding="utf-8")
        return path.name

    def trace(self, recipe, tasks, machine, seed, placement=None, phases=1):
        """Returns the file of a generated trace."""
        words = [recipe, "--tasks", tasks, "-m", machine, "--seed", seed, "--phases", phases]
        words += ["--placement", placement] if placement else []
        name = f"{name_of(*words)}.poise"
        self.run("generate", *words, "-o", name)
        return name

    def replay(self, trace, strategies, steps, every, *more):
        """Replays a trace and returns {strategy: result}; the run without balancing has the key "none"."""
        answer = self.json("simulate", trace, "-s", ",".join(strategies), "--steps", steps, "--every", every, *more)
        wrong = [row for row in answer["results"] if "error" in row]
        if wrong:
            raise Trouble(f"{wrong[0]['strategy']} on {trace}: {wrong[0]['error']}")
        names = ["none", *strategies]
        return dict(zip(names, answer["results"]))
