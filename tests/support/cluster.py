#!/usr/bin/env python3
"""A cluster on one machine: hosts that are network namespaces, and a wire between them.

    tests/support/cluster.py --racks 2,2 --near 1ms --far 5ms -- mpirun -np 8 build/bin/leanmd

COMMAND runs on the first host, node1. An mpirun of Open MPI or an mpiexec of MPICH in it finds the
hosts by itself; ranks of one host talk through shared memory (MPICH's by TCP, too), others by TCP
through the wire. The wire is a program (a
kernel need not have netem): it holds every packet back for the time its way takes, near inside a
rack and far between racks, sends no faster than --rate, and counts the bytes.

Everything lives in namespaces of its own, processes as well, so nothing is left when this program
ends, however it ends. Exit status: that of COMMAND; 77 where namespaces need more privileges.
"""
import argparse
import ctypes
import fcntl
import heapq
import json
import mmap
import os
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import time

NO_PRIVILEGES = 77
INSIDE = "POISE_CLUSTER_INSIDE"  # set inside the namespaces, where they need not be made again
CLONE_NEWNET, PR_SET_PDEATHSIG, PR_SET_TIMERSLACK = 0x40000000, 1, 29
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
MTU = 32000  # large packets: the emulated wire costs CPU time per packet
LIBC = ctypes.CDLL(None, use_errno=True)


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
                        help="one way between hosts of a rack (default: 1ms)")
    parser.add_argument("--far", type=seconds, default=5e-3, metavar="TIME",
                        help="one way between racks (default: 5ms)")
    parser.add_argument("--rate", type=bits_per_second, default=1e9,
                        help="what a host can send (default: 1gbit)")
    parser.add_argument("--report", metavar="FILE",
                        help="write there, as JSON, the bytes from each host to each")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    return parser.parse_args()


# ---- the wire

def device_in(namespace):
    """The file through which the IP packets of a host come and go."""
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(namespace, os.O_RDONLY)
    LIBC.setns(there, CLONE_NEWNET)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"wire", IFF_TUN | IFF_NO_PI))
    LIBC.setns(own, CLONE_NEWNET)
    os.close(own)
    os.close(there)
    return device


class Wire:
    def __init__(self, devices, delay_s, bits_per_s, counted):
        self.devices, self.delay_s, self.counted = devices, delay_s, counted
        self.s_per_byte = 8 / bits_per_s
        self.free_at = [0.0] * len(devices)  # when each host's link has sent what it has
        self.under_way = []  # (due, number, to, packet)
        self.number = 0

    def take(self, source):
        try:
            packet = os.read(self.devices[source], 1 << 16)
        except BlockingIOError:
            return False
        to = packet[19] - 1 if packet[0] >> 4 == 4 else -1
        if not 0 <= to < len(self.devices):
            return True
        self.counted[source * len(self.devices) + to] += len(packet)
        sent_at = max(time.monotonic(), self.free_at[source]) + len(packet) * self.s_per_byte
        self.free_at[source] = sent_at
        self.number += 1
        heapq.heappush(self.under_way,
                       (sent_at + self.delay_s[source][to], self.number, to, packet))
        return True

    def deliver(self):
        now = time.monotonic()
        while self.under_way and self.under_way[0][0] <= now:
            _, _, to, packet = heapq.heappop(self.under_way)
            try:
                os.write(self.devices[to], packet)
            except OSError:
                pass  # a lost packet is TCP's affair

    def run(self):
        source_of = {device: source for source, device in enumerate(self.devices)}
        while True:
            wait = max(0, self.under_way[0][0] - time.monotonic()) if self.under_way else None
            readable, _, _ = select.select(self.devices, [], [], wait)
            for device in readable:
                while self.take(source_of[device]):
                    self.deliver()
            self.deliver()


def start_wire(devices, racks, options):
    """A child that is the wire, and where it counts: [from * hosts + to], bytes."""
    hosts = len(devices)
    counted = memoryview(mmap.mmap(-1, 8 * hosts * hosts)).cast("Q")
    delay_s = [[options.near if racks[a] == racks[b] else options.far for b in range(hosts)]
               for a in range(hosts)]
    if os.fork() == 0:
        LIBC.prctl(PR_SET_TIMERSLACK, 1)
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # late packets tell nothing
        except OSError:
            pass
        Wire(devices, delay_s, options.rate, counted).run()
    return counted


# ---- the hosts

def run(*command):
    subprocess.run(command, check=True)


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def make_hosts(names):
    """A network namespace each, joined by the wire. Returns the wire's ends."""
    devices = []
    for number, name in enumerate(names, 1):
        run("ip", "netns", "add", name)
        devices.append(device_in(f"/run/netns/{name}"))
        ip = ["ip", "-n", name]
        run(*ip, "link", "set", "lo", "up")
        run(*ip, "address", "add", f"10.77.0.{number}/24", "dev", "wire")
        run(*ip, "link", "set", "wire", "mtu", str(MTU), "up")
    return devices


def environment_for(names, slots):
    """What tells Open MPI and MPICH where their hosts are, and how they are reached. Settings that
    are there already stay."""
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
    """The exit status of a child; orphans that end meanwhile are laid to rest."""
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
    devices = make_hosts(names)
    addresses = "".join(f"10.77.0.{number} {name}\n" for number, name in enumerate(names, 1))
    write("/run/names", "127.0.0.1 localhost\n" + addresses)
    run("mount", "--bind", "/run/names", "/etc/hosts")
    counted = start_wire(devices, racks, options)
    environment = environment_for(names, options.slots)
    command = ["/run/enter", names[0], shlex.join(options.command)]
    status = end_of(subprocess.Popen(command, env=environment).pid)
    if options.report:
        hosts = len(names)
        rows = [list(counted[host * hosts:(host + 1) * hosts]) for host in range(hosts)]
        write(options.report, json.dumps({"hosts": names, "racks": racks, "bytes": rows}) + "\n")
    return status if status >= 0 else 128 - status


# ---- outside: into namespaces that end with this process

def missing():
    """What keeps this machine from being a cluster, or nothing."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun cannot be opened"
    for program in ("ip", "unshare", "nsenter"):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"there is no program {program}"
    tried = subprocess.run(["unshare", "--net", "--mount", "--uts", "--pid", "--fork",
                            "mount", "-t", "tmpfs", "none", "/run"],
                           capture_output=True, text=True)
    return tried.stderr.strip()


def outside():
    trouble = missing()
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
    sys.exit(inside(arguments) if os.environ.pop(INSIDE, "") else outside())
