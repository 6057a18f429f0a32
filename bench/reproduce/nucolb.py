# SPDX-License-Identifier: BSD-3-Clause

"""Reproduces Pilla et al., "A Hierarchical Approach for Load Balancing on Parallel Multi-core Systems", ICPP 2012:
tables IV to VI and figures 2 to 6.

Every case replays a generated workload event by event, with the paper's numbers of objects, iterations and calls of
the balancer. LeanMD has 60 iterations between two calls; only 5 of them are simulated, and each stands for 12. The mean
cost of a balancing call is the mean over all calls of a run. As in the paper, totals include the iterations before the
first call."""

import json
import statistics

from lab import ROOT
from sections import Assumed, Paper, Plot, Section
from verdicts import Estimate, about, above, below, claim

NUCO, COMM, SCOTCH = "nuco", "greedy_comm", "scotch"
THEIRS = (NUCO, COMM, SCOTCH)
OURS = "poise"
OTHERS = ("greedy", "refine_comm", "treematch", OURS)  # the paper says nothing about these balancers
NAMES = {"none": "no balancing", NUCO: "NucoLB", "greedy": "GreedyLB", COMM: "GreedyCommLB", "refine_comm": "RefineCommLB",
         SCOTCH: "ScotchLB", "treematch": "TreeMatchLB of 2016", OURS: "poise"}

# For each program of table III: the recipe, the number of objects, the number of simulated iterations, the number of
# simulated iterations between two calls of the balancer, and the number of iterations in the paper that one simulated
# iteration stands for.
PROGRAMS = {
    "lb_test": ("lb_test", 200, 50, 10, 1),
    "kNeighbor": ("kneighbor:task_bytes={object_bytes:.0f},load_s={load:.6g}", 400, 50, 10, 1),
    "stencil4D": ("stencil4d", 256, 50, 10, 1),
    "LeanMD": ("leanmd", 1875, 25, 5, 12),
}
DRIFT = Assumed("spread of loads between calls", 0.05, "of a load",
                "a call always finds something to do in the paper: its balancers migrate objects at every call", most=1)
DECISION = Assumed("decision", 0.01, "s", "table VI gives decision and migrations together")
OBJECT = Assumed("object_bytes", 25.6e6, "B", "the state of a kNeighbor object: seven messages in, one out, 3.2 MB each")
LOAD = Assumed("load", 1e-3, "s", "kNeighbor hardly computes: bound by communication")
COMMON = (DRIFT, DECISION)
STATED = "objects, iterations and period of table III; messages of section VI; alpha = 1e-5"


def replays(lab, inputs, program, machine, strategies=THEIRS):
    """Returns {strategy: [result per seed]}; the run without balancing has the key "none"."""
    recipe, tasks, steps, every, repeats = PROGRAMS[program]
    recipe = recipe.format(object_bytes=inputs.get(OBJECT.name, 0), load=inputs.get(LOAD.name, 0))

    def replay(seed):
        rows = lab.replay(lab.trace(recipe, tasks, machine, seed), strategies, steps, every, "--engine", "events",
                          "--seed", seed, "--decision-time", f"{inputs[DECISION.name]:g}s", "--loads",
                          f"drift:sigma={inputs[DRIFT.name]:g},steps={every}")
        for row in rows.values():
            row["total_s"] = repeats * row["iteration_s"] + row["migration_s"] + row["decision_s"] + row["collection_s"]
        return rows

    answers = lab.per_seed(replay)
    return {name: [answer[name] for answer in answers] for name in answers[0]}


def ratios(found, one, other, column="total_s"):
    """Returns for each seed the time with `one` divided by the time with `other`."""
    return [a[column] / b[column] for a, b in zip(found[one], found[other])]


def speed_ups(found, name, column="total_s"):
    return ratios(found, "none", name, column)


def moved(found, name):
    """Returns the number of objects that a balancing call migrates, for each seed."""
    return [row["migrations"] / row["decisions"] for row in found[name]]


def call_s(found, name):
    """Returns for each seed the mean time of a balancing call in seconds: collecting the measurements, deciding and
    migrating."""
    return [(row["decision_s"] + row["migration_s"] + row["collection_s"]) / row["decisions"] for row in found[name]]


def mean_of_others(lists):
    return [sum(values) / len(values) for values in zip(*lists)]


def balancers_of(program, *machines):
    """Returns a function that compares all balancers for a program. The function returns a row for each machine and
    balancer, with means over the seeds."""
    def compared(lab, inputs):
        points = []
        for machine in machines:
            found = {**replays(lab, inputs, program, machine), **replays(lab, inputs, program, machine, OTHERS)}
            for name, balancer in NAMES.items():
                def mean(column, rows=found[name]):
                    return statistics.fmean(row[column] for row in rows)
                points.append({
                    "machine": machine, "balancer": balancer, "total s": mean("total_s"),
                    "speed-up": statistics.fmean(speed_ups(found, name)), "iteration after the first call s": mean("balanced_s"),
                    "idle share": mean("idle_share"), "objects migrated per call": mean("migrations") / max(1, mean("decisions")),
                    "seconds per call": 0 if name == "none" else statistics.fmean(call_s(found, name))})
        return points
    return compared


def figure_2_points(lab, inputs):
    found = replays(lab, inputs, "lb_test", "NUMA32")
    series = {NAMES[name]: found[name][0]["series"]["iteration_s"] for name in ("none", *THEIRS)}
    return [{"iteration": step, **{name: times_s[step] for name, times_s in series.items()}}
            for step in range(len(series[NAMES[NUCO]]))]


def figure_2(lab, inputs):
    found = replays(lab, inputs, "lb_test", "NUMA32")
    before = [row["series"]["iteration_s"][0] for row in found[NUCO]]
    after = [row["series"]["iteration_s"][10] for row in found[NUCO]]
    return [
        about("iteration before the first call over the iteration after it", 7.4 / 5.1,
              [b / a for a, b in zip(after, before)]),
        about("seconds of ten iterations before it", 7.4, [10 * b for b in before]),
        about("seconds of ten iterations after it", 5.1, [10 * a for a in after], is_used=True),
        above("iterations become shorter", 1, [b / a for a, b in zip(after, before)]),
    ]


def table_4(lab, inputs):
    found = {name: replays(lab, inputs, "lb_test", name) for name in ("NUMA32", "NUMA48")}
    checks = []
    paper = {"NUMA32": (36.19, 1.30, 1.27, 1.25), "NUMA48": (27.93, 1.39, 1.39, 1.30)}
    for machine, (baseline_s, *theirs) in paper.items():
        here = found[machine]
        checks += [about(f"speed-up of {name} on {machine}", value, speed_ups(here, name))
                   for name, value in zip(THEIRS, theirs)]
        checks.append(about(f"seconds without balancing on {machine}", baseline_s,
                            [row["total_s"] for row in here["none"]]))
        checks += [above(f"nuco is faster than {name} on {machine}", 1, ratios(here, name, NUCO))
                   for name in (COMM, SCOTCH)]
    checks += [
        about("seconds of nuco on NUMA32", 27.95, [row["total_s"] for row in found["NUMA32"][NUCO]], is_used=True),
        about("objects that nuco migrates in a call on NUMA32", 14, moved(found["NUMA32"], NUCO)),
        about("objects that the others migrate in a call", 195,
              mean_of_others([moved(found["NUMA32"], name) for name in (COMM, SCOTCH)])),
        below("nuco migrates fewer than a third of the others' objects", 1 / 3,
              [a / b for a, b in zip(moved(found["NUMA32"], NUCO), moved(found["NUMA32"], COMM))]),
    ]
    return checks


def figure_3(lab, inputs):
    found = {name: replays(lab, inputs, "kNeighbor", name) for name in ("NUMA32", "NUMA48")}
    small, large = found["NUMA32"], found["NUMA48"]
    others = [call_s(small, name) for name in (COMM, SCOTCH)]
    return [
        about("speed-up of nuco on NUMA48", 1.14, speed_ups(large, NUCO)),
        above("nuco improves on NUMA48", 1, speed_ups(large, NUCO)),
        below("greedy_comm does not improve on NUMA48", 1, speed_ups(large, COMM)),
        below("scotch does not improve on NUMA48", 1, speed_ups(large, SCOTCH)),
        about("objects that nuco migrates in a call on NUMA32", 116, moved(small, NUCO)),
        about("objects that the others migrate in a call", 388, mean_of_others([moved(small, name) for name in (COMM, SCOTCH)])),
        above("a call of the others takes longer than one of nuco", 1,
              [a / b for a, b in zip(mean_of_others(others), call_s(small, NUCO))]),
        about("iteration of greedy_comm over that without balancing, NUMA32", 1.5,
              [1 / value for value in speed_ups(small, COMM, "balanced_s")]),
    ]


def figure_4(lab, inputs):
    found = {name: replays(lab, inputs, "stencil4D", name) for name in ("NUMA32", "NUMA48")}
    small, large = found["NUMA32"], found["NUMA48"]
    others = mean_of_others([moved(small, name) for name in (COMM, SCOTCH)])
    return [
        about("speed-up of nuco over greedy_comm, the second best, on NUMA32", 1.18, ratios(small, COMM, NUCO)),
        about("the same for iterations after the first call", 1.21, ratios(small, COMM, NUCO, "balanced_s")),
        above("nuco is faster than greedy_comm on NUMA32", 1, ratios(small, COMM, NUCO)),
        above("nuco is faster than scotch on NUMA32", 1, ratios(small, SCOTCH, NUCO)),
        above("nuco is faster than greedy_comm on NUMA48", 1, ratios(large, COMM, NUCO)),
        above("nuco is faster than scotch on NUMA48", 1, ratios(large, SCOTCH, NUCO)),
        about("speed-up of nuco over no balancing on NUMA48", 1.58, speed_ups(large, NUCO)),
        about("iteration without balancing on NUMA48, s", 1.84, [row["balanced_s"] for row in large["none"]]),
        about("iteration with nuco on NUMA48, s", 0.78, [row["balanced_s"] for row in large[NUCO]], is_used=True),
        about("objects that nuco migrates in a call on NUMA32", 47, moved(small, NUCO)),
        about("how many more the others migrate", 5.3, [a / b for a, b in zip(others, moved(small, NUCO))]),
    ]


def received(messages, placement, places):
    counts = [0] * places
    for sender, receiver in messages:
        if placement[sender] != placement[receiver]:
            counts[placement[receiver]] += 1
    return counts


def messages_of(lab, trace):
    """Returns the pairs of neighbouring tasks on the grid, with tasks numbered from 0. Each pair appears twice, because
    it exchanges one message in each direction."""
    lab.run("convert", trace, trace + ".graph")
    lines = [line for line in (lab.folder / (trace + ".graph")).read_text().splitlines() if line[0] != "%"]
    return [(task, int(neighbour) - 1) for task, line in enumerate(lines[1:]) for neighbour in line.split()[2::2]]


def placements(lab, trace):
    """Returns two placements: the one of the trace, and the one that nuco decides."""
    lab.run("plan", trace, "-s", "keep", "-o", trace + ".before")
    lab.run("plan", trace, "-s", NUCO, "-o", trace + ".after")
    return [[int(line) for line in (lab.folder / (trace + ending)).read_text().split()]
            for ending in (".before", ".after")]


def figure_5(lab, _):
    spreads = {"before": [], "after": []}
    for seed in lab.seeds:
        trace = lab.trace("stencil4d", 256, "NUMA48", seed)
        messages = messages_of(lab, trace)
        for name, placement in zip(spreads, placements(lab, trace)):
            counts = received(messages, placement, 48)
            spreads[name].append(max(counts) / max(1, min(counts)))
    return [
        about("most messages of a core over fewest, before", 4.5, spreads["before"]),
        about("most messages of a core over fewest, with nuco", 2.6, spreads["after"]),
        below("nuco makes the difference smaller", 1, [a / b for a, b in zip(spreads["after"], spreads["before"])]),
    ]


def figure_5_points(lab, _):
    trace = lab.trace("stencil4d", 256, "NUMA48", lab.seeds[0])
    messages = messages_of(lab, trace)
    before, after = (received(messages, placement, 48) for placement in placements(lab, trace))
    return [{"core": core, "before": before[core], "with NucoLB": after[core]} for core in range(48)]


def figure_6(lab, inputs):
    found = {name: replays(lab, inputs, "LeanMD", name) for name in ("NUMA32", "NUMA48", "20xNUMA4")}
    cluster = found["20xNUMA4"]
    return [
        about("speed-up of nuco over no balancing on 20xNUMA4", 1.19, speed_ups(cluster, NUCO)),
        about("speed-up of nuco over greedy_comm, the second best, on 20xNUMA4", 1.18, ratios(cluster, COMM, NUCO)),
        above("nuco is faster than no balancing on 20xNUMA4", 1, speed_ups(cluster, NUCO)),
        above("nuco is faster than greedy_comm on 20xNUMA4", 1, ratios(cluster, COMM, NUCO)),
        above("nuco is faster than scotch on 20xNUMA4", 1, ratios(cluster, SCOTCH, NUCO)),
        about("speed-up of nuco on NUMA48", 1.12, speed_ups(found["NUMA48"], NUCO)),
        about("efficiency without balancing on NUMA32", 0.95, [row["efficiency"] for row in found["NUMA32"]["none"]]),
        below("no balancer gains much on NUMA32", 1.1,
              [max(values) for values in zip(*(speed_ups(found["NUMA32"], name) for name in THEIRS))]),
    ]


def table_5(lab, inputs):
    found = {name: replays(lab, inputs, "stencil4D", name) for name in ("NUMA32", "NUMA48")}
    checks = []
    for machine, values in {"NUMA32": (0.11, 1.17, 1.13), "NUMA48": (0.27, 0.84, 1.02)}.items():
        checks += [about(f"seconds of a call of {name} on {machine}", value, call_s(found[machine], name))
                   for name, value in zip(THEIRS, values)]
        checks.append(above(f"calls of greedy_comm take at least twice as long as of nuco on {machine}", 2,
                            [a / b for a, b in zip(call_s(found[machine], COMM), call_s(found[machine], NUCO))]))
    return checks


def table_6(lab, inputs):
    found = replays(lab, inputs, "LeanMD", "20xNUMA4")
    milliseconds = {name: [1000 * row["balanced_s"] for row in rows] for name, rows in found.items()}
    return [
        about("iteration without balancing, ms", 114.94, milliseconds["none"]),
        about("iteration with greedy_comm, ms", 111.94, milliseconds[COMM]),
        about("iteration with scotch, ms", 123.76, milliseconds[SCOTCH]),
        about("iteration with nuco, ms", 90.64, milliseconds[NUCO], is_used=True),
        about("a call of nuco, ms", 104.45, [1000 * value for value in call_s(found, NUCO)]),
        above("nuco has shorter iterations than greedy_comm", 1, ratios(found, COMM, NUCO, "balanced_s")),
        above("scotch has longer iterations than no balancing", 1, ratios(found, SCOTCH, "none", "balanced_s")),
        below("a call of nuco takes less than an iteration and a quarter", 1.25,
              [a / row["balanced_s"] for a, row in zip(call_s(found, NUCO), found[NUCO])]),
    ]


OMITTED = ("The TreeMatchLB of 2012 is not compared, because the paper does not describe how it balances loads; the table has "
           "that of 2016.")
LB_TEST_USED = "mean load of 80 ms: NucoLB's 27.95 s on NUMA32 at 4 % idle time"
STENCIL_USED = "load of 130 ms: NucoLB's iteration of 0.78 s on NUMA48"
def faults_by_strategy():
    """Returns {strategy: stored rows} of real runs on this host (./dev bench faults)."""
    rows = json.loads((ROOT / "bench" / "results" / "faults.json").read_text(encoding="utf-8"))["results"]
    found = {}
    for row in rows:
        found.setdefault(row["strategy"], []).append(row)
    return found


def faults(_, __):
    rows = faults_by_strategy()
    nuco_faults, nuco_moves = (statistics.median(row[key] for row in rows[NUCO]) for key in ("minor_faults", "migrations"))
    more = [row["minor_faults"] / nuco_faults for row in rows["greedy"]]
    checks = [
        about("page faults of greedy over those of nuco", 1.19 / 0.99, more),
        above("greedy has more page faults than nuco", 1, more),
        above("greedy migrates more objects than nuco", 1, [row["migrations"] / nuco_moves for row in rows["greedy"]]),
    ]
    misses = {name: [row["cache_misses"] for row in rows[name]] for name in (NUCO, "greedy")}
    if None in misses[NUCO] + misses["greedy"]:
        return checks
    return [*checks, about("cache misses of greedy over those of nuco", 1.32 / 0.99,
                           [value / statistics.median(misses[NUCO]) for value in misses["greedy"]])]


def faults_points(_, __):
    return [{"strategy": row["strategy"], "minor page faults per iteration": row["minor_faults"],
             "major page faults per iteration": row["major_faults"],
             "cache misses per iteration": "not decidable here" if row["cache_misses"] is None else row["cache_misses"],
             "migrations per iteration": row["migrations"]} for rows in faults_by_strategy().values() for row in rows]


SECTIONS = (
    Section("nucolb-table-4", "Table IV: lb_test", table_4, stated=(STATED, "loads of 50 to 200 ms"), assumed=COMMON,
            used=(LB_TEST_USED,), remark=OMITTED, figure=balancers_of("lb_test", "NUMA32", "NUMA48")),
    Section("nucolb-table-5", "Table V: balancing times, stencil4D", table_5,
            stated=(STATED, "5.5 GB of objects, messages of 260 KB"), assumed=COMMON, used=(STENCIL_USED,), remark=OMITTED),
    Section("nucolb-table-6", "Table VI: LeanMD on 20xNUMA4", table_6, stated=(STATED, "messages of 100 bytes"),
            assumed=COMMON, used=("mean load of 4 ms: NucoLB's iteration of 90.64 ms",), remark=OMITTED,
            figure=balancers_of("LeanMD", "20xNUMA4")),
    Section("nucolb-figure-2", "Figure 2: lb_test on NUMA32 over time", figure_2,
            stated=(STATED, "calls at 9.4 s and 14.5 s, start at 2 s"), assumed=COMMON, used=(LB_TEST_USED,), figure=figure_2_points,
            plot=Plot("iteration", tuple(NAMES[name] for name in ("none", *THEIRS)), "seconds per iteration")),
    Section("nucolb-figure-3", "Figure 3: kNeighbor", figure_3, stated=(STATED, "k = 7, 9 GB per iteration"),
            assumed=(*COMMON, OBJECT, LOAD), remark=OMITTED, figure=balancers_of("kNeighbor", "NUMA32", "NUMA48")),
    Section("nucolb-figure-4", "Figure 4: stencil4D", figure_4,
            stated=(STATED, "5.5 GB of objects, messages of 260 KB"), assumed=COMMON, used=(STENCIL_USED,), remark=OMITTED,
            figure=balancers_of("stencil4D", "NUMA32", "NUMA48")),
    Section("nucolb-figure-5", "Figure 5: messages per core, stencil4D on NUMA48", figure_5,
            stated=(STATED, "the first call of the balancer"), used=(STENCIL_USED,), figure=figure_5_points,
            plot=Plot("core", ("before", "with NucoLB"), "messages from other cores")),
    Section("nucolb-faults", "Section VI: page faults and cache misses, stencil4D on NUMA48", faults,
            stated=("+19 % page faults and +32 % cache misses with other balancers, -1 % with NucoLB",
                    "our runs: bench/results/faults.json, 256 objects on two ranks of this host"), figure=faults_points,
            remark="Cache misses are not decidable here: the machine hides hardware counters. Without balancing there are no "
                   "page faults once the run has begun, so ratios to the baseline do not exist. Two ranks do not show what "
                   "48 cores do."),
    Section("nucolb-figure-6", "Figure 6: LeanMD", figure_6, stated=(STATED, "messages of 100 bytes"), assumed=COMMON,
            used=("mean load of 4 ms: NucoLB's iteration of 90.64 ms on 20xNUMA4",), remark=OMITTED,
            figure=balancers_of("LeanMD", "NUMA32", "NUMA48", "20xNUMA4")),
)


def headline(lab):
    """Returns sentences that state the largest gain of nuco over the better of GreedyCommLB and Scotch, and the gains
    of `poise` over nuco in the same cases."""
    inputs = {item.name: item.value for item in (*COMMON, OBJECT, LOAD)}
    gains, ours = {}, []
    for program in PROGRAMS:
        for machine in ("NUMA32", "NUMA48", "20xNUMA4") if program == "LeanMD" else ("NUMA32", "NUMA48"):
            found = replays(lab, inputs, program, machine)
            found[OURS] = replays(lab, inputs, program, machine, OTHERS)[OURS]
            gains[program, machine] = Estimate.of([min(c, s) for c, s in zip(ratios(found, COMM, NUCO),
                                                                             ratios(found, SCOTCH, NUCO))])
            ours.append(Estimate.of(ratios(found, NUCO, OURS)))
    (program, machine), best = max(gains.items(), key=lambda item: item[1].mean)
    worst = min(gains.values(), key=lambda gain: gain.mean)
    better = [gain for gain in ours if gain.low > 1]
    gain = Estimate(best.mean - 1, best.low - 1, best.high - 1)
    return (f"NucoLB up to 20 % better than the other balancers: {claim(gain, 0.2)}. Simulated, at most {best.mean - 1:.1%} "
            f"[{best.low - 1:.1%}, {best.high - 1:.1%}] better than the best of GreedyCommLB and Scotch ({program} on "
            f"{machine}), and {1 - worst.mean:.1%} worse in another of {len(gains)} cases. poise is faster than NucoLB in "
            f"{len(better)} of them, by {min(g.mean for g in ours) - 1:.1%} to {max(g.mean for g in ours) - 1:.1%}.")


PAPER = Paper("NucoLB", "Pilla et al., ICPP 2012", SECTIONS, headline)
