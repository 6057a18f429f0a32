# SPDX-License-Identifier: BSD-3-Clause

"""Checks that files with interfaces of other projects contain the licence notice and that the notice is installed."""

import pathlib
import subprocess
import unittest

from run_poise import POISE, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTICE = "LICENSES/CHAMELEON.txt"
COPYRIGHT = "Copyright (c) 2019, chameleon-hpc: Ludwig-Maximilians-University Munich (LMU),"


class Licences(CliTest):
    def test_every_file_that_copies_the_interface_of_the_chameleon_library_contains_its_licence_notice(self):
        files = [*(ROOT / "faces/chameleon/include").glob("*.h"), ROOT / "faces/chameleon/chameleon_lib.f90"]
        self.assertGreater(len(files), 3)
        for path in files:
            with self.subTest(path.name):
                top = " ".join(line.lstrip("/! ") for line in path.read_text().splitlines()[:10])
                for words in COPYRIGHT, "SPDX-License-Identifier: BSD-3-Clause", NOTICE:
                    self.assertIn(words, top)

    def test_the_licence_notice_of_the_chameleon_library_is_complete_and_installed(self):
        build = pathlib.Path(POISE).resolve().parents[1]
        subprocess.run(["cmake", "--install", build, "--component", "licences", "--prefix",
                        self.folder], check=True, capture_output=True, timeout=300)
        found = list(self.folder.rglob(NOTICE))
        self.assertEqual(len(found), 1, list(self.folder.rglob("*")))
        text = found[0].read_text()
        for words in COPYRIGHT, "1. Redistributions of source code", "2. Redistributions in binary form", \
                "3. Neither the name", 'PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS"':
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
