#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs tests/charm/balancers_test.py on several processes of this host, for a Charm++ that is built for a network
(netlrts). CHARM_NETWORK names its folder. Without CHARM_NETWORK, the builds that `./dev charm` makes are looked for,
in this order: netlrts-linux-x86_64-smp, whose processes have several PEs and a thread for communication, and
netlrts-linux-x86_64. Exit status: 77 if there is none."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "charm_network"
SKIPPED = 77


def candidates():
    if "CHARM_NETWORK" in os.environ:
        return [pathlib.Path(os.environ["CHARM_NETWORK"])]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folders = [cache / "poise" / "charm-6.10"]
    if "CHARM_SOURCE" in os.environ:
        folders.insert(0, pathlib.Path(os.environ["CHARM_SOURCE"]))
    if "CHARM_HOME" in os.environ:
        folders.insert(0, pathlib.Path(os.environ["CHARM_HOME"]).parent)
    return [folder / f"netlrts-linux-x86_64{threads}" for folder in folders for threads in ("-smp", "")]


def main():
    homes = [home.resolve() for home in candidates() if (home / "bin" / "charmc").exists()]
    if not homes:
        print("charm: skipped, no Charm++ for a network: CHARM_SOURCE=… ./dev charm netlrts-linux-x86_64-smp builds one",
              file=sys.stderr)
        return SKIPPED
    print(f"charm: {homes[0]}", file=sys.stderr)
    for command in (["cmake", "--preset", "ci", "-B", str(FOLDER)],
                    ["ninja", "-C", str(FOLDER), "charm_ring", "poise_command"],
                    ["ctest", "--test-dir", str(FOLDER), "-R", "^charm[.]balancers$", "--no-tests=error", "--output-on-failure"]):
        done = subprocess.run(command, cwd=ROOT, env=os.environ | {"CHARM_HOME": str(homes[0])}, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
