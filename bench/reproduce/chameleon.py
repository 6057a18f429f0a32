# SPDX-License-Identifier: BSD-3-Clause

"""Reproduces Klinkenberg et al., "CHAMELEON: Reactive Load Balancing for Hybrid MPI+OpenMP Task-Parallel
Applications", JPDC 2020: figures 2 to 9, 11, 12 and table 1.

Matrix multiplications are simulated as equal tasks, with the decisions of the tasks runtime (`poise simulate
--lend`); each thread of a rank is a place. Runs of the mini-apps are not repeated: their results are those stored in
bench/results/reactive.json, whose rows say where and when they were measured."""

import json
import statistics

from lab import ROOT
from sections import Assumed, Paper, Plot, Section
from verdicts import Estimate, about, above, below, claim

CARD = 1.25e10  # Omni-Path, 100 Gb/s
CORES = 24
NOISE = Assumed("noise", 0.05, "", "spread of the times of equal products on one core", most=0.2)
RATE = Assumed("flops_per_s", 2.6e9, "1/s", "of a thread: a plain loop, 2400 products of 600 x 600 by 23 threads in 17 s under a cap of 60 W")


def task_of(size, inputs):
    """Returns the seconds and the bytes of one product of `size` x `size` matrices: two matrices are sent, and one is
    returned."""
    return 2 * size**3 / inputs["flops_per_s"], 24 * size**2


class Team:
    """A simulated cluster whose nodes have the same number of threads. Each thread is a place. All tasks are equal,
    except that their times have a lognormal spread of `noise`."""

    def __init__(self, lab, nodes, threads, speeds=None):
        self.lab, self.nodes, self.threads = lab, nodes, threads
        slow = "" if speeds is None else " speeds:" + ",".join(f"{s:.6g}" for s in speeds for _ in range(threads))
        self.machine = f"node:{nodes} core:{threads} bandwidth:{CARD:g}{slow}"

    def trace(self, task, count, seed, noise, placement=None):
        """Returns a trace of `count` tasks. `task` is a pair: the seconds and the bytes of one task."""
        skew = f"lognormal,spread={noise:g}" if noise else "equal"
        recipe = f"random:degree=0,skew={skew},load_s={task[0]:.9g},task_bytes={task[1]}"
        return self.lab.trace(recipe, count, self.machine, seed, placement)

    def step(self, tasks_per_node, task, *more, seed=0, noise=0.0):
        """Returns the result of one step without balancing. At the start of the step, the tasks of each node are spread
        evenly over the node's threads."""
        trace = self.trace(task, sum(tasks_per_node), seed, noise)
        places = [node * self.threads + i * self.threads // tasks
                  for node, tasks in enumerate(tasks_per_node) for i in range(tasks)]
        name = f"{trace}.{'_'.join(map(str, tasks_per_node))}"
        (self.lab.folder / name).write_text("".join(f"{place}\n" for place in places))
        return self.lab.replay(trace, ("keep",), 1, 1, "--placement", name, "--decision-time", "0s", *more)["none"]

    def balanced_s(self, tasks_per_node, task, seed, noise):
        """Returns the seconds of the step after `poise` has moved tasks between all threads, without lending."""
        trace = self.trace(task, sum(tasks_per_node), seed, noise, "blocked")
        return self.lab.replay(trace, ("poise",), 2, 1, "--decision-time", "0s")["poise"]["series"]["makespan_s"][1]


def slow_node(lab, inputs, slowness, per_node):
    """Returns two lists with a value per seed, for four nodes, one of which is slow: the speed-up by lending, and the
    number of tasks that do not run on the node that owns them. With lending, a node has 23 worker threads instead of
    24."""
    speeds = [1, 1, 1, 1 / slowness]
    tasks, task = [per_node] * 4, task_of(600, inputs)

    def results(seed):
        drawn = {"seed": seed, "noise": inputs["noise"]}
        alone_s = Team(lab, 4, CORES, speeds).step(tasks, task, **drawn)["total_s"]
        lent = Team(lab, 4, CORES - 1, speeds).step(tasks, task, "--lend", **drawn)
        return alone_s / lent["total_s"], lent["ran_on_other_nodes"]
    return list(zip(*lab.per_seed(results, FEW_SEEDS)))


def slow_node_balanced(lab, inputs, slowness, per_node):
    """Returns the speed-up for each seed if no task is lent, but the strategy `poise` moves tasks according to the
    times of the previous step."""
    team, tasks, task = Team(lab, 4, CORES, [1, 1, 1, 1 / slowness]), [per_node] * 4, task_of(600, inputs)

    def gain(seed):
        drawn = {"seed": seed, "noise": inputs["noise"]}
        return team.step(tasks, task, **drawn)["total_s"] / team.balanced_s(tasks, task, **drawn)
    return lab.per_seed(gain, FEW_SEEDS)


MIGRATED, TOTAL = 148, 4800


def figure_2(lab, inputs):
    # T tasks are divided equally among four nodes, one of which needs s times as long for a task as the others. All
    # nodes end together if the slow node keeps T / (3 s + 1) tasks. The paper says how many tasks leave the slow node.
    # From this number, s is computed.
    slowness = (TOTAL / (TOTAL / 4 - MIGRATED) - 1) / 3
    gain, moved = slow_node(lab, inputs, slowness, TOTAL // 4)
    return [
        above("speed-up at 60 W, where 148 of 4800 tasks move: at least 4 %", 1.04, gain),
        below("and at most 20 %", 1.20, gain),
        above("without a cap, lending and a core less lose little", 0.94, slow_node(lab, inputs, 1, TOTAL // 4)[0]),
        about("tasks that run on another node", MIGRATED, moved, is_used=True),
    ]


def by_slowness(lab, inputs):
    """Returns points like those of figure 2. Their x is the slowness of one node instead of its power cap, because the paper
    does not say how slow a node is at each cap."""
    points = []
    for slowness in (1, 1.1, 1.19, 1.3, 1.5):
        gain, moved = map(Estimate.of, slow_node(lab, inputs, slowness, TOTAL // 4))
        points.append({"slowness": slowness, "speed-up by lending": gain.mean, "speed-up by lending, low": gain.low,
                       "speed-up by lending, high": gain.high, "tasks migrated": moved.mean})
    return points


def figure_3(lab, inputs):
    gains = [slow_node(lab, inputs, 2.2 / clock, 2400)[0] for clock in (1.2, 1.7, 2.2)]
    return [
        about("speed-up with one node at 1.2 GHz of 2.2", 1.31, gains[0]),
        above("lending pays at 1.2 GHz", 1, gains[0]),
        above("it pays more, the slower the node", 0, [min(a - b, b - c) for a, b, c in zip(*gains)]),
        below("at 2.2 GHz it loses a little: a core less", 1, gains[-1]),
    ]


def one_rank(lab, inputs, size, threads):
    """Simulates a step of two ranks, the first of which has all 2,400 tasks at the start. Returns its seconds
    without lending and with lending, and the number of tasks that run on the second rank."""
    team, task = Team(lab, 2, threads), task_of(size, inputs)
    lent = team.step([2400, 0], task, "--lend")
    return team.step([2400, 0], task)["total_s"], lent["total_s"], lent["ran_on_other_nodes"]


def points_of_one_rank(lab, inputs, sizes, threads):
    """Returns the points of figures 4 to 7."""
    points = []
    for size in sizes:
        for count in threads:
            alone_s, lent_s, migrated = one_rank(lab, inputs, size, count)
            points.append({"size": size, "threads": count, "alone s": alone_s, "lending s": lent_s,
                           "speed-up": alone_s / lent_s, "tasks migrated": migrated})
    return points


def points_by_threads(lab, inputs):
    return points_of_one_rank(lab, inputs, (150,), THREADS)


def points_by_size(lab, inputs):
    return points_of_one_rank(lab, inputs, SIZES, (16,))


THREADS = (2, 4, 8, 16, 22)
SIZES = (50, 100, 150, 300, 450, 600)


def kept(experiment):
    """Returns the stored rows of an experiment."""
    rows = json.loads((ROOT / "bench" / "results" / "reactive.json").read_text(encoding="utf-8"))["results"]
    return [row for row in rows if row["experiment"] == experiment]


def figure_4(lab, inputs):
    times = [one_rank(lab, inputs, 150, threads) for threads in THREADS]
    return [
        below("largest ratio of the time with lending to that without, 2 to 22 threads", 1, max(b / a for a, b, _ in times)),
        below("more threads, shorter runs: largest ratio from one number to the next", 1,
              max(b[1] / a[1] for a, b in zip(times, times[1:]))),
    ]


def figure_5(lab, inputs):
    points = {threads: one_rank(lab, inputs, 150, threads) for threads in THREADS}
    gains = {threads: a / b for threads, (a, b, _) in points.items()}
    measured = {row["threads"]: row["gain"] for row in kept("threads per rank, tasks of 3 ms")}
    return [
        about("speed-up with 4 threads per rank", 1.97, gains[4]),
        about("speed-up with 4 threads per rank, our run with tasks of 3 ms", 1.97, measured[4]),
        about("speed-up with 22 threads per rank", 1.2, gains[22]),
        about("tasks migrated with 4 threads per rank", 1190, points[4][2]),
        about("tasks migrated with 22 threads per rank", 480, points[22][2]),
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
    points = {size: one_rank(lab, inputs, size, 16) for size in SIZES}
    gains = {size: a / b for size, (a, b, _) in points.items()}
    measured = {row["size"]: row["gain"] for row in kept("one rank has everything")}
    return [
        about("speed-up for matrices of 450, 16 threads", 1.84, gains[450]),
        about("speed-up for matrices of 450, our run", 1.84, measured[450]),
        about("speed-up for the smallest matrices", 0.79, gains[50]),
        about("tasks migrated for matrices of 450", 1122, points[450][2]),
        about("tasks migrated for matrices of 50", 200, points[50][2]),
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
        # All ranks are equally fast, so a lent task takes as long as on its own rank. Therefore the mean time of the
        # ranks equals their mean load, with and without lending.
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


RANKS, SECTIONS_PER_THREAD = 32, 16


def limiter_series(lab, inputs, threads, steps, seed):
    """Returns two lists for 32 ranks: the imbalance of every step but the first, without and with lending. The tasks of
    a rank are its sections, whose costs change from step to step. A rank is one place, as if its threads shared its
    work perfectly. With t threads, a rank has t times as many sections, each 1/t as long."""
    count = RANKS * SECTIONS_PER_THREAD * threads
    machine = f"node:{RANKS} core:1 bandwidth:{CARD:g}"
    recipe = f"random:degree=0,skew=equal,load_s={inputs['step_s'] / SECTIONS_PER_THREAD / threads:.6g},task_bytes=6000000"
    trace = lab.trace(recipe, count, machine, seed, placement="blocked")
    words = ("simulate", trace, "-s", "keep", "--steps", steps + 1, "--every", steps + 1, "--loads",
             f"drift:sigma={inputs['spread']:g},steps=1", "--seed", seed, "--decision-time", "0s")

    def imbalances(*more):
        answer = lab.json(*words, *more)
        mean_s = answer["total_average_s"] / (steps + 1)
        return [value / mean_s for value in answer["results"][0]["series"]["makespan_s"]][1:]
    return imbalances(), imbalances("--lend")


TEAM_SIZES = (1, 2, 4)
STEPS_BY_THREADS, STEPS_OF_SERIES = 10, 500


def figure_11_points(lab, inputs):
    """Returns the mean imbalance for each number of threads per rank."""
    points = []
    for threads in TEAM_SIZES:
        pairs = lab.per_seed(lambda seed, threads=threads: limiter_series(lab, inputs, threads, STEPS_BY_THREADS, seed), FEW_SEEDS)
        without, lending = (means(series) for series in zip(*pairs))
        points.append({"threads": threads, "without lending": sum(without) / len(without),
                       "with lending": sum(lending) / len(lending)})
    return points


def figure_11(lab, inputs):
    rows = kept("limiter, imbalance per step")
    without = [row["without"] for row in rows]
    lending = [row["with"] for row in rows]
    points = figure_11_points(lab, inputs)
    return [
        about("largest mean imbalance without lending, simulated", 1.3, max(point["without lending"] for point in points)),
        below("more threads, less imbalance: largest ratio of a mean to that with half the threads, simulated", 1,
              max(b["without lending"] / a["without lending"] for a, b in zip(points, points[1:]))),
        below("largest ratio of the mean imbalance with lending to that without, 1 to 4 threads, simulated", 1,
              max(point["with lending"] / point["without lending"] for point in points)),
        below("lending reduces the mean imbalance, our runs", 1, (sum(lending) - len(rows)) / (sum(without) - len(rows))),
    ]


def figure_12_points(lab, inputs):
    pairs = zip(*limiter_series(lab, inputs, 1, STEPS_OF_SERIES, lab.seeds[0]))
    return [{"step": step + 2, "without lending": a, "with lending": b} for step, (a, b) in enumerate(pairs)]


def figure_12(lab, inputs):
    rows = kept("limiter, imbalance per step")
    without, lending = ([point[way] for point in figure_12_points(lab, inputs)] for way in ("without lending", "with lending"))
    return [
        below("largest ratio of the imbalance with lending to that without, in any step of our runs", 1,
              max(row["with"] / row["without"] for row in rows)),
        below("mean excess of the imbalance over 1 with lending, over that without, 500 simulated steps", 1,
              (sum(lending) - len(lending)) / (sum(without) - len(without))),
        below("its standard deviation over steps with lending, over that without: stable", 1,
              statistics.stdev(lending) / statistics.stdev(without)),
    ]


CELLS = 169869312
# The numbers of steps and seeds are small, because lending between many ranks takes a long time to simulate.
STEPS, FEW_SEEDS = 3, 3


def limiter(lab, inputs, ranks, threads):
    """Returns two lists of speed-ups over a fixed distribution of the cells, with one value per seed. In the first
    list, ranks lend cells (the paper's reactive balancing); in the second, cells are redistributed according to
    measured times. The costs of cells differ from step to step."""
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


TABLE_1 = {(16, 1): (1.06, 0.72), (32, 1): (1.05, 0.95)}  # key: (ranks, threads); larger cases would take too long


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


SLOWNESSES, DELAYS_S = (1, 1.5, 2, 4), (0, 1e-3, 10e-3, 50e-3, 200e-3)
WAYS = {"lending": ("--lend",), "copies, asking": ("--replicate",), "copies, shared tokens": ("--shared-tokens", "--replicate"),
        "both": ("--lend", "--shared-tokens", "--replicate")}


def late_news(lab, inputs, slowness, delay_s, *ways):
    """Simulates one step of eight ranks, one of which is slow. Returns a list for each of `ways` (keys of WAYS), with
    one value per seed: the speed-up over a step in which tasks are neither lent nor copied."""
    machine = f"node:8 core:1 bandwidth:{CARD:g} speeds:" + ",".join(["1"] * 7 + [f"{1 / slowness:.6g}"])
    recipe = f"random:degree=0,skew=lognormal,spread=0.2,load_s={LATE_TASK_S:g},task_bytes=1000000"

    def gains(seed):
        trace = lab.trace(recipe, 800, machine, seed, placement="blocked")

        def seconds(*more):
            return lab.replay(trace, ("keep",), 1, 1, "--decision-time", "0s", *more)["none"]["total_s"]
        alone_s = seconds()
        return [alone_s / seconds(*WAYS[way], *([inputs["copied"]] if "--replicate" in WAYS[way] else []),
                                  "--news-delay", f"{delay_s:g}s") for way in ways]
    return list(zip(*lab.per_seed(gains)))


LATE_TASK_S = 0.01


def replication_points(lab, inputs):
    points = []
    for slowness in SLOWNESSES:
        for delay_s in DELAYS_S:
            point = {"slowness": slowness, "delay of news s": delay_s}
            for way, gains in zip(WAYS, late_news(lab, inputs, slowness, delay_s, *WAYS)):
                gain = Estimate.of(gains)
                point |= {way: gain.mean, f"{way}, low": gain.low, f"{way}, high": gain.high}
            points.append(point)
    return points


def replication(lab, inputs):
    late = late_news(lab, inputs, 2, DELAYS_S[-1], *WAYS)
    lending, asking, shared, both = late
    prompt = late_news(lab, inputs, 2, 0, *WAYS)
    return [
        above("lending and copies over lending alone, news 20 tasks late, slow by 2", 1, [a / b for a, b in zip(both, lending)]),
        above("copies alone (shared tokens) over lending, the same", 1, [a / b for a, b in zip(shared, lending)]),
        above("lending and copies over lending alone, prompt news: at most 2 % is lost", 0.98,
              [a / b for a, b in zip(prompt[3], prompt[0])]),
    ]


PRODUCTS = "2400 products per rank, 600 x 600; nodes of 24 cores at 2.2 GHz; Omni-Path; one core less with lending"
ALL_ON_ONE = "2400 products on one of two ranks"
RUNS = "our runs: bench/results/reactive.json, ranks of one and more threads on shared cores"
EXCESS = Assumed("excess", 1, "", "load that refinement adds to a section, over what it had")
SECTION_S = Assumed("section_s", 1e-3, "s", "load of a section of the grid in a step")
SPREAD = Assumed("spread", 0.2, "", "of a section's cost from step to step: unpredictable", most=1)
STEP = Assumed("step_s", 0.5, "s", "work of a rank in a step")
ONE_BY_ONE = ("CHAMELEON moves one task at a time and thread; Poise moves many in one message, so that the loss is none of "
              "lending itself.")
SECTIONS = (
    Section("chameleon-figure-2", "Figure 2: power cap", figure_2, stated=(PRODUCTS, "148 of 4800 tasks migrate at 60 W"),
            assumed=(NOISE, RATE), figure=by_slowness,
            plot=Plot("slowness", ("speed-up by lending",), "speed-up, with a core less"), used=("148 migrated tasks tell how slow the node is: 1.19",),
            remark="The paper counts 4800 tasks where four ranks of 2400 have 9600; 4800 is used. The slowness at other caps "
                   "is not known."),
    Section("chameleon-figure-3", "Figure 3: one slow node", figure_3, stated=(PRODUCTS, "clocks of 1.2 to 2.2 GHz"),
            assumed=(NOISE, RATE), remark="A product is taken to be as slow as the clock; the paper's gain is lower than this allows, so "
                                    "its products do not follow the clock, or CHAMELEON leaves part of it."),
    Section("chameleon-figure-4", "Figure 4: all tasks on one rank, time by threads", figure_4,
            stated=(ALL_ON_ONE, "matrices of 150 x 150"), assumed=(RATE,), figure=points_by_threads,
            plot=Plot("threads", ("alone s", "lending s"), "seconds")),
    Section("chameleon-figure-5", "Figure 5: all tasks on one rank, speed-up by threads", figure_5,
            stated=(ALL_ON_ONE, "matrices of 150 x 150", RUNS), assumed=(RATE,), remark=ONE_BY_ONE),
    Section("chameleon-figure-6", "Figure 6: all tasks on one rank, time by size", figure_6,
            stated=(ALL_ON_ONE, "16 threads"), assumed=(RATE,), remark=ONE_BY_ONE, figure=points_by_size,
            plot=Plot("size", ("alone s", "lending s"), "seconds")),
    Section("chameleon-figure-7", "Figure 7: all tasks on one rank, speed-up by size", figure_7,
            stated=(ALL_ON_ONE, "16 threads", RUNS), assumed=(RATE,), remark=ONE_BY_ONE),
    Section("chameleon-figure-8", "Figure 8: imbalance over time, tsunami", figure_8, stated=("32 nodes, one rank each",),
            assumed=(EXCESS, SECTION_S)),
    Section("chameleon-figure-9", "Figure 9: strong scaling and choice of victims, tsunami", figure_9,
            stated=("up to 32 nodes", RUNS), assumed=(EXCESS, SECTION_S)),
    Section("chameleon-figure-11", "Figure 11: mean imbalance, ADER-DG", figure_11, stated=("32 ranks", RUNS),
            assumed=(SPREAD, STEP), figure=figure_11_points,
            plot=Plot("threads", ("without lending", "with lending"), "mean imbalance"),
            remark="Simulated: 1 to 4 threads per rank, 10 steps, costs drawn anew in each. The mini-app `limiter` takes the part of sam(oa)² in our runs."),
    Section("chameleon-figure-12", "Figure 12: imbalance per step, ADER-DG", figure_12, stated=("32 ranks", RUNS),
            assumed=(SPREAD, STEP), figure=figure_12_points,
            plot=Plot("step", ("without lending", "with lending"), "imbalance"),
            remark="Costs of sections are drawn anew in each of 500 simulated steps, so they do not change slowly as in the paper."),
    Section("chameleon-table-1", "Table 1: reaction against prediction", table_1,
            stated=("169,869,312 cells of order 4", "16 and 32 ranks with 1 thread; the rows with more are not simulated"),
            assumed=(Assumed("cell_s", 1e-5, "s", "a cell of order 4"), Assumed("cell_bytes", 600, "B", "25 values of 3 quantities"),
                     SPREAD,
                     Assumed("sections", 16, "", "of a thread", least=4)),
            remark="Greedy takes the part of the repartition. It predicts every section from the step before, which tells "
                   "nothing here; sam(oa)² repartitions along a curve, which also costs more."),
    Section("chameleon-replication", "Future work: copies of tasks where news of a slow rank is late", replication,
            stated=("copies of tasks would make reactions faster",),
            assumed=(Assumed("copied", 0.5, "", "share of a rank's tasks that it copies in advance, each to one other rank",
                             most=0.9),),
            figure=replication_points, plot=Plot("delay of news s", ("lending", "both"), "speed-up", by="slowness"),
            remark="8 ranks with 100 tasks of 10 ms, one rank slow from the start of the step, and no rank knows it. The delay "
                   "applies to loads, requests and answers. Asking the owner costs a copy a round trip; shared tokens do not."),
)


def interval(estimate):
    return f"{estimate.mean:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def headline(lab):
    inputs = {item.name: item.value for item in (RATE, NOISE, EXCESS, SECTION_S)}
    gain = Estimate.of(slow_node(lab, inputs, 2.2 / 1.2, 2400)[0])
    balanced = Estimate.of(slow_node_balanced(lab, inputs, 2.2 / 1.2, 2400))
    moving = Estimate.of([a / b * (CORES - 1) / CORES for a, b in zip(means(tsunami(lab, inputs, 32, False)),
                                                                      means(tsunami(lab, inputs, 32, True)))])
    by_slow_node, by_moving_work = (claim(Estimate(times.mean - 1, times.low - 1, times.high - 1), theirs)
                                    for times, theirs in ((gain, 0.31), (moving, 0.20)))
    return (f"up to 1.31 times as fast with lending if a node is slow: {by_slow_node}; up to 1.20 times if the work moves: "
            f"{by_moving_work}. With one node at 1.2 of 2.2 GHz poise's lending gives {interval(gain)} times, with a hot region "
            f"that moves over 32 nodes {interval(moving)} times, each with a core less. Balancing by the strategy poise, "
            f"which knows the times of the step before, gives {interval(balanced)} times with the slow node, without a core less.")


PAPER = Paper("CHAMELEON", "Klinkenberg et al., JPDC 2020", SECTIONS, headline)
