#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares predicted with measured iteration times: does the cost model put maps into the same
order as measurements do, and how large are its errors?

Programs (bench/trust/programs.py) run under several maps of tasks to places in a cluster of namespaces whose
links the kernel limits (tests/support/cluster.py). In each round, every map runs for one iteration, in random
order; the median iteration time of a map over the rounds is stored with its 95 % interval. The same maps run in
SimGrid, if it is installed. Then every model predicts the iteration time of every map, and is judged by
  - Kendall's tau over the pairs of maps of one program whose intervals do not overlap: the pairs in the
    right order minus those in the wrong order, divided by the number of pairs (a predicted tie counts as
    neither);
  - the median of |predicted / measured - 1| over all maps of all programs;
  - the share of maps whose predicted time is within 10 % of the measured median, or within the width of its interval;
  - Kendall's tau relative to SimGrid instead of the measurements, over the pairs of maps whose times in SimGrid differ
    by more than 1 %.
Each of these figures is reported for all programs, for those used for calibration, and for those held out.

./dev bench trust            measures, writes bench/results/trust.json, judges (a quarter of an hour, root)
./dev bench trust --lending  measures only steps whose ranks lend tasks (bench/trust/lending.py), and stores them there
./dev bench trust --miniapps measures only mini-apps that balance objects, lend tasks, or both (bench/trust/miniapps.py)
./dev bench trust --juggle   simulates the runs under `poise juggle` that bench/results/juggle_figures.json holds
./dev bench trust --judge    judges the stored measurements again, with the present models, and stores the verdicts

Both harnesses, trust_replay (MPI) and trust_simgrid, read lines of JSON, an object per program and map:
  {"name": TEXT,
   "machine": "rack:2 node:4 core:4",   a machine text of Poise; place p is rank p; all nodes and all racks are equal
   "costs": {"card_out_bytes_per_s": R, "card_in_bytes_per_s": R,   rates of a node in bytes of messages; 0: no limit
             "uplink_bytes_per_s": R,   rate of a rack in each direction
             "bus_bytes_per_s": R,      rate of a node for messages inside it
             "near_s": S, "far_s": S,   one-way delays inside a rack and between racks
             "message_s": S,            CPU time of a message at either end
             "eager_bytes": N},         larger messages start once both ends have done their work
   "tasks": [{"load_s": S}, ...],       seconds of work of each task
   "messages": [[FROM, TO, COUNT, BYTES], ...],   FROM and TO are tasks; BYTES is the sum over COUNT messages
   "map": [PLACE, ...],                 the place of each task
   "overlap": false}                    true: messages are sent before the work, not after it
and print lines of JSON in the same order: {"name": TEXT, "iteration_s": [S, ...]} (trust_simgrid: one S).
trust_replay ignores "costs", because the cluster itself has these rates and delays. Messages between tasks of one place take no
time."""

import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from intervals import are_apart, is_near, median_interval
from keep import RESULTS, ROOT, keep, stamp

sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench" / "trust")]
import cluster_network  # noqa: E402
import juggle_runs  # noqa: E402
import lending  # noqa: E402
import miniapps  # noqa: E402
import native_trace  # noqa: E402
import programs  # noqa: E402
from cluster import seconds  # noqa: E402

BIN = ROOT / "build" / "bin"
CLUSTER = ROOT / "tests" / "support" / "cluster.py"
MATRICES = ROOT.parent / "shared" / "data" / "matrices"
SO_FAR = ROOT / "build" / "trust_so_far.json"  # the rows measured so far, for --judge
SKIPPED = 77
PROGRAMS_PER_RUN = 8  # number of programs whose maps are measured in one run of trust_replay, in random order
TIMEOUT_S = 3600
SIMGRID_DIFFERENCE = 0.01  # two maps are compared only if their times in SimGrid differ by more than this fraction
EAGER_BYTES = 65536  # Open MPI's default limit for eager messages over TCP

# Each row has the numbers of racks, nodes per rack and places per node; the rates of links in Mbit/s of Ethernet
# frames; the one-way delays in a rack and between racks; and for each program the mean work per place and the bytes of
# all messages.
CLUSTERS = {
    "narrow uplink": {"shape": (2, 4, 4), "out": 100, "in": 100, "uplink": 150, "near": "0s", "far": "0s",
                      "work_s": 0.04, "total_bytes": 14e6},
    "slow receivers, delays": {"shape": (4, 2, 4), "out": 100, "in": 70, "uplink": 140, "near": "1ms",
                               "far": "4ms", "work_s": 0.04, "total_bytes": 12e6},
}
STRATEGIES = {"poise": "poise:from_scratch=1", "scotch": "scotch", "metis": "metis", "greedy_comm": "greedy_comm"}


def payload(mbit):
    """Returns how many bytes of payload per second a link of `mbit` Mbit/s can carry."""
    return mbit * 1e6 / 8 * cluster_network.PAYLOAD_SHARE


def machine_of(cluster):
    return "rack:{} node:{} core:{}".format(*cluster["shape"])


def num_places(cluster):
    racks, nodes, cores = cluster["shape"]
    return racks * nodes * cores


def costs_of(cluster):
    return {"card_out_bytes_per_s": payload(cluster["out"]), "card_in_bytes_per_s": payload(cluster["in"]),
            "uplink_bytes_per_s": payload(cluster["uplink"]), "bus_bytes_per_s": 1e9,
            "near_s": seconds(cluster["near"]), "far_s": seconds(cluster["far"]), "message_s": 0,
            "eager_bytes": EAGER_BYTES}


# ---- maps

def cyclic(cluster, tasks):
    """Assigns tasks to nodes round-robin, and on each node to places round-robin."""
    racks, nodes, cores = cluster["shape"]
    return [task % (racks * nodes) * cores + task // (racks * nodes) % cores for task in range(tasks)]


def shuffled(tasks, places, seed):
    """Assigns the tasks at random. Each place gets the same number of tasks as in block order."""
    order = [task * places // tasks for task in range(tasks)]
    random.Random(seed).shuffle(order)
    return order


def planned(strategy, cluster, load_s, messages):
    """Returns the map that a strategy of poise makes, starting from block order."""
    places = num_places(cluster)
    with tempfile.TemporaryDirectory() as folder:
        trace, answer = pathlib.Path(folder, "program.poise"), pathlib.Path(folder, "places")
        block = [task * places // len(load_s) for task in range(len(load_s))]
        native_trace.write(trace, load_s, messages, block, places)
        subprocess.run([BIN / "poise", "plan", trace, "-m", machine_of(cluster), "-s", strategy, "-o", answer],
                       check=True, capture_output=True, timeout=120)
        return [int(line) for line in answer.read_text().split()]


def maps_of(cluster, load_s, messages):
    """Returns {name of the map: place of each task}. If several maps are equal, only the first is kept."""
    tasks, places = len(load_s), num_places(cluster)
    maps = {"block": [task * places // tasks for task in range(tasks)], "cyclic": cyclic(cluster, tasks),
            "random": shuffled(tasks, places, 1), "random, again": shuffled(tasks, places, 2)}
    for name, strategy in STRATEGIES.items():
        maps[name] = planned(strategy, cluster, load_s, messages)
    kept = {}
    for name, places_of in maps.items():
        if places_of not in kept.values():
            kept[name] = places_of
    return kept


def described(cluster, name, load_s, messages, places):
    """Returns the JSON object that trust_replay and trust_simgrid read."""
    return {"name": name, "machine": machine_of(cluster), "costs": costs_of(cluster),
            "tasks": [{"load_s": load} for load in load_s], "messages": messages, "map": places,
            "overlap": name.split("/")[0] in programs.OVERLAPPED}


# ---- harnesses

def write_lines(path, objects):
    path.write_text("".join(json.dumps(value) + "\n" for value in objects))


def lines_of(command, **options):
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(command, stdout=output, check=False, **options)
        if done.returncode != 0:
            sys.exit(done.returncode)
        output.seek(0)
        return [json.loads(line) for line in output]


def measured(cluster, descriptions, rounds):
    """Runs programs on the cluster. Returns for each description a list with the iteration time of each round, in
    seconds."""
    racks, nodes, cores = cluster["shape"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "replays")
        write_lines(path, descriptions)
        limit_s = 120 + 2 * (rounds + 1) * len(descriptions)
        rows = lines_of(
            [sys.executable, CLUSTER, "--racks", ",".join([str(nodes)] * racks), "--slots", str(cores),
             "--near", cluster["near"], "--far", cluster["far"], "--rate", f"{cluster['out']}mbit",
             "--rate-in", f"{cluster['in']}mbit", "--uplink", f"{cluster['uplink']}mbit", "--",
             "mpirun", "-np", str(num_places(cluster)), BIN / "trust_replay", "--replays", path,
             "--rounds", str(rounds), "--timeout-s", str(limit_s)], timeout=limit_s + 60)
    return [row["iteration_s"] for row in rows]


def simulated(descriptions):
    """Simulates the programs with SimGrid. Returns for each description the iteration time in seconds, or None if
    SimGrid is not installed."""
    if not (BIN / "trust_simgrid").exists():
        return [None] * len(descriptions)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "replays")
        write_lines(path, descriptions)
        return [row["iteration_s"] for row in lines_of([BIN / "trust_simgrid", path], timeout=TIMEOUT_S)]


# ---- models: functions that predict the seconds of an iteration from a cluster and the description of a program

def poise_on(cluster, description, machine, command, *options):
    """Returns what `poise COMMAND` prints about a program on a machine, as a dictionary."""
    with tempfile.TemporaryDirectory() as folder:
        trace, places = pathlib.Path(folder, "program.poise"), pathlib.Path(folder, "places")
        load_s = [task["load_s"] for task in description["tasks"]]
        native_trace.write(trace, load_s, description["messages"], description["map"], num_places(cluster),
                           overlap=float(description["overlap"]))
        places.write_text("".join(f"{place}\n" for place in description["map"]))
        done = subprocess.run([BIN / "poise", command, trace, "-m", machine(cluster), "--placement", places, "--json",
                               *options], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise NotImplementedError(done.stderr.strip())
    return json.loads(done.stdout)


def evaluated(machine, *options):
    """Returns a model: what `poise evaluate` predicts with this machine and these options."""
    def predict(cluster, description):
        return poise_on(cluster, description, machine, "evaluate", *options)["iteration_s"]
    return predict


def replayed(machine, *options):
    """Returns a model: the iteration time that `poise simulate` finds event by event."""
    def predict(cluster, description):
        answer = poise_on(cluster, description, machine, "simulate", "--engine", "events", "-s", "keep", "--steps", "1",
                          *options)
        return answer["results"][0]["iteration_s"]
    return predict


def with_bytes(cluster):
    """A model in which a byte between nodes takes as long as a node's card needs to send it, and a byte inside a node
    takes a tenth of that time."""
    return f"{machine_of(cluster)} byte:{0.1 / payload(cluster['out'])}"


def with_links(cluster):
    """A model with the rates and delays of the cluster, in which messages take no CPU time. In poise, a network card
    has only one rate, so this model uses the lower of the card's rates for sending and for receiving."""
    near, far = (max(1, round(seconds(cluster[name]) * 1e9)) for name in ("near", "far"))
    card, uplink = payload(min(cluster["out"], cluster["in"])), payload(cluster["uplink"])
    return (f"{machine_of(cluster)} factors:{far},{near},1 latency:1e-9 bandwidth:{card} uplink:{uplink} "
            "overhead:0 copy:0 gap:0 bus:0")


def crossings(cluster, description):
    """Returns, for each row of messages between places: its ends, its links, its one-way delay, its count and its
    bytes."""
    _, nodes, cores = cluster["shape"]
    costs = description["costs"]
    for sender, receiver, count, size in description["messages"]:
        ends = [description["map"][task] for task in (sender, receiver)]
        if ends[0] == ends[1]:
            continue
        (node, to_node), (rack, to_rack) = [e // cores for e in ends], [e // (cores * nodes) for e in ends]
        links = [("bus", node)] if node == to_node else [("out", node), ("in", to_node)]
        links += [("up", rack), ("down", to_rack)] if rack != to_rack else []
        delay_s = 0 if node == to_node else costs["near_s"] if rack == to_rack else costs["far_s"]
        yield ends, links, delay_s, count, size


def rates_of(description):
    costs = description["costs"]
    return {"out": costs["card_out_bytes_per_s"], "in": costs["card_in_bytes_per_s"],
            "up": costs["uplink_bytes_per_s"], "down": costs["uplink_bytes_per_s"], "bus": costs["bus_bytes_per_s"]}


def work_of(cluster, description):
    """Returns the seconds of work of each place."""
    work_s = [0.0] * num_places(cluster)
    for task, place in zip(description["tasks"], description["map"]):
        work_s[place] += task["load_s"]
    return work_s


def bottleneck(cluster, description):
    """The closed-form model of a shared network: the work of a place, then the time of the busiest link that its
    messages cross. It ignores the CPU time of messages."""
    rate, bytes_through, crossed, latency_s = rates_of(description), {}, {}, {}
    for ends, links, delay_s, _, size in crossings(cluster, description):
        for link in links:
            bytes_through[link] = bytes_through.get(link, 0) + size
        for place in ends:
            crossed.setdefault(place, set()).update(links)
            latency_s[place] = max(latency_s.get(place, 0), delay_s)
    work_s = work_of(cluster, description)
    exchange_s = [max((bytes_through[link] / rate[link[0]] for link in crossed.get(place, ())), default=0)
                  + latency_s.get(place, 0) for place in range(len(work_s))]
    return max(max(work, exchange) if description["overlap"] else work + exchange
               for work, exchange in zip(work_s, exchange_s))


def queued(cluster, description):
    """A model in which each link is a queue of its own and serves messages in the order in which they become ready. A
    small message is ready when its sender has done its work, a large one when sender and receiver have done theirs.
    Returns the time at which the last link is done."""
    rate, waiting = rates_of(description), {}
    work_s = work_of(cluster, description)
    for (sender, receiver), links, delay_s, count, size in crossings(cluster, description):
        is_eager = size <= count * description["costs"]["eager_bytes"]
        ready_s = 0 if description["overlap"] else work_s[sender] if is_eager else \
            max(work_s[sender], work_s[receiver])
        for link in links:
            waiting.setdefault(link, []).append((ready_s + delay_s, size))
    end_s = max(work_s)
    for link, messages in waiting.items():
        at_s = 0
        for ready_s, size in sorted(messages):
            at_s = max(at_s, ready_s) + size / rate[link[0]]
        end_s = max(end_s, at_s)
    return end_s


MODELS = {
    "nuco": evaluated(machine_of, "--model", "nuco"),
    "nuco, bytes priced": evaluated(with_bytes, "--model", "nuco"),
    "physical": evaluated(with_links, "--model", "physical"),
    "events, fluid": replayed(with_links),
    "events, queue": replayed(with_links, "--sharing", "queue"),
    "bottleneck formula": bottleneck,
    "a queue per link": queued,
}


# ---- judging

def described_row(row, made):
    cluster = CLUSTERS[row["cluster"]]
    load_s, messages = made[row["cluster"]][row["program"]]
    return described(cluster, f"{row['program']}/{row['map']}", load_s, messages,
                     [int(place) for place in row["places"].split()])


def tau(rows, value_of, truth_of, are_ordered):
    """Returns Kendall's tau between value_of(row) and truth_of(row), and the number of pairs of rows that were
    compared. Two rows are compared if they have the same program and cluster, and if are_ordered() accepts the pair."""
    agreeing = pairs = 0
    for _, group in itertools.groupby(rows, key=lambda row: (row["cluster"], row["program"])):
        for one, other in itertools.combinations(list(group), 2):
            if not are_ordered(one, other):
                continue
            sign = (value_of(one) - value_of(other)) * (truth_of(one) - truth_of(other))
            agreeing += (sign > 0) - (sign < 0)
            pairs += 1
    return (agreeing / pairs if pairs else None), pairs


def differ_in_simgrid(one, other):
    times = sorted(row["simgrid_s"] for row in (one, other))
    return times[1] > (1 + SIMGRID_DIFFERENCE) * times[0]


def verdict(rows, value_of):
    """Returns how well the predictions of a model agree with the measured times of `rows`."""
    found = {}
    found["tau"], found["pairs"] = tau(rows, value_of, lambda row: row["measured_s"][0],
                                       lambda a, b: are_apart(a["measured_s"], b["measured_s"]))
    off = [abs(value_of(row) / row["measured_s"][0] - 1) for row in rows]
    found["median_error"], found["worst_error"] = statistics.median(off), max(off)
    found["within"] = sum(is_near(value_of(row), row["measured_s"]) for row in rows) / len(rows)
    if all(row["simgrid_s"] for row in rows):
        found["tau_simgrid"], found["pairs_simgrid"] = tau(rows, value_of, lambda row: row["simgrid_s"],
                                                           differ_in_simgrid)
    return found


def verdicts(rows):
    """Judges all models. Adds the predictions of each model to the rows, and returns {model: {group of programs: how
    well predictions agree with measurements}}. SimGrid is judged like a model."""
    made = {name: programs.programs(MATRICES, num_places(cluster), cluster["work_s"], cluster["total_bytes"])
            for name, cluster in CLUSTERS.items()}
    rows = [row for row in rows if row["program"] in made[row["cluster"]]]
    parts = {"all": rows, "open": [row for row in rows if not row["held_out"]],
             "held out": [row for row in rows if row["held_out"]]}
    parts = {name: part for name, part in parts.items() if part}
    found = {}
    for model, predict in MODELS.items():
        try:
            for row in rows:
                row.setdefault("predicted_s", {})[model] = predict(CLUSTERS[row["cluster"]], described_row(row, made))
        except NotImplementedError as trouble:
            print(f"{model}: not judged: {trouble}")
            continue
        found[model] = {name: verdict(part, lambda row, model=model: row["predicted_s"][model])
                        for name, part in parts.items()}
    if all(row["simgrid_s"] for row in rows):
        found["SimGrid"] = {name: verdict(part, lambda row: row["simgrid_s"]) for name, part in parts.items()}
    return found


def print_verdicts(found):
    print(f"{'model':<22}{'programs':<10}{'tau':>7}{'pairs':>7}{'median error':>14}{'worst':>9}{'within':>9}"
          f"{'tau to SimGrid':>16}{'pairs':>7}")
    for model, parts in found.items():
        for name, row in parts.items():
            to_simgrid = "" if row.get("tau_simgrid") is None else \
                f"{row['tau_simgrid']:>16.3f}{row['pairs_simgrid']:>7}"
            own = "-" if row["tau"] is None else f"{row['tau']:.3f}"
            print(f"{model:<22}{name:<10}{own:>7}{row['pairs']:>7}{row['median_error']:>14.1%}"
                  f"{row['worst_error']:>9.1%}{row['within']:>9.1%}{to_simgrid}")


# ---- measuring

def batches(items, size):
    for first in range(0, len(items), size):
        yield items[first:first + size]


def measure(cluster_name, options):
    """Measures all programs under all their maps on one cluster. Yields a row for each program and map."""
    cluster = CLUSTERS[cluster_name]
    made = programs.programs(MATRICES, num_places(cluster), cluster["work_s"], cluster["total_bytes"])
    wanted = [name for name in made if not options.programs or name in options.programs]
    for names in batches(wanted, PROGRAMS_PER_RUN):
        descriptions = [described(cluster, f"{name}/{map_}", *made[name], places)
                        for name in names for map_, places in maps_of(cluster, *made[name]).items()]
        seconds_of = measured(cluster, descriptions, options.rounds)
        for description, times, simgrid_s in zip(descriptions, seconds_of, simulated(descriptions)):
            program, map_ = description["name"].split("/")
            row = {"cluster": cluster_name, "program": program, "held_out": program in programs.HELD_OUT,
                   "map": map_, "places": " ".join(map(str, description["map"])), "rounds": len(times),
                   "measured_s": median_interval(times), "simgrid_s": simgrid_s, "load_average": os.getloadavg()[0]}
            median, low, high = row["measured_s"]
            print(f"  {program:<22}{map_:<15}{1e3 * median:8.1f} ms  [{1e3 * low:.1f}, {1e3 * high:.1f}]"
                  + (f"  SimGrid {1e3 * simgrid_s:8.1f}" if simgrid_s else ""), flush=True)
            yield row


# The kinds of runs that are compared in addition to runs with different maps. Each kind has a function that takes the
# number of rounds and yields rows.
RUNS = {"lending": lambda rounds: lending.rows(BIN, rounds),
        "miniapps": lambda rounds: miniapps.rows(BIN, rounds, with_links),
        "juggle": lambda _: juggle_runs.rows(BIN / "poise")}


def compare_runs(kind, rounds):
    """Measures (or reads) and simulates runs of one kind. Returns the result, with one row per run."""
    print(f"{kind}, measured and simulated")
    rows = list(RUNS[kind](rounds))
    held_out = [row for row in rows if row["held_out"]]
    within = sum(row["is_within"] for row in held_out)
    print(f"{within} of {len(held_out)} held out are within 10 % or two half-widths of the interval")
    return {"measured": stamp(), "rows": rows}


def keep_runs(kind, rows):
    """Replaces the results for runs of one kind in bench/results/trust.json."""
    path = RESULTS / "trust.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {kind: rows}, indent=1) + "\n")


def judge(path):
    """Judges the measurements in a file of results. If it is bench/results/trust.json, stores the verdicts in it,
    too."""
    whole = json.loads(path.read_text())
    found = verdicts(whole["results"])
    print_verdicts(found)
    if path == RESULTS / "trust.json":
        path.write_text(json.dumps(whole | {"verdicts": found}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judge", nargs="?", const=RESULTS / "trust.json", metavar="FILE", type=pathlib.Path,
                        help="measure nothing, judge what a file of results holds (default: the kept ones)")
    parser.add_argument("--rounds", type=int, default=9, help="iterations of each map (default: 9)")
    parser.add_argument("--programs", nargs="+", help="only these, keep nothing")
    parser.add_argument("--clusters", nargs="+", default=list(CLUSTERS), choices=list(CLUSTERS))
    for kind in RUNS:
        parser.add_argument(f"--{kind}", action="append_const", dest="runs", const=kind,
                            help="compare and keep only runs of this kind")
    options = parser.parse_args()
    if options.judge:
        judge(options.judge)
        return 0
    if not shutil.which("mpirun") or not (BIN / "trust_replay").exists():
        print("trust: skipped, there is no MPI", file=sys.stderr)
        return SKIPPED
    if options.runs:
        for kind in options.runs:
            keep_runs(kind, compare_runs(kind, options.rounds))
        return 0
    rows = []
    for cluster in options.clusters:
        print(f"{cluster}: {machine_of(CLUSTERS[cluster])}", flush=True)
        for row in measure(cluster, options):
            rows.append(row)
            SO_FAR.write_text(json.dumps({"results": rows}))
    found = verdicts(rows)
    print_verdicts(found)
    if not options.programs and options.clusters == list(CLUSTERS):
        keep("trust", rows, verdicts=found, held_out=sorted(programs.HELD_OUT),
             **{kind: compare_runs(kind, options.rounds) for kind in RUNS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
