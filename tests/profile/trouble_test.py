#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests `poise profile` with programs and commands that are hard to profile: no number may be wrong, no job may hang,
and the program's results must stay the same."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import reader
from reader import ENVIRONMENT, LIBRARY, POISE, CommandTest, compile_c, installations, launcher

HAS_NAMESPACES = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
PIECES, PIECE, THREADS, EACH, COMMUNICATORS, LATE = 32769, 65536, 4, 200, 5000, 20  # of programs/trouble.c
SLICES = 2  # the value of Cuts::slices, which means that phases are time slices


class Trouble(CommandTest):
    def profile(self, *command, output="run.poise", before=()):
        return subprocess.run([*before, POISE, "profile", "-o", output, "--", *map(str, command)], capture_output=True, text=True,
                              timeout=300, cwd=self.folder, env=ENVIRONMENT | {"POISE_PROFILE_LIBRARY": LIBRARY},
                              stdin=subprocess.DEVNULL, check=False)

    def program(self, mpi):
        return compile_c(mpi, "trouble.c", "-pthread")

    def late_init(self, mpi, *late_s):
        """Returns environment variables with which rank r returns from MPI_Init_thread late_s[r] seconds late. The
        clock of these ranks runs ten times as fast as usual, so 1 s on this clock takes 0.1 s."""
        late = compile_c(mpi, "late_init.c", "-shared", "-fPIC")
        return [f"LD_PRELOAD={LIBRARY} {late}", "LATE_INIT_S=" + "".join(f"{seconds:02}" for seconds in late_s)]

    def recorded(self, ranks=2):
        """Returns the ranks' profiles in run.poise."""
        trace = (self.folder / "run.poise").read_bytes()
        (self.folder / "profile").write_bytes(trace[trace.index(reader.MAGIC):])
        return reader.read_profile(self.folder / "profile", ranks)

    def check(self, done, sent, ranks=2):
        """Checks the program's output, and how much rank 1 sent to rank 0. `sent` is (messages, bytes), including
        messages of collectives."""
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
        self.assertIn(f"run.poise: {ranks} ranks,", done.stderr)
        self.assertNotIn("not all ranks came to MPI_Finalize", done.stderr)
        messages, size = reader.traffic_of(self.recorded(ranks))[1, 0]
        self.assertEqual((messages, size), sent)

    def for_each(self, mode, sent):
        for mpi in installations():
            with self.subTest(mpi=mpi, mode=mode):
                self.check(self.profile(*launcher(mpi), "-np", 2, self.program(mpi), mode), sent)

    def test_a_program_with_thousands_of_communicators_is_profiled(self):
        self.for_each("communicators", (COMMUNICATORS, 4 * COMMUNICATORS))

    def test_a_message_longer_than_an_int_can_count_is_recorded_with_its_true_size(self):
        self.for_each("large", (1, PIECES * PIECE))

    def test_programs_at_every_mpi_thread_level_are_profiled(self):
        for mode in ("single", "funneled", "serialized"):
            self.for_each(mode, (1, 4))

    def test_messages_that_several_threads_send_at_the_same_time_are_counted(self):
        self.for_each("threads", (THREADS * EACH, 4 * THREADS * EACH))

    def test_data_that_a_rank_fetches_while_it_changes_them_are_recorded_as_messages_in_both_directions(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check(self.profile(*launcher(mpi), "-np", 2, self.program(mpi), "fetching"), (3, 12))
                self.assertEqual(reader.traffic_of(self.recorded())[0, 1], [3, 20])

    def test_waiting_times_are_unknown_if_a_rank_waits_for_messages_after_it_has_cancelled_a_message(self):
        for mpi in installations():
            for mode, is_known in (("cancel_first", False), ("cancel_last", True)):
                with self.subTest(mpi=mpi, mode=mode):
                    done = self.profile(*launcher(mpi), "-np", 2, self.program(mpi), mode)
                    self.check(done, (LATE, 4 * LATE))
                    self.assertEqual("Waiting cannot be distinguished from transfer" not in done.stderr, is_known, done.stderr)

    def test_one_line_says_that_a_program_died_before_its_first_phase_ended(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(*launcher(mpi), "-np", 2, self.program(mpi), "_exit")
                self.assertNotEqual(done.returncode, 0)
                notes = [line for line in done.stderr.splitlines() if line.startswith("poise profile: ")]
                self.assertEqual(notes, ["poise profile: no profile: the program ended before a rank finished a phase"])

    def test_one_line_says_that_some_ranks_died_before_their_first_phase_ended(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(*launcher(mpi), "-np", 3, self.program(mpi), "abort_first")
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertIn("the profile ends with the last phase that 1 of 3 ranks finished", done.stderr)

    def test_one_line_says_that_there_is_no_profile_if_a_rank_was_killed_while_it_created_its_file(self):
        done = self.profile("sh", "-c", 'touch "$POISE_PROFILE_PARTS/rank-0"; exit 3')
        self.assertEqual((done.returncode, done.stderr),
                         (3, "poise profile: no profile: the program ended before a rank finished a phase\n"))

    def test_one_rank_can_use_a_second_thread_for_collectives_and_for_freeing_communicators(self):
        self.for_each("another_thread", (2, 4))  # 2 messages: an empty one of the barrier, and an int of 4 bytes

    def test_a_rank_can_free_a_communicator_before_it_sends_a_message_that_another_rank_awaits(self):
        self.for_each("free_first", (2, 4))  # 2 messages: an empty one of the barrier, and an int of 4 bytes

    def test_a_program_is_profiled_even_if_a_collective_fails_on_some_ranks(self):
        self.for_each("failing", (1, 4))

    def test_messages_are_recorded_after_an_error_handler_has_jumped_out_of_a_call(self):
        self.for_each("jumping", (1, 4))

    def test_a_program_is_profiled_even_if_an_error_handler_jumps_out_of_a_collective_on_one_rank(self):
        self.for_each("jumping_from_one_rank", (1, 4))

    def test_a_program_can_call_mpi_finalize_in_an_exit_handler(self):
        self.for_each("exit", (1, 4))

    def test_the_number_of_phases_is_limited_even_if_a_program_gives_each_step_its_own_name(self):
        self.for_each("labels", (1, 4))
        for rank in self.recorded():
            self.assertEqual(rank["names"], {})

    def test_the_phases_are_time_slices_if_a_program_calls_collectives_only_while_it_starts(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(*launcher(mpi), "-np", 1, self.program(mpi), "starting")
                self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
                [rank] = self.recorded(1)
                self.assertEqual(rank["cuts"], SLICES)
                self.assertGreaterEqual(len(rank["phases"]), 4)  # 3 s in slices of 0.25 s

    def test_ranks_that_a_shell_starts_and_that_call_exec_after_mpi_finalize_are_profiled(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(*launcher(mpi), "-np", 2, "sh", "-c", f"true; exec {self.program(mpi)} exec")
                self.check(done, (1, 4))

    def test_a_job_of_several_different_programs_is_profiled(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                other = self.folder / f"other.{mpi}"
                shutil.copy(self.program(mpi), other)
                done = self.profile(*launcher(mpi), "-np", 1, self.program(mpi), "single", ":", "-np", 2, other, "single")
                self.check(done, (1, 4), ranks=3)

    @unittest.skipUnless("openmpi" in installations(), "needs Open MPI")
    def test_a_job_that_an_application_file_of_open_mpi_describes_is_profiled(self):
        (self.folder / "app").write_text(f"-np 1 {self.program('openmpi')} single\n" * 2)
        self.check(self.profile(*launcher("openmpi"), "--app", "app", before=["env", "OMPI_MCA_rmaps_base_oversubscribe=1"]), (1, 4))

    def test_if_one_rank_runs_without_the_profiling_library_the_job_completes_without_a_profile(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = self.program(mpi)
                done = self.profile(*launcher(mpi), "-np", 2, "env", *self.late_init(mpi, 0, 0), program, "single", ":", "-np", 1,
                                    "env", "-u", "LD_PRELOAD", program, "single")
                self.assertEqual((done.returncode, done.stdout[:6]), (0, "right\n"), done.stderr)
                self.assertIn("no profile: rank 0 has waited 10 s for ranks that run without LD_PRELOAD", done.stderr)
                self.assertNotIn("no rank called MPI_Init", done.stderr)
                self.assertFalse((self.folder / "run.poise").exists())

    def run_late(self, mpi, *late_s):
        done = reader.launch(mpi, len(late_s), ["env", *self.late_init(mpi, *late_s), self.program(mpi), "single"],
                             {"POISE_PROFILE": self.folder / "profile"})
        self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)

    def test_a_job_completes_even_if_a_rank_joins_after_the_other_ranks_have_given_up_waiting_for_it(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.run_late(mpi, 0, 13)

    def test_a_job_completes_if_only_some_ranks_give_up_waiting_for_the_last_rank(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                # Rank 1 gives up after 10 s and then waits in MPI_Finalize, while rank 0 still waits in MPI_Init_thread.
                self.run_late(mpi, 5, 0, 12)

    def test_spawned_processes_are_not_profiled_and_messages_to_them_count_as_sent_outside_the_job(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                command = [*launcher(mpi), "-np", "2", self.program(mpi)]
                if subprocess.run([*command, "spawn"], capture_output=True, timeout=300, env=ENVIRONMENT, check=False).returncode != 0:
                    continue  # Debian's MPICH cannot spawn
                done = self.profile(*command, "spawn")
                self.check(done, (1, 4))
                self.assertRegex(done.stderr, r"Ranks sent 1 message to processes outside this run")
                done = self.profile(*command, "spawn_merged")
                self.check(done, (2, 8))

    @unittest.skipIf(len(installations()) < 2, "needs both MPIs")
    def test_one_line_says_why_there_is_no_profile_if_program_and_launcher_use_different_mpi_libraries(self):
        done = self.profile(*launcher("openmpi"), "-np", 2, self.program("mpich"), "single")
        self.assertEqual((done.returncode, done.stdout), (0, "right\nright\n"), done.stderr)
        self.assertRegex(done.stderr, r"^poise profile: no profile: the launcher started 2 processes.*\n$")
        self.assertFalse((self.folder / "run.poise").exists())

    def test_an_output_that_cannot_be_written_is_refused_before_the_program_runs(self):
        (self.folder / "file").write_text("")
        for output in ("file/run.poise", "."):
            done = self.profile("echo", "hello", output=output)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    @unittest.skipUnless(HAS_NAMESPACES, "needs namespaces")
    def test_a_rank_that_does_not_see_the_folder_of_the_profile_sends_its_profile_to_rank_0(self):
        alone = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {self.folder}; cd /; exec "$@"', "sh"]
        for mpi in installations():
            with self.subTest(mpi=mpi):
                shared = pathlib.Path(tempfile.mkdtemp(dir=self.folder.parent))
                self.addCleanup(shutil.rmtree, shared)
                program = shutil.copy(self.program(mpi), shared)
                done = self.profile(*launcher(mpi), "-np", 1, program, "single", ":", "-np", 1, *alone, program, "single")
                self.check(done, (1, 4))

    @unittest.skipUnless(HAS_NAMESPACES, "needs namespaces")
    def test_if_the_disk_is_full_the_program_runs_but_no_profile_is_written(self):
        (self.folder / "full").mkdir()
        full = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4k none full; '
                'head -c 4096 /dev/zero > full/fill; exec "$@"', "sh"]
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(*launcher(mpi), "-np", 2, self.program(mpi), "single", output="full/run.poise", before=full)
                self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
                self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    if not LIBRARY or not POISE or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
