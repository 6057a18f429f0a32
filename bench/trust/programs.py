# SPDX-License-Identifier: BSD-3-Clause

"""The programs of which trust_bench.py predicts and measures the time of an iteration.

Each program is a function that returns (load_s, messages). load_s has the seconds of work of each task. messages has a
row for each pair of tasks: [from, to, count, bytes of all `count` messages]. The loads and bytes are relative; `scaled`
multiplies them so that every program has the same mean traffic and the same mean work per place. HELD_OUT was fixed
before the first run: the cost model is calibrated on the other programs alone.
"""

import math
import pathlib
import random
import re

HELD_OUT = frozenset({
    "stencil3d", "kneighbor", "geometric", "gather_groups", "transpose", "butterfly", "overlapped_stencil",
    "sweep", "power_law", "one_to_all", "real_bt", "real_lu", "real_lulesh", "real_cloverleaf_1000",
    "real_npb_bt_1000"})
# Programs that send before they work, so that messages overlap with work. The others work first.
OVERLAPPED = frozenset({"overlapped_stencil", "overlapped_random"})
# Programs whose work or traffic differs from that of the others: {name: (factor for the work, factor for the bytes)}.
EMPHASIS = {"work_bound": (4, 0.2), "overlapped_stencil": (3, 1), "overlapped_random": (3, 1),
            "all_to_one": (1, 0.2), "one_to_all": (1, 0.2)}
# A program made from a recorded communication matrix keeps only the pairs of tasks that exchange the most bytes: the
# smallest number of pairs that together have this fraction of all bytes. The other pairs exchange many small messages.
# With these, the two cores that all hosts of the cluster share would limit the speed of a program, not the network.
KEPT_SHARE = 0.99
SEED = 25


def equal(tasks):
    return [1.0] * tasks


def lognormal(tasks, sigma, seed):
    numbers = random.Random(SEED + seed)
    return [math.exp(sigma * numbers.gauss(0, 1)) for _ in range(tasks)]


def both_ways(pairs):
    """Returns two messages for each pair of tasks, one in each direction. `pairs` maps a pair to the bytes of
    each of the two messages."""
    return [[a, b, 1, size] for (one, other), size in pairs.items() for a, b in ((one, other), (other, one))]


def grid(sides, periodic=False):
    """Returns messages between neighbours in a grid, in both directions and of equal size. The points of the grid are
    numbered row by row."""
    strides = [math.prod(sides[axis + 1:]) for axis in range(len(sides))]
    pairs = {}
    for task in range(math.prod(sides)):
        for side, stride in zip(sides, strides):
            at = task // stride % side
            if at + 1 < side:
                pairs[task, task + stride] = 1
            elif periodic and side > 2:
                pairs[task, task - at * stride] = 1
    return both_ways(pairs)


def stencil2d():
    return lognormal(64, 0.3, 1), grid([8, 8])


def stencil3d():
    return equal(64), grid([4, 4, 4])


def hot_stencil():
    """A stencil of 128 tasks; the tasks of one quadrant have three times the work."""
    loads = [3.0 if task // 16 < 4 and task % 16 < 8 else 1.0 for task in range(128)]
    return loads, grid([8, 16], periodic=True)


def kneighbor():
    tasks = 64
    return equal(tasks), [[t, (t + d) % tasks, 1, 1] for t in range(tasks) for d in (-3, -2, -1, 1, 2, 3)]


def ring():
    return equal(32), [[t, (t + d) % 32, 1, 1] for t in range(32) for d in (-1, 1)]


def shift():
    """Every task sends to the task whose number is larger by eight. With tasks placed in block order, every message
    goes to another node."""
    return equal(64), [[t, (t + 8) % 64, 1, 1] for t in range(64)]


def geometric():
    numbers = random.Random(SEED + 2)
    points = [(numbers.random(), numbers.random()) for _ in range(96)]
    pairs = {(a, b): 1 / (0.03 + math.dist(points[a], points[b])) for a in range(96) for b in range(a)
             if math.dist(points[a], points[b]) < 0.18}
    return lognormal(96, 0.4, 3), both_ways(pairs)


def tree():
    """A binary tree. Each task and its parent send to each other, with more bytes near the root."""
    pairs = {(task, (task - 1) // 2): 64 / (task + 1) ** 0.5 for task in range(1, 63)}
    return equal(63), both_ways(pairs)


def all_to_one():
    return equal(32), [[task, 0, 1, 1] for task in range(1, 32)]


def one_to_all():
    return equal(32), [[5, task, 1, 1] for task in range(32) if task != 5]


def gather_groups():
    """Eight roots (tasks 3, 11, 19, ...). Task t sends to the root 8 * (t modulo 8) + 3."""
    return lognormal(64, 0.2, 4), [[task, 8 * (task % 8) + 3, 1, 1] for task in range(64)
                                   if task != 8 * (task % 8) + 3]


def all_to_all_groups():
    """All-to-all within groups of eight tasks, whose numbers are equal modulo eight."""
    return equal(64), [[a, b, 1, 1] for a in range(64) for b in range(64) if a != b and a % 8 == b % 8]


def transpose():
    """A transposition: block (i, j) of an 8 x 8 grid sends to block (j, i)."""
    return equal(64), [[8 * i + j, 8 * j + i, 1, 1] for i in range(8) for j in range(8) if i != j]


def butterfly():
    """A hypercube: each of 32 tasks sends to the five tasks whose numbers differ from its own in one bit."""
    return equal(32), [[task, task ^ 1 << bit, 1, 1] for task in range(32) for bit in range(5)]


def sweep():
    """A grid in which messages go only to the right and down."""
    return lognormal(64, 0.5, 5), [row for row in grid([8, 8]) if row[0] < row[1]]


def power_law():
    numbers = random.Random(SEED + 6)
    pairs = {}
    while len(pairs) < 260:
        a, b = (sum((numbers.random() < 0.7) << bit for bit in range(6)) for _ in range(2))
        if a != b:
            pairs[max(a, b), min(a, b)] = 1
    return lognormal(64, 0.3, 7), both_ways(pairs)


def clusters():
    """Random groups of four tasks exchange many bytes within the group; 60 random pairs of tasks exchange few."""
    numbers = random.Random(SEED + 8)
    order = list(range(64))
    numbers.shuffle(order)
    pairs = {}
    for group in range(16):
        members = order[4 * group:4 * group + 4]
        pairs.update({(a, b): 8 for a in members for b in members if a < b})
    for _ in range(60):
        a, b = sorted(numbers.sample(range(64), 2))
        pairs.setdefault((a, b), 1)
    return equal(64), both_ways(pairs)


def many_small():
    """A periodic grid. Instead of a large message, a task sends eight small ones to each neighbour."""
    return equal(32), [[a, b, 8, size] for a, b, _, size in grid([4, 8], periodic=True)]


def work_bound():
    """Loads differ greatly and messages are small, so loads determine the time."""
    return lognormal(96, 0.9, 9), grid([8, 12])


def overlapped_stencil():
    return lognormal(64, 0.4, 10), grid([4, 4, 4])


def overlapped_random():
    numbers = random.Random(SEED + 11)
    return equal(64), [[task, to, 1, 1] for task in range(64)
                        for to in numbers.sample([other for other in range(64) if other != task], 4)]


SYNTHETIC = [stencil2d, stencil3d, hot_stencil, kneighbor, ring, shift, geometric, tree, all_to_one, one_to_all,
             gather_groups, all_to_all_groups, transpose, butterfly, sweep, power_law, clusters, many_small,
             work_bound, overlapped_stencil, overlapped_random]


# ---- communication matrices of real programs, if they are available

def heaviest(rows):
    """Returns the rows with the most bytes, in their original order: the smallest number of rows that together have
    the fraction KEPT_SHARE of all bytes."""
    left = (1 - KEPT_SHARE) * sum(row[3] for row in rows)
    dropped = set()
    for number in sorted(range(len(rows)), key=lambda number: rows[number][3]):
        left -= rows[number][3]
        if left < 0:
            break
        dropped.add(number)
    return [row for number, row in enumerate(rows) if number not in dropped]


def of_mpip(path):
    """Reads a report of mpiP. Returns the useful time of each rank, and one message for each of the largest entries of
    the communication matrix at the end of the report."""
    text = path.read_text()
    times = re.search(r"\nTask +AppTime +MPITime.*\n((?: +\d+ .*\n)+)", text)[1].splitlines()
    loads = [float(row.split()[1]) - float(row.split()[2]) for row in times]
    matrix = text.split("Start Communication Matrix")[1].split("End Communication Matrix")[0]
    rows = []
    for line in matrix.splitlines():
        numbers = [float(number) for number in re.findall(r"[\d.]+(?:e[+-]?\d+)?", line)]
        if len(numbers) >= 3 and numbers[0] != numbers[1] and numbers[2] > 0:
            rows.append([int(numbers[0]), int(numbers[1]), 1, numbers[2]])
    return loads, heaviest(rows)


def of_matrix(path, tasks):
    """Reads a communication matrix with an entry `from , to = bytes` per line, and merges its many ranks into `tasks`
    tasks. Each task stands for a range of consecutive ranks; all tasks have equal work."""
    entries = [tuple(map(float, match)) for match in
               re.findall(r"^(\d+) , (\d+) = ([\d.]+)$", path.read_text(), re.MULTILINE)]
    ranks = int(max(max(a, b) for a, b, _ in entries)) + 1
    sums = {}
    for a, b, size in entries:
        one, other = int(a) * tasks // ranks, int(b) * tasks // ranks
        if one != other:
            sums[one, other] = sums.get((one, other), 0) + size
    return equal(tasks), heaviest([[a, b, 1, size] for (a, b), size in sorted(sums.items())])


def real_programs(folder):
    """Returns {name: function that reads the program} for the recorded programs in `folder`, which has the subfolders
    64_ranks and 1000_ranks."""
    folder = pathlib.Path(folder)
    names = {"amg2013": "amg", "bt": "bt", "clover_leaf": "cloverleaf", "lu": "lu", "lulesh2": "lulesh"}
    found = {}
    for path in sorted(folder.glob("64_ranks/*.mpiP")):
        name = names.get(path.name.split(".")[0], path.name.split(".")[0])
        found[f"real_{name}"] = lambda path=path: of_mpip(path)
    for path in sorted(folder.glob("1000_ranks/*.txt")):
        found[f"real_{path.stem}_1000"] = lambda path=path: of_matrix(path, 64)
    return found


def programs(folder, places, work_s, total_bytes):
    """Returns {name: (load_s, messages)}. A place has work_s seconds of work on average, and all messages of a program
    have total_bytes together. For programs in EMPHASIS, both values are multiplied by the factors given there."""
    makers = {maker.__name__: maker for maker in SYNTHETIC}
    makers.update(real_programs(folder))
    made = {}
    for name, maker in makers.items():
        load_s, messages = maker()
        work, traffic = EMPHASIS.get(name, (1, 1))
        load_unit = work * work_s * places / sum(load_s)
        byte_unit = traffic * total_bytes / sum(row[3] for row in messages)
        made[name] = ([load * load_unit for load in load_s],
                      [[a, b, count, max(count, round(size * byte_unit))] for a, b, count, size in messages])
    return made
