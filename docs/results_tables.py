# SPDX-License-Identifier: BSD-3-Clause

"""The tables of docs/results.md: a list of Table objects for each benchmark. A row of the page may be computed from
several stored rows. Medians come first, with the worst case beside them, and every mean is called arithmetic or
geometric."""

import dataclasses
import pathlib
import statistics
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / folder) for folder in ("tests", "bench")]

import intervals  # noqa: E402
import tiers  # noqa: E402

VERDICTS = "confirmed", "refined", "contradicted", "not decidable here"  # the verdicts that sections in reproduce.json may have
OUTSIDE = "metis", "scotch", "zoltan", "kaminpar", "mtkahypar", "sharedmap"  # those tools in mapping.json that belong to other projects


@dataclasses.dataclass
class Table:
    title: str
    text: str
    rows: callable  # the parsed file -> the rows of the table, each with its "measured"
    columns: dict  # heading of a column -> template of its cells
    note: callable = None  # a function of the rows that returns the paragraph below the table


TRIED = "`tried value` is half or twice the value at the commit of the measurement; the constant may have another value now. "


def where(**wanted):
    """Returns a function that selects the rows whose columns have the wanted values, such as part="beside"."""
    return lambda whole: [row for row in whole["results"] if all(row.get(column) == value for column, value in wanted.items())]


def costs_of_all_ranks(whole):
    """Yields the rows of decisions by all ranks, with the speed-up over one rank's decision and the CPU time per rank."""
    for row in where(name="cost")(whole):
        yield {**row, "speed_up": row["central_cpu_s"] / row["busiest_rank_cpu_s"],
               "ms_per_rank": 1e3 * row["cpu_s"] / row["ranks"]}


def spread(ratios):
    return {"median": statistics.median(ratios), "worst": max(ratios), "arithmetic": statistics.mean(ratios),
            "geometric": statistics.geometric_mean(ratios), "cases": len(ratios), "lost": sum(r > 1 + 1e-9 for r in ratios)}


def against_tools(whole):
    """Yields a row per tool. The row has the median, the worst case and the means, over all cases, of a ratio: the
    iteration time with `poise` divided by that with the tool. The row also has the percentage of tasks that the tool
    moves in the median case."""
    cases = [row for row in whole["results"] if row["name"] != "summary"]
    tools = sorted({tool for case in cases for tool in case["tools"] if not tool.startswith("poise:")})
    others = [tool for tool in tools if tool != "poise"]
    groups = {"**the best of all**": others, "**the best tool of others**": [t for t in tools if t.split(":")[0] in OUTSIDE],
              **{f"`{tool}`": [tool] for tool in tools}}
    for name, members in groups.items():
        found = [(case, [case["tools"][tool] for tool in members if tool in case["tools"]]) for case in cases]
        ratios = [case["tools"]["poise"]["iteration_s"] / min(row["iteration_s"] for row in rows) for case, rows in found if rows]
        moved = [100 * rows[0]["migrations"] / case["tasks"] for case, rows in found if rows]
        text = f"{statistics.median(moved):.1f} %; {max(moved):.1f} %; {statistics.mean(moved):.1f} %"
        yield {"tool": name, "measured": cases[0]["measured"], "moved": text if len(members) == 1 else "",
               "moved_percent": statistics.median(moved), **spread(ratios)}


def from_scratch(whole):
    """Yields a row per mapping tool and quantity. In each case the result of `poise:from_scratch=1` is divided by the
    result of the tool; the row holds the median, the worst case and the means of these ratios. Its field `caps` has the
    number of cases in which no place exceeds the load cap, for `poise` and for the tool."""
    summary, *cases = whole["results"]
    for tool, key in ("scotch:effort=best", "from_scratch"), ("sharedmap", "from_scratch_against_strong"):
        both = [(case["tools"]["poise:from_scratch=1"], case["tools"][tool]) for case in cases
                if tool in case["tools"] and "poise:from_scratch=1" in case["tools"] and case["tools"][tool]["nuco_messages"]]
        for what in "nuco_messages", "decision_s":
            yield {"tool": tool, "what": what, "measured": cases[0]["measured"], **spread([ours[what] / theirs[what] for ours, theirs in both]),
                   "caps": "{within_load_cap}; {mapper_within_load_cap}".format_map(summary[key])}


def maps(whole):
    """Yields rows of ratios for each group of instances. The first row divides the traffic with `poise map` by that
    with the best other tool. Each further row divides a quantity with `poise map` by the same quantity with block
    order."""
    maps_only = [row for row in whole["results"] if "map" in row]
    recorded = [row for row in maps_only if row["name"].endswith(".txt")]
    others = [row for row in maps_only if row not in recorded]
    for group, rows in [("recorded, 1,000 ranks", recorded), ("up to 256 ranks", [row for row in others if row["ranks"] <= 256]),
                        ("1,024 to 32,768 ranks", [row for row in others if row["ranks"] > 256])]:
        values = {"traffic, to the best peer's": [row["ratio"] for row in rows]}
        for what in "traffic", "internode_bytes", "busiest_node_bytes":
            values[f"`{what}`, to block order's"] = [row["map"][what] / row["block"][what] for row in rows if row["block"][what]]
        for what, ratios in values.items():
            yield {"group": group, "what": what, "measured": rows[0]["measured"], **spread(ratios)}


def on_papers_machines(whole):
    """Returns a row per program and machine. It holds for each balancer the number of objects that a decision moves
    (the mean of four decisions) and the predicted time of an iteration."""
    rows = where(part="machines")(whole)
    for program, machine in dict.fromkeys((row["program"], row["machine"]) for row in rows):
        own = [row for row in rows if (row["program"], row["machine"]) == (program, machine)]
        yield {"program": program, "machine": machine, "measured": own[0]["measured"],
               **{row["balancer"]: f"{statistics.mean(row['migrated']):.0f}; {1e3 * row['iteration_s'] / row['iterations']:.2f}"
                  for row in own},
               "ms": {row["balancer"]: row["iteration_s"] for row in own}}


def nuco_beside_others(rows):
    """Returns sentences that say in which rows our results confirm a result of Pilla et al. 2012, namely that
    iterations with NucoLB are shorter than with other balancers."""
    sentences = []
    for other in "GreedyCommLB", "ScotchLB":
        shorter = [100 * (1 - row["ms"]["NucoLB"] / row["ms"][other]) for row in rows]
        longer = [f"{row['program']} on {row['machine']}" for row, gain in zip(rows, shorter) if gain < 0]
        sentences.append(
            f"NucoLB's predicted iteration is shorter than {other}'s in {len(rows) - len(longer)} of {len(rows)} rows (reduction of "
            f"the time: median {statistics.median(shorter):.1f} %, worst {min(shorter):.1f} %, arithmetic mean {statistics.mean(shorter):.1f} %)."
            + (f" So the result is **not confirmed** for {', '.join(longer)}." if longer else ""))
    return "Pilla et al. 2012 find that NucoLB gives shorter iterations than the other balancers. " + " ".join(sentences)


def on_same_problems(whole):
    """Yields a row per program and machine. It holds for each balancer the number of objects that it moves, and the
    predicted times of an iteration and of ten iterations plus the migrations."""
    rows = whole["results"]
    for program, machine in dict.fromkeys((row["program"], row["machine"]) for row in rows):
        own = [row for row in rows if (row["program"], row["machine"]) == (program, machine)]
        good = {row["balancer"]: row for row in own if row["ended"] == "ok"}
        yield {"program": program, "machine": machine, "measured": own[0]["measured"],
               **{row["balancer"].replace(":", " "): "failed" for row in own},
               **{name.replace(":", " "): f"{row['migrations']:.0f}; {1e3 * row['iteration_s']:.2f}; {row['total_s']:.2f}"
                  for name, row in good.items()},
               "iteration_s": {name: row["iteration_s"] for name, row in good.items()},
               "total_s": {name: row["total_s"] for name, row in good.items()}}


def ours_beside_charm(whole):
    """Yields two rows per strategy of Poise: one compares the strategy with the best balancer of Charm++, the other with
    GreedyRefineLB. In each case the time with Poise is divided by that with the balancer; the row has the median and the worst
    case of these ratios."""
    cases = list(on_same_problems(whole))
    for ours, time, what in (("poise", "total_s", "ten iterations and the migration"), ("poise:steps=1000", "iteration_s", "an iteration"), ("nuco", "iteration_s", "an iteration")):
        for peer, is_peer in (("the best of Charm++'s", lambda name: name.endswith("LB")), ("GreedyRefineLB", lambda name: name == "GreedyRefineLB")):
            ratios = [case[time][ours] / min(seconds for name, seconds in case[time].items() if is_peer(name)) for case in cases]
            yield {"strategy": ours, "time": what, "peer": peer, "measured": cases[0]["measured"], **spread(ratios)}


def sorted_victims(rows):
    rows = [row for row in rows if row["ranks"] > 1]
    ratios = [row["paired gain"] / row["lightest gain"] for row in rows]
    pairs = ", ".join(f"{row['paired gain']:.2f} and {row['lightest gain']:.2f} on {row['ranks']} ranks" for row in rows)
    verdict = ("**do not confirm**" if max(abs(ratio - 1) for ratio in ratios) < 0.05 else
               "confirm" if min(ratios) > 1 else "contradict")
    return ("With sorted pairs, the most loaded rank lends to the least loaded one, the second most loaded one to "
            "the second least loaded one, and so on. "
            "Klinkenberg et al. 2020 (figure 9, on up to 32 nodes) found this to be faster than having all "
            f"loaded ranks lend to the least loaded one. The speed-ups measured here on one host {verdict} this. For "
            "each number of ranks, the first speed-up below is that with sorted pairs, the second that with lending "
            f"to the least loaded rank: {pairs}.")


def tested_parts(whole):
    """Returns the stored rows of ./dev test full. Lists of names in a row become text, with commas between the names."""
    rounds = {part.word: part.rounds for part in tiers.parts("full")}
    return [row | {"runs": row["runs"] + (f" ({row['rounds']} so far)" if row.get("rounds", 1) < rounds[row["part"]] else ""), "failures": ", ".join(f"`{name}`" for name in row["failures"]),
                   "second_tries": ", ".join(f"`{name}`" for name in row["second_tries"])} for row in whole["results"]]


def parts_without_result(rows):
    missing = tiers.never_run(rows)
    return (f"Parts without a stored result: {', '.join(f'`{part.word}` ({part.name})' for part in missing)}." if missing else
            "Every part has a stored result.")


def runs_of_threads(whole):
    for result in whole["results"]:
        runs = {row["runner"]: row for row in result["rows"] if "runner" in row}
        for name, row in runs.items():
            if name != "plain":
                yield {"scenario": result["scenario"], "runner": name, "repeats": result["repeats"],
                       "measured": result["measured"], "plain": runs["plain"], "row": row,
                       "gain": runs["plain"]["median_s"] / row["median_s"],
                       "bound": f"{100 * row['of_bound']:.1f} %" if row["of_bound"] else "",
                       "noisy": "" if row["is_quiet"] and runs["plain"]["is_quiet"] else "**noisy**"}


def costs_of_threads(whole):
    return [{**row, "measured": result["measured"], "us": 1e6 * row["point_s"], "least_us": 1e6 * row["least_point_s"],
             "still_us": 1e6 * row["still_point_s"]} for result in where(scenario="costs")(whole) for row in result["rows"]]


def decisions_of_threads(whole):
    """Yields the rows of the benchmark juggle_points: the CPU time of a decision for each number of threads and cpus."""
    kinds = {"point": "at the end of a period", "reaction": "when a thread begins to wait"}
    for row in whole["results"]:
        kind, threads, cpus, *domains = row["name"].split("/")
        yield {**row, "kind": kinds[kind], "on": f"{int(threads):,} on {cpus}", "domains": (domains or ["1"])[0],
               "moves": f"{row['moves']:.0f}" if "moves" in row else ""}


def kernels_of_threads(whole):
    """Yields the rows of the benchmark juggle_npb, sorted by kernel, situation, binding and compiler."""
    def order(row):
        return row["kernel"], row["situation"], row["threads_are"], row["compiler"]
    for row in sorted(whole["results"], key=order):
        yield {**row, "undecided": "" if row["is_decided"] else "undecided"}


def situations_of_threads(whole):
    """Yields a row for each situation that juggle_npb measured, with the mean, the median and the extremes of the speed-ups."""
    groups = {}
    for row in whole["results"]:
        groups.setdefault((row["situation"], row["threads_are"]), []).append(row)
    for (situation, binding), rows in sorted(groups.items()):
        gains = [row["speed_up"][0] for row in rows]
        yield {"threads": f"{situation}, {binding}", "kernels": len(rows), "mean": statistics.geometric_mean(gains),
               "median": statistics.median(gains), "least": min(gains), "most": max(gains),
               "undecided": sum(not row["is_decided"] for row in rows),
               "slower": sum(row["speed_up"][2] < 1 for row in rows), "measured": min((row["measured"] for row in rows), key=lambda stamp: stamp["date"])}


def interval(values, digits=2):
    return "{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]".format(*values, digits)


def on_slow_links(whole):
    """Yields a row per program and balancer of charm_cluster.json."""
    for row in whole["results"]:
        yield {**row, "ms": interval([1e3 * value for value in row["iteration_s"]], 1) if "iteration_s" in row else "-",
               "over": interval(row["over_poise"]) if "over_poise" in row else "-"}


def points_of_figures(*figures):
    """Returns a function that yields a row for each measured point of the given figures of the Juggle paper. The row has
    the measured speed-up, and the speed-up that theory predicts for the balancing policy of the point."""
    promises = {"reactive": "reactive", "reactive, polled": "reactive", "hybrid": "simulated_hybrid"}

    def rows(whole):
        for row in whole["results"]:
            if row["figure"] in figures:
                promised = row["theory"].get(promises.get(row["runner"], "simulated"))
                long = row["phases"] > 1 and row["kernel"] is None
                yield {**row, "promised": promised, "on": f"{row['threads']} on {row['cpus']}",
                       "phase": "" if row["phase_s"] is None else f"{1e3 * row['phase_s']:.3g} ms" + (f" × {row['phases']}" if long else ""),
                       "theory": f"x{promised:.3f}" if promised else "", "gain": "x" + interval(row["speedup"]), "median": row["speedup"][0],
                       "with_text": interval(row["with"]), "plain_text": interval(row["plain"]),
                       "moves": f"{row['migrations_per_s'][0]:.0f}"}
    return rows


def beside_theory(rows):
    """Returns sentences that compare the measured speed-ups with those that the theory predicts."""
    ratios = [row["speedup"][0] / row["promised"] for row in rows if row["promised"]]
    inside = sum(row["speedup"][1] <= row["promised"] <= row["speedup"][2] for row in rows if row["promised"])
    return (f"{len(ratios)} rows of the table have a theoretical speed-up. The measured speed-up divided by the theoretical one is "
            f"{statistics.median(ratios):.3f} in the median; the smallest ratio is {min(ratios):.3f}, the largest {max(ratios):.3f}. "
            f"In {inside} of these rows the theoretical speed-up is inside the interval that the table shows in "
            "brackets.")


def objects(whole):
    rows = [row for row in whole["results"] if row.get("strategy")]
    for program in dict.fromkeys(row["program"] for row in rows):
        own = {row["strategy"]: row for row in rows if row["program"] == program}
        others = [row["of_ideal"] for name, row in own.items() if name not in ("poise", "keep")]
        yield {**own["poise"], "before_ms": own["keep"]["iteration_ms"], "others": f"{min(others):.2f} to {max(others):.2f}",
               "noisy": "**noisy**" if own["poise"]["faster_range"][0] < 0.9 * own["poise"]["faster"] else ""}


def tasks(part):
    def rows(whole):
        for row in where(part=part)(whole):
            data = row["bytes_in"] + row["bytes_out"]
            yield {**row, "work": work_of(row, data),
                   "worst_gain": row["without_s"] / max(row["with_each_s"])}
    return rows


def work_of(row, num_bytes):
    return f"{row['tasks']} of {row['us']:g} µs, {num_bytes:,} B" + (", asleep" if row["sleep"] else "")


def beside(whole):
    for row in where(part="beside")(whole):
        if row["way"] != "lending":
            yield {**row, "work": work_of(row, row["bytes"]), "ms": 1e3 * row["seconds"][0]}


def losses(part):
    """Returns a function that yields a row per case and a last row for all cases; each row compares runs with and
    without lending."""
    def rows(whole):
        for row in where(part=part)(whole):
            where_from = "both ranks have" if row.get("balanced") else "the first rank has"
            yield {**row, "work": "all runs" if "all" in row else f"{where_from} {row['tasks']} of {row['us']:g} µs"
                   + (", beside a competitor" if row["busy"] else "")}
    return rows


def scaled(whole):
    """Yields a row for each combination of a way to spread tasks over ranks and a number of simulated ranks."""
    work = {"all_on_one": "all on one rank", "random": "random numbers of tasks", "one_node_slow": "one node half as fast"}
    for row in whole["results"]:
        case, way, ranks, *_ = row["name"].split("/")
        age = f"{1e3 * row['load_age_s']:.1f}" if "load_age_s" in row else ""
        yield {**row, "case": work[case], "way": way.replace("_", " "), "ranks": int(ranks), "age": age}


def decisions(whole):
    for row in whole["results"]:
        group, strategy, num_tasks, places, *_ = row["name"].split("/")
        if group == "decide" and strategy != "keep" and num_tasks != "10000" and not row.get("error_occurred"):
            yield {**row, "strategy": strategy, "tasks": int(num_tasks), "places": int(places)}


def totals(whole):
    """Yields a row per cost model and number of steps: the total time of `poise` divided by that of the best other
    strategy."""
    for row in whole["results"]:
        model, *group = row["name"].split()
        if group == ["all"] or group[0].startswith("steps="):
            yield {**row, "model": model, "group": " ".join(group), **row["total_over_best"],
                   "outside": row["total_over_outside_tools"]}


def tuned(whole):
    """Yields a row for each value that was tried for a tuning parameter of the strategies or the partitioner, with its effects."""
    for row in whole["results"]:
        name, value = row["name"].split("=")
        if not name.startswith("juggle:"):
            yield {**row, "number": name, "value": value}


def tuned_juggle(whole):
    """Yields a row for each value that was tried for a tuning parameter of `poise juggle`."""
    for row in whole["results"]:
        name, value = row["name"].split("=")
        if name.startswith("juggle:"):
            yield {**row, "number": name.removeprefix("juggle:"), "value": value}


def tuned_lending(whole):
    """Yields a row for each value that was tried for a tuning parameter of lending and that changed a simulated run."""
    for row in whole["results"]:
        kinds = sorted(row["kinds"], key=lambda kind: kind["makespan"])
        messages = sorted(kind["messages"] for kind in kinds)
        number, value = row["name"].split("=")
        if row["acts"]:
            yield {**row, "number": number, "value": value, "least": kinds[0], "largest": kinds[-1], "messages": messages}


def real_programs(whole):
    for row in whole["results"]:
        found, beside = row.get("saving"), "{beside}: {0:.1%} [{1:.1%}, {2:.1%}]".format(*row["beside_saving"], **row) if "beside" in row else ""
        verdict = {None: "", False: "**wrong**", True: "right"}[row["is_right"]]
        if found and row["is_right"]:
            verdict = intervals.verdict_of_gain(row["predicted_saving"], found)
        yield {**row, **{name: row["efficiencies"][name] for name in ("parallel", "load_balance", "communication")},
               "measured_saving": "{:.1%} [{:.1%}, {:.1%}]".format(*found) if found else "", "median_saving": found and found[0],
               "other": beside, "verdict": "**other gain**" if verdict == "other gain" else verdict}


def profiled_calls(whole):
    return [{"tool": "poise", **row} for row in whole["results"] if "call" in row]


def profiled_programs(whole):
    return [{**row, "slow": "{:.2%} [{:.2%}, {:.2%}]".format(*row["slow_down"])} for row in whole["results"] if "slow_down" in row]


def mapped(whole):
    for row in whole["results"]:
        has_figures = "saving" in row
        yield {**row, **{f"{when}_s": f"{statistics.median(row[when]):.3f}" if has_figures else "" for when in ("before", "after")},
               "result": "{:.1%} [{:.1%}, {:.1%}]".format(*row["saving"]) if has_figures else f"after {row['runs']} runs: {row['said']}"}


def figure_of_hpcc(rows):
    """Returns a note that explains the rows of the benchmark HPCC, if there are such rows."""
    if not any(row["name"].startswith("hpcc") for row in rows):
        return ""
    return ("HPCC ran on links of 200 Mbit/s. The times in its rows say how long PTRANS, the part of HPCC that transposes a matrix "
            "distributed over all ranks, takes for each gigabyte of the matrix.")


def headlines(whole):
    return [{"paper": paper, "sentence": sentence, "measured": whole["measured"]} for paper, sentence in whole["headlines"].items()]


def verdicts_of_papers(whole):
    rows = whole["sections"]
    for paper in dict.fromkeys(row["paper"] for row in rows):
        decided = [row["verdict"] for row in rows if row["paper"] == paper]
        yield {"paper": paper, "measured": whole["measured"],
               **{verdict.replace(" ", "_"): decided.count(verdict) for verdict in VERDICTS}}


def verdicts(whole):
    return [{**row, "formula": formula, "programs": group, "measured": whole["measured"]}
            for formula, groups in whole["verdicts"].items() for group, row in groups.items()]


RUNS = {"miniapps": "mini-apps", "miniapps_with_priority": "mini-apps with priority over other programs",
        "miniapps_disturbed": "mini-apps beside other programs", "lending": "steps that lend tasks",
        "juggle": "threads under `poise juggle`"}


def real_runs(whole):
    """Yields one or two rows per kind of runs: for runs on one host, and for runs on a cluster. Only held-out runs
    count: those that were not used while the comparison of simulated with measured times was developed."""
    for kind, name in RUNS.items():
        held_out = [row for row in whole.get(kind, {"rows": []})["rows"] if row["held_out"]]
        for where_run in ("one host", "cluster with slow links"):
            rows = [row for row in held_out if bool(row.get("cluster")) == (where_run != "one host")]
            if not rows:
                continue
            errors = [abs(row["simulated_s"] / row["measured_s"][0] - 1) for row in rows]
            yield {"runs": name, "on": where_run, "count": len(rows), "near": sum(row["is_within"] for row in rows),
                   "median": statistics.median(errors), "worst": max(errors), "measured": whole[kind]["measured"]}


def differences(whole):
    return [{**row, "model": model, "measured": whole["measured"]} for model, row in whole["differences"].items()]


def replays(whole):
    return [{**row, "gigabytes": row["max_memory_bytes"] / 1e9, "measured": whole["measured"]} for row in whole["speed"]]


def cluster_errors(whole):
    rows = whole["results"]
    for cluster in dict.fromkeys(row["cluster"] for row in rows):
        errors = [abs(row["error"]) for row in rows if row["cluster"] == cluster]
        yield {"cluster": cluster, "cases": len(errors), "median": statistics.median(errors), "worst": max(errors),
               "measured": next(row["measured"] for row in rows if row["cluster"] == cluster)}


RATIOS = {"median": "{median:.3f}", "worst": "{worst:.3f}", "geometric mean": "{geometric:.3f}",
          "arithmetic mean": "{arithmetic:.3f}", "above 1 in": "{lost} of {cases}"}
SECONDS = {"without, s": "{without s:.4f}", "with, s": "{with s:.4f}", "one process, s": "{one process s:.4f}", "gain": "{gain:.2f}"}
GAINS = {"ranks": "{np}", "tasks": "{work}", "median": "{median_gain:.2f}", "worst": "{worst_gain:.2f}", "best of n": "{gain:.2f}",
         "by hand": "{host_gain:.2f}", "OpenMP": "{openmp_gain:.2f}"}
LOSSES = {"tasks": "{work}", "pairs": "{pairs}", "speed": "{speed[0]:.3f} [{speed[1]:.3f}, {speed[2]:.3f}]",
          "99 % of runs": "{longer_p99[0]:.2f}", "longest": "{longest:.2f}"}

# name of a benchmark -> (its heading, its tables)
PAGES = {
    "mapping": ("Placements: `poise` beside other tools", [
        Table("Iteration",
              "Each case gives one ratio: the time of an iteration that the cost model `nuco` predicts for the "
              "placement by `poise`, divided by the time that it predicts for the placement by the other tool. Below "
              "1, the iteration with `poise` is shorter. The cases are generated workloads whose loads have drifted "
              "since they were balanced, and phases of recorded programs. The last column shows what percentage of the "
              "tasks the other tool moves: first the median over the cases, then the largest value, then the "
              "arithmetic mean.",
              against_tools, {"beside": "{tool}", **RATIOS, "it moves": "{moved}"}),
        Table("From scratch",
              "The strategy `poise:from_scratch=1` and a mapping tool both place all tasks anew. The table divides the "
              "result of `poise:from_scratch=1` by that of the tool. `nuco_messages` is the traffic: the number of "
              "messages between places, each weighted by the latency factor of the two places. `decision_s` is the "
              "time of the decision. No placement can reduce the load of the busiest place below a certain lower "
              "bound; the load cap is 5 % above this bound. The last column shows in how many cases `poise` keeps the "
              "load of the busiest place within the cap, and then in how many cases the tool does.", from_scratch,
              {"beside": "`{tool}`", "quantity": "`{what}`", **RATIOS, "within the load cap": "{caps}"})]),
    "map": ("Maps of ranks: `poise map`", [
        Table("Traffic", "`poise map` assigns ranks to places. The traffic of an assignment is the sum over all messages of bytes × distance. "
              "The table divides the traffic with `poise map` by the traffic of another assignment: either the best one of "
              "treematch, METIS, Scotch and greedy, or block order, which fills one node after the other. The benchmark has 65 "
              "instances, each of which is a pair of a communication matrix and a machine. Run times of programs were not measured.", maps,
              {"instances": "{group}", "quantity": "{what}", **RATIOS})]),
    "objective": ("The total: `poise` beside every other strategy", [
        Table("Total time",
              "A case has 1, 10, 100 or 1,000 steps. Its total time is the predicted time of all these steps, plus "
              "that of the migration before them. The table divides the total time with `poise` by the shortest total "
              "time among all other strategies, including `keep`, which moves nothing. The column `other tools` "
              "divides it by the shortest total time among METIS, Scotch and `keep`. Each placement by METIS or Scotch "
              "is tried in two variants: as the tool returns it, and with its parts renumbered so that as much load as "
              "possible stays where it is. Cases are drawn from 16 kinds of workload, four numbers of tasks and four machines. A decision is "
              "in time if it takes at most 1 % of the predicted time of all steps, or at most 2 ms plus 3 µs per task.", totals,
              {"formula": "`{model}`", "cases": "{group}: {cases}", "median": "{median:.4f}", "worst": "{worst:.4f}",
               "99th percentile": "{percentile_99:.4f}", "arithmetic mean": "{mean:.4f}", "above 1.001 in": "{behind:.1%}",
               "other tools, arithmetic mean": "{outside[mean]:.4f}", "in time": "{decided_in_time:.0%}"})]),
    "tuning": ("What the tuned numbers are worth", [
        Table("Half and double", "The strategy `poise` has constants that were chosen by measurement. For each row of this table, one of these "
              "constants was halved or doubled. " + TRIED + "The cases of the table were not used to choose the constant. `total` is the "
              "predicted time of all steps and the migration. `from scratch` is the predicted time of an iteration if all tasks are placed anew "
              "(`poise:from_scratch=1`). Each value is the time with the changed constant divided by the time with the unchanged "
              "one: the geometric mean over the cases, and in brackets the smallest and the largest ratio.", tuned,
              {"number": "`{number}`", "tried value": "{value}", "cases": "{cases}",
               "total": "{total[geometric_mean]:.4f} ({total[least]:.3f} to {total[largest]:.3f})",
               "from scratch": "{from_scratch[geometric_mean]:.4f} ({from_scratch[least]:.3f} to {from_scratch[largest]:.3f})"}),
        Table("Half and double: `poise juggle`",
              "In each row, one of the constants of `poise juggle` was halved or doubled. " + TRIED + "The cases are programs on "
              "two to four simulated cpus. Their threads are bound to cpus or not, and sleep or wait actively at "
              "barriers. Some run beside other programs, and some change while they run. `decided differently` counts "
              "the programs in which the changed constant changed a decision. `work` is the work of the slowest "
              "thread with the changed constant, divided by that with the unchanged one (above 1: the change "
              "helps). "
              "The value is the geometric mean over the programs; the smallest and the largest ratio are in brackets.", tuned_juggle,
              {"number": "`{number}`", "tried value": "{value}", "programs": "{cases}", "decided differently": "{changed}",
               "work": "{work[geometric_mean]:.4f} ({work[least]:.3f} to {work[largest]:.3f})"})]),
    "lending_tuning": ("What the tuned numbers of lending are worth", [
        Table("Half and double: lending",
              "In each row, one of the constants of `poise/online/lending_tuning.h` was halved or doubled. " + TRIED + "Steps in "
              "which ranks lend tasks were simulated, in virtual time. There are nine kinds of steps, and 24 random "
              "steps of each kind. Kinds differ in the number of ranks, in the lengths of tasks (1 µs to 5 ms, equal "
              "or unequal), and in whether ranks are slow, other programs compete for the cores, or messages are late. "
              "The makespan with the changed constant is divided by that with the unchanged one; the geometric mean of "
              "these ratios and its standard error are computed for each kind. `shortest` and `longest` show the kinds "
              "with the smallest and the largest mean. The numbers of messages are divided and averaged in the same "
              "way; the last column shows the smallest and the largest mean. Constants that have no effect in these "
              "steps, such as those for threads that poll, are left out.", tuned_lending,
              {"number": "`{number}`", "tried value": "{value}", "shortest": "{least[makespan]:.3f} ± {least[makespan_error]:.3f} ({least[kind]})",
               "longest": "{largest[makespan]:.3f} ± {largest[makespan_error]:.3f} ({largest[kind]})", "messages": "{messages[0]:.2f} to {messages[8]:.2f}"})]),
    "decide": ("How long decisions take", [
        Table("CPU time of one decision", "Each strategy ran once, on one thread. [This plot](../bench/results/growth.svg) shows how the time of a decision grows with the number of tasks.", decisions,
              {"strategy": "`{strategy}`", "tasks": "{tasks:,}", "places": "{places:,}", "CPU ms": "{cpu_time:.1f}",
               "peak MB": "{peak_MB:.0f}"})]),
    "real": ("Programs that were not written for Poise", [
        Table("The first advice, and what following it gains",
              "Each program was profiled once. `predicted` is the part of the run time that the first advice saves "
              "according to the diagnosis. `saved` is the part that it really saved: the median of 7 or 21 pairs of runs "
              "without and with the advice, and its 95 % confidence interval. A verdict is given only where the right "
              "advice is known; it is `wrong` if the diagnosis gave other advice. Otherwise the prediction is compared "
              "with the gains in the interval. It is close to a gain if the two differ by at most a quarter of the "
              "gain or at most 3 % of the run time. The verdict is `right` if the prediction is close to the median, "
              "`undecided` if it is close to another gain in the interval, but not to the median, and `other gain` if "
              "it is close to no gain in the interval. The efficiencies are "
              "those of POP. `fission`, `matmul` and `uts` are mini-apps of Poise, which use Poise's tasks only in the "
              "runs with the advice.",
              real_programs,
              {"program": "{name}", "ranks": "{ranks}", "parallel": "{parallel:.0%}", "load balance": "{load_balance:.0%}",
               "communication": "{communication:.0%}", "advice": "`{advice}`", "predicted": "{predicted_saving:.1%}",
               "saved": "{measured_saving}", "": "{verdict}", "beside it": "{other}"})]),
    "talp": ("Efficiencies beside those of TALP", [
        Table("The same runs",
              "Each program ran in turn under `poise profile` and under TALP, the profiler of DLB 3. The table "
              "compares the shortest of five runs with each tool. TALP prints efficiencies as whole "
              "percentages.", where(),
              {"program": "{name}", "ranks": "{ranks}", "efficiency": "{efficiency}", "Poise": "{poise:.1%}", "TALP": "{talp:.0%}",
               "difference": "{difference:+.1%}"})]),
    "mapped": ("Maps of ranks in real runs", [
        Table("On slow links",
              "Eight ranks ran on four simulated hosts, whose links have 50 Mbit/s. The launcher assigned the ranks to "
              "the hosts round-robin. Times are those that the program itself prints. In rows of `poise map` and "
              "`POISE_REORDER`, `before` is the time in the launcher's order and `after` the time with the new map of "
              "the ranks: medians of seven pairs of runs. `result` is the part of the time that is saved, with its 95 "
              "% interval. In rows of `poise run`, the program ran repeatedly until `poise run` had decided whether "
              "to keep the map; `result` is the line that it then printed. No map helps kneighbor: its objects are "
              "assigned to the places node by node, whatever the order of the ranks is.", mapped,
              {"program": "{name}", "by": "`{by}`", "before, s": "{before_s}", "after, s": "{after_s}", "result": "{result}"},
              figure_of_hpcc)]),
    "reproduce": ("The tables of five papers beside ours", [
        Table("Does the conclusion hold?",
              "For each paper, the table gives its main claim, what the simulation finds, and what Poise reaches in "
              "the same cases. Brackets hold 95 % confidence intervals over several random seeds.", headlines, {"paper": "{paper}", "claim, and what is found": "{sentence}"}),
        Table("Verdicts",
              "The table counts the verdicts on the sections of each paper. A section is a result table or a plot of "
              "the paper, or a question that the paper leaves open. [The guide to "
              "simulation](simulate.md#the-papers-tables-beside-ours) says how a verdict is found.", verdicts_of_papers,
              {"paper": "{paper}", **{verdict: f"{{{verdict.replace(' ', '_')}}}" for verdict in VERDICTS}})]),
    "trust": ("How far predicted times can be trusted", [
        Table("Predicted against measured",
              "The table compares predicted with measured iteration times of programs on emulated clusters. Each "
              "program ran with several maps, which are assignments of its tasks to places. τ is Kendall's rank "
              "correlation: it is 1 if the prediction puts all maps of a program in the order of their measured times. "
              "Two maps are compared only if the 95 % intervals of their measured times do not overlap. `near` is the "
              "share of the maps whose predicted time differs from the median of the measured times by at most 10 %, "
              "or by at most the width of the 95 % confidence interval of this median. Held-out programs were not used "
              "to calibrate the model; `open` programs were.", verdicts,
              {"formula": "{formula}", "programs": "{programs}", "median error": "{median_error:.1%}",
               "worst": "{worst_error:.1%}", "near": "{within:.0%}", "τ": "{tau:.3f}", "pairs": "{pairs}", "τ against SimGrid": "{tau_simgrid:.3f}"}),
        Table("Runs of the runtimes, simulated",
              "`poise simulate --engine events` simulated real runs. Mini-apps on objects ran in up to four ways: with "
              "neither balancing nor lending, with one of the two, and with both. In other runs, ranks lent tasks "
              "within a step, or threads ran under `poise juggle`. The table shows only held-out runs: those that were "
              "not used while the comparison of simulated with measured times was developed. `near` counts the runs "
              "whose simulated time differs from the median of the measured times by at most 10 %, or by at most the "
              "width of the 95 % confidence interval of this median. Errors are fractions of the measured time. [How a "
              "step is simulated](simulate_how.md#how-far-it-can-be-trusted) names the causes of the errors.", real_runs,
              {"runs": "{runs}", "on": "{on}", "near": "{near} of {count}", "median error": "{median:.1%}", "worst": "{worst:.1%}"})]),
    "cluster": ("How well the emulated cluster keeps its rates", [
        Table("Error of the time of transfers", "How long a transfer should take on an emulated cluster (its nominal time) follows from the rates and delays of the links. The relative "
              "error is the difference between the measured and the nominal time, divided by the nominal time. The table shows the "
              "median and the largest absolute value of this error over all transfers on a cluster. Transfers were "
              "measured both with and without delays of the links.", cluster_errors,
              {"cluster": "{cluster}", "cases": "{cases}", "median": "{median:.2%}", "worst": "{worst:.2%}"})]),
    "engine": ("The event engine", [
        Table("Differences from SimGrid's iteration",
              "The table shows by what fraction the iteration time that Poise predicts differs from the one that "
              "SimGrid predicts, for random programs on twelve networks. No prediction was compared with a real run.", differences,
              {"model": "{model}", "median": "{median:.2%}", "largest": "{largest:.2%}", "within 5 %": "{within_5_percent} of {of}"}),
        Table("Time of replays",
              "A replay is a simulation of a program by the event engine (`poise simulate --engine events`). Each "
              "replay ran once. The table shows its CPU time and its memory.", replays,
              {"machine": "`{machine}`", "program": "{program}", "objects": "{objects:,}", "steps": "{steps}", "loads": "{loads}",
               "sharing": "{sharing}", "s": "{run_s:.3g}", "GB": "{gigabytes:.2f}"})]),
    "objects": ("Objects on MPI", [
        Table("Balancing",
              "The mini-apps start with a bad placement. `gain` is the time of an iteration without balancing divided "
              "by the time of an iteration with `poise` after two decisions. It is the median over several runs; "
              "`worst to best` shows the smallest and the largest gain of a run. A row is marked noisy if its worst "
              "gain is more than 10 % below the median. `of ideal` is the time of a perfectly balanced iteration "
              "divided by the time with `poise`: the median, and in brackets the quartiles.",
              objects, {"program": "{program}", "ranks": "{ranks}", "limited by": "{bound}", "before, ms": "{before_ms:.1f}",
                        "`poise`, ms": "{iteration_ms:.1f}", "gain": "{faster:.2f}",
                        "worst to best": "{faster_range[0]:.2f} to {faster_range[1]:.2f}",
                        "of ideal": "{of_ideal:.2f} [{of_ideal_quartiles[0]:.2f}, {of_ideal_quartiles[1]:.2f}]",
                        "other strategies": "{others}", "": "{noisy}"}),
        Table("Costs", "Each cost in this table was measured in a single run.", where(program="costs"),
              {"overhead of a step of 100 µs an object": "{overhead_at_100us:.1%}", "migration, B/s": "{migration_bytes_per_s:.2g}",
               "plain MPI into new memory": "{raw_bytes_per_s_into_new_memory:.2g}", "plain MPI": "{raw_bytes_per_s:.2g}",
               "balancing 10,000 objects of 1 kB, s": "{greedy_10k_objects_of_1kB_s:.4f}"})]),
    "tasks": ("Tasks lent between ranks", [
        Table("All tasks on the first rank",
              "The gain is the time without lending divided by the time with it. `best of n` divides the fastest of n "
              "runs without lending by the fastest of n runs with it. The last two columns show the gains of "
              "two other ways to run the tasks: with `by hand`, the program itself distributes them to the ranks; "
              "with `OpenMP`, one process runs them as OpenMP tasks, with as many threads as there were ranks.", tasks("gains"), GAINS),
        Table("All tasks on the first rank, and a core for each rank",
              "The columns are those of the table *All tasks on the first rank*. Tasks compute instead of sleeping, and the machine "
              "has a core for each rank.", tasks("cores"), GAINS),
        Table("Beside what users do without lending",
              "The first rank has all tasks, whose lengths are 0.5 to 1.5 times their mean. Each row "
              "compares lending with another way to run these tasks; the two ways run alternately. The last column "
              "divides the time of the other way by the time with lending: the median, and its 95 % confidence "
              "interval. Below 1, lending is the slower way. In `master and workers` the master also runs tasks. With "
              "mpi4py.futures, the first rank hands out tasks and runs none. With StarPU-MPI, which does not balance "
              "between ranks, tasks are assigned to the ranks round-robin. Version 1.3 of StarPU hangs under Open MPI "
              "4 if results are large, so these cases are missing.",
              beside, {"ranks": "{np}", "tasks": "{work}", "way": "{way}", "ms": "{ms:.1f}",
                                "times as long as lending": "{of_lending[0]:.2f} [{of_lending[1]:.2f}, {of_lending[2]:.2f}]"}),
        Table("What lending can lose",
              "A pair is a run without lending and a run with it. If another program competes for the cores, it does "
              "so in both runs of a pair. `speed` is the time without lending divided by the time with it: the median "
              "over the pairs, and its 95 % confidence interval. The last two columns show the inverse ratio, the time "
              "with lending divided by the time without it: 99 % of the pairs do not exceed the first value, and no "
              "pair exceeds the second. The goals are a median speed of at least 0.98, and no run that takes more than "
              "twice as long with lending.",
              losses("losses"), LOSSES),
        Table("What lending can lose, with spare cores",
              "The cases and columns are those of the table *What lending can lose*. Here the machine has a core of "
              "its own for each rank, for each progress thread and for the program that competes.",
              losses("losses_with_spare_cores"), LOSSES),
        Table("Equal work on both ranks",
              "All ranks have equal work, so no rank has a reason to lend tasks. The table shows the overhead of the "
              "runtime: how much longer a step takes than with OpenMP tasks in the same processes.", tasks("balanced"),
              {"tasks of a rank": "{work}", "slower, median": "{median_slower:.1%}", "by the fastest steps": "{slower:.1%}"}),
        Table("From the decision to lend to the start on the other rank",
              "The table shows the time from the decision to lend a task until the task starts on the other rank. "
              "Tasks have 360,000 B of data in the first row and 64 B in the second.", where(part="starts"),
              {"median, µs": "{start_us:.1f}", "least, µs": "{least_us:.1f}", "lent": "{lent}"})]),
    "scale": ("Lending on many simulated ranks", [
        Table("Beside work stealing, in virtual time",
              "Each rank has 20 tasks of 10 ms on average, and each node has 64 ranks. `over ideal` is the makespan "
              "divided by an ideal time; the goal is at most 1.10. The ideal time is a lower bound on the makespan of "
              "any schedule, plus one round trip of a message in the tree by which ranks detect that all tasks are "
              "done. For comparison, two ways of work stealing were simulated as well. In random stealing, an idle "
              "rank (the thief) takes half of the queued tasks of a random rank (the victim). In hierarchical "
              "stealing, half of the requests go to random ranks of the thief's own node, and the others to any rank. "
              "Both are simulated with the same latencies, network cards, overheads and pauses between requests as "
              "Poise's lending, but thieves learn at no cost that all tasks are done. The column `age` shows how old "
              "the thief's information on the victim's load was when the thief sent a request.", scaled,
              {"tasks": "{case}", "ranks": "{ranks:,}", "way": "{way}", "over ideal": "{over_ideal:.3f}", "messages per rank": "{messages_per_rank:.0f}",
               "most of a rank": "{max_messages_of_a_rank:.0f}", "age, ms": "{age}"})]),
    "faults": ("Page faults and cache misses of migrations", [
        Table("stencil4d on two ranks",
              "The table shows page faults, cache misses and migrations per iteration, with a decision every 10 "
              "iterations; `keep` never migrates. To leave out the start of the program, the counts of a run of N "
              "iterations are subtracted from those of a run of 2 N iterations, so small counts can be negative. A "
              "dash means that the machine has no hardware counter for cache misses.",
              lambda whole: whole["results"], {"strategy": "{strategy}", "minor page faults": "{minor_faults:.0f}", "major page faults": "{major_faults:.1f}",
                                               "cache misses": "{cache_misses}", "migrations": "{migrations:.1f}"})]),
    "reactive": ("Experiments of Klinkenberg et al. 2020", [
        Table("A slow core",
              "Two ranks have equal work. Another process competes for the core of one of them. The first column is "
              "the share of the time for which this process computes. The best of 3 runs counts.",
              where(experiment="a slow core"), {"share": "{competitor:.0%}", **SECONDS, "could be gained": "{ideal gain:.2f}"}),
        Table("Equal work", "All ranks compute equally many matrix products. Steps with and without lending alternate.", where(experiment="balanced"),
              {"rows": "{size}", "tasks": "{tasks}", "slower, median, %": "{median %:.1f}", "by the fastest steps, %": "{slower %:.1f}"}),
        Table("One rank has all products", "All matrix products belong to one rank. The best of 3 runs counts; medians were not stored.", where(experiment="one rank has everything"),
              {"rows": "{size}", "tasks": "{tasks}", **SECONDS}),
        Table("More threads", "The first of two ranks has 800 tasks that sleep for 3 ms each. The best of 3 runs counts.",
              where(experiment="threads per rank, tasks of 3 ms"), {"threads": "{threads}", **SECONDS}),
        Table("Whom to lend to, tsunami on two ranks", "The speed-up is the time on one rank divided by the time on two ranks. The best of 3 runs counts.", where(experiment="tsunami, whom to lend to"),
              {"cells": "{cells}", "no lending": "{no lending gain:.2f}", "sorted pairs": "{paired gain:.2f}", "cost": "{cost gain:.2f}",
               "one process": "{one process gain:.2f}"}),
        Table("Whom to lend to, more ranks than cores", "The speed-up is the time on one rank divided by the time on `ranks` ranks. The program is the mini-app `tsunami`, whose cells sleep instead of computing. The best of 3 runs counts.",
              where(experiment="tsunami asleep"), {"ranks": "{ranks}", "no lending": "{no lending gain:.2f}",
                                                   "sorted pairs": "{paired gain:.2f}", "least loaded": "{lightest gain:.2f}",
                                                   "cost": "{cost gain:.2f}", "one process": "{one process gain:.2f}"}, sorted_victims),
        *(Table(title, "Each program ran 9 times in each of five ways: with neither lending nor balancing, with lending alone, with balancing "
              "alone, with both, and as one process. Times are medians in seconds. `over lending` is the time with lending alone divided by the time with both; "
              "`over balancing` is the time with balancing alone divided by the time with both. The five ways ran in turn, in 9 rounds; these "
              "two ratios were computed in each round, and the table shows their medians.", where(experiment=experiment),
                {"program": "{program}", "neither": "{neither:.2f}", "lending": "{lending:.2f}", "balancing": "{balancing:.2f}",
                 "both": "{both:.2f}", "one process": "{one process:.2f}", "over lending": "x{over lending:.3f}",
                 "over balancing": "x{over balancing:.3f}"})
          for title, experiment in [("Loads that move", "loads that move"), ("Programs whose load moves", "programs whose load moves")])]),
    "juggle": ("Threads: `poise juggle`", [
        Table("Gains",
              "The gain is the time without `poise juggle` divided by the time with it. Times are medians, with the "
              "shortest and the longest run in brackets. A row is noisy if other programs used 2 % of the cpus or more "
              "during a run. The bound is the shortest possible time: n threads that each compute for a time e on m "
              "cpus need at least e · n / m. In the rows of libomp with bound threads the gain is too large, because "
              "the program was set up wrongly: libomp was preloaded into a program built with GCC, and the two OpenMP "
              "run-times together bound all threads to one cpu.",
              runs_of_threads,
              {"threads": "{scenario}", "policy": "{runner}", "runs": "{repeats}", "gain": "x{gain:.3f}", "of the bound": "{bound}",
               "with, s": "{row[median_s]:.2f} [{row[least_s]:.2f}, {row[most_s]:.2f}]",
               "without, s": "{plain[median_s]:.2f} [{plain[least_s]:.2f}, {plain[most_s]:.2f}]", "": "{noisy}"}),
        Table("What a balancing point costs",
              "At a balancing point the balancer measures the threads and decides which of them move. The table shows "
              "its CPU time per balancing point, as an arithmetic mean over a run of 20 s, for threads that compute "
              "all the time. `still points` are those at which no thread moved.", costs_of_threads,
              {"threads": "{threads}", "a point, µs": "{us:.0f}", "least, µs": "{least_us:.0f}", "still points, µs": "{still_us:.0f}",
               "of a cpu": "{of_a_cpu:.2%}"})]),
    "juggle_healthy": ("Threads: advice for healthy programs", [
        Table("What the diagnosis says",
              "Each program ran once under `poise juggle --diagnose`. None of these programs needs advice, so the "
              "diagnosis should name no cause. In disturbed runs, other programs used 2 % of the cpus or more.",
              lambda whole: [{**row, "judgement": "disturbed" if not row["is_quiet"] else "**names a cause**" if row["names_a_cause"] else ""}
                             for row in whole["results"]],
              {"program": "{program}", "the diagnosis": "{said}", "": "{judgement}"})]),
    "juggle_points": ("Threads: decisions on large machines", [
        Table("CPU time of a decision",
              "In a decision, the balancer chooses which threads move. The times that it reads for each thread come "
              "from a simulated program, whose threads compute all the time. The time to read them from the kernel and "
              "to move threads is not included. The goal is at most 1 ms per decision.",
              decisions_of_threads, {"threads": "{on}", "memory domains": "{domains}", "decision": "{kind}", "CPU time, µs": "{cpu_time:.1f}",
                                     "moves": "{moves}"})]),
    "juggle_npb": ("Threads: the NAS Parallel Benchmarks", [
        Table("Speed-ups in each situation",
              "Each pair of a kernel and a compiler gives one speed-up; the table after this one lists them. The "
              "mean is geometric. "
              "`undecided` counts the speed-ups whose confidence interval extends more than 2 % above or below the "
              "median, and `slower` those whose whole interval lies below 1. Even without the balancer, the "
              "operating system moves threads from cpu to cpu if they are `free`, which means not bound to a cpu.",
              situations_of_threads, {"threads": "{threads}", "speed-ups": "{kernels}", "mean": "x{mean:.3f}", "median": "x{median:.3f}",
                                      "least": "x{least:.3f}", "most": "x{most:.3f}", "undecided": "{undecided}", "slower": "{slower}"}),
        Table("Speed-up by `poise juggle`", "The kernels in C++ were built by GCC and by clang, each with its OpenMP run-time. The speed-up is the speed in "
              "operations per second that the program prints with the balancer, divided by that without it: the median of pairs of "
              "runs, and its 95 % confidence interval. For rows measured on 2026-11-26, the speed-up is "
              "computed from the run times that the program prints, which have two decimals. "
              "A row is undecided if the interval extends more than 2 % above or below the median after 25 pairs. `stranger` means another program that "
              "computes all the time. It is bound to one cpu if the threads are bound, and may run on any cpu if they are free.",
              kernels_of_threads, {"kernel": "{kernel}", "compiler": "{compiler}", "threads": "{situation}, {threads_are}",
               "speed-up": "x{speed_up[0]:.3f} [{speed_up[1]:.3f}, {speed_up[2]:.3f}]", "worst pair": "x{worst:.2f}", "pairs": "{pairs}",
               "without, s": "{plain_s[0]:.2f}", "": "{undecided}"})]),
    "juggle_figures": ("Threads: the figures of the Juggle paper", [
        Table("Measured points beside theory", "A speed-up is the time of threads that stay on their cpus divided by the time with balancing. The column `measured` "
              "shows the median over the runs and in brackets its 95 % interval, or, if there were fewer than six runs, the "
              "smallest and the largest value. `theory` is the speed-up of an idealised simulation with the same phases and the "
              "same balancing period (`poise theory`). Phases and periods are shorter than in the Juggle paper, all by the same factor. The "
              "load average was read before the runs. The measured points are plotted beside the theory for the figures "
              "[6](../bench/results/juggle_figures_6.svg), [8](../bench/results/juggle_figures_8.svg), "
              "[9](../bench/results/juggle_figures_9.svg), [11](../bench/results/juggle_figures_11.svg) and "
              "[17](../bench/results/juggle_figures_17.svg) of the paper.",
              points_of_figures("6", "7", "8", "9", "10", "11", "16", "17"),
              {"figure": "{figure}", "threads": "{on}", "phase": "{phase}", "balancer": "`{balancer}`", "runs": "{rounds}",
               "measured": "{gain}", "theory": "{theory}", "moves per s": "{moves}"}, beside_theory),
        Table("When threads move: every period, as soon as others wait, or both", "A speed-up is the time of threads that stay on their cpus divided by the time with balancing. All threads sleep at "
              "barriers, and each is bound to a cpu. The program reports to the balancer which threads wait, except in rows with "
              "`polled`: there the balancer itself checks every 20 ms which threads wait. For the policy `reactive`, "
              "`theory` is the speed-up of ideal reactive balancing (equation 21 of the Juggle paper); for the other policies it is "
              "the speed-up of an idealised simulation. [This plot](../bench/results/juggle_figures_reactive.svg) shows the speed-ups.", points_of_figures("reactive"),
              {"threads": "{on}", "phase": "{phase}", "policy": "{runner}", "runs": "{rounds}", "measured": "{gain}", "theory": "{theory}",
               "moves per s": "{moves}"}),
        Table("Programs (figures 12 to 14)", "The programs use GCC's OpenMP. Their threads are bound to cpus, and some cpus have more threads than others. In "
              "rows with a dash instead of a program, Poise's test program `phases` ran instead of the paper's benchmark EP; "
              "`phases` does not use OpenMP.",
              points_of_figures("12-14"),
              {"program": "{kernel}", "threads": "{on}", "waiting": "{waiting}", "policy": "{runner}", "runs": "{rounds}", "gain": "{gain}",
               "with, s": "{with_text}", "without, s": "{plain_text}"}),
        Table("Beside two other programs (figure 15)", "The program has as many threads as cpus. The threads are not bound to cpus and spin at barriers. Two other programs compute all the "
              "time. One of them has the nice value -3 if the system allows it.", points_of_figures("15"),
              {"threads": "{on}", "phase": "{phase}", "policy": "{runner}", "runs": "{rounds}", "gain": "{gain}", "with, s": "{with_text}",
               "without, s": "{plain_text}"}),
        Table("Oversubscription (table 1)",
              "From row to row, the same work is divided among more threads. The threads of a cpu together access "
              "4 MiB of memory.",
              points_of_figures("table1"),
              {"threads": "{on}", "phase": "{phase}", "runs": "{rounds}", "with, s": "{with_text}", "without, s": "{plain_text}",
               "gain": "{gain}", "theory": "{theory}"})]),
    "charm_cluster": ("Charm++ on hosts with slow links", [
        Table("Iterations of three programs", "Programs from the source tree of Charm++ 8 ran on four hosts, which are network namespaces, with two PEs each. Each host's "
              "network card sends and receives 10 Mbit/s. The objects sleep instead of computing. Every round runs all balancers. The programs measure "
              "their iterations themselves. The column `ms` has the mean time of an iteration after the second decision. The next column has this time divided by "
              "that with `PoiseLB` in the same round; if it is below 1, `PoiseLB` was slower. Both are medians over the rounds with their 95 % intervals.",
              on_slow_links,
              {"program": "{program}", "balancer": "{balancer}", "ms": "{ms}", "over PoiseLB": "{over}", "ended": "{ended}"})]),
    "charm": ("Charm++", [
        Table("On the papers' machines",
              "Each cell contains two numbers. The first is the number of objects that the balancer moved per "
              "decision, as the arithmetic mean over four decisions. The second is the time of an iteration in ms that the "
              "cost model `nuco` predicts. The loads and messages were recorded in a run of Charm++ on two PEs. Before "
              "the first decision, the objects are placed round-robin.", on_papers_machines,
              {"program": "{program}", "machine": "{machine}", **{name: f"{{{name}}}" for name in (
                  "none", "RefineLB", "GreedyCommLB", "ScotchLB", "NucoLB", "NumaLB", "TreeMatchTopoLB", "PoiseLB")}},
              nuco_beside_others),
        Table("Group by group", "A million chares ran once on eight PEs of a host with two cores.", where(part="million"),
              {"balancer": "{balancer}", "PEs that decide": "{deciders}", "decision, s": "{decision_s:.3f}", "balancing, s": "{balanced_s:.3f}"}),
        Table("Shared memory against a network", "Charm++ was built in two ways: the multicore build passes messages in shared memory, the network build through "
              "sockets. The table shows the time of an iteration in ms, with two PEs, as the median over the runs. According to a talk "
              "on NumaLB by Pilla et al., iterations on 16 and 32 cores take up to 90 % less time in shared memory than over "
              "sockets. These runs do not confirm that.",
              lambda whole: [row for row in where(part="network")(whole) if row["pes"] == 2],
              {"program": "`{program} {arguments}`", "multicore": "{median_ms[multicore]:.3f}", "network": "{median_ms[network]:.3f}"})]),
    "charm_peers": ("Charm++ 8's balancers on the same problems", [
        Table("Decisions of Poise's strategies and of Charm++'s balancers",
              "`poise generate` made the problems, which imitate the programs of table III of the NucoLB paper (Pilla et al. "
              "2012) and have as many objects as those programs. Charm++ 8.0.1's balancers decided in real runs, with the loads and messages of these problems. "
              "Each cell contains three numbers: how many objects move; the time of an iteration, in ms; and the time "
              "of ten iterations and the migration before them, in s. Both times are predictions by `poise compare`. "
              "`keep` moves nothing. The strategy `poise` expects ten iterations until the next decision. "
              "`poise:steps=1000` expects a thousand, so the cost of migrations hardly affects its decision; Charm++'s "
              "balancers ignore this cost. Some decisions of Charm++ differ from run to run, so the cells of its balancers are "
              "medians of five runs.", on_same_problems,
              {"program": "{program}", "machine": "{machine}", **{name: f"{{{name}}}" for name in (
                  "keep", "poise", "poise steps=1000", "nuco", "greedy_refine", "GreedyLB", "GreedyRefineLB", "RefineLB", "MetisLB", "RecBipartLB", "ScotchLB", "TreeLB",
                  "DistributedLB")}}),
        Table("Poise's strategies against Charm++'s balancers",
              "A case is a program on a machine: a row of the table above. In each case, the predicted time with a "
              "strategy of Poise is divided by that with the best of Charm++'s balancers, or by that with "
              "GreedyRefineLB. A ratio below 1 means that Poise's time is shorter.", ours_beside_charm,
              {"strategy": "`{strategy}`", "compared time": "{time}", "compared with": "{peer}", "median ratio": "{median:.3f}", "largest ratio": "{worst:.3f}",
               "cases": "{cases}", "with a longer time": "{lost}"})]),
    "library": ("Calls of the library", [
        Table("A call from C and from Python beside one from C++",
              "Each call runs in its own process and decides once about 1,000,000 tasks with 6,000,000 messages. The "
              "CPU time covers everything from the program's arrays to the place of each task. A ratio is the call's "
              "value divided by that of the C++ call in the same round; the table shows medians, with 95 % confidence "
              "intervals. Calls from C and Python use libpoise, which asks the kernel for huge pages; the C++ program does not ask for "
              "them. So if a strategy computes little, its C++ call is slower than the other two.",
              lambda whole: whole["results"],
              {"from": "{caller}", "strategy": "`{strategy}`", "rounds": "{rounds}", "CPU time, s": "{cpu_s:.3f}",
               "CPU over C++": "{cpu_s_over_cpp[0]:.3f} [{cpu_s_over_cpp[1]:.3f}, {cpu_s_over_cpp[2]:.3f}]",
               "memory, MB": "{megabytes:.0f}", "memory over C++": "{megabytes_over_cpp[0]:.3f}"})]),
    "distributed": ("Decisions by all ranks", [
        Table("Memory", "Ranks are MPI processes. The table shows by how much the memory of a process grew during the decision, for the "
              "process whose memory grew most. The bound is the memory that a rank may need: 8 MB, 200 bytes per task of its own, "
              "32 bytes per message, and 64 bytes per task of another rank with which its tasks communicate. Each task sends messages to the tasks just before and just after it in the numbering.", where(name="memory"),
              {"ranks": "{ranks}", "tasks per rank": "{tasks_per_rank:,}", "messages per task": "{messages_per_task}", "MB": "{megabytes:.1f}",
               "bound, MB": "{bound_megabytes:.1f}"}),
        Table("Beside one rank's decision", "A central decision is made by one rank; the table compares it with a decision that all ranks make together. Here the "
              "ranks are threads of one process. CPU times do not include communication functions. The cost of a placement is the "
              "predicted time of 10 steps, plus that of the migrations before them. `cost over central` is the cost of the "
              "placement by all ranks divided by the cost of the central one; `over keeping` is the same cost divided by the cost "
              "of keeping the placement.", costs_of_all_ranks,
              {"workload": "`{recipe}`", "tasks": "{tasks:,}", "ranks": "{ranks}", "central, CPU s": "{central_cpu_s:.2f}", "all ranks, CPU s": "{cpu_s:.2f}",
               "busiest rank, CPU s": "{busiest_rank_cpu_s:.2f}", "cost over central": "{cost_over_central:.3f}", "over keeping": "{cost_over_keeping:.3f}",
               "collectives": "{collectives}"}),
        Table("Beside Zoltan and PT-Scotch", "Ranks are MPI processes, which compute the placement together. The tools are Poise, Zoltan's PHG in repartition mode, and "
              "PT-Scotch's `ParMETIS_V3_PartKway`, which ignores where tasks are. `seconds` is the time of the slowest "
              "rank: the median over rounds and its 95 % interval. `over Poise` is this time divided by that of Poise "
              "in the same round, also with its interval. `over keeping` is the predicted time of 10 steps "
              "and of the migrations, divided by that of 10 steps at the current placement.", where(name="peer"),
              {"workload": "`{recipe}`", "tasks": "{tasks:,}", "ranks": "{ranks}", "tool": "{tool}",
               "seconds": "{seconds[0]:.3f} ({seconds[1]:.3f}–{seconds[2]:.3f})",
               "over Poise": "{seconds_over_poise[0]:.2f} ({seconds_over_poise[1]:.2f}–{seconds_over_poise[2]:.2f})",
               "over keeping": "{cost_over_keeping:.3f}", "tasks moved": "{moved:.1%}"})]),
    "profile": ("What `poise profile` adds to a call", [
        Table("Nanoseconds a call", "The table shows the time that `poise profile` and other tools add to an MPI call: the median over "
              "the runs, and the worst run.", profiled_calls,
              {"MPI": "{mpi}", "tool": "{tool}", "call": "`{call}`", "plain": "{plain_ns:.0f}", "added, median": "{added_ns:.0f}", "worst": "{added_max_ns:.0f}"}),
        Table("Slow-down", "A program computes for about 50 µs between two MPI calls. The table shows how much "
              "longer its loop takes under each tool: the median over pairs of runs, and its 95 % interval.", profiled_programs,
              {"MPI": "{mpi}", "tool": "{tool}", "calls per second": "{calls_per_s:,}", "slow-down": "{slow}"})]),
    **{name: (heading, [Table("CPU time", "The CPU time of each benchmark was measured once, so small differences are noise.", where(), {"benchmark": "`{name}`", "CPU time": "{cpu_time:,.4g} {time_unit}"})])
       for name, heading in [("trace", "Reading and writing traces"), ("generate", "Generators"), ("recorder", "Recording"),
                             ("machine", "Machines: building and asking")]},
    "full_test": ("Tests of the full tier", [
        Table("Last result of each part", "`./dev test full PART…` runs single parts. A test that measures time is repeated once if it fails; `second try` "
              "names the tests that failed at first and passed when repeated.", tested_parts,
              {"part": "`{part}`", "runs": "{runs}", "passed": "{passed}", "failed": "{failed}", "skipped": "{skipped}", "seconds": "{seconds:,}",
               "of it building": "{build_s:,}", "failures": "{failures}", "second try": "{second_tries}"}, parts_without_result)]),
}
