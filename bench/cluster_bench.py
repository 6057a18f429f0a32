#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures how exactly tests/support/cluster.py limits the links between emulated hosts: times messages over TCP whose
nominal time follows from the rates of the links.

Each case is a set of streams that start together. Each stream sends one message. The nominal time is the time of the
busiest link (its bytes divided by its rate) plus the longest delay. Links transfer frames: a message of b
bytes takes b / 0.9927 bytes of them. For each case the benchmark prints the relative error of the measured time: the
median over the repeats, with its 95 % interval. With --check P, a case whose median error exceeds P % is measured
again, up to three times in all; if its error still exceeds P %, the exit status is 1. This benchmark needs root, and
exits with status 77 if the system has no namespaces."""

import argparse
import contextlib
import json
import os
import pathlib
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from intervals import median_interval
from keep import ROOT, keep

sys.path.insert(0, str(ROOT / "tests" / "support"))
import cluster_network  # noqa: E402
from cluster import seconds  # noqa: E402

CLUSTER = ROOT / "tests" / "support" / "cluster.py"
INSIDE = "POISE_CLUSTER_BENCH_INSIDE"
SKIPPED, TRIES = 77, 3
TIMEOUT_S = 60  # of one message
MBIT = 1e6
# Hosts 0 to 3 are in rack 0, hosts 4 to 7 in rack 1, and hosts 8 to 11 in rack 2. Rates are in Mbit/s: "out" and "in"
# for what the network card of a host sends and receives, "uplink" for the link between a rack and the spine.
CLUSTERS = {
    "equal cards": {"out": 100, "in": 100, "uplink": 150},
    "slow receivers": {"out": 100, "in": 60, "uplink": 1000},
    "fast network": {"out": 200, "in": 200, "uplink": 300},
}
CASES = {  # streams: (from, to)
    "one stream": [(0, 1)],
    "one stream, rack to rack": [(0, 4)],
    "2 to 1": [(1, 0), (2, 0)],
    "1 to 2": [(0, 1), (0, 2)],
    "both ways": [(0, 1), (1, 0)],
    "ring of a rack": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "rack to rack, 2 pairs": [(0, 4), (1, 5)],
    "rack to rack, 3 pairs": [(0, 4), (1, 5), (2, 6)],
    "rack to rack, 4 pairs": [(0, 4), (1, 5), (2, 6), (3, 7)],
    "two racks to one": [(0, 8), (1, 9), (4, 10), (5, 11)],
    "one rack to two": [(0, 4), (1, 5), (2, 8), (3, 9)],
    "3 pairs and 1 inside": [(0, 4), (1, 5), (2, 6), (3, 2)],
}


def links_of(stream):
    """Returns the links that a stream crosses, each as (kind, host or rack)."""
    sender, receiver = stream
    links = [("out", sender), ("in", receiver)]
    if sender // 4 != receiver // 4:
        links += [("uplink", f"up {sender // 4}"), ("uplink", f"down {receiver // 4}")]
    return links


def nominal_s(streams, message_bytes, rates, delays_s):
    crossing = {}
    for stream in streams:
        for link in links_of(stream):
            crossing[link] = crossing.get(link, 0) + 1
    frames_bits = 8 * message_bytes / cluster_network.PAYLOAD_SHARE
    busiest_s = max(count * frames_bits / (rates[link[0]] * MBIT) for link, count in crossing.items())
    return busiest_s + max(delays_s[sender // 4 != receiver // 4] for sender, receiver in streams)


# ---- functions that run inside the cluster and send messages between its hosts

def connected(sender, receiver):
    """Returns both ends of a connection between two hosts."""
    with cluster_network.inside(f"node{receiver + 1}"):
        listening = socket.create_server((cluster_network.address_of(receiver + 1), 0))
    with cluster_network.inside(f"node{sender + 1}"):
        out = socket.create_connection(listening.getsockname(), timeout=TIMEOUT_S)
    into, _ = listening.accept()
    listening.close()
    for end in (out, into):
        end.settimeout(TIMEOUT_S)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return out, into


def receive(socket_, message_bytes):
    buffer = memoryview(bytearray(1 << 20))
    while message_bytes > 0:
        got = socket_.recv_into(buffer, min(len(buffer), message_bytes))
        if got == 0:
            raise OSError("the sender closed the connection")
        message_bytes -= got


def in_child(action):
    """Calls a function in a process of its own. Returns a file from which its result, a float, can be read."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.write(writing, repr(action()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    return reading


def result_of(reading):
    ready, _, _ = select.select([reading], [], [], TIMEOUT_S)
    text = os.read(reading, 100) if ready else b""
    os.close(reading)
    os.wait()
    if not text:
        raise OSError("a stream ended early or took longer than its time-out")
    return float(text)


def time_of(ends, message_bytes):
    """Returns the seconds from the common start to the last byte of the last stream."""
    start = time.monotonic() + 0.05
    message = bytes(message_bytes)

    def send(out):
        time.sleep(max(0, start - time.monotonic()))
        out.sendall(message)
        return 0.0

    def await_last_byte(into):
        receive(into, message_bytes)
        return time.monotonic()

    readings = [in_child(lambda into=into: await_last_byte(into)) for _, into in ends]
    readings += [in_child(lambda out=out: send(out)) for out, _ in ends]
    return max(map(result_of, readings)) - start


def measure_inside(wanted):
    """Prints the seconds of all repeats, one line per case. To warm up the connections, every case begins with one
    message per connection whose time is not measured. This process has real-time priority if allowed, because time
    spent waiting for a core is not a property of the network."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    for name in wanted["cases"]:
        ends = [connected(*stream) for stream in CASES[name]]
        time_of(ends, wanted["message_bytes"])
        seconds = [time_of(ends, wanted["message_bytes"]) for _ in range(wanted["repeats"])]
        for pair in ends:
            for end in pair:
                end.close()
        print(json.dumps({"case": name, "seconds": seconds}), flush=True)


# ---- outside

def measure(rates, delays, cases, message_bytes, repeats):
    """Returns {case: seconds of its repeats}, on a cluster with these rates."""
    wanted = json.dumps({"cases": cases, "message_bytes": message_bytes, "repeats": repeats})
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            [sys.executable, CLUSTER, "--racks", "4,4,4", "--near", delays[0], "--far", delays[1],
             "--rate", f"{rates['out']}mbit", "--rate-in", f"{rates['in']}mbit",
             "--uplink", f"{rates['uplink']}mbit", "--", sys.executable, pathlib.Path(__file__).resolve()],
            env={**os.environ, INSIDE: wanted}, stdout=output, timeout=60 + 3 * repeats * len(cases), check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        output.seek(0)
        return {row["case"]: row["seconds"] for row in map(json.loads, output)}


def errors_of(seconds, nominal):
    return [measured_s / nominal - 1 for measured_s in seconds]


def rows_of(cluster, delays, options):
    rates, message_bytes = CLUSTERS[cluster], int(options.megabytes * 1e6)
    delays_s = list(map(seconds, delays))
    measured = measure(rates, delays, list(CASES), message_bytes, options.repeats)
    for name, taken_s in measured.items():
        nominal = nominal_s(CASES[name], message_bytes, rates, delays_s)
        errors, tries = errors_of(taken_s, nominal), 1
        while options.check and abs(statistics.median(errors)) > options.check / 100 and tries < TRIES:
            again = measure(rates, delays, [name], message_bytes, options.repeats)
            errors, tries = errors_of(again[name], nominal), tries + 1
        median, low, high = median_interval(errors)
        yield {"cluster": cluster, "delays": list(delays), **{f"{key}_mbit": rate for key, rate in rates.items()},
               "case": name, "message_mb": options.megabytes, "repeats": options.repeats, "tries": tries,
               "nominal_s": nominal,
               "error": median, "error_interval": [low, high]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--megabytes", type=float, default=4, help="of a message (default: 4)")
    parser.add_argument("--clusters", nargs="+", default=list(CLUSTERS), choices=list(CLUSTERS))
    parser.add_argument("--delays", nargs=2, metavar=("NEAR", "FAR"), help="default: none, then 1ms 3ms")
    parser.add_argument("--check", type=float, metavar="P", help="fail above P %% of error, keep nothing")
    options = parser.parse_args()
    rows = []
    for delays in [tuple(options.delays)] if options.delays else [("0s", "0s"), ("1ms", "3ms")]:
        for cluster in options.clusters:
            print(f"{cluster}, delays {delays[0]} and {delays[1]}: error of the time", flush=True)
            for row in rows_of(cluster, delays, options):
                low, high = row["error_interval"]
                print(f"  {row['case']:<26}{row['error']:>+8.2%}  [{low:+.2%}, {high:+.2%}]", flush=True)
                rows.append(row)
    worst = max(rows, key=lambda row: abs(row["error"]))
    print(f"worst: {worst['error']:+.2%}, {worst['cluster']}, {worst['case']}")
    if options.check:
        return int(abs(worst["error"]) > options.check / 100)
    is_partial = options.delays or options.clusters != list(CLUSTERS)
    keep("cluster", rows, key=("cluster", "delays") if is_partial else None)
    return 0


if __name__ == "__main__":
    if INSIDE in os.environ:
        measure_inside(json.loads(os.environ[INSIDE]))
    else:
        sys.exit(main())
