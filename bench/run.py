#!/usr/bin/env python3
"""Runs benchmarks and keeps their results, with machine and date, as JSON under bench/results."""

import argparse
import datetime
import json
import pathlib
import platform
import shutil
import subprocess
import sys

import growth_plot

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "bin"


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def known():
    return sorted(path.stem.removesuffix("_bench") for path in (ROOT / "bench").glob("*_bench.*"))


def with_peers(name, extra):
    """What NAME_peers.py answers to the cases of NAME_bench, if there is one."""
    peers = ROOT / "bench" / f"{name}_peers.py"
    if not peers.exists() or "--no_peers" in extra:
        return [option for option in extra if option != "--no_peers"]
    folder = ROOT / "build" / f"{name}_cases"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([BIN / f"{name}_bench", f"--export={folder}", *extra], check=True)
    subprocess.run([sys.executable, peers, folder], check=True)
    return [*extra, f"--import={folder}"]


def run(name, extra):
    script = ROOT / "bench" / f"{name}_bench.py"  # measures, prints and keeps its results itself
    if script.exists():
        subprocess.run([sys.executable, script, *extra], check=True)
        return
    extra = with_peers(name, extra)
    raw = ROOT / "build" / f"{name}_bench.json"
    command = [BIN / f"{name}_bench", f"--benchmark_out={raw}", "--benchmark_out_format=json", *extra]
    subprocess.run(command, check=True)
    measured = json.loads(raw.read_text())
    results = {
        "benchmark": name,
        "command": f"./dev bench {name}",
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": cpu_model(), "cores": measured["context"]["num_cpus"],
                    "system": f"{platform.system()} {platform.release()}"},
        "results": [{key: value for key, value in row.items()
                     if key not in ("family_index", "per_family_instance_index", "repetition_index",
                                    "threads", "run_name", "run_type")}
                    for row in measured["benchmarks"]],
    }
    kept = ROOT / "bench" / "results" / f"{name}.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(results, indent=1) + "\n")
    if name == "decide":
        (kept.parent / "growth.svg").write_text(growth_plot.draw(results["results"]))
    print(f"kept in {kept.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(known())}; default: all")
    arguments, extra = parser.parse_known_args()
    unknown = set(arguments.name) - set(known())
    if unknown:
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(known())}")
    for name in arguments.name or known():
        run(name, extra)
    return 0


if __name__ == "__main__":
    sys.exit(main())
