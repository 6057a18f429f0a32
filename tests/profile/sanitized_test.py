#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs unmodified MPI programs with a profile library that is built with the address sanitizer. No rank may report an error or
a leak of Poise.

The sanitizer's run-time library is preloaded before the profile library. Both MPIs leave memory unfreed. Parts of both
MPIs are unloaded before the sanitizer looks for leaks at exit, so reports cannot name the functions of these parts, and
a list of suppressions would not match them. Therefore this test reads the reports itself: a leak is Poise's if, of the
frames that are in Poise or in MPI, the innermost one is in Poise."""

import os
import re
import sys
import unittest

from reader import LIBRARY, ProfileTest, compile_c, installations, launch, read_profile

RUNTIME = os.environ.get("SANITIZER_RUNTIME", "")
LEAKING = os.environ.get("LEAKING_LIBRARY", "")
PLANTED = "4321 byte"  # of leaking.cc
POISE_FRAME = re.compile(r"\((/\S*libpoise_\w+\.so)")
# A frame in an "unknown module" belongs to a part of MPI that was unloaded.
MPI_FRAME = re.compile(r"/lib(mpi|mpich|open-pal|open-rte|pmix|event|uc[a-z]|fabric)[^/]*\.so|/mca_|unknown module")
# symbolize=0: looking up function names takes seconds per report; addr2line can find them later from the offsets.
OPTIONS = "detect_leaks=1:symbolize=0:exitcode=0:intercept_tls_get_addr=0"


def is_of_poise(leak):
    """`leak` is a paragraph of a leak report: a line with the size, and the frames of the allocation, innermost first."""
    for frame in leak.splitlines()[1:]:
        if POISE_FRAME.search(frame):
            return True
        if MPI_FRAME.search(frame):
            return False
    return False


def errors_in(report):
    """Returns the leaks of Poise in the report of a process, and everything that is not about leaks."""
    leaks, others = [], []
    for paragraph in re.split(r"\n\s*\n", report):
        if re.match(r"\s*(Direct|Indirect) leak of", paragraph):
            leaks += [paragraph] if is_of_poise(paragraph) else []
        elif re.search(r"ERROR: (?!LeakSanitizer)|runtime error: |CHECK failed", paragraph):
            others.append(paragraph)
    return leaks, others


class Sanitized(ProfileTest):
    def errors(self, mpi, ranks, source, *arguments, library=LIBRARY, statuses=(0,), **variables):
        """Runs a program with the library. Returns the leaks and the other errors that its ranks report. The exit status of
        the launcher must be one of `statuses`."""
        for old in self.folder.glob("report*"):
            old.unlink()
        log = f"log_path={self.folder}/report"
        done = launch(mpi, ranks, [compile_c(mpi, source, "-pthread"), *arguments],
                      {"LD_PRELOAD": f"{RUNTIME}:{library}", "ASAN_OPTIONS": f"{OPTIONS}:{log}", "UBSAN_OPTIONS": log, **variables},
                      timeout=300)
        reports = [errors_in(path.read_text(errors="replace")) for path in self.folder.glob("report*")]
        self.assertIn(done.returncode, statuses, f"{done.stderr}{reports}")
        self.assertIn("LeakSanitizer", "".join(path.read_text(errors="replace") for path in self.folder.glob("report*")),
                      "no process searched for leaks: MPI itself always has some")
        return [leak for leaks, _ in reports for leak in leaks], [error for _, others in reports for error in others]

    def check(self, ranks, source, *arguments, **options):
        for mpi in installations():
            with self.subTest(mpi=mpi, program=source, arguments=arguments):
                self.assertEqual(self.errors(mpi, ranks, source, *arguments, **options), ([], []))

    def check_profiled(self, ranks, source, *arguments):
        for mpi in installations():
            with self.subTest(mpi=mpi, program=source, arguments=arguments):
                output = self.folder / "profile"
                output.unlink(missing_ok=True)
                self.assertEqual(self.errors(mpi, ranks, source, *arguments, POISE_PROFILE=str(output)), ([], []))
                self.assertEqual(len(read_profile(output)), ranks)

    def test_a_leak_planted_into_the_profiling_library_is_found(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                leaks, others = self.errors(mpi, 2, "sequence.c", library=LEAKING, POISE_PROFILE=str(self.folder / "profile"))
                self.assertEqual(others, [])
                self.assertGreaterEqual(len(leaks), 2, leaks)
                for leak in leaks:
                    self.assertIn(PLANTED, leak)

    def test_no_leak_is_found_with_messages_and_collectives_and_persistent_requests(self):
        self.check_profiled(3, "sequence.c")
        self.check_profiled(3, "random_pairs.c", "1")

    def test_no_leak_is_found_with_waitall_and_wildcards_and_probes(self):
        for what in ("waitall", "any", "probe"):
            self.check_profiled(3, "partners.c", what)

    def test_no_leak_is_found_with_named_phases_and_freed_communicators(self):
        self.check_profiled(2, "late.c", "pcontrol")
        self.check_profiled(2, "late.c", "freed")
        self.check_profiled(2, "attribute.c")
        self.check_profiled(2, "trouble.c", "communicators")

    def test_no_leak_is_found_if_threads_send_at_the_same_time(self):
        self.check_profiled(2, "trouble.c", "threads")

    def test_no_leak_is_found_if_ranks_are_reordered(self):
        self.check(8, "topologies.c", "1", POISE_REORDER="1", POISE_REORDER_MACHINE="node:2 core:4")

    def test_no_leak_is_found_if_the_program_exits_without_mpi_finalize(self):
        parts = self.folder / "parts"
        parts.mkdir()
        # When the first rank exits, MPICH's launcher may kill the other rank, which still searches for leaks. Then the
        # exit status of the launcher is 1 or 9.
        self.check(2, "late.c", "exit", statuses=(3, 1, 9), POISE_PROFILE=str(self.folder / "profile"), POISE_PROFILE_PARTS=str(parts))
        self.assertGreater(len(list(parts.iterdir())), 0)


if __name__ == "__main__":
    if not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
