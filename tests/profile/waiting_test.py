#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests which ranks wait for which in collectives and in other functions that all ranks of a communicator, a window or a
file call. In all programs rank 1 is late on purpose."""
import sys
import unittest

from reader import LIBRARY, PROGRAMS, ProfileTest, compile_c, compile_fortran, installations, launch, read_profile

SIZE, LATE_NS = 3, 20 * 20_000_000
ITERATIONS, SLICES = 1, 2  # values of Cuts: what the phases are
# On a busy machine, ranks that do not sleep may be a little late, too. Therefore a test passes if ranks that wait for
# the sleeping rank waited for at least a quarter of its sleeping time, and all other ranks waited for less than that.
LEAST = LATE_NS / 4


class Waiting(ProfileTest):
    def waits(self, mpi, what, program=None):
        """Runs the program late.c in the mode `what`, or another program with the argument `what`. Returns {(rank, late rank): ns for which the rank waited for the
        late rank}, and the profile, with one entry per rank."""
        ranks = self.profiled(mpi, SIZE, [program or compile_c(mpi, "late.c"), what], "before the end\n")
        waits = {}
        for rank in ranks:
            for phase in rank["phases"]:
                waiting = phase["waiting"]["collective"]
                for whom, ns in waiting["for_whom"].items():
                    waits[rank["rank"], whom] = waits.get((rank["rank"], whom), 0) + ns
                self.assertEqual(sum(waiting["for_whom"].values()), waiting["waited_ns"])
                self.assertLessEqual(waiting["waited_ns"], waiting["sampled_ns"])
                self.assertLessEqual(waiting["sampled_ns"], sum(phase["mpi_ns"].values()))
        return waits, ranks

    def check_late(self, waits, waiting):
        for rank in waiting:
            self.assertGreater(waits[rank, 1], LEAST)
        for rank in set(range(SIZE)) - set(waiting):
            self.assertLess(waits.get((rank, 1), 0), LEAST)

    def test_all_ranks_wait_for_a_rank_that_arrives_late_at_an_allreduce(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                waits, ranks = self.waits(mpi, "allreduce")
                self.check_late(waits, [0, 2])
                samples = [sum(phase["waiting"]["collective"]["samples"] for phase in rank["phases"]) for rank in ranks]
                self.assertEqual(samples, [21] * SIZE)  # 21 calls are few, so all are sampled
                self.assertEqual([rank["cuts"] for rank in ranks], [ITERATIONS] * SIZE)

    def test_in_a_broadcast_ranks_wait_for_the_root_only(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_late(self.waits(mpi, "bcast0")[0], [])
                self.check_late(self.waits(mpi, "bcast1")[0], [0, 2])

    def test_in_a_reduction_only_the_root_waits(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                waits, ranks = self.waits(mpi, "reduce0")
                self.check_late(waits, [0])
                # Ranks leave a reduction at different times, so it ends no phase.
                self.assertEqual([rank["cuts"] for rank in ranks], [SLICES] * SIZE)

    def test_in_a_scan_ranks_wait_only_for_ranks_with_lower_numbers(self):
        for mpi in installations():
            for what in ("scan", "exscan"):
                with self.subTest(mpi=mpi, what=what):
                    waits, ranks = self.waits(mpi, what)
                    self.check_late(waits, [2])
                    samples = [sum(phase["waiting"]["collective"]["samples"] for phase in rank["phases"]) for rank in ranks]
                    self.assertEqual(samples, [21] * SIZE)

    def test_waiting_times_on_a_communicator_are_kept_after_it_is_freed(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_late(self.waits(mpi, "freed")[0], [0, 2])
                self.check_late(self.waits(mpi, "group")[0], [0, 2])  # all communicators have the same group and tag

    def test_waiting_times_on_a_communicator_that_merges_two_groups_are_measured(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_late(self.waits(mpi, "merged")[0], [0, 2])

    def test_ranks_wait_for_a_rank_that_is_late_when_they_create_communicators_or_use_windows_and_files(self):
        for mpi in installations():
            for what in ("make_dup", "make_split", "make_group", "win_create", "win_fence", "win_free", "file_open",
                         "file_write", "file_close"):
                with self.subTest(mpi=mpi, what=what):
                    waits, ranks = self.waits(mpi, what)
                    self.check_late(waits, [0, 2])
                    calls = {"make": 1, "win_": 3, "file": 3}[what[:4]]
                    samples = [sum(phase["waiting"]["collective"]["samples"] for phase in rank["phases"]) for rank in ranks]
                    self.assertEqual(samples, [20 * calls + 1] * SIZE)

    def test_the_profile_records_how_long_fortran_calls_on_windows_and_files_wait_for_a_late_rank(self):
        for mpi in installations():
            for head, window, file in (("mpi", "integer", "integer"), ("mpi_f08", "type(MPI_Win)", "type(MPI_File)")):
                with self.subTest(mpi=mpi, head=head):
                    program = compile_fortran(mpi, head, PROGRAMS / "late.f90", self.folder, f"-DMPI_WINDOW={window}",
                                              f"-DMPI_FILE_HANDLE={file}")
                    waits, ranks = self.waits(mpi, str(self.folder / "data"), program)
                    self.check_late(waits, [0, 2])
                    samples = [sum(phase["waiting"]["collective"]["samples"] for phase in rank["phases"]) for rank in ranks]
                    self.assertEqual(samples, [20 * 6 + 1] * SIZE)

    def test_if_a_rank_loses_its_core_while_its_cpu_clock_is_read_the_lost_time_counts_as_time_before_the_read(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                slow = compile_c(mpi, "slow_cpu_clock.c", "-shared", "-fPIC")
                output = self.folder / "profile"
                done = launch(mpi, SIZE, [compile_c(mpi, "late.c"), "allreduce"],
                              {"LD_PRELOAD": f"{LIBRARY}:{slow}", "POISE_PROFILE": str(output), "POISE_PROFILE_PERIOD_NS": "86400000000000"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                useful_ns = [sum(phase["useful_ns"] for phase in rank["phases"]) for rank in read_profile(output)]
                # Before each of 20 calls, rank 1 sleeps for 20 ms and then loses its core for 20 ms. Rank 0 waits for
                # rank 1 in the call and then loses its core for 20 ms.
                self.assertGreaterEqual(useful_ns[1], 2 * LATE_NS)
                self.assertLess(useful_ns[0], LATE_NS * 3 / 4)

    def test_calls_of_mpi_pcontrol_begin_phases_of_the_profile(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                _, ranks = self.waits(mpi, "pcontrol")
                for rank in ranks:
                    self.assertEqual(rank["cuts"], 0)
                    names = [rank["names"].get(phase["label"], phase["label"]) for phase in rank["phases"]]
                    self.assertEqual(names, [0, "solve", 2, "solve", 2])
                    self.assertEqual([phase["calls"]["collective"] for phase in rank["phases"]], [6, 5, 5, 5, 0])


if __name__ == "__main__":
    if not LIBRARY or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
