# SPDX-License-Identifier: BSD-3-Clause

"""Tests how benchmarks store their results (bench/keep.py): every row has its date, commit and machine. Nothing is
measured."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import keep  # noqa: E402
import run  # noqa: E402

STAMPS = {"date", "commit", "machine", "load_average"}


class Keep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        elsewhere = mock.patch.object(keep, "RESULTS", self.folder)
        elsewhere.start()
        self.addCleanup(elsewhere.stop)

    def keep(self, commit, rows, **options):
        with mock.patch.object(keep, "commit", return_value=commit), contextlib.redirect_stdout(io.StringIO()):
            keep.keep("some", rows, **options)

    def kept(self):
        return [(row["part"], row["x"], row["measured"]["commit"]) for row in keep.stored_rows("some")]

    def test_a_benchmark_continues_and_keeps_its_results_if_no_process_reads_its_output(self):
        program = f"import sys; sys.path.insert(0, {str(ROOT / 'bench')!r}); import keep; keep.say('x'); keep.say('y'); open('end', 'w')"
        with subprocess.Popen([sys.executable, "-c", program], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(timeout=300), 0)
        self.assertTrue((self.folder / "end").exists())

    def test_the_date_and_machine_and_commit_of_a_benchmark_are_stored_in_every_row(self):
        self.keep("aaa", [{"part": "a", "x": 1}, {"part": "b", "x": 2}])
        for row in keep.stored_rows("some"):
            self.assertEqual(set(row["measured"]), STAMPS)
            self.assertIn("cores", row["measured"]["machine"])

    def test_a_benchmark_that_measures_some_rows_again_keeps_the_date_and_commit_of_the_other_rows(self):
        self.keep("aaa", [{"part": "a", "x": 1}, {"part": "b", "x": 2}, {"part": "b", "x": 3}, {"part": "c", "x": 4}])
        self.keep("bbb", [{"part": "b", "x": 5}, {"part": "d", "x": 6}], key=("part",))
        self.assertEqual(self.kept(), [("a", 1, "aaa"), ("b", 5, "bbb"), ("c", 4, "aaa"), ("d", 6, "bbb")])

    def test_a_new_row_replaces_the_stored_row_with_equal_key_columns_even_if_a_key_column_contains_lists(self):
        self.keep("aaa", [{"part": "a", "x": [1]}, {"part": "a", "x": [2]}])
        self.keep("bbb", [{"part": "a", "x": [2]}], key=("part", "x"))
        self.assertEqual(self.kept(), [("a", [1], "aaa"), ("a", [2], "bbb")])

    def test_a_benchmark_that_measures_all_rows_again_replaces_the_stored_file(self):
        self.keep("aaa", [{"part": "a", "x": 1}])
        self.keep("bbb", [{"part": "b", "x": 2}])
        self.assertEqual(self.kept(), [("b", 2, "bbb")])

    def test_rows_added_from_another_file_replace_stored_rows_with_equal_keys_and_keep_their_own_commit(self):
        self.keep("aaa", [{"part": "a", "x": 1}, {"part": "b", "x": 2}])
        stamp = {"commit": "bbb", "machine": "16 cores"}
        other = self.folder / "other.json"
        other.write_text(json.dumps({"benchmark": "some", "results": [
            {"part": part, "x": 3, "measured": stamp} for part in ("a", "b", "c")]}))
        keep.add([other], ("part",), "part", "b")
        self.assertEqual(self.kept(), [("a", 1, "aaa"), ("b", 3, "bbb")])
        keep.add([other], ("part",))
        self.assertEqual(self.kept(), [("a", 3, "bbb"), ("b", 3, "bbb"), ("c", 3, "bbb")])

    def test_if_there_is_no_git_history_the_measured_commit_is_read_from_an_environment_variable(self):
        with mock.patch.dict(keep.os.environ, BENCH_COMMIT="abc"):
            self.assertEqual(keep.stamp()["commit"], "abc")

    def test_the_stored_machine_description_counts_all_cores_even_if_the_benchmark_can_use_only_some(self):
        with mock.patch.object(keep.os, "cpu_count", return_value=16):
            self.assertIn(", 16 cores, ", keep.stamp()["machine"])

    def test_values_computed_from_all_rows_are_stored_with_the_date_and_commit_of_the_benchmark(self):
        self.keep("aaa", [{"part": "a", "x": 1}], verdicts={"tau": 0.9})
        whole = json.loads((self.folder / "some.json").read_text())
        self.assertEqual((whole["verdicts"], whole["measured"]["commit"]), ({"tau": 0.9}, "aaa"))

    def test_the_stored_result_is_unchanged_if_writing_a_new_result_fails(self):
        self.keep("aaa", [{"part": "a", "x": 1}])
        with self.assertRaises(TypeError):
            self.keep("bbb", [{"part": "a", "x": object()}])
        self.assertEqual(self.kept(), [("a", 1, "aaa")])

    def test_the_row_name_of_a_benchmark_summary_includes_the_options_of_the_run(self):
        measured = {"benchmarks": [{"name": "summary", "cases": 2, "threads": 1}, {"name": "one"}]}
        self.assertEqual(run.rows_of(measured, ["--quick"]), [{"name": "summary with --quick", "cases": 2}, {"name": "one"}])
        self.assertEqual(run.rows_of(measured, [])[0]["name"], "summary")

    def test_all_rows_in_the_folder_of_results_have_a_date_and_a_commit(self):
        for path in (ROOT / "bench" / "results").glob("*.json"):
            if path.name == "reproduce.json":  # its rows describe papers; they were not measured by a benchmark
                continue
            for row in json.loads(path.read_text())["results"]:
                self.assertLessEqual(STAMPS, set(row["measured"]), path.name)


if __name__ == "__main__":
    unittest.main()
