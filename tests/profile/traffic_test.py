#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares the matrix of point-to-point messages, pair by pair, with the counts of Open MPI's own monitoring."""
import pathlib
import re
import sys
import tempfile
import unittest

from reader import LIBRARY, compile_c, installations, launch, read_profile, traffic_of

SIZE = 5
MONITORING = {"OMPI_MCA_pml_monitoring_enable": "2", "OMPI_MCA_pml_monitoring_enable_output": "3"}


def monitored(folder):
    """Returns {(sender, receiver): [messages, bytes]} from the files that Open MPI's monitoring wrote for all ranks.
    Only point-to-point messages of the program itself count, which Open MPI calls external (E)."""
    matrix = {}
    for path in folder.glob("monitored*.prof"):
        for line in path.read_text().splitlines():
            found = re.match(r"E\s+(\d+)\s+(\d+)\s+(\d+) bytes\s+(\d+) msgs sent", line)
            if found:
                sender, receiver, size, messages = map(int, found.groups())
                matrix[sender, receiver] = [messages, size]
    return matrix


class Traffic(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_the_recorded_messages_and_bytes_equal_those_that_open_mpi_itself_monitors(self):
        if "openmpi" not in installations():
            self.skipTest("no Open MPI")
        program = compile_c("openmpi", "random_pairs.c")
        output = self.folder / "profile"
        # This run has Open MPI's monitoring but not the profile library, because the monitoring would also count the
        # messages that the library sends.
        done = launch("openmpi", SIZE, [program, 7],
                      MONITORING | {"OMPI_MCA_pml_monitoring_filename": str(self.folder / "monitored")})
        expected = monitored(self.folder)
        if not expected:
            self.skipTest(f"this Open MPI does not monitor: {done.stderr[-300:]}")
        done = launch("openmpi", SIZE, [program, 7], {"LD_PRELOAD": LIBRARY, "POISE_PROFILE": str(output)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(len(expected), SIZE * (SIZE - 1) // 2)
        self.assertEqual(traffic_of(read_profile(output)), expected)

    def test_the_profile_has_the_same_traffic_matrix_with_open_mpi_and_mpich(self):
        matrices = []
        for mpi in installations():
            output = self.folder / f"profile.{mpi}"
            done = launch(mpi, SIZE, [compile_c(mpi, "random_pairs.c"), 7],
                          {"LD_PRELOAD": LIBRARY, "POISE_PROFILE": str(output)})
            self.assertEqual(done.returncode, 0, done.stderr)
            matrices.append(traffic_of(read_profile(output)))
        for matrix in matrices[1:]:
            self.assertEqual(matrix, matrices[0])


if __name__ == "__main__":
    if not LIBRARY or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
