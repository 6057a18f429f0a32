# SPDX-License-Identifier: BSD-3-Clause

"""Runs the command `poise` for the papers' sections: generates traces, replays them, and remembers the answers."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
POISE = ROOT / "build" / "bin" / "poise"
TIMEOUT_S = 300
SEEDS = tuple(range(1, 11))  # of every simulated section; intervals are over these


class Trouble(RuntimeError):
    """A command failed; the section that needed it says so."""


class Lab:
    """One folder of traces and the answers so far. Each command runs once, because sections share cases."""

    def __init__(self, poise=POISE, seeds=SEEDS):
        self.poise, self.seeds = pathlib.Path(poise), tuple(seeds)
        self._folder = tempfile.TemporaryDirectory(prefix="poise_reproduce_")
        self.folder = pathlib.Path(self._folder.name)
        self._answers, self._traces, self.started_s = {}, {}, time.monotonic()

    def close(self):
        self._folder.cleanup()

    def show(self, words):
        """Progress: one line on a terminal, else one line per section."""
        line = f"{time.monotonic() - self.started_s:5.0f} s  {words}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line[:110]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def run(self, *words):
        """The output of `poise WORDS...`."""
        words = tuple(map(str, words))
        if words not in self._answers:
            try:
                done = subprocess.run([self.poise, *words], cwd=self.folder, capture_output=True, text=True,
                                      timeout=TIMEOUT_S, check=False, env={**os.environ, "LC_ALL": "C"})
            except (OSError, subprocess.TimeoutExpired) as failed:
                raise Trouble(f"poise {' '.join(words)}: {failed}") from failed
            if done.returncode != 0:
                raise Trouble(f"poise {' '.join(words)}: {done.stderr.strip() or done.returncode}")
            self._answers[words] = done.stdout
        return self._answers[words]

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def figure(self, name):
        """The rows of a figure of `poise theory`, as dictionaries."""
        answer = self.json("theory", "--figure", name)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    def theory(self, threads, cpus, phase_s, period_s=0.1, **more):
        words = [word for key, value in more.items() for word in (f"--{key}", value)]
        return self.json("theory", "--threads", threads, "--cpus", cpus, "--phase", f"{phase_s:.9g}s", "--period",
                         f"{period_s:.9g}s", *words)

    def machine(self, name, key="", change=None):
        """A machine of machines/ by name, or the file of a copy that `change` edits; `key` names the change."""
        if change is None:
            return name
        path = self.folder / f"{name}_{key}.json"
        if not path.exists():
            machine = json.loads((ROOT / "machines" / f"{name}.json").read_text(encoding="utf-8"))
            change(machine)
            machine.pop("summary", None)
            path.write_text(json.dumps(machine), encoding="utf-8")
        return path.name

    def trace(self, recipe, tasks, machine, seed, placement=None, phases=1):
        """The file of a generated trace."""
        words = [recipe, "--tasks", tasks, "-m", machine, "--seed", seed, "--phases", phases]
        words += ["--placement", placement] if placement else []
        name = self._traces.setdefault(tuple(map(str, words)), f"{len(self._traces)}.poise")
        self.run("generate", *words, "-o", name)
        return name

    def replay(self, trace, strategies, steps, every, *more):
        """{strategy: result} of a replay, with "none" for the run without balancing."""
        answer = self.json("simulate", trace, "-s", ",".join(strategies), "--steps", steps, "--every", every, *more)
        wrong = [row for row in answer["results"] if "error" in row]
        if wrong:
            raise Trouble(f"{wrong[0]['strategy']} on {trace}: {wrong[0]['error']}")
        names = ["none", *strategies]
        return dict(zip(names, answer["results"]))
