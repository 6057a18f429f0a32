# SPDX-License-Identifier: BSD-3-Clause

"""Tests ./dev in a copied checkout, with replacements for cmake and ninja that record how they are called."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Dev(unittest.TestCase):
    def calls(self, home):
        """Returns the calls that `./dev build` makes if the build folder was configured for the checkout `home`."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "build").mkdir()
            (folder / "build" / "build.ninja").touch()
            (folder / "build" / "CMakeCache.txt").write_text(
                f"// a comment\nCMAKE_HOME_DIRECTORY:INTERNAL={home or folder}\nX:BOOL=ON\n")
            (folder / "packaging").mkdir()
            (folder / "packaging" / "packages.txt").touch()
            shutil.copy(ROOT / "dev", folder)
            for name in "cmake", "ninja":
                tool = folder / "bin" / name
                tool.parent.mkdir(exist_ok=True)
                tool.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\n')
                tool.chmod(0o755)
            subprocess.run(["./dev", "build"], cwd=folder, check=True, timeout=60,
                           env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
            return (folder / "calls").read_text().splitlines()

    def test_a_second_build_does_not_configure_again(self):
        self.assertEqual(self.calls(None), ["ninja -C build"])

    def test_a_copied_checkout_gets_its_own_build_folder(self):
        self.assertEqual(self.calls("/where/it/came/from"), ["cmake --preset release --fresh", "ninja -C build"])


if __name__ == "__main__":
    unittest.main()
