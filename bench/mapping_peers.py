#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs mapping tools that are not in the library on the cases that mapping_bench --export wrote to a folder.

Each answer is written there as CASE@TOOL.place, one place per line, and its CPU seconds as CASE@TOOL.seconds,
for mapping_bench --import. A tool that is not installed is reported and skipped: `pip install mtkahypar
kaminpar chszlablib` (the last contains SharedMap), `apt install libtrilinos-zoltan-dev`. Every tool uses one
thread."""

import itertools
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

# The load of the fullest place may exceed the average load by this fraction. MAPPING_TOLERANCE is used for SharedMap,
# and for Poise without a current placement; TOLERANCE is used for KaMinPar and Mt-KaHyPar.
TOLERANCE = 0.03
MAPPING_TOLERANCE = 0.05
MOST_MAPPED_PLACES = 48  # maximum number of places for Mt-KaHyPar, which needs seconds for more
MOST_SECONDS = 100  # time limit for each tool, for all cases together
# Limit for the sum of the vertex weights that SharedMap gets, because it adds them up in 32 bits.
LARGEST_TOTAL = 2**29


class Machine:
    """A machine given as text: its number of places, and the cost factor between any two places."""

    def __init__(self, text):
        words = dict(word.split(":") for word in text.split())
        self.factors = [float(x) for x in words.pop("factors", "1").split(",")]
        self.counts = [int(count) for count in words.values()]
        self.places = 1
        for count in self.counts:
            self.places *= count

    def factor(self, a, b):
        size = self.places
        for count, factor in zip(self.counts, self.factors):
            size //= count
            if a // size != b // size:
                return factor
        return 0


class Graph:
    """Reads a METIS graph with vertex sizes, vertex weights and edge weights."""

    def __init__(self, path):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
        self.lines = lines
        self.weights, self.edges, self.edge_weights = [], [], []
        if lines[0].split()[2] != "111":
            raise ValueError(f"{path}: not the form that mapping_bench writes")
        for vertex, line in enumerate(lines[1:]):
            numbers = [int(x) for x in line.split()]
            self.weights.append(numbers[1])
            for other, weight in zip(numbers[2::2], numbers[3::2]):
                if vertex < other - 1:
                    self.edges.append((vertex, other - 1))
                    self.edge_weights.append(weight)

    def text_without_sizes(self):
        """Removes vertex sizes, because KaMinPar aborts the whole process if vertices have sizes."""
        vertices, edges, _ = self.lines[0].split()
        rows = [line.split(maxsplit=1)[1] for line in self.lines[1:]]
        return "\n".join([f"{vertices} {edges} 11", *rows, ""])


def mtkahypar_tool(preset):
    import mtkahypar
    kahypar = mtkahypar.initialize(1)

    def place(graph, machine, path):
        context = kahypar.context_from_preset(getattr(mtkahypar.PresetType, preset))
        context.set_partitioning_parameters(machine.places, TOLERANCE, mtkahypar.Objective.KM1)
        context.logging = False
        task_graph = kahypar.create_graph(context, len(graph.weights), len(graph.edges),
                                          graph.edges, graph.weights, graph.edge_weights)
        start = time.process_time()
        if machine.places <= MOST_MAPPED_PLACES:
            pairs = list(itertools.combinations(range(machine.places), 2))
            target = kahypar.create_target_graph(
                context, machine.places, len(pairs), pairs,
                [max(1, round(10 * machine.factor(a, b))) for a, b in pairs])
            result = task_graph.map_onto_graph(target, context)
        else:
            result = task_graph.partition(context)
        return [result.block_id(v) for v in range(len(graph.weights))], time.process_time() - start

    return place


def kaminpar_tool():
    import kaminpar

    def place(graph, machine, path):
        solver = kaminpar.KaMinPar(1, kaminpar.default_context())
        with tempfile.NamedTemporaryFile("w", suffix=".graph") as file:
            file.write(graph.text_without_sizes())
            file.flush()
            task_graph = kaminpar.load_graph(file.name, kaminpar.GraphFileFormat.METIS)
        start = time.process_time()
        blocks = solver.compute_partition(task_graph, machine.places, TOLERANCE)
        return blocks, time.process_time() - start

    return place


def children_s():
    """Returns the CPU seconds of all child processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def sharedmap_tool():
    """SharedMap in its strong mode: multisection along the tree of the machine, with KaHIP at every cut."""
    import chszlablib
    import numpy

    def place(graph, machine, path):
        rows = [numpy.array(line.split(), dtype=int)[2:] for line in graph.lines[1:]]
        scale = min(1, LARGEST_TOTAL / sum(graph.weights))
        task_graph = chszlablib.Graph.from_csr(
            numpy.cumsum([0] + [len(row) // 2 for row in rows]),
            numpy.concatenate([row[0::2] for row in rows]) - 1,
            numpy.maximum(1, (numpy.array(graph.weights) * scale).astype(int)),
            numpy.concatenate([row[1::2] for row in rows]))
        start = time.process_time()
        answer = chszlablib.Decomposition.process_map(
            task_graph, machine.counts[::-1],  # finest level first
            [round(100 * factor) for factor in machine.factors[::-1]],
            mode="strong", imbalance=MAPPING_TOLERANCE, seed=1)
        return answer.assignment.tolist(), time.process_time() - start

    return place


def zoltan_tool():
    """Zoltan's PHG in repartition mode: a tool that uses the current placement."""
    folder = tempfile.TemporaryDirectory()
    program, answer = (pathlib.Path(folder.name) / name for name in ("program", "places"))
    source = pathlib.Path(__file__).resolve().parent / "zoltan_repartition.cc"
    built = shutil.which("mpicxx") and subprocess.run(
        ["mpicxx", "-std=c++20", "-O2", "-I/usr/include/trilinos", source, "-o", program,
         "-ltrilinos_zoltan"], check=False, capture_output=True)
    if not built or built.returncode != 0:
        raise ImportError

    def place(graph, machine, path):
        done = subprocess.run([program, path, path.with_suffix(".current"), str(machine.places),
                               answer], check=True, capture_output=True, timeout=MOST_SECONDS)
        return [int(line) for line in answer.read_text().split()], float(done.stdout)

    place.folder = folder  # otherwise the temporary folder would be deleted when this function returns
    return place


TOOLS = {
    "kaminpar": kaminpar_tool,
    "mtkahypar": lambda: mtkahypar_tool("DEFAULT"),
    "sharedmap": sharedmap_tool,
    "zoltan": zoltan_tool,
}


def run(name, folder):
    """Runs one tool on all cases, smallest first."""
    try:
        place = TOOLS[name]()
    except ImportError:
        print(f"without {name}: it is not installed")
        return
    started = time.process_time() + children_s()
    for path in sorted(folder.glob("*.graph"), key=lambda file: file.stat().st_size):
        if time.process_time() + children_s() - started > MOST_SECONDS:
            print(f"without {name} on {path.stem} and larger: {MOST_SECONDS} s are over")
            return
        machine = Machine(path.with_suffix(".machine").read_text())
        try:
            places, seconds = place(Graph(path), machine, path)
        except Exception as error:  # a tool may refuse a case; the tool's other cases still run
            print(f"without {name} on {path.stem}: {error}")
            continue
        stem = f"{path.name.removesuffix('.graph')}@{name}"
        (folder / f"{stem}.place").write_text("".join(f"{p}\n" for p in places))
        (folder / f"{stem}.seconds").write_text(f"{seconds:.9f}\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        run(sys.argv[2], folder)
        return 0
    for name in TOOLS:  # one process per tool, because the thread pools of the tools collide
        done = subprocess.run([sys.executable, __file__, folder, name], check=False)
        if done.returncode != 0:
            print(f"without {name} on the rest: it ended with {done.returncode}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
