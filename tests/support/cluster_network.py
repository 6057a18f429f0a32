# SPDX-License-Identifier: BSD-3-Clause

"""The network of a cluster of namespaces: cards, switches of racks, and a spine between them.

    node1 --wire==port1-- rack0 --up0==down0-- spine --down1==up1-- rack1 --port3==wire-- node3

The kernel limits bandwidth by token bucket filters (tbf). The filter on `wire` limits what a card sends, the
one on `port` what a card receives, the one on `up` what a rack sends to the spine, and the one on `down` what
a rack receives from it. Each filter's queue is large enough for everything that TCP sends, so no packet is
lost, and a link never idles while bytes are queued.

Without delays, wire and port are the two ends of a veth pair. With delays they are two tap devices, and a process
carries the frames between them: it delays a frame from wire to port by the latency of the frame's path, and a
frame from port to wire not at all.
"""

import ctypes
import fcntl
import heapq
import json
import os
import select
import struct
import subprocess
import time

CLONE_NEWNET, PR_SET_TIMERSLACK = 0x40000000, 29
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
MTU, ETHERNET_BYTES, TCP_IP_BYTES = 9000, 14, 52  # 52 is the size of the IPv4 and TCP headers with time stamps
FRAME_BYTES = MTU + ETHERNET_BYTES
PAYLOAD_SHARE = (MTU - TCP_IP_BYTES) / FRAME_BYTES  # fraction of a link's bandwidth left for payload if frames are full
QUEUE_BYTES = 1 << 30  # size of a link's queue: more than all sockets can have in flight
# The kernel may wake up late by up to BURST_S to send the next frame. To make up for that, a link may then send, in one
# burst, as many bytes as its rate allows in BURST_S, and at least two frames.
BURST_S = 0.5e-3
LIBC = ctypes.CDLL(None, use_errno=True)

# Settings with which TCP fills a link from the first byte, as in the networks of clusters: windows are larger than the
# queues, there is no pacing, and no timer expires while a packet waits in a long queue.
TCP_SETTINGS = {
    "ipv4/tcp_congestion_control": "reno", "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_no_metrics_save": "1", "ipv4/tcp_early_retrans": "0",
    "ipv4/tcp_limit_output_bytes": "131072",  # otherwise a socket could queue a whole message ahead of other sockets
    "ipv4/tcp_rmem": "4096 16777216 33554432", "ipv4/tcp_wmem": "4096 4194304 16777216",
    "ipv6/conf/all/disable_ipv6": "1", "ipv6/conf/default/disable_ipv6": "1",
}
ROUTE = "initcwnd 2000 initrwnd 2000 rto_min 5s"


def batch(program, lines, namespace=None):
    """Runs several commands of the program ip or tc in one process."""
    where = ["-n", namespace] if namespace else []
    subprocess.run([program, *where, "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True,
                   timeout=300)


def address_of(number):
    return f"10.77.0.{number}"


def hardware_address_of(number):
    return f"02:00:00:00:00:{number:02x}"


def shaped(device, bits_per_s):
    """Returns the command for tc that limits the rate at which a device sends."""
    burst = max(2 * FRAME_BYTES, int(bits_per_s / 8 * BURST_S))
    return f"qdisc add dev {device} root tbf rate {bits_per_s:.0f}bit burst {burst} limit {QUEUE_BYTES}"


class inside:
    """Enters the network namespace of a host for the duration of the block."""

    def __init__(self, namespace):
        self.path = f"/run/netns/{namespace}"

    def __enter__(self):
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(self.path, os.O_RDONLY)
        if LIBC.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {self.path}")
        os.close(there)

    def __exit__(self, *_):
        LIBC.setns(self.own, CLONE_NEWNET)
        os.close(self.own)


def tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def tune_tcp():
    for name, value in TCP_SETTINGS.items():
        try:
            with open(f"/proc/sys/net/{name}", "w", encoding="ascii") as file:
                file.write(value)
        except FileNotFoundError:
            pass  # a kernel without IPv6 lacks the settings for it


# ---- the process that delays messages

class Delay:
    """Carries frames between tap devices: `wires` are the devices of the hosts, and `ports` are the devices of the
    switches to which the hosts are connected."""

    def __init__(self, wires, ports, delay_s):
        self.wires, self.ports, self.delay_s = wires, ports, delay_s
        self.in_flight = []  # heap of (time to deliver, sequence number, device, frame)
        self.number = 0

    def send_later(self, source):
        frame = os.read(self.wires[source], 1 << 16)
        to = frame[5] - 1 if frame[0] == 2 else source  # otherwise the frame is an ARP request, a broadcast
        delay_s = self.delay_s[source][to] if to < len(self.wires) else 0
        self.number += 1
        heapq.heappush(self.in_flight, (time.monotonic() + delay_s, self.number, self.ports[source], frame))

    def hand_over(self, source):
        self.write(self.wires[source], os.read(self.ports[source], 1 << 16))

    def write(self, device, frame):
        try:
            os.write(device, frame)
        except OSError:
            pass  # TCP sends a lost packet again

    def deliver(self):
        now = time.monotonic()
        while self.in_flight and self.in_flight[0][0] <= now:
            _, _, device, frame = heapq.heappop(self.in_flight)
            self.write(device, frame)

    def run(self):
        takers = {device: (self.send_later, host) for host, device in enumerate(self.wires)}
        takers.update({device: (self.hand_over, host) for host, device in enumerate(self.ports)})
        while True:
            wait = max(0, self.in_flight[0][0] - time.monotonic()) if self.in_flight else None
            readable, _, _ = select.select(list(takers), [], [], wait)
            for device in readable:
                take, host = takers[device]
                try:
                    while True:
                        take(host)
                        self.deliver()
                except BlockingIOError:
                    pass
            self.deliver()


def start_delay(wires, ports, racks, near_s, far_s):
    hosts = range(len(racks))
    delay_s = [[near_s if racks[a] == racks[b] else far_s for b in hosts] for a in hosts]
    if os.fork() == 0:
        LIBC.prctl(PR_SET_TIMERSLACK, 1)
        try:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # otherwise packets arrive late
        except OSError:
            pass
        try:
            Delay(wires, ports, delay_s).run()
        finally:
            os._exit(1)


# ---- switches and hosts

def connect_racks(racks, uplink_bits_per_s):
    """Makes a bridge per rack and, if there are several racks, one more between them."""
    bridge = "type bridge stp_state 0 mcast_snooping 0"
    lines, limits = [], []
    several = max(racks) > 0
    if several:
        lines += [f"link add spine {bridge}", f"link set spine mtu {MTU} up"]
    for rack in sorted(set(racks)):
        lines += [f"link add rack{rack} {bridge}", f"link set rack{rack} mtu {MTU} up"]
        if several:
            lines += [f"link add up{rack} mtu {MTU} type veth peer name down{rack} mtu {MTU}",
                      f"link set up{rack} master rack{rack} up", f"link set down{rack} master spine up"]
        if several and uplink_bits_per_s:
            limits += [shaped(f"up{rack}", uplink_bits_per_s), shaped(f"down{rack}", uplink_bits_per_s)]
    batch("ip", lines)
    if limits:
        batch("tc", limits)


def connect_host(name, number, rack, delayed):
    """Connects a host to its switch. If messages are delayed, returns the two tap devices, wire and port, else None."""
    subprocess.run(["ip", "netns", "add", name], check=True, timeout=300)
    taps = None
    if delayed:
        with inside(name):
            wire = tap("wire")
        taps = wire, tap(f"port{number}")
    else:
        batch("ip", [f"link add port{number} type veth peer name wire netns {name}"])
    batch("ip", [f"link set port{number} mtu {MTU} master rack{rack} up"])
    with inside(name):
        tune_tcp()
    batch("ip", ["link set lo up", f"link set wire address {hardware_address_of(number)} mtu {MTU} up",
                 f"address add {address_of(number)}/24 dev wire noprefixroute",
                 f"route add {address_of(0)}/24 dev wire src {address_of(number)} {ROUTE}"], name)
    return taps


def connect(names, racks, near_s, far_s, out_bits_per_s, in_bits_per_s, uplink_bits_per_s, counted):
    """Creates the hosts and connects them as the options say. The rate of the uplink may be None, which means no
    limit."""
    tune_tcp()
    connect_racks(racks, uplink_bits_per_s)
    delayed = near_s > 0 or far_s > 0
    taps = []
    for number, (name, rack) in enumerate(zip(names, racks), 1):
        taps.append(connect_host(name, number, rack, delayed))
        batch("tc", [shaped("wire", out_bits_per_s)], name)
        batch("tc", [shaped(f"port{number}", in_bits_per_s)])
    if counted:
        count_bytes(len(names))
    if delayed:
        start_delay([wire for wire, _ in taps], [port for _, port in taps], racks, near_s, far_s)


# ---- the bytes that each host sent to each other host

def count_bytes(hosts):
    """Counts the bytes that each host sends to each other host. For each pair of hosts, a filter of tc counts the
    packets. The filter also mirrors them to a dummy device, because some kernels support no other action."""
    batch("ip", ["link add nowhere type veth peer name end", "link set nowhere up"])
    lines = []
    for source in range(hosts):
        port = f"port{source + 1}"
        lines.append(f"qdisc add dev {port} ingress")
        for to in range(hosts):
            lines.append(f"filter add dev {port} parent ffff: protocol ip prio 1 u32 match ip dst "
                         f"{address_of(to + 1)}/32 action mirred egress mirror "
                         f"index {source * hosts + to + 1} dev nowhere")
    batch("tc", lines)


def counted_bytes(hosts):
    """Returns the rows of a matrix: the bytes of the IP packets from each host to each other host."""
    listed = subprocess.run(["tc", "-s", "-j", "actions", "list", "action", "mirred"], capture_output=True,
                            text=True, check=True, timeout=300).stdout
    rows = [[0] * hosts for _ in range(hosts)]
    for part in json.loads(listed):
        for action in part.get("actions", []):
            pair = action["index"] - 1
            rows[pair // hosts][pair % hosts] = action["stats"]["bytes"]
    return rows
