# SPDX-License-Identifier: BSD-3-Clause

"""Computes the predicted time and the other metrics from their definitions alone.

No code is shared with `poise`. Machines are read from the same text that `poise` reads; graphs and placements are plain
lists."""

import math
import random


class Machine:
    """Reads a machine from text, such as "node:2 core:4 factors:5,1". The text lists the levels, coarsest first, and
    one latency factor per level. The units of the last level, here the cores, are the places."""

    SETTINGS = ("factors", "speeds", "hop", "message", "byte", "migrated_byte")

    def __init__(self, text):
        self.text = text
        words = dict(word.split(":") for word in text.split())
        self.levels = [(name, value) for name, value in words.items() if name not in self.SETTINGS]
        self.torus = None
        if self.levels[0][0] == "torus":
            self.torus = [int(size) for size in self.levels[0][1].split("x")]
            self.levels[0] = ("node", math.prod(self.torus))
        self.levels = [(name, int(count)) for name, count in self.levels]
        self.factors = [float(f) for f in words["factors"].split(",")]
        self.seconds_per_message = float(words.get("message", 1e-5))
        self.seconds_per_byte = float(words.get("byte", 0))
        self.seconds_per_migrated_byte = float(words.get("migrated_byte", 1e-9))
        self.hop = float(words.get("hop", 0.05 * self.factors[0]))
        self.num_places = math.prod(count for _, count in self.levels)
        speeds = [float(s) for s in words.get("speeds", "1").split(",")]
        self.speed = [speeds[p % len(speeds)] for p in range(self.num_places)]

    def group(self, level, place):
        return place // math.prod(count for _, count in self.levels[level + 1:])

    def parting(self, a, b):
        """Returns the index of the coarsest level at which two places are in different units, such as nodes."""
        return next(level for level in range(len(self.levels))
                    if self.group(level, a) != self.group(level, b))

    def torus_hops(self, a, b):
        hops = 0
        for size in reversed(self.torus):
            steps = abs(a % size - b % size)
            hops += min(steps, size - steps)
            a, b = a // size, b // size
        return hops

    def factor(self, a, b):
        level = self.parting(a, b)
        if self.torus and level == 0:
            return self.factors[0] + self.hop * (
                self.torus_hops(self.group(0, a), self.group(0, b)) - 1)
        return self.factors[level]

    def hops(self, a, b):
        level = self.parting(a, b)
        if self.torus and level == 0:
            return 2 * (len(self.levels) - 1) + self.torus_hops(self.group(0, a), self.group(0, b))
        return 2 * (len(self.levels) - level)

    def in_different_nodes(self, a, b):
        names = [name for name, _ in self.levels]
        return "node" in names and self.parting(a, b) <= names.index("node")


class Graph:
    """A graph of tasks: the load of each task in microseconds, its size in bytes, and the edges {(a, b): bytes}. Each
    edge represents one message from a to b and one from b to a."""

    def __init__(self, loads_us, sizes, edges):
        self.loads_us, self.sizes, self.edges = loads_us, sizes, edges

    @staticmethod
    def drawn(rng, tasks, edges):
        pairs = set()
        while len(pairs) < edges:
            a, b = rng.sample(range(tasks), 2)
            pairs.add((min(a, b), max(a, b)))
        return Graph([rng.choice([0, 5, rng.randint(1, 100000)]) for _ in range(tasks)],
                     [rng.randint(0, 5000) for _ in range(tasks)],
                     {pair: rng.randint(1, 100000) for pair in sorted(pairs)})

    def metis(self):
        lines = [f"% a comment\n{len(self.loads_us)} {len(self.edges)} 111"]
        neighbours = [[] for _ in self.loads_us]
        for (a, b), volume in self.edges.items():
            neighbours[a].append((b, volume))
            neighbours[b].append((a, volume))
        for task, others in enumerate(neighbours):
            numbers = [self.sizes[task], self.loads_us[task]]
            for other, volume in others:
                numbers += [other + 1, volume]
            lines.append(" ".join(map(str, numbers)))
        return "\n".join(lines) + "\n"

    def messages(self):
        for (a, b), volume in self.edges.items():
            yield a, b, volume
            yield b, a, volume


def metrics(machine, graph, before, after):
    """Returns every metric of the placement `after`. A task has migrated if its place in `before` is a different
    one."""
    work = [0.0] * machine.num_places
    for task, load_us in enumerate(graph.loads_us):
        work[after[task]] += load_us * 1e-6 / machine.speed[after[task]]
    comm = [0.0] * machine.num_places
    hop_bytes = internode_bytes = nuco_messages = 0
    for sender, receiver, volume in graph.messages():
        source, target = after[sender], after[receiver]
        if source == target:
            continue
        factor = machine.factor(source, target)
        comm[target] += machine.seconds_per_message * factor + machine.seconds_per_byte * volume
        hop_bytes += volume * machine.hops(source, target)
        internode_bytes += volume * machine.in_different_nodes(source, target)
        nuco_messages += factor
    moved = [task for task in range(len(after)) if before[task] != after[task]]
    sent, received = [0] * machine.num_places, [0] * machine.num_places
    for task in moved:
        sent[before[task]] += graph.sizes[task]
        received[after[task]] += graph.sizes[task]
    average = sum(graph.loads_us) * 1e-6 / sum(machine.speed)
    return {
        "tasks": len(graph.loads_us), "messages": 2 * len(graph.edges),
        "places": machine.num_places,
        "iteration_s": max(w + c for w, c in zip(work, comm)),
        "makespan_s": max(work), "average_s": average,
        "makespan_bound_s": makespan_bound(machine, graph, average),
        "imbalance": max(work) / average if average else 1,
        "max_comm_s": max(comm), "hop_bytes": hop_bytes, "internode_bytes": internode_bytes,
        "nuco_messages": nuco_messages, "migrations": len(moved),
        "migrated_bytes": sum(graph.sizes[task] for task in moved),
        "migration_s": machine.seconds_per_migrated_byte * max(sent + received),
    }


def makespan_bound(machine, graph, average):
    """Returns a lower bound for the time of the busiest place. One bound is `average`, the sum of all loads divided by
    the sum of all speeds. Others follow from the pigeonhole principle. With p places, consider the k p + 1 largest
    tasks, for each k = 0, 1, 2, ... for which there are that many. However these tasks are placed, some place gets at
    least k + 1 of them. This place works at least as long as the fastest place would work on the k + 1 smallest of
    them. The largest of all bounds is returned.
    """
    loads = sorted((load * 1e-6 for load in graph.loads_us), reverse=True)
    bound, k = average, 0
    while k * machine.num_places < len(loads):
        end = k * machine.num_places + 1
        bound = max(bound, sum(loads[end - k - 1:end]) / max(machine.speed))
        k += 1
    return bound


def drawn_machine(rng):
    """Returns a random machine. Over many calls, it returns every kind of machine for which the formulas differ."""
    factors = [round(rng.uniform(5, 20), 2), round(rng.uniform(1.1, 3), 2), 1]
    given = ",".join(map(str, factors))
    shape = rng.choice([
        f"node:{rng.randint(1, 5)} numa:{rng.randint(1, 3)} core:{rng.randint(1, 4)}",
        f"torus:{rng.randint(1, 4)}x{rng.randint(1, 4)}x2 numa:2 core:{rng.randint(1, 3)}",
        f"rack:{rng.randint(1, 3)} node:{rng.randint(1, 3)} core:{rng.randint(1, 4)}"])
    costs = f" message:{rng.choice([1e-5, 3e-4])} byte:{rng.choice([0, 1e-9])}"
    speeds = rng.choice(["", " speeds:1,0.5", " speeds:0.25,1,0.75"])
    hop = " hop:0.5" if shape.startswith("torus") and rng.random() < 0.5 else ""
    return Machine(f"{shape} factors:{given}{costs} migrated_byte:2e-9{speeds}{hop}")


def drawn_placement(rng, machine, graph):
    return [rng.randrange(machine.num_places) for _ in graph.loads_us]


def generator(seed):
    return random.Random(seed)
