#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that a profile tells which rank waits for which other rank in point-to-point messages. In most tests rank 1 is
late on purpose. In one test the ranks form a chain, in which each rank receives from the rank before it."""
import subprocess
import sys
import unittest

from reader import ENVIRONMENT, LIBRARY, PROGRAMS, ProfileTest, compile_c, compile_fortran, installations, launch, read_profile

SIZE, ROUNDS = 3, 20
# For how long the late rank sleeps in each round. On a busy machine any rank may be late, because it waits for a core. So
# if a check fails, the test repeats the run with a rank that is later.
LATE_US = (20_000, 150_000)


def least_ns(late_us):
    """Threshold in ns for the time that a rank waits in all rounds: half of the time for which the late rank sleeps. A
    rank that must wait for the late rank exceeds this threshold. Other waits stay below it."""
    return ROUNDS * late_us * 1000 / 2


class Partners(ProfileTest):
    def check_runs(self, run, check):
        """Calls check(found, least), where `found` is what run() returns and `least` is a threshold in ns. If the check
        fails, repeats both with a rank that is later."""
        for late_us in LATE_US:
            ENVIRONMENT["LATE_US"] = str(late_us)  # for partners.c and any.f90
            try:
                return check(run(), least_ns(late_us))
            except AssertionError:
                if late_us == LATE_US[-1]:
                    raise

    def run_ranks(self, mpi, what, size=SIZE):
        return self.profiled(mpi, size, [compile_c(mpi, "partners.c", "-pthread"), what])

    def check_waits(self, mpi, what, check, size=SIZE):
        """Runs the program partners.c in the mode `what`. Calls check(waits, samples, receivers, least) with what
        waits_of() finds in its profile, and with the threshold."""
        self.check_runs(lambda: self.waits_of(self.run_ranks(mpi, what, size)), lambda found, least: check(*found, least))

    def waits_of(self, ranks):
        """Returns a table {(rank, late rank): ns for which the rank waited for the late rank}, and two lists with one
        number per rank: how many calls had their waiting time measured, and for how many ns the rank waited for
        receivers."""
        waits, samples, receivers = {}, [0] * len(ranks), [0] * len(ranks)
        for rank in ranks:
            self.assertTrue(rank["flags"] & 4)
            for phase in rank["phases"]:
                waiting = phase["waiting"]["message"]
                for whom, ns in waiting["for_whom"].items():
                    waits[rank["rank"], whom] = waits.get((rank["rank"], whom), 0) + ns
                samples[rank["rank"]] += waiting["samples"]
                receivers[rank["rank"]] += waiting["for_receiver_ns"]
                self.assertEqual(sum(waiting["for_whom"].values()), waiting["waited_ns"])
                self.assertLessEqual(waiting["waited_ns"], waiting["sampled_ns"])
                self.assertEqual(waiting["samples"], phase["may_wait_calls"]["message"])
                self.assertEqual(waiting["sampled_ns"], phase["may_wait_ns"]["message"])
                self.assertLessEqual(waiting["sampled_ns"], sum(phase["mpi_ns"].values()))
        return waits, samples, receivers

    def check_late(self, waits, waiting, least):
        for rank in waiting:
            self.assertGreater(waits.get((rank, 1), 0), least, waits)
        for pair, ns in waits.items():
            if pair[1] != 1 or pair[0] not in waiting:
                self.assertLess(ns, least, waits)

    def test_receivers_wait_for_a_late_sender(self):
        def check(waits, samples, receivers, least):
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples[0], ROUNDS)
            self.assertEqual(samples[2], ROUNDS)
            self.assertLess(receivers[0], least)

        for mpi in installations():
            for what in ("sender", "waitall", "any", "probe", "persistent", "persistent_any", "persistent_some", "split",
                         "inter", "polled", "polled_test", "polled_some", "polled_probe", "polled_irecv", "polled_mprobe",
                         "polled_nothing"):
                with self.subTest(mpi=mpi, what=what):
                    self.check_waits(mpi, what, check)

    def test_waiting_in_collectives_on_intercommunicators_is_reported_as_unknown(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                ranks = self.run_ranks(mpi, "inter_barrier")
                self.assertEqual([ranks[r]["flags"] & 4 for r in (0, 2)], [0, 0])

    def test_late_senders_are_found_if_a_fortran_program_receives_from_any_source_and_ignores_the_status(self):
        def check(ranks, least):
            waits, samples, _ = self.waits_of(ranks)
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples, [ROUNDS + 1, 2 * (ROUNDS + 1), ROUNDS + 1])
            for rank in ranks:
                self.assertEqual([phase["label"] for phase in rank["phases"]], [0, 1])

        for mpi in installations():
            for head, request in (("mpi", "integer"), ("mpi_f08", "type(MPI_Request)")):
                with self.subTest(mpi=mpi, head=head):
                    program = compile_fortran(mpi, head, PROGRAMS / "any.f90", self.folder, f"-DMPI_REQUEST_HANDLE={request}")
                    self.check_runs(lambda: self.profiled(mpi, SIZE, [program], "before the end\n"), check)

    def test_in_a_neighbourhood_collective_each_rank_waits_for_the_late_neighbour_that_sends_to_it(self):
        for mpi in installations():
            for what, waiting in (("grid", [0, 2]), ("graph", [0]), ("igrid", [0, 2]), ("igraph", [0])):
                def check(waits, samples, receivers, least):
                    self.check_late(waits, waiting, least)
                    self.assertEqual(samples, [ROUNDS, ROUNDS if "grid" in what else 0, ROUNDS])
                    self.assertEqual(receivers, [0] * SIZE)

                with self.subTest(mpi=mpi, what=what):
                    self.check_waits(mpi, what, check)

    def test_ranks_that_complete_a_nonblocking_collective_wait_for_the_last_rank_to_start_it(self):
        def check(waits, samples, _, least):
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples, [ROUNDS] * SIZE)

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "nonblocking", check)

    def test_ranks_that_complete_a_nonblocking_scan_wait_for_ranks_with_lower_numbers_only(self):
        def check(waits, samples, _, least):
            self.check_late(waits, [2], least)
            self.assertEqual(samples, [0, ROUNDS, ROUNDS])  # rank 0 never waits

        for mpi in installations():
            for what in ("iscan", "polled_scan"):
                with self.subTest(mpi=mpi, what=what):
                    self.check_waits(mpi, what, check)

    def test_ranks_that_complete_a_nonblocking_dup_of_a_communicator_wait_for_the_last_rank_to_start_it(self):
        def check(waits, samples, _, least):
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples, [ROUNDS] * SIZE)

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "idup", check)

    def test_a_rank_that_accesses_a_window_waits_until_the_window_is_exposed(self):
        def check(waits, samples, receivers, least):
            # If ranks share cores, ranks 0 and 2 may notice late that rank 1 has exposed its window. Then rank 1 waits for
            # them. These waits of rank 1 are left out here.
            self.check_late({pair: ns for pair, ns in waits.items() if pair[0] != 1}, [0, 2], least)
            # Ranks 0 and 2 may wait in MPI_Win_start and in MPI_Win_complete, rank 1 in MPI_Win_wait.
            self.assertEqual(samples, [2 * ROUNDS, ROUNDS, 2 * ROUNDS])
            self.assertEqual(receivers, [0] * SIZE)

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "post", check)

    def test_a_rank_that_exposes_a_window_waits_until_all_accesses_to_the_window_are_complete(self):
        def check(waits, samples, _, least):
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples, [ROUNDS, 2 * ROUNDS, ROUNDS])

        for mpi in installations():
            for what in ("complete", "win_test"):
                with self.subTest(mpi=mpi, what=what):
                    self.check_waits(mpi, what, check)

    def test_ranks_that_complete_a_persistent_collective_wait_until_all_ranks_that_send_to_them_have_started_it(self):
        for mpi in installations():
            program = compile_c(mpi, "partners.c", "-pthread")
            if subprocess.run([program, "version"], timeout=60).returncode < 4:
                continue
            for what, waiting, counts in (("init", [0, 2], [1, 1, 1]), ("init_scan", [2], [0, 1, 1]),
                                          ("init_grid", [0, 2], [1, 1, 1])):
                def check(waits, samples, _, least):
                    self.check_late(waits, waiting, least)
                    self.assertEqual(samples, [ROUNDS * count for count in counts])

                with self.subTest(mpi=mpi, what=what):
                    self.check_waits(mpi, what, check)

    def test_messages_are_recorded_while_a_second_thread_opens_and_closes_epochs_of_windows(self):
        def check(waits, samples, _, least):
            self.check_late({pair: ns for pair, ns in waits.items() if pair[0] != 1}, [0, 2], least)
            self.assertEqual(samples, [ROUNDS, 2 * ROUNDS, ROUNDS])

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "thread", check)

    def test_senders_of_large_messages_wait_for_a_late_receiver(self):
        def check(waits, samples, receivers, least):
            self.check_late(waits, [0, 2], least)
            self.assertEqual(samples, [ROUNDS, 2 * ROUNDS, ROUNDS])
            self.assertGreater(receivers[0], least)

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "receiver", check)

    def test_senders_of_small_messages_do_not_wait_for_a_late_receiver(self):
        def check(waits, samples, _, least):
            self.check_late(waits, [], least)
            self.assertEqual(samples, [ROUNDS, 2 * ROUNDS, ROUNDS])

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "eager", check)

    def test_in_a_chain_of_messages_each_rank_waits_for_the_previous_rank(self):
        def check(waits, _samples, _receivers, least):
            for rank in range(1, 4):
                # In the first round, rank 0 is late, so each rank waits for the rank before it. In later rounds all ranks
                # compute at the same time and do not wait.
                self.assertGreater(waits.get((rank, rank - 1), 0), least, waits)
            # No rank waits for another rank for as long as one round.
            self.assertEqual({pair for pair, ns in waits.items() if ns > least / (ROUNDS / 2) and pair[1] != pair[0] - 1}, set())

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_waits(mpi, "chain", check, 4)

    def test_waiting_times_between_hosts_with_different_clocks_are_right(self):
        """Rank 2 is in a time namespace of its own, whose clock is 5,000 s ahead, as if it were on another host."""
        apart = ["unshare", "--time", "--monotonic", "5000"]
        if subprocess.run([*apart, "true"], capture_output=True, timeout=10).returncode != 0:
            self.skipTest("no time namespaces here")

        def run():
            program = compile_c(mpi, "partners.c", "-pthread")
            output = self.folder / f"apart.{mpi}"
            variables = {"LD_PRELOAD": LIBRARY, "POISE_PROFILE": str(output)}
            set_variables = [word for name, value in variables.items()
                             for word in (["-x", f"{name}={value}"] if mpi == "openmpi" else ["-env", name, value])]
            done = launch(mpi, 2, [program, "sender", ":", "-np", "1", *set_variables, *apart, program, "sender"], variables)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            return read_profile(output)

        def check(ranks, least):
            ahead = [rank["phases"][0]["begin_ns"] - ranks[0]["phases"][0]["begin_ns"] for rank in ranks]
            self.assertLess(abs(ahead[1]), 60e9)
            self.assertGreater(ahead[2], 4900e9)
            self.assertEqual([rank["clock_error_ns"] > 0 for rank in ranks], [False, False, True])
            self.assertLess(ranks[2]["clock_error_ns"], least / (ROUNDS / 2))
            for rank in ranks:
                if rank["rank"] == 1:
                    continue
                waits = {}
                for phase in rank["phases"]:
                    for whom, ns in phase["waiting"]["message"]["for_whom"].items():
                        waits[whom] = waits.get(whom, 0) + ns
                self.assertGreater(waits[1], least)
                self.assertLess(waits[1], 60e9)

        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check_runs(run, check)


if __name__ == "__main__":
    if not LIBRARY or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
