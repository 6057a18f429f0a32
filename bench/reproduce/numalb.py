# SPDX-License-Identifier: BSD-3-Clause

"""Reproduces the slides "Charm++ on NUMA Platforms: the impact of SMP Optimizations and a NUMA-aware Load Balancer",
Charm++ workshop 2011: builds of Charm++ on two machines, and NumaLB compared with GreedyLB and GreedyCommLB.

Only one chart of the slides has readable numbers: Poisson3D on the Xeon. For the others, our results are compared
with the conclusions of the slides."""

import json

from lab import ROOT
from memory import footprints, with_footprints
from sections import Assumed, Paper, Section
from verdicts import CONFIRMED, REFINED, TOLERANCE, Estimate, about, above, below, claim

NUMA, GREEDY, COMM = "numa", "greedy", "greedy_comm"
BALANCERS = (NUMA, GREEDY, COMM)
OURS = "poise"
MACHINES = {"Opteron": ("Opteron8x2", (8, 16)), "Xeon": ("Xeon4x8", (8, 16, 32))}
STEPS, EVERY = 50, 10
OBJECTS_PER_CORE = Assumed("objects_per_core", 8, "", "the slides name none; common in Charm++", least=2)
DECISION = Assumed("decision", 0.005, "s", "of each balancer")
GRAIN = Assumed("load", 0.01, "s", "work of an object in a step")
SOCKET = Assumed("socket_s", 1e-5, "s", "to send or receive a message through the loopback interface")
NEIGHBOUR = Assumed("tiny_load", 1e-6, "s", "work of a kNeighbor object: completely bound by communication")


def machine_of(lab, name, cores):
    """Returns the machine reduced to `cores` cores, which are distributed over all its memory domains."""
    file, counts = MACHINES[name]
    if cores == counts[-1]:
        return file

    def change(machine):
        core = machine["levels"][-1]
        core["count"] = core["count"] * cores // counts[-1]
        machine.pop("caches", None)
    return lab.machine(file, str(cores), change)


def through_sockets(lab, name, socket_s):
    """Returns the machine as seen by the net-linux build of Charm++: every message goes through the kernel, which
    copies its bytes."""
    def change(machine):
        machine["costs"]["inside"] = {"send_s": socket_s, "receive_s": socket_s, "copy_s_per_byte": 1e-9,
                                      "latency_s": socket_s}
    return lab.machine(MACHINES[name][0], f"net_{socket_s:g}", change)


def iteration_s(lab, recipe, tasks, machine, seed=0):
    trace = lab.trace(recipe, tasks, machine, seed)
    return lab.replay(trace, ("keep",), 1, 1, "--engine", "events", "--decision-time", "0s")["none"]["iteration_s"]


def shared_over_net(lab, name, recipe, inputs):
    """Returns the iteration time of Charm++'s shared-memory build divided by that of its net-linux build."""
    file, counts = MACHINES[name]
    tasks = round(inputs[OBJECTS_PER_CORE.name]) * counts[-1]
    return (iteration_s(lab, recipe, tasks, file)
            / iteration_s(lab, recipe, tasks, through_sockets(lab, name, inputs[SOCKET.name])))


def neighbour_recipe(inputs):
    return f"kneighbor:k=3,message_bytes=1024,load_s={inputs[NEIGHBOUR.name]:g}"


def jacobi_recipe(inputs):
    return f"jacobi2d:load_s={inputs[GRAIN.name]:g},message_bytes=8000"


def kneighbor_builds(name):
    def compute(lab, inputs):
        saved = 1 - shared_over_net(lab, name, neighbour_recipe(inputs), inputs)
        stencil = 1 - shared_over_net(lab, name, jacobi_recipe({GRAIN.name: 0.01}), inputs)
        return [
            about("time that shared memory saves against net-linux (slides: up to 90 % of it)", 0.9, saved),
            above("it saves most of the time", 0.5, saved),
            above("the effect grows with communication: over that on Jacobi2D", 1, saved / stencil),
        ]
    return compute


def jacobi_builds(name):
    def compute(lab, inputs):
        saved = 1 - shared_over_net(lab, name, jacobi_recipe(inputs), inputs)
        return [
            above("shared memory is faster than net-linux", 0, saved),
            below("bound by computation: it saves less than a tenth", 0.1, saved),
        ]
    return compute


def replays(lab, inputs, program, name, cores, strategies=BALANCERS):
    """Returns {strategy: [result per seed]}; the run without balancing has the key "none"."""
    machine = machine_of(lab, name, cores)
    recipe = f"{program}:load_s={inputs[GRAIN.name]:g}" + (",task_bytes=1e6" if program == "poisson3d" else "")
    tasks = round(inputs[OBJECTS_PER_CORE.name]) * cores
    phases = 1 + STEPS // EVERY if program == "imbalance" else 1

    def replay(seed):
        trace = lab.trace(recipe, tasks, machine, seed, placement="blocked", phases=phases)
        return lab.replay(trace, strategies, STEPS, EVERY, "--engine", "events", "--seed", seed, "--decision-time",
                          f"{inputs[DECISION.name]:g}s", "--loads", f"drift:sigma=0.02,steps={EVERY}")
    answers = lab.per_seed(replay)
    return {strategy: [answer[strategy] for answer in answers] for strategy in answers[0]}


def ratios(found, one, other, column="total_s"):
    return [a[column] / b[column] for a, b in zip(found[one], found[other])]


def imbalanced(program, name):
    """Checks for an unbalanced program (Imbalance or Jacobi2D) that NumaLB is nearly as good as GreedyLB and migrates
    fewer objects."""
    def compute(lab, inputs):
        checks = []
        for cores in MACHINES[name][1]:
            found = replays(lab, inputs, program, name, cores)
            checks += [
                about(f"NumaLB is near GreedyLB, {cores} cores", 1, ratios(found, NUMA, GREEDY)),
                above(f"NumaLB is faster than no balancing, {cores} cores", 1, ratios(found, "none", NUMA)),
                below(f"NumaLB moves fewer objects than GreedyLB, {cores} cores", 1,
                      [a["migrations"] / max(1, b["migrations"]) for a, b in zip(found[NUMA], found[GREEDY])]),
            ]
        return checks
    return compute


THEIR_POISSON = {8: (0.914, 0.995), 16: (0.837, 0.993), 32: (0.711, 0.983)}


def poisson(name):
    """Checks what balancing costs in Poisson3D, a program that is balanced from the start."""
    def compute(lab, inputs):
        checks = []
        for cores in MACHINES[name][1]:
            found = replays(lab, inputs, "poisson3d", name, cores)
            if name == "Xeon":
                greedy, numa = THEIR_POISSON[cores]
                checks += [about(f"speed-up of NumaLB over no balancing, {cores} cores", numa, ratios(found, "none", NUMA)),
                           about(f"speed-up of GreedyLB over no balancing, {cores} cores", greedy, ratios(found, "none", GREEDY))]
            checks += [
                below(f"GreedyLB loses, by migrations, {cores} cores", 1, ratios(found, "none", GREEDY)),
                above(f"NumaLB loses less than GreedyLB, {cores} cores", 1, ratios(found, GREEDY, NUMA)),
            ]
        return checks
    return compute


FILL = Assumed("fill", 0.85, "", "memory of all objects, over that of the machine", most=0.9)
SPREAD = Assumed("spread", 0.7, "", "of the logarithm of an object's memory", most=0.8)
UNAWARE, AWARE = "memory not known", "memory known"


def memory_of_chares(lab, inputs):
    """Compares strategies for Jacobi2D on the Opteron, with objects of different sizes. Two numbers are computed
    for each strategy: the time of an iteration, and the size of all objects in the fullest memory domain divided by the
    domain's memory capacity."""
    file, counts = MACHINES["Opteron"]
    machine = json.loads((ROOT / "machines" / f"{file}.json").read_text(encoding="utf-8"))
    domains, domain_bytes, places = machine["summary"]["domains"], machine["memory_bytes"], counts[-1]
    per_domain = places // domains
    count = round(inputs[OBJECTS_PER_CORE.name]) * places

    def outcome(trace, sizes, strategy):
        where = list(map(int, lab.run("plan", trace, "-m", file, "-s", strategy, "-o", "-").split()))
        filled = [sum(size for size, place in zip(sizes, where) if place // per_domain == domain) for domain in range(domains)]
        (lab.folder / f"{trace}.{strategy}").write_text("".join(f"{place}\n" for place in where), encoding="utf-8")
        iteration = lab.json("evaluate", trace, "-m", file, "--placement", f"{trace}.{strategy}")["iteration_s"]
        return max(filled) / domain_bytes, iteration

    def outcomes(seed):
        sizes = footprints(count, domains, domain_bytes, inputs[FILL.name], inputs[SPREAD.name], seed)
        trace = lab.trace(jacobi_recipe(inputs), count, file, seed, placement="blocked")
        found = {strategy: outcome(trace, sizes, strategy) for strategy in (NUMA, GREEDY)}
        found[UNAWARE] = outcome(trace, sizes, OURS)
        found[AWARE] = outcome(with_footprints(lab, trace, places, sizes), sizes, OURS)
        return found

    found = lab.per_seed(outcomes)
    fills = {name: [each[name][0] for each in found] for name in found[0]}
    return [
        below("the fullest domain with poise, which knows the memory of each object: share of its memory in use", 1 + 1e-9,
              max(fills[AWARE])),
        above("the same with NumaLB: more than there is", 1, fills[NUMA]),
        above("the same with GreedyLB", 1, fills[GREEDY]),
        above("the same with poise if it does not know the memory", 1, fills[UNAWARE]),
        below("iteration with poise over that without this knowledge: it costs at most 2 %", 1.02,
              [each[AWARE][1] / each[UNAWARE][1] for each in found]),
    ]


SIZES = "cores of both machines, their NUMA factors"
START = "Objects start in blocks, which the slides do not say."
BUILDS = (OBJECTS_PER_CORE, SOCKET)
SECTIONS = (
    Section("numalb-builds-jacobi-opteron", "Builds: Jacobi2D on the Opteron", jacobi_builds("Opteron"), stated=(SIZES,),
            assumed=(*BUILDS, GRAIN)),
    Section("numalb-builds-jacobi-xeon", "Builds: Jacobi2D on the Xeon", jacobi_builds("Xeon"), stated=(SIZES,),
            assumed=(*BUILDS, GRAIN)),
    Section("numalb-builds-kneighbor-opteron", "Builds: kNeighbor on the Opteron", kneighbor_builds("Opteron"),
            stated=(SIZES, "k = 3, messages of 1024 B"), assumed=(*BUILDS, NEIGHBOUR)),
    Section("numalb-builds-kneighbor-xeon", "Builds: kNeighbor on the Xeon", kneighbor_builds("Xeon"),
            stated=(SIZES, "k = 3, messages of 1024 B"), assumed=(*BUILDS, NEIGHBOUR)),
    Section("numalb-versions-kneighbor-xeon", "Versions: kNeighbor on the Xeon",
            why_not="The slide compares versions of Charm++ with and without optimizations for shared memory (up to 50 % apart). "
                    "Their difference lies in code of that runtime, which no input of a simulation describes."),
    Section("numalb-imbalance-opteron", "Balancers: Imbalance on the Opteron", imbalanced("imbalance", "Opteron"),
            stated=(SIZES,), assumed=(OBJECTS_PER_CORE, DECISION, GRAIN), remark=START),
    Section("numalb-imbalance-xeon", "Balancers: Imbalance on the Xeon", imbalanced("imbalance", "Xeon"),
            stated=(SIZES,), assumed=(OBJECTS_PER_CORE, DECISION, GRAIN), remark=START),
    Section("numalb-jacobi-opteron", "Balancers: Jacobi2D on the Opteron", imbalanced("jacobi2d", "Opteron"),
            stated=(SIZES,), assumed=(OBJECTS_PER_CORE, DECISION, GRAIN), remark=START),
    Section("numalb-jacobi-xeon", "Balancers: Jacobi2D on the Xeon", imbalanced("jacobi2d", "Xeon"),
            stated=(SIZES,), assumed=(OBJECTS_PER_CORE, DECISION, GRAIN), remark=START),
    Section("numalb-poisson-opteron", "Balancers: Poisson3D on the Opteron", poisson("Opteron"), stated=(SIZES,),
            assumed=(OBJECTS_PER_CORE, DECISION, GRAIN)),
    Section("numalb-poisson-xeon", "Balancers: Poisson3D on the Xeon", poisson("Xeon"),
            stated=(SIZES, "speed-ups at 8, 16 and 32 cores"), assumed=(OBJECTS_PER_CORE, DECISION, GRAIN)),
    Section("numalb-memory", "Future work: memory per chare, Jacobi2D on the Opteron", memory_of_chares,
            stated=("32 GB in 8 domains", "the memory of chares and an interface for a memory balancer are future work"),
            assumed=(OBJECTS_PER_CORE, GRAIN, FILL, SPREAD),
            remark=f"{START} If memory is half empty, no balancer fills a domain."),
)


def headline(lab):
    inputs = {item.name: item.value for item in (OBJECTS_PER_CORE, DECISION, GRAIN)}
    best, nearest, ours = [], [], []
    for program in ("imbalance", "jacobi2d"):
        for name, (_, counts) in MACHINES.items():
            found = replays(lab, inputs, program, name, counts[-1], (*BALANCERS, OURS))
            best.append(Estimate.of(ratios(found, "none", NUMA)))
            nearest.append(Estimate.of(ratios(found, NUMA, GREEDY)))
            ours.append(Estimate.of(ratios(found, NUMA, OURS)))
    top = max(best, key=lambda gain: gain.mean)
    gain = Estimate(top.mean - 1, top.low - 1, top.high - 1)
    near = CONFIRMED if all(n.mean <= 1 + TOLERANCE for n in nearest) else REFINED
    return (f"NumaLB up to 2.8 times as fast as no balancing: {claim(gain, 1.8)}; near GreedyLB: {near}. Simulated, up to {top.mean:.2f} "
            f"[{top.low:.2f}, {top.high:.2f}] times, and {min(n.mean for n in nearest):.2f} to {max(n.mean for n in nearest):.2f} "
            f"times the time of GreedyLB; it takes {min(o.mean for o in ours):.2f} to {max(o.mean for o in ours):.2f} times as "
            "long as poise.")


PAPER = Paper("NumaLB", "Charm++ workshop 2011", SECTIONS, headline)
