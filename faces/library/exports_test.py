#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""usage: exports_test.py poise.h libpoise.so

Checks that the library exports all functions of the header, each with a symbol version, and nothing else."""

import re
import subprocess
import sys

header, library = sys.argv[1:]
text = open(header, encoding="utf-8").read()
declared = set(re.findall(r"^(?!static)(?:[a-z][\w *]*[ *])(poise_\w+)\(", text, re.M))
listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
symbols = [line.split()[2] for line in listed.splitlines()]
exported = {symbol.split("@")[0] for symbol in symbols if "@@POISE_" in symbol}
others = [symbol for symbol in symbols if "@@POISE_" not in symbol and not symbol.startswith("POISE_")]
if exported != declared or others or len(declared) < 40:
    sys.exit(f"only declared: {declared - exported}; only exported: {exported - declared}; without a version: {others[:5]}")
