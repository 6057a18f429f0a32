#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests on an emulated machine with four memory domains that pages follow a thread to its new domain (follow_pages.cc)."""

import re
import sys
import unittest

import guest

PAGES = 16 * 2**20 // 4096  # as in follow_pages.cc
TIMEOUT_S = 400


def domains(text, when):
    """Returns {domain: pages} from a line of follow_pages.cc."""
    line = re.search(rf"^{when}:(.*)$", text, re.M)
    return {int(domain): int(pages) for domain, pages in re.findall(r"N(\d+)=(\d+)", line[1])}


class Pages(unittest.TestCase):
    def test_memory_pages_can_follow_a_thread_to_another_numa_domain(self):
        said = guest.boot(2, [guest.BIN / "follow_pages"], "echo '>>> pages'\nfollow_pages\n", TIMEOUT_S)["pages"]
        print(said, file=sys.stderr)
        before, after = domains(said, "before"), domains(said, "after")
        self.assertEqual(before, {0: PAGES})
        self.assertEqual(sum(after.values()), PAGES)
        self.assertGreaterEqual(after.get(3, 0), 0.99 * PAGES)  # a few pages stay if they are in use at that moment
        self.assertIn(f"here 0, moved {after[3]}, stayed {PAGES - after[3]}", said)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    # Exits with status 77 (skipped) if the emulator or its kernel is missing.
    sys.exit(77 if not result.testsRun and result.skipped else not result.wasSuccessful())
