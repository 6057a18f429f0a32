#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Installs the package by pip into a new virtual environment and uses it there. Skipped (status 77) if pip cannot get
scikit-build-core or numpy."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
from guide_blocks import blocks_run_by  # noqa: E402

# The same flags as in other builds, so that the compiler cache already has the object files.
SAME = ["--no-build-isolation", "--no-deps", "-C", "cmake.define.POISE_WERROR=ON"]
PROGRAM = """
import numpy as np
import poise
now = np.zeros(64, np.uint32)
after = poise.plan("NUMA32", poise.Workload(np.arange(1.0, 65.0)), now, "greedy")
print(poise.__version__, poise.__file__, len(np.unique(after)))
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=1500, **options)


def checked(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def main():
    version = re.search(r"poise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "POISE_LIBRARY")}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        checked(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv" / "bin" / "python"
        if run(python, "-m", "pip", "install", "scikit-build-core", "numpy").returncode:
            sys.exit(77)
        checked(python, "-m", "pip", "wheel", *SAME, "-w", folder, ROOT)
        wheel = next(folder.glob("*.whl"))
        assert re.match(rf"poise-{re.escape(version)}-py3-none-linux_", wheel.name), wheel.name
        # The pip command of docs/install.md, to which the options in SAME are appended
        command, = blocks_run_by(__file__, "docs/install.md")
        words = command.partition("#")[0].split()
        assert words[:2] == ["pip", "install"], command
        checked(python, "-m", *words, *SAME, cwd=ROOT)
        used_version, file, places = checked(python, "-c", PROGRAM, cwd=folder, env=clean).split()
        assert used_version == version, used_version
        assert file.startswith(str(folder)), file
        assert places == "32", places


if __name__ == "__main__":
    main()
