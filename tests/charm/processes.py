#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs tests/charm/balancers_test.py on several processes of this host, for each Charm++ that is built for a network:
netlrts-linux-x86_64-smp, whose processes have several PEs and a thread for communication, and netlrts-linux-x86_64.
If CHARM_SOURCE names a checkout of Charm++, both are built there. Otherwise the builds of `./dev charm` are used.
If CHARM_NETWORK names the folder of a build, only this build is used. Exit status: 77 if there is no build."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILDS = ["netlrts-linux-x86_64-smp", "netlrts-linux-x86_64"]
SKIPPED = 77
TIMEOUT_S = 3600  # of a command


def run(*command, **variables):
    """Runs a command; returns its exit status, which is 1 if it takes too long."""
    try:
        return subprocess.run(command, cwd=ROOT, env=os.environ | variables, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
                              check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"charm: {' '.join(command)} took longer than {TIMEOUT_S} s", file=sys.stderr)
        return 1


def homes():
    """Returns the folders of the builds, each with a bin/charmc."""
    if "CHARM_NETWORK" in os.environ:
        folders = [pathlib.Path(os.environ["CHARM_NETWORK"])]
    elif "CHARM_SOURCE" in os.environ:
        folders = [pathlib.Path(os.environ["CHARM_SOURCE"]) / build for build in BUILDS
                   if run("cmake/get_charm", "", build) == 0]
    else:
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        built = [pathlib.Path(os.environ["CHARM_HOME"]).parent] if "CHARM_HOME" in os.environ else []
        folders = [folder / build for folder in [*built, cache / "poise" / "charm-6.10"] for build in BUILDS]
    return list(dict.fromkeys(home.resolve() for home in folders if (home / "bin" / "charmc").exists()))


def tested(home):
    """Returns the exit status of the tests for this Charm++."""
    folder = str(ROOT / "build" / f"charm_{home.name}")
    for command in (["cmake", "--preset", "ci", "-B", folder],
                    ["ninja", "-C", folder, "charm_ring", "poise_command"],
                    ["ctest", "--test-dir", folder, "-R", "^charm[.]balancers$", "--no-tests=error", "--output-on-failure"]):
        if status := run(*command, CHARM_HOME=str(home)):
            return status
    return 0


def main():
    found = homes()
    if not found:
        print("charm: skipped, no Charm++ for a network: CHARM_SOURCE=… ./dev charm netlrts-linux-x86_64-smp builds one",
              file=sys.stderr)
        return SKIPPED
    failed = []
    for home in found:
        print(f"charm: {home}", file=sys.stderr, flush=True)
        if tested(home):
            failed.append(home.name)
    if failed:
        print(f"charm: failed with {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
