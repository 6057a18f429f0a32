# SPDX-License-Identifier: BSD-3-Clause

"""Emulates a machine with several memory domains, which runs Debian's kernel, Poise's programs and a shell script. Needs
qemu and busybox. The kernel is downloaded with apt once and kept outside the source tree."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "poise"
MEMORY_MIB = 192  # of a domain
# Distances between four domains in a square: 1 to itself, 2 to a neighbour, 3 across.
DISTANCES = [[10, 20, 20, 30], [20, 10, 30, 20], [20, 30, 10, 20], [30, 20, 20, 10]]

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
sh /script 2>&1
echo '>>> end'
poweroff -f
"""


def run(*command, timeout=120, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=timeout, **options)


def needed(program):
    path = shutil.which(program)
    if not path:
        raise unittest.SkipTest(f"{program} is not installed")
    return path


def kernel():
    """Returns the path of the kernel. By default this is Debian's cloud kernel 6.1, which has built-in drivers for the
    console and the initial file system. POISE_VM_KERNEL can name another one."""
    own = os.environ.get("POISE_VM_KERNEL")
    if own:
        return pathlib.Path(own)
    kept = sorted(CACHE.glob("vmlinuz-6.1.*"))
    if kept:
        return kept[-1]
    try:
        depends = run("apt-cache", "depends", "linux-image-cloud-amd64", encoding="utf-8").stdout
        package = re.search(r"linux-image-6\.1\.\S+", depends)[0]
        with tempfile.TemporaryDirectory() as folder:
            run("apt-get", "download", "-q", package, cwd=folder)
            archive = next(pathlib.Path(folder).glob("*.deb"))
            run("dpkg-deb", "--extract", archive, folder)
            image = next(pathlib.Path(folder, "boot").glob("vmlinuz-*"))
            CACHE.mkdir(parents=True, exist_ok=True)
            shutil.copy(image, CACHE / f".{image.name}")
        return (CACHE / f".{image.name}").rename(CACHE / image.name)
    except (OSError, subprocess.SubprocessError, TypeError, StopIteration) as error:
        raise unittest.SkipTest(f"no kernel 6.1 for the emulated machine ({error}); "
                                "POISE_VM_KERNEL names one") from error


def libraries_of(program):
    return re.findall(r"(/\S+) \(0x", run("ldd", program, encoding="utf-8").stdout)


def initial_files(folder, programs, script):
    """Packs the programs, the libraries that they need, and the script into the machine's initial file system."""
    root = pathlib.Path(folder, "root")
    for name in ("bin", "dev", "proc", "sys", "tmp"):
        (root / name).mkdir(parents=True)
    shutil.copy(needed("busybox"), root / "bin" / "busybox")
    for program in programs:
        shutil.copy(program, root / "bin")
        for library in libraries_of(program):
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
    (root / "script").write_text(script)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    image = pathlib.Path(folder, "initial.cpio")
    with image.open("wb") as output:
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], input=names.encode(), cwd=root,
                       stdout=output, stderr=subprocess.DEVNULL, check=True, timeout=60)
    return image


def memory_options(cpus_per_domain):
    options = []
    for domain, row in enumerate(DISTANCES):
        first = domain * cpus_per_domain
        options += ["-object", f"memory-backend-ram,id=m{domain},size={MEMORY_MIB}M",
                    "-numa", f"node,nodeid={domain},memdev=m{domain},"
                             f"cpus={first}-{first + cpus_per_domain - 1}"]
    for domain, row in enumerate(DISTANCES):
        for other, value in enumerate(row):
            if other != domain:
                options += ["-numa", f"dist,src={domain},dst={other},val={value}"]
    return options


def run_to_its_end(command, timeout_s):
    """Returns the output of a program. If it takes too long, raises an error with its output so far."""
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL,
                              timeout=timeout_s).stdout
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode(errors="replace")
        raise AssertionError(f"the machine was not done after {timeout_s} s:\n{said}") from None


def boot(cpus_per_domain, programs, script, timeout_s, kernel_options=""):
    """Runs the machine to its end. Returns {NAME: text} for the sections of its output. A section begins where the
    script prints the line `>>> NAME`."""
    cpus = cpus_per_domain * len(DISTANCES)
    # The emulator may have more cpus than the host has cores. Idle emulated cpus sleep, so busy emulated cpus get the
    # host's cores. Even if busy emulated cpus share cores, ratios of times do not change, because work is measured in
    # cpu time.
    words = f"console=ttyS0 panic=-1 quiet mitigations=off tsc=reliable {kernel_options}".strip()
    with tempfile.TemporaryDirectory() as folder:
        done = run_to_its_end(
            [needed("qemu-system-x86_64"), "-nodefaults", "-no-reboot", "-display", "none",
             "-monitor", "none", "-serial", "stdio", "-machine", "q35", "-cpu", "max",
             "-accel", "tcg,thread=multi", "-m", f"{MEMORY_MIB * len(DISTANCES)}M",
             "-smp", f"{cpus},sockets={len(DISTANCES)},cores={cpus_per_domain},threads=1",
             *memory_options(cpus_per_domain), "-kernel", str(kernel()), "-append", words,
             "-initrd", str(initial_files(folder, programs, script))],
            timeout_s)
    sections, lines = {}, []
    for line in done.splitlines():
        if line.startswith(">>> "):
            lines = sections.setdefault(line[4:].strip(), [])
        else:
            lines.append(line.rstrip())
    if "end" not in sections:
        raise AssertionError(f"the machine did not get to its end:\n{done}")
    return {name: "\n".join(lines) for name, lines in sections.items()}
