# SPDX-License-Identifier: BSD-3-Clause

"""Runs the program as a user does, and checks its exit status, its two streams and its files."""

import json
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

POISE = os.environ.get(
    "POISE", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "poise"))


class CliTest(unittest.TestCase):
    """A test that runs in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_poise(self, *arguments, **options):
        options = {"timeout": 300, "capture_output": True, "cwd": self.folder} | options
        return subprocess.run([POISE, *map(str, arguments)], check=False,
                              encoding="utf-8", **options)

    def json_of(self, *arguments):
        done = self.run_poise(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes()
                for path in self.folder.rglob("*") if path.is_file()}

    def assert_refused(self, *arguments, says=(), status=2, memory=None):
        """Checks that stderr has one line with these words, stdout is empty, and no file was changed."""
        before = self.files()
        limit = memory and (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))
        done = self.run_poise(*arguments, preexec_fn=limit)
        shown = f"{arguments}: {done.returncode} {done.stdout!r} {done.stderr!r}"
        self.assertEqual(done.returncode, status, shown)
        self.assertEqual(done.stdout, "", shown)
        self.assertTrue(done.stderr.startswith("poise: "), shown)
        self.assertEqual(done.stderr.count("\n"), 1, shown)
        self.assertTrue(done.stderr.endswith("\n"), shown)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.stderr)
        self.assertEqual(self.files(), before, "files were left or changed")
        return done.stderr
