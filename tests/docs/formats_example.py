#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that the program can read what the example writer in docs/formats.md writes. Argument: the path of the program
`poise`."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from guide_blocks import blocks_run_by  # noqa: E402


def main():
    poise = pathlib.Path(sys.argv[1]).resolve()
    example, = blocks_run_by(__file__, "docs/formats.md")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", example], cwd=folder, check=True)
        placement = pathlib.Path(folder, "both.part")
        placement.write_text("0\n0\n")
        answer = subprocess.run(
            [poise, "evaluate", "example.poise", "--placement", placement, "--json"],
            cwd=folder, check=True, capture_output=True, text=True)
    found = json.loads(answer.stdout)
    assert found["tasks"] == 2 and found["messages"] == 1, found
    assert found["migrations"] == 1 and abs(found["makespan_s"] - 0.75) < 1e-12, found


if __name__ == "__main__":
    main()
