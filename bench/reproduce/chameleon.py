# SPDX-License-Identifier: BSD-3-Clause

"""Reproduces Klinkenberg et al., "CHAMELEON: Reactive Load Balancing for Hybrid MPI+OpenMP Task-Parallel
Applications", JPDC 2020: figures 2 to 9, 11, 12 and table 1.

Matrix multiplications are simulated as equal tasks, with the decisions of the tasks runtime (`poise simulate
--lend`); each thread of a rank is a place. Runs of the mini-apps are not repeated: their results are those stored in
bench/results/reactive.json, whose rows say where and when they were measured."""

import json

from lab import ROOT
from sections import Assumed, Paper, Section
from verdicts import Estimate, about, above, below

CARD = 1.25e10  # Omni-Path, 100 Gb/s
CORES = 24
RATE = Assumed("flops_per_s", 2.6e9, "1/s", "of a thread: a plain loop, 2400 products of 600 x 600 by 23 threads in 17 s")


def task_of(size, inputs):
    """Returns the seconds and the bytes of one product of `size` x `size` matrices: two matrices are sent, and one
    returns."""
    return 2 * size**3 / inputs["flops_per_s"], 24 * size**2


class Team:
    """A simulated cluster whose nodes have the same number of threads. Each thread is a place, and all tasks are
    equal."""

    def __init__(self, lab, nodes, threads, speeds=None):
        self.lab, self.nodes, self.threads = lab, nodes, threads
        slow = "" if speeds is None else " speeds:" + ",".join(f"{s:.6g}" for s in speeds for _ in range(threads))
        self.machine = f"node:{nodes} core:{threads} bandwidth:{CARD:g}{slow}"

    def seconds(self, tasks_per_node, task, lends):
        """Returns the seconds of one step. At its start, the tasks of each node are spread evenly over the node's
        threads. `task` is a pair: the seconds and the bytes of one task."""
        task_s, size = task
        count = sum(tasks_per_node)
        trace = self.lab.trace(f"random:degree=0,skew=equal,load_s={task_s:.9g},task_bytes={size}", count, self.machine, 0)
        places = [node * self.threads + i * self.threads // tasks
                  for node, tasks in enumerate(tasks_per_node) for i in range(tasks)]
        name = f"{trace}.{'_'.join(map(str, tasks_per_node))}"
        (self.lab.folder / name).write_text("".join(f"{place}\n" for place in places))
        more = ["--lend"] if lends else []
        answer = self.lab.replay(trace, ("keep",), 1, 1, "--placement", name, "--decision-time", "0s", *more)
        return answer["none"]["total_s"]


def slow_node(lab, inputs, slowness, per_node):
    """Returns the speed-up by lending on four nodes, one of which is slow. With lending a node has 23 worker threads,
    without it 24."""
    speeds = [1, 1, 1, 1 / slowness]
    tasks, task = [per_node] * 4, task_of(600, inputs)
    return (Team(lab, 4, CORES, speeds).seconds(tasks, task, False)
            / Team(lab, 4, CORES - 1, speeds).seconds(tasks, task, True))


MIGRATED, TOTAL = 148, 4800


def figure_2(lab, inputs):
    # T tasks belong to four nodes, one of which needs s times as long for a task. All nodes end together if the slow
    # node keeps T / (3 s + 1) tasks. The paper says how many tasks leave it, which gives s.
    slowness = (TOTAL / (TOTAL / 4 - MIGRATED) - 1) / 3
    gain = slow_node(lab, inputs, slowness, TOTAL // 4)
    return [
        above("speed-up at 60 W, where 148 of 4800 tasks move: at least 4 %", 1.04, gain),
        below("and at most 20 %", 1.20, gain),
        above("without a cap, lending and a core less lose little", 0.94, slow_node(lab, inputs, 1, TOTAL // 4)),
    ]


def figure_3(lab, inputs):
    gains = [slow_node(lab, inputs, 2.2 / clock, 2400) for clock in (1.2, 1.7, 2.2)]
    return [
        about("speed-up with one node at 1.2 GHz of 2.2", 1.31, gains[0]),
        above("lending pays at 1.2 GHz", 1, gains[0]),
        above("it pays more, the slower the node", 0, min(a - b for a, b in zip(gains, gains[1:]))),
        below("at 2.2 GHz it loses a little: a core less", 1, gains[-1]),
    ]


def one_rank(lab, inputs, size, threads):
    """Simulates a step of two ranks, the first of which has all 2,400 tasks at the start. Returns its seconds
    without lending and with lending."""
    team = Team(lab, 2, threads)
    return [team.seconds([2400, 0], task_of(size, inputs), lends) for lends in (False, True)]


THREADS = (2, 4, 8, 16, 22)
SIZES = (50, 100, 150, 300, 450, 600)


def kept(experiment):
    """Returns the stored rows of an experiment."""
    rows = json.loads((ROOT / "bench" / "results" / "reactive.json").read_text(encoding="utf-8"))["results"]
    return [row for row in rows if row["experiment"] == experiment]


def figure_4(lab, inputs):
    times = [one_rank(lab, inputs, 150, threads) for threads in THREADS]
    return [
        below("largest ratio of the time with lending to that without, 2 to 22 threads", 1, max(b / a for a, b in times)),
        below("more threads, shorter runs: largest ratio from one number to the next", 1,
              max(b[1] / a[1] for a, b in zip(times, times[1:]))),
    ]


def figure_5(lab, inputs):
    gains = {threads: a / b for threads in THREADS for a, b in [one_rank(lab, inputs, 150, threads)]}
    measured = {row["threads"]: row["gain"] for row in kept("threads per rank, tasks of 3 ms")}
    return [
        about("speed-up with 4 threads per rank", 1.97, gains[4]),
        about("speed-up with 4 threads per rank, our run with tasks of 3 ms", 1.97, measured[4]),
        about("speed-up with 22 threads per rank", 1.2, gains[22]),
        above("with more threads the speed-up falls: 4 over 22", 1, gains[4] / gains[22]),
        above("the same in our runs: 4 over 16", 1, measured[4] / measured[16]),
    ]


def figure_6(lab, inputs):
    times = {size: one_rank(lab, inputs, size, 16) for size in SIZES}
    return [
        below("time with lending over that without, matrices of 450", 1, times[450][1] / times[450][0]),
        above("the same for matrices of 50: small tasks take longer", 1, times[50][1] / times[50][0]),
    ]


def figure_7(lab, inputs):
    gains = {size: a / b for size in SIZES for a, b in [one_rank(lab, inputs, size, 16)]}
    measured = {row["size"]: row["gain"] for row in kept("one rank has everything")}
    return [
        about("speed-up for matrices of 450, 16 threads", 1.84, gains[450]),
        about("speed-up for matrices of 450, our run", 1.84, measured[450]),
        about("speed-up for the smallest matrices", 0.79, gains[50]),
        below("lending small tasks in a short phase loses", 1, gains[50]),
        below("the same in our run", 1, measured[50]),
        above("larger tasks gain more: 450 over 50", 1, gains[450] / gains[50]),
    ]


def tsunami(lab, inputs, ranks, lends):
    """Returns for each seed the imbalance of every step (time of the busiest rank divided by the mean time of all
    ranks), while a hot region moves over the grid."""
    machine = f"node:{ranks} core:1 bandwidth:{CARD:g}"
    recipe = (f"stencil2d:skew=lognormal,spread=0.2,hot={1 + inputs['excess']:g},hot_extent=0.3,hot_speed=0.05,"
              f"load_s={inputs['section_s']:g},task_bytes=1000000,message_bytes=10000")

    def steps(seed):
        trace = lab.trace(recipe, ranks * 16, machine, seed, phases=10)
        words = ["simulate", trace, "-s", "keep", "--steps", 10, "--every", 10, "--decision-time", "0s"]
        answer = lab.json(*words, *(["--lend"] if lends else []))
        # All ranks are equally fast. So the mean time of the ranks is their mean load, even if they lend tasks to
        # each other.
        mean_s = answer["total_average_s"] / 10
        return [value / mean_s for value in answer["results"][0]["series"]["makespan_s"]]
    return lab.per_seed(steps)


def means(lists):
    return [sum(values) / len(values) for values in lists]


def figure_8(lab, inputs):
    without, lending = tsunami(lab, inputs, 32, False), tsunami(lab, inputs, 32, True)
    return [
        below("mean imbalance with lending over that without, 32 nodes", 1,
              [b / a for a, b in zip(means(without), means(lending))]),
        above("lending does not remove it: least mean imbalance", 1.01, means(lending)),
    ]


def figure_9(lab, inputs):
    rows = [row for row in kept("tsunami asleep") if row["ranks"] > 1]
    gains = [[a / b * (CORES - 1) / CORES for a, b in zip(means(tsunami(lab, inputs, ranks, False)),
                                                          means(tsunami(lab, inputs, ranks, True)))]
             for ranks in (2, 8, 32)]
    return [
        about("largest speed-up by lending, 2 to 32 nodes, simulated", 1.20, max(sum(g) / len(g) for g in gains)),
        above("lending improves with 32 nodes, a core less", 1, gains[-1]),
        above("lending improves our runs of 2 to 8 ranks", 1, min(row["paired gain"] / row["no lending gain"] for row in rows)),
        above("pairs of sorted ranks over the lightest rank as victim, our runs", 1,
              [row["paired gain"] / row["lightest gain"] for row in rows]),
    ]


def figure_11(_, __):
    rows = kept("limiter, imbalance per step")
    without = [row["without"] for row in rows]
    lending = [row["with"] for row in rows]
    return [
        about("largest imbalance without lending", 1.3, max(without)),
        below("lending reduces the mean imbalance", 1, (sum(lending) - len(rows)) / (sum(without) - len(rows))),
    ]


def figure_12(_, __):
    rows = kept("limiter, imbalance per step")
    return [
        below("largest ratio of the imbalance with lending to that without, in any step", 1,
              max(row["with"] / row["without"] for row in rows)),
    ]


CELLS = 169869312
# The numbers of steps and seeds are small, because lending between many ranks takes long to simulate.
STEPS, FEW_SEEDS = 3, 3


def limiter(lab, inputs, ranks, threads):
    """Returns two lists of speed-ups, with one value per seed. The cells are redistributed either by lending
    (reactive, first list) or according to measured times (second list); the speed-up is relative to a fixed
    distribution. The costs of cells differ from step to step."""
    tasks = ranks * threads * round(inputs["sections"])
    machine = f"node:{ranks} core:{threads} bandwidth:{CARD:g}"
    cells = CELLS / tasks
    recipe = f"random:degree=0,skew=equal,load_s={cells * inputs['cell_s']:.6g},task_bytes={cells * inputs['cell_bytes']:.0f}"

    def gain(seed):
        trace = lab.trace(recipe, tasks, machine, seed, placement="blocked")
        plan = ("--loads", f"drift:sigma={inputs['spread']:g},steps=1", "--seed", seed, "--decision-time", "1ms")
        rows = lab.replay(trace, ("greedy",), STEPS, 1, *plan)
        lent = lab.replay(trace, ("keep",), STEPS, STEPS, *plan, "--lend")
        return rows["none"]["total_s"] / lent["none"]["total_s"], rows["none"]["total_s"] / rows["greedy"]["total_s"]
    return list(zip(*lab.per_seed(gain, FEW_SEEDS)))


TABLE_1 = {(16, 1): (1.06, 0.72), (32, 1): (1.05, 0.95)}  # (ranks, threads); larger cases take too long


def table_1(lab, inputs):
    checks = []
    for (ranks, threads), (reactive, timing) in TABLE_1.items():
        lent, planned = limiter(lab, inputs, ranks, threads)
        name = f"{ranks} ranks, {threads} thread" + ("s" if threads > 1 else "")
        checks += [
            about(f"speed-up by reaction, {name}", reactive, lent),
            about(f"speed-up by repartition from times, {name}", timing, planned),
            above(f"reaction gains, {name}", 1, lent),
            below(f"repartition loses, {name}", 1, planned),
        ]
    return checks


PRODUCTS = "2400 products per rank, 600 x 600; nodes of 24 cores at 2.2 GHz; Omni-Path; one core less with lending"
ALL_ON_ONE = "2400 products on one of two ranks"
RUNS = "our runs: bench/results/reactive.json, ranks of one and more threads on shared cores"
EXCESS = Assumed("excess", 1, "", "load that refinement adds to a section, over what it had")
SECTION_S = Assumed("section_s", 1e-3, "s", "load of a section of the grid in a step")
ONE_BY_ONE = ("CHAMELEON moves one task at a time and thread; Poise moves many in one message, so that the loss is none of "
              "lending itself.")
SECTIONS = (
    Section("chameleon-figure-2", "Figure 2: power cap", figure_2, stated=(PRODUCTS, "148 of 4800 tasks migrate at 60 W"),
            assumed=(RATE,), used=("148 migrated tasks tell how slow the node is: 1.19",),
            remark="The paper counts 4800 tasks where four ranks of 2400 have 9600; 4800 is used. The slowness at other caps "
                   "is not known."),
    Section("chameleon-figure-3", "Figure 3: one slow node", figure_3, stated=(PRODUCTS, "clocks of 1.2 to 2.2 GHz"),
            assumed=(RATE,), remark="A product is taken to be as slow as the clock; the paper's gain is lower than this allows, so "
                                    "its products do not follow the clock, or CHAMELEON leaves part of it."),
    Section("chameleon-figure-4", "Figure 4: all tasks on one rank, time by threads", figure_4,
            stated=(ALL_ON_ONE, "matrices of 150 x 150"), assumed=(RATE,)),
    Section("chameleon-figure-5", "Figure 5: all tasks on one rank, speed-up by threads", figure_5,
            stated=(ALL_ON_ONE, "matrices of 150 x 150", RUNS), assumed=(RATE,), remark=ONE_BY_ONE),
    Section("chameleon-figure-6", "Figure 6: all tasks on one rank, time by size", figure_6,
            stated=(ALL_ON_ONE, "16 threads"), assumed=(RATE,), remark=ONE_BY_ONE),
    Section("chameleon-figure-7", "Figure 7: all tasks on one rank, speed-up by size", figure_7,
            stated=(ALL_ON_ONE, "16 threads", RUNS), assumed=(RATE,), remark=ONE_BY_ONE),
    Section("chameleon-figure-8", "Figure 8: imbalance over time, tsunami", figure_8, stated=("32 nodes, one rank each",),
            assumed=(EXCESS, SECTION_S)),
    Section("chameleon-figure-9", "Figure 9: strong scaling and choice of victims, tsunami", figure_9,
            stated=("up to 32 nodes", RUNS), assumed=(EXCESS, SECTION_S)),
    Section("chameleon-figure-11", "Figure 11: mean imbalance, ADER-DG", figure_11, stated=(RUNS,),
            remark="The mini-app `limiter` takes the part of sam(oa)²; it was not run with more threads per rank."),
    Section("chameleon-figure-12", "Figure 12: imbalance per step, ADER-DG", figure_12, stated=(RUNS,)),
    Section("chameleon-table-1", "Table 1: reaction against prediction", table_1,
            stated=("169,869,312 cells of order 4", "16 and 32 ranks with 1 thread; the rows with more are not simulated"),
            assumed=(Assumed("cell_s", 1e-5, "s", "a cell of order 4"), Assumed("cell_bytes", 600, "B", "25 values of 3 quantities"),
                     Assumed("spread", 0.2, "", "of a section's cost from step to step: unpredictable", most=1),
                     Assumed("sections", 16, "", "of a thread", least=4)),
            remark="Greedy takes the part of the repartition. It predicts every section from the step before, which tells "
                   "nothing here; sam(oa)² repartitions along a curve, which also costs more."),
)


def headline(lab):
    inputs = {RATE.name: RATE.value, EXCESS.name: EXCESS.value, SECTION_S.name: SECTION_S.value}
    slow = slow_node(lab, inputs, 2.2 / 1.2, 2400)
    moving = Estimate.of([a / b * (CORES - 1) / CORES for a, b in zip(means(tsunami(lab, inputs, 32, False)),
                                                                      means(tsunami(lab, inputs, 32, True)))])
    return (f"1.3 to 1.6 times as fast with lending (1.31 in the paper's own runs): with one node at 1.2 of 2.2 GHz poise's "
            f"lending gives {slow:.2f} times, with a hot region that moves over 32 nodes {moving.mean:.2f} "
            f"[{moving.low:.2f}, {moving.high:.2f}] times, each with a core less.")


PAPER = Paper("CHAMELEON", "Klinkenberg et al., JPDC 2020", SECTIONS, headline)
