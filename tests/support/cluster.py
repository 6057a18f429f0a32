#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""A cluster on one machine: hosts that are network namespaces, in racks joined by a network.

    tests/support/cluster.py --racks 2,2 --near 1ms --far 5ms -- mpirun -np 8 build/bin/leanmd

COMMAND runs on the first host, node1. If COMMAND contains an mpirun of Open MPI or an mpiexec of MPICH, this
launcher finds the hosts by itself. Ranks of one host communicate through shared memory (under MPICH also by TCP),
ranks of different hosts by TCP through the network. The kernel limits the bandwidth of each host's network card
and of each rack's uplink, in both directions. A process delays the messages, unless --near and --far are 0s
(cluster_network.py). Bandwidths count whole Ethernet frames of up to 9,014 bytes. `./dev bench cluster` measures
by how much real bandwidths differ from the given ones: by up to 3 % at 100 Mbit/s, and without delays also at 200
Mbit/s.

All processes and network devices live in namespaces that end with this program, so nothing is left
of them even if this program is killed. Exit status: that of COMMAND; 77 where namespaces need more
privileges.
"""
import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import cluster_network

NO_PRIVILEGES = 77
# This environment variable tells this script that it already runs inside the namespaces and must not create them.
INSIDE = "POISE_CLUSTER_INSIDE"
PR_SET_PDEATHSIG = 1
LIBC = cluster_network.LIBC


def seconds(text):
    match = re.fullmatch(r"([0-9.]+)(us|ms|s)", text)
    if not match:
        raise argparse.ArgumentTypeError(f'"{text}" is not a time such as 500us or 2ms')
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[match[2]]


def bits_per_second(text):
    match = re.fullmatch(r"([0-9.]+)(mbit|gbit)", text)
    if not match:
        raise argparse.ArgumentTypeError(f'"{text}" is not a rate such as 100mbit or 1gbit')
    return float(match[1]) * {"mbit": 1e6, "gbit": 1e9}[match[2]]


def hosts_of_racks(text):
    racks = [int(count) for count in text.split(",") if count.isdigit()]
    if len(racks) != len(text.split(",")) or not 1 <= sum(racks) <= 200:
        raise argparse.ArgumentTypeError(f'"{text}" is not a list of hosts per rack such as 2,2')
    return racks


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--racks", type=hosts_of_racks, default=[2, 2], metavar="N,N,…",
                        help="hosts in each rack (default: 2,2)")
    parser.add_argument("--slots", type=int, default=2, help="ranks per host (default: 2)")
    parser.add_argument("--near", type=seconds, default=1e-3, metavar="TIME",
                        help="one way between hosts of a rack (default: 1ms; 0s for both: no process delays)")
    parser.add_argument("--far", type=seconds, default=5e-3, metavar="TIME",
                        help="one way between racks (default: 5ms)")
    parser.add_argument("--rate", type=bits_per_second, default=1e9,
                        help="what a host's card can send (default: 1gbit)")
    parser.add_argument("--rate-in", type=bits_per_second, metavar="RATE",
                        help="what a host's card can receive (default: as --rate)")
    parser.add_argument("--uplink", type=bits_per_second, metavar="RATE",
                        help="what a rack can send to the others, and receive (default: no limit)")
    parser.add_argument("--report", metavar="FILE",
                        help="write there, as JSON, the bytes from each host to each")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    return parser.parse_args()


# ---- the hosts

def run(*command):
    subprocess.run(command, check=True)


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def environment_for(names, slots):
    """Returns the variables that tell Open MPI and MPICH on which hosts to start ranks, and how to reach them.
    Variables that are already set stay."""
    write("/run/enter", "#!/bin/sh\n"
          "while [ \"${1#-}\" != \"$1\" ]; do shift; done  # what ssh would be told\n"
          "host=$1; shift\n"
          'exec nsenter --net="/run/netns/$host" unshare --uts --mount '
          'sh -c "mount -t sysfs none /sys; echo $host > /proc/sys/kernel/hostname; $*"\n', 0o755)
    write("/run/hosts", "".join(f"{name} slots={slots}\n" for name in names))
    write("/run/hosts.mpich", "".join(f"{name}:{slots}\n" for name in names))
    os.makedirs("/run/tmp")
    settings = {
        "plm_rsh_agent": "/run/enter", "orte_default_hostfile": "/run/hosts",
        "orte_tmpdir_base": "/run/tmp", "oob_tcp_if_include": "wire",
        "btl_tcp_if_include": "wire", "btl": "self,vader,tcp", "pml": "ob1",
        "hwloc_base_binding_policy": "none", "mpi_yield_when_idle": "1",
    }
    mpich = {
        "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "/run/enter",
        "HYDRA_HOST_FILE": "/run/hosts.mpich", "HYDRA_IFACE": "wire", "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "wire",
    }
    return {**{f"OMPI_MCA_{name}": value for name, value in settings.items()}, **mpich, **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def end_of(pid):
    """Returns the exit status of a child. Also reaps orphaned processes that end meanwhile."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def inside(options):
    run("mount", "-t", "tmpfs", "none", "/run")
    run("mount", "-t", "tmpfs", "none", "/dev/shm")
    os.makedirs("/run/netns")
    racks = [rack for rack, hosts in enumerate(options.racks) for _ in range(hosts)]
    names = [f"node{number}" for number in range(1, len(racks) + 1)]
    cluster_network.connect(names, racks, options.near, options.far, options.rate,
                            options.rate_in or options.rate, options.uplink, bool(options.report))
    addresses = "".join(f"{cluster_network.address_of(number)} {name}\n"
                        for number, name in enumerate(names, 1))
    write("/run/names", "127.0.0.1 localhost\n" + addresses)
    run("mount", "--bind", "/run/names", "/etc/hosts")
    environment = environment_for(names, options.slots)
    command = ["/run/enter", names[0], shlex.join(options.command)]
    status = end_of(subprocess.Popen(command, env=environment).pid)
    if options.report:
        rows = cluster_network.counted_bytes(len(names))
        write(options.report, json.dumps({"hosts": names, "racks": racks, "bytes": rows}) + "\n")
    return status if status >= 0 else 128 - status


# ---- functions that run outside the cluster: they create its namespaces, which end with this process

def missing(options):
    """Returns a text that says what this machine lacks to simulate a cluster, or an empty text if it lacks nothing."""
    if options.near + options.far > 0 and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun cannot be opened"
    for program in ("ip", "tc", "unshare", "nsenter"):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"there is no program {program}"
    tried = subprocess.run(["unshare", "--net", "--mount", "--uts", "--pid", "--fork",
                            "mount", "-t", "tmpfs", "none", "/run"],
                           capture_output=True, text=True)
    return tried.stderr.strip()


def outside(options):
    trouble = missing(options)
    if trouble:
        print(f"cluster: skipped, no namespaces here: {trouble}", file=sys.stderr)
        return NO_PRIVILEGES
    child = subprocess.Popen(
        ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child",
         "--mount-proc", sys.executable, *sys.argv],
        env={**os.environ, INSIDE: "1"},
        preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: child.kill())
    status = child.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    arguments = parse_arguments()
    sys.exit(inside(arguments) if os.environ.pop(INSIDE, "") else outside(arguments))
