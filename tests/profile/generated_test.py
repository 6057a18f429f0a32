#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that runtimes/profile/functions.inc is what its generator writes, and has all functions that the installed
MPIs export."""
import pathlib
import re
import subprocess
import sys
import unittest

from reader import installations

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "runtimes" / "profile"
COMMITTED = (FOLDER / "functions.inc").read_text()


def local_names():
    """Returns the pattern LOCAL of generate.py, which matches the names of the MPI functions without a wrapper."""
    text = (FOLDER / "generate.py").read_text()
    return re.compile("".join(re.findall(r'r"([^"]*)"', re.search(r"LOCAL = re\.compile\((.*?)\)\n\n", text, re.S)[1])))


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True, timeout=300)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


def library_of(mpi, folder="/usr/lib"):
    name = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[mpi]
    return next(iter(pathlib.Path(folder).rglob(name)), None)


class Generated(unittest.TestCase):
    def test_the_generator_of_the_mpi_wrappers_writes_exactly_the_committed_file(self):
        written = subprocess.run([sys.executable, FOLDER / "generate.py"], capture_output=True, text=True, timeout=300)
        if "No module named 'pympistandard'" in written.stderr:
            self.skipTest("pympistandard is not installed")
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertEqual(written.stdout, COMMITTED)

    def test_every_mpi_function_with_a_pmpi_name_has_a_wrapper_or_is_excluded_in_the_generator(self):
        wrapped = {f"MPI_{name}" for name in re.findall(r"^POISE_MPI(?:_C)?\((\w+),", COMMITTED, re.M)}
        for mpi in installations():
            library = library_of(mpi)
            if library is None:
                continue
            names = {name[1:] for name in exported(library) if name.startswith("PMPI_")}
            missing = {name for name in names - wrapped if not local_names().fullmatch(name.removeprefix("MPI_"))}
            self.assertEqual(missing, set(), mpi)
            self.assertGreater(len(names & wrapped), 300, mpi)


if __name__ == "__main__":
    unittest.main()
