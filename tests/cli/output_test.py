# SPDX-License-Identifier: BSD-3-Clause

"""Tests to which files and streams results, notes and pages are written, and what they contain."""

import csv
import html.parser
import json
import os
import pathlib
import pty
import re
import resource
import stat
import subprocess
import unittest

import files
from run_poise import POISE, CliTest

METRICS = ["tasks", "messages", "places", "iteration_s", "makespan_s", "makespan_bound_s", "average_s",
           "imbalance", "hop_bytes", "internode_bytes", "nuco_messages", "max_comm_s", "migrations",
           "migrated_bytes", "migration_s"]


def all_of(terminal):
    """Returns everything that was written to a terminal. All writers must have closed it."""
    text = b""
    while True:
        try:
            piece = os.read(terminal.fileno(), 65536)
        except OSError:  # the end of a terminal is reported as an error
            return text
        if not piece:
            return text
        text += piece


class Page(html.parser.HTMLParser):
    """Collects tags and text, and reports tags that are not nested correctly."""

    VOID = {"meta", "line", "rect", "path", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data):
        self.texts.append(data)


class Output(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "g.graph").write_text(files.GRAPH)
        (self.folder / "places").write_text("0\n0\n1\n1\n")
        self.compare = ["compare", "g.graph", "--placement", "places", "-m", "node:2 core:2"]

    # Contracts.

    def test_poise_help_shows_what_the_option_help_shows(self):
        self.assertEqual(self.run_poise("help").stdout, self.run_poise("--help").stdout)
        self.assertEqual(self.run_poise("help", "plan").stdout, self.run_poise("plan", "--help").stdout)

    def test_help_of_every_command_has_an_example(self):
        overview = self.run_poise("--help").stdout
        commands = re.findall(r"(?m)^  ([a-z]+) ", overview.partition("Subcommands:")[2])
        self.assertLessEqual({"topo", "plan", "evaluate", "compare", "strategies"}, set(commands))
        for command in commands:
            done = self.run_poise(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, f"(?i)examples?: *\n? *poise {command}")
            self.assertNotRegex(done.stdout, r"\(\d+x\)", "the usage looks like a page of the manual")
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_the_version_is_printed(self):
        done = self.run_poise("--version")
        self.assertRegex(done.stdout, r"^poise \d+\.\d+\.\d+\nbuilt with \w+ [\d.]+ \(\w+\), hwloc \d.*\n$")

    def test_the_option_json_prints_a_json_object_that_has_the_documented_keys(self):
        plan = self.json_of("plan", "g.graph", "--placement", "places", "-s", "greedy", "--json")
        for key in METRICS + ["strategy", "decision_s", "decision_wall_s", "amortised_s", "every",
                              "machine", "trace", "phase", "bounds"]:
            self.assertIn(key, plan)
        self.assertEqual(plan["trace"], "g.graph")
        evaluated = self.json_of("evaluate", "g.graph", "--placement", "places", "--json")
        for key in METRICS:
            self.assertIn(key, evaluated)
        for row in self.json_of(*self.compare, "--json")["results"]:
            for key in ["strategy", "error"] if "error" in row else METRICS + ["decision_s"]:
                self.assertIn(key, row)

    def test_the_table_of_strategies_lists_every_strategy(self):
        rows = self.json_of("strategies", "--json")["strategies"]
        names = [row["name"] for row in rows]
        self.assertIn("greedy", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([row["name"] for row in rows if not row["oracle"]],
                         [row["strategy"] for row in
                          self.json_of(*self.compare, "--json")["results"]])
        text = self.run_poise("strategies").stdout
        for row in rows:
            for key in "summary", "source", "complexity", "incremental", "oracle", "knobs":
                self.assertIn(key, row)
            self.assertIn(row["name"], text)
            for knob in row["knobs"]:
                if "choices" not in knob:
                    self.assertLessEqual(knob["min"], knob["initial"])
                    self.assertLessEqual(knob["initial"], knob["max"])

    def test_compare_shows_the_error_in_the_row_of_a_strategy_that_fails(self):
        rows = self.json_of(*self.compare, "-s", "keep,orb", "--json")["results"]
        self.assertIn("position", rows[1]["error"])
        self.assertIn("position", self.run_poise(*self.compare, "-s", "keep,orb").stdout)

    def test_compare_prints_one_row_for_each_pair_of_a_machine_and_a_strategy(self):
        rows = self.json_of(*self.compare, "-m", "core:3", "-s", "keep,greedy", "--json")["results"]
        self.assertEqual([(row["machine"], row["places"]) for row in rows],
                         [("node:2 core:2", 4)] * 2 + [("core:3", 3)] * 2)

    def test_a_machine_that_is_assumed_because_the_trace_names_none_is_reported_on_stderr_only(self):
        done = self.run_poise("compare", "g.graph", "--placement", "places", "--json")
        self.assertRegex(done.stderr, r"\npoise: g.graph records no machine: taking 2 .*--machine\)\n$")
        json.loads(done.stdout)
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        self.assertEqual(self.run_poise("compare", "g.poise", "-m", "core:2").stderr, "")

    def test_compare_can_start_from_a_blocked_or_round_robin_placement_on_any_machine(self):
        rows = {start: self.json_of("compare", "g.graph", "-m", "core:3", "--start", start, "-s",
                                    "keep", "--json")["results"][0]
                for start in ("blocked", "round_robin")}
        self.assertAlmostEqual(rows["blocked"]["makespan_s"], 0.005)
        self.assertAlmostEqual(rows["round_robin"]["makespan_s"], 0.004)

    def test_poise_convert_counts_messages_as_poise_compare_does(self):
        rank = files.vt_rank(0, [[1.0, 3.0]])
        phase, = rank["phases"]
        sender, receiver = (task["entity"] for task in phase["tasks"])
        phase["communications"] = [{"type": "SendRecv", "from": sender, "to": receiver, "messages": 3, "bytes": 8}]
        (self.folder / "vt.0.json").write_text(json.dumps(rank))
        self.assertIn("2 tasks and 3 messages in all", self.run_poise("convert", "vt.0.json", "vt.poise").stdout)
        self.assertIn("2 tasks, 3 messages", self.run_poise("compare", "vt.poise", "-m", "core:2", "-s", "keep").stdout)

    def test_a_phase_of_a_trace_is_selected_by_its_id(self):
        files.write_vt(self.folder, "two", [[[1.0], [3.0]], [[2.0], [2.0]]])
        for phase, makespan in ("0", 2.0), ("1", 3.0):
            row = self.json_of("plan", "two", "-s", "keep", "--phase", phase, "--json")
            self.assertEqual((row["phase"], row["makespan_s"]), (int(phase), makespan))

    def test_the_same_seed_gives_the_same_placement(self):
        plan = ["plan", "g.graph", "-m", "core:64", "-s", "random", "-o", "-"]
        self.assertEqual(self.run_poise(*plan, "--seed", "3").stdout,
                         self.run_poise(*plan, "--seed", "3").stdout)
        self.assertNotEqual(self.run_poise(*plan, "--seed", "3").stdout,
                            self.run_poise(*plan, "--seed", "4").stdout)

    # Files and streams.

    def test_plan_writes_a_placement_as_text_or_as_json_and_to_a_file_or_to_stdout(self):
        plan = ["plan", "g.graph", "-m", "core:2", "-s", "greedy", "-o"]
        lines = self.run_poise(*plan, "-").stdout
        self.run_poise(*plan, "lines")
        self.run_poise(*plan, "placed.json")
        self.assertEqual((self.folder / "lines").read_text(), lines)
        places = json.loads((self.folder / "placed.json").read_text())["placement"]
        self.assertEqual([str(place) for place in places], lines.split())
        for name in "lines", "placed.json":
            self.json_of("evaluate", "g.graph", "-m", "core:2", "--placement", name, "--json")

    def test_an_output_file_replaces_the_old_file_atomically(self):
        (self.folder / "places.new").write_text("x" * 10000)
        os.link(self.folder / "places.new", self.folder / "link")
        umask = os.umask(0o027)
        try:
            self.run_poise("plan", "g.graph", "-m", "core:2", "-s", "keep", "-o", "places.new")
        finally:
            os.umask(umask)
        self.assertEqual((self.folder / "places.new").read_text(), "0\n0\n1\n1\n")
        self.assertEqual((self.folder / "link").read_text(), "x" * 10000)
        self.assertEqual(stat.S_IMODE((self.folder / "places.new").stat().st_mode), 0o640)
        self.assertEqual(sorted(self.files()), ["g.graph", "link", "places", "places.new"])

    def test_a_closed_pipe_is_not_an_error(self):
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        with subprocess.Popen([POISE, "compare", "g.poise", "-m", "core:2"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.wait(timeout=300)

    def test_a_closed_standard_stream_is_replaced_by_dev_null(self):
        # The guard learns through a pipe that the balancer has ended. If the pipe got the file descriptor of a closed
        # standard stream, a message to this stream would go into the pipe and end the guard.
        show = 'readlink /proc/$PPID/fd/0 /proc/$PPID/fd/1 /proc/$PPID/fd/2 /proc/$$/fd/0 /proc/$$/fd/2 >"$0"'
        subprocess.run(["sh", "-c", '"$0" juggle --live -- "$@" <&- >&- 2>&-', POISE, "sh", "-c", show, "streams"],
                       cwd=self.folder, check=False, timeout=60)
        self.assertEqual((self.folder / "streams").read_text().split(), ["/dev/null"] * 3)

    def test_a_result_can_be_written_to_a_stream_that_is_redirected_to_a_file(self):
        # This link stands in for /dev/stdout, because poise might by mistake replace the link by a file.
        os.symlink("/proc/self/fd/1", self.folder / "out")
        plan = "plan", "g.graph", "-m", "core:2", "-s", "keep"
        with open(self.folder / "result", "w", encoding="utf-8") as result:
            done = self.run_poise(*plan, "-o", "out", capture_output=False, stdout=result)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "out").is_symlink())
        text = (self.folder / "result").read_text()
        self.assertTrue(text.startswith("0\n0\n1\n1\ng.graph"), text)
        self.assertIn("10 phases with this decision", text)

    def test_a_trace_that_is_written_to_stdout_can_be_read_from_a_pipe(self):
        for form in "native", "metis":
            with self.subTest(form):
                pipe = f"{POISE} convert g.graph /dev/stdout --to {form} | {POISE} convert - from_pipe.poise"
                done = subprocess.run(pipe, shell=True, cwd=self.folder, capture_output=True, text=True, check=False,
                                      timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("/dev/stdout: 1 phase", done.stderr)
        os.symlink("/proc/self/fd/1", self.folder / "out")
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        self.assert_refused("convert", "g.poise", "out", "--to", "vt", says="one file per place")
        (self.folder / "out").unlink()
        (self.folder / "out").mkdir()
        self.assertEqual(self.run_poise("convert", "g.poise", "out", "--to", "vt").returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_user_without_write_permission_in_dev_can_write_a_result_to_dev_stdout(self):
        self.folder.chmod(0o755)
        done = self.run_poise("compare", "g.graph", "-m", "core:2", "-s", "keep", "--html", "/dev/stdout", stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: os.setuid(65534))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("<!doctype html>"))

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_writing_stdout_to_a_full_disk_gives_exit_status_1(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.run_poise(*self.compare, capture_output=False, stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr.splitlines()[-1])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_writing_help_or_files_to_a_full_disk_gives_exit_status_1(self):
        for arguments in (["--help"], ["compare", "--help"], ["--version"], ["strategies"]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = self.run_poise(*arguments, capture_output=False, stdout=full,
                                      stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertIn("No space left", done.stderr)
        for option in ["--html", "/dev/full"], ["--html", "/dev/full", "--json"]:
            self.assert_refused(*self.compare, *option, status=1, says=["/dev/full", "No space left"])
        self.assert_refused("plan", "g.graph", "-m", "core:2", "-s", "keep", "-o", "/dev/full",
                            status=1, says="/dev/full")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_the_exit_status_of_an_error_is_unchanged_if_the_error_text_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.run_poise("no-such-command", capture_output=False, stderr=full)
        self.assertEqual(done.returncode, 2)

    def test_inputs_can_be_read_from_stdin(self):
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        files.write_vt(self.folder, "vt", [[[1.0, 2.0]]])
        for name in "g.graph", "g.poise", "vt.0.json":
            with self.subTest(name), open(self.folder / name, "rb") as source:
                done = self.run_poise("compare", "-", "-m", "core:2", "-s", "keep", "--json",
                                      stdin=source)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout)["results"][0]["tasks"],
                                 2 if name == "vt.0.json" else 4)
        with open(self.folder / "places", "rb") as source:
            piped = self.run_poise("evaluate", "g.graph", "-m", "core:2", "--placement", "-", "--json",
                                   stdin=source)
        self.assertEqual(json.loads(piped.stdout),
                         self.json_of("evaluate", "g.graph", "-m", "core:2", "--placement", "places",
                                      "--json"))
        machine = self.run_poise("topo", "-m", "numa:2 core:4", "--json").stdout
        drawn = self.run_poise("topo", "-m", "-", "--json", stdin=None, input=machine)
        self.assertEqual(drawn.stdout, machine)

    def test_values_of_a_matrix_can_be_separated_by_commas_or_semicolons_or_blanks_or_tabs(self):
        expected = None
        for name, text in (("commas", "0,5,1\n6,0,2\n7,8,0\n"), ("semicolons", "0;5;1\n6;0;2\n7;8;0\n"),
                           ("blanks", "0 5 1\n6 0 2\n7 8 0\n"), ("mark", "\ufeff0,5,1\n6,0,2\n7,8,0\n"),
                           ("tabs", "from\tto\tbytes\n0\t1\t5\n0\t2\t1\n1\t0\t6\n1\t2\t2\n2\t0\t7\n2\t1\t8\n")):
            with self.subTest(name):
                (self.folder / name).write_text(text, encoding="utf-8")
                report = self.json_of("map", name, "-m", "core:3", "--json")["before"]
                expected = expected or report
                self.assertEqual(report, expected)
                self.assertGreater(report["traffic"], 0)

    def test_convert_leaves_a_vt_trace_unchanged_if_the_disk_is_too_full_to_overwrite_the_trace(self):
        self.run_poise("generate", "ring", "--tasks", 50, "--places", 2, "-o", "t.json")
        (self.folder / "all_at_1").write_text("1\n" * 50)
        before = self.files()
        limit = max(map(len, before.values()))  # the new file of rank 1 exceeds this limit, so writing it fails
        done = self.run_poise("convert", "t", "t.json", "--placement", "all_at_1", restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(self.files(), before)

    def test_the_option_json_equals_false_turns_json_output_off(self):
        run = pathlib.Path(__file__).resolve().parents[2] / "docs" / "lammps.poise"
        before = self.files()
        self.assertEqual(self.run_poise("diagnose", run, "--json=false").stdout, self.run_poise("diagnose", run).stdout)
        self.assertEqual(self.files(), before)

    def test_a_byte_order_mark_before_a_placement_or_a_machine_is_ignored(self):
        machine = self.run_poise("topo", "-m", "numa:2 core:4", "--json").stdout
        (self.folder / "m.json").write_text("\ufeff" + machine, encoding="utf-8")
        self.assertEqual(self.run_poise("topo", "-m", "m.json", "--json").stdout, machine)
        marked = "\ufeff" + (self.folder / "places").read_text(encoding="utf-8")
        (self.folder / "marked").write_text(marked, encoding="utf-8")
        plain, same = (self.json_of("evaluate", "g.graph", "-m", "core:2", "--placement", name, "--json")
                       for name in ("places", "marked"))
        self.assertEqual(plain, same)

    def test_crlf_line_ends_are_accepted(self):
        for name in "g.graph", "places":
            text = (self.folder / name).read_text().replace("\n", "\r\n")
            (self.folder / f"dos.{name}").write_bytes(text.encode())
        plain = self.json_of("evaluate", "g.graph", "-p", "places", "--json")
        other = self.json_of("evaluate", "dos.g.graph", "-p", "dos.places", "--json")
        self.assertEqual(plain | {"trace": ""}, other | {"trace": ""})

    def test_migrated_bytes_are_written_as_null_if_the_sizes_of_tasks_are_unknown(self):
        files.write_vt(self.folder, "vt", [[[3.0, 1.0]], [[1.0]]])
        compare = "compare", "vt", "-s", "keep,greedy"
        keep, greedy = self.json_of(*compare, "--json")["results"]
        self.assertGreater(greedy["migrations"], 0)
        self.assertIsNone(greedy["migrated_bytes"])
        self.assertIsNone(greedy["migration_s"])
        self.assertEqual((keep["migrated_bytes"], keep["migration_s"]), (0, 0))
        self.assertRegex(self.run_poise(*compare, "--wide").stdout, r"greedy.* unknown")
        plan = self.run_poise("plan", "vt", "-s", "greedy").stdout
        self.assertIn("unknown size", plan)
        simulate = "simulate", "vt", "-s", "greedy", "--steps", "20", "--decision-time", "0s"
        none, moved = self.json_of(*simulate, "--json")["results"]
        self.assertGreater(moved["migrations"], 0)
        self.assertEqual((none["migrated_bytes"], moved["migrated_bytes"], moved["migration_s"]),
                         (0, None, None))
        self.assertIn("unknown", self.run_poise(*simulate).stdout)
        sized = self.json_of(*self.compare, "-s", "greedy", "--json")["results"][0]
        self.assertGreater(sized["migrated_bytes"], 0)

    def test_the_units_assumed_for_the_weights_of_a_metis_graph_are_reported(self):
        done = self.run_poise(*self.compare, "-s", "keep")
        self.assertRegex(done.stderr, r"^poise: g\.graph: METIS files have no units: .*microseconds.*bytes")
        self.assertEqual(done.stderr.count("\n"), 1)
        (self.folder / "bare.graph").write_text("2 1\n2\n1\n")
        self.assertIn("no vertex weights: every task takes 1 microsecond",
                      self.run_poise("compare", "bare.graph", "-m", "core:2", "-s", "keep").stderr)
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        self.assertNotIn("units", self.run_poise("compare", "g.poise", "-s", "keep").stderr)

    def test_progress_is_shown_on_terminals_only(self):
        done = self.run_poise(*self.compare)
        self.assertNotIn("\r", done.stdout + done.stderr)
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb") as terminal:
            self.run_poise(*self.compare, capture_output=False, stdout=subprocess.PIPE,
                           stderr=follower)
            os.close(follower)
            self.assertIn(b"greedy", all_of(terminal))

    # Tests the table that `poise compare` prints.

    def rows_of(self, *arguments):
        """Returns the names of the strategies in the order of the table, and the table's lines."""
        done = self.run_poise(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        return [line[2:].split()[0] for line in lines if re.match(r"(\* |  )[a-z_]+ ", line)], lines

    def test_compare_fits_80_columns_and_lists_the_best_strategy_first(self):
        names, lines = self.rows_of(*self.compare)
        self.assertLessEqual(max(map(len, lines)), 80)
        rows = self.json_of(*self.compare, "-s", "keep,greedy,refine,orb", "--json")["results"]
        works = [row for row in rows if "error" not in row]
        best = [row["strategy"] for row in sorted(works, key=lambda row: (
            row["iteration_s"], row["migrated_bytes"], row["migrations"]))]
        names, lines = self.rows_of(*self.compare, "-s", "keep,greedy,refine,orb")
        self.assertEqual(names[:4], best + ["orb"])
        self.assertTrue(lines[[line[2:].startswith(best[0]) for line in lines].index(True)].startswith("*"))

    def test_the_option_wide_adds_columns_but_omits_columns_in_which_all_values_are_zero(self):
        narrow = self.run_poise(*self.compare, "-s", "keep,greedy").stdout
        wide = self.run_poise(*self.compare, "-s", "keep,greedy", "--wide").stdout
        self.assertNotIn("NUCO\n", narrow)
        for heading in "hop-", "inter-", "deciding":
            self.assertNotIn(heading, narrow.partition("no placement")[0])
            self.assertIn(heading, wide)
        self.assertIn("imbalance", narrow)
        one_node = self.run_poise("compare", "g.graph", "-m", "core:4", "-s", "keep,greedy", "--wide")
        self.assertNotIn("inter-", one_node.stdout)
        self.assertEqual(wide.count("strategy "), 1, "one block where there is no terminal to fit")

    def test_plan_and_compare_say_if_the_strategy_poise_found_no_placement_that_fits_in_memory(self):
        file = files.vt_rank(0, [[1.0, 1.0, 1.0]])
        for task in file["phases"][0]["tasks"]:
            task["user_defined"] = {"task_footprint_bytes": 1000.0}
        (self.folder / "memory.0.json").write_text(json.dumps(file))
        (self.folder / "memory.1.json").write_text(json.dumps(files.vt_rank(1, [[]])))
        for command, limit, says in (
                ("plan", 500, "strategy poise:memory_bytes=500 found no placement within memory: "
                              "place 0 exceeds its limit by 2.500 kB"),
                ("plan", 2000, ""), ("plan", 0, ""), ("compare", 2000, ""),
                ("compare", 1500, "strategy poise:memory_bytes=1500 found no placement within memory: place ")):
            done = self.run_poise(command, "memory", "-m", "core:2", "-s", f"poise:memory_bytes={limit}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(says == "", done.stderr == "", done.stderr)
            self.assertIn(says, done.stderr)
        self.assertEqual(self.run_poise("plan", "memory", "-m", "core:2", "-s", "greedy").stderr, "")

    def test_the_option_curve_lists_placements_between_the_current_and_the_best_one(self):
        compare = *self.compare, "-s", "keep,greedy", "--every", "7", "--curve"
        keep, greedy = self.json_of(*compare, "--json")["results"]
        best = keep if keep["best"] else greedy
        self.assertEqual(["curve" in keep, "curve" in greedy], [keep["best"], greedy["best"]])
        first, last = best["curve"][0], best["curve"][-1]
        self.assertLessEqual(first["iteration_s"], best["iteration_s"] * (1 + 1e-9))
        self.assertEqual((last["migrations"], last["migrated_bytes"], last["iteration_s"]),
                         (0, 0, keep["iteration_s"]))
        for point in best["curve"]:
            self.assertAlmostEqual(point["total_s"], 7 * point["iteration_s"] + point["migration_s"])
            self.assertAlmostEqual(point["migrated_share"], point["migrations"] / best["tasks"])
        text = self.run_poise(*compare).stdout
        self.assertIn("back to the current one", text)
        self.assert_refused(*compare, "--csv", says="--csv")

    def test_compare_prints_equal_values_in_csv_and_in_json(self):
        compare = *self.compare, "-m", "core:3", "-s", "keep,orb", "--every", "7"
        rows = self.json_of(*compare, "--json")["results"]
        text = self.run_poise(*compare, "--csv").stdout
        table = list(csv.DictReader(text.splitlines()))
        self.assertEqual(len(table), len(rows))
        for entry, row in zip(table, rows):
            for key, value in row.items():
                if key.startswith("decision") or key == "amortised_s":  # measured times, which differ between two runs
                    self.assertIn(key, entry)
                elif isinstance(value, dict):
                    for inner in value:
                        self.assertEqual(float(entry[f"{key}_{inner}"]), value[inner])
                elif isinstance(value, bool):
                    self.assertEqual(entry[key], str(value).lower())
                else:
                    self.assertEqual(type(value)(entry[key]), value)
        self.assert_refused(*compare, "--csv", "--json", says=["--csv", "--json"])

    def test_markdown_output_is_a_table(self):
        text = self.run_poise(*self.compare, "-s", "keep,greedy,orb", "--markdown").stdout
        lines = [line for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(len(lines), 5)
        self.assertEqual(len({line.count("|") for line in lines}), 1)
        self.assertRegex(lines[1], r"^\|---\|(---:\|)+$")

    def colours_of(self, **environment):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb") as terminal:
            subprocess.run(["stty", "cols", "80"], stdin=follower, check=True)
            self.run_poise(*self.compare, "-s", "keep,greedy", capture_output=False, stdout=follower,
                           stderr=subprocess.PIPE,
                           env={**os.environ, "TERM": "xterm", "NO_COLOR": ""} | environment)
            os.close(follower)
            return b"\x1b[1m" in all_of(terminal)

    def test_bold_text_is_used_only_on_terminals_that_support_it(self):
        self.assertTrue(self.colours_of())
        self.assertFalse(self.colours_of(NO_COLOR="1"))
        self.assertFalse(self.colours_of(TERM="dumb"))
        self.assertNotIn("\x1b", self.run_poise(*self.compare).stdout)

    def test_tables_fit_a_narrow_terminal(self):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb") as terminal:
            subprocess.run(["stty", "cols", "60"], stdin=follower, check=True)
            self.run_poise(*self.compare, "-s", "keep,greedy", "--wide", capture_output=False, stdout=follower,
                           stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"})
            os.close(follower)
            text = all_of(terminal).decode()
        rows = [line for line in text.splitlines() if "greedy " in line]
        self.assertGreater(len(rows), 2)
        self.assertLessEqual(max(map(len, rows[:-1])), 60)

    # The page.

    def page_of(self, *arguments):
        done = self.run_poise(*arguments, "--html", "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "page.html").read_text()

    def test_the_html_page_is_complete_and_needs_no_other_file(self):
        text = self.page_of(*self.compare, "-m", "torus:2x2 core:2 factors:9,1")
        page = Page(text)
        self.assertEqual(page.open, [])
        for tag in "link", "img", "iframe":
            self.assertNotIn(tag, page.tags)
        self.assertNotIn("src", [name for name, _ in page.attributes])
        scripts = sum(map(len, re.findall(r"<script>(.*?)</script>", text, re.S)))
        self.assertLess(scripts, 40_000)
        self.assertFalse(re.search(r"https?://|url\(|@import", text))
        for strategy in self.json_of("strategies", "--json")["strategies"]:
            if not strategy["oracle"]:
                self.assertIn(strategy["name"], page.texts)
        self.assertNotRegex(text, r"[^a-z](nan|inf)[^a-z]")

    def test_every_picture_has_a_label_for_screen_readers(self):
        page = Page(self.page_of(*self.compare))
        self.assertEqual(page.tags.count("svg"),
                         sum(name == "aria-label" and bool(value) for name, value in page.attributes))

    def test_the_html_page_escapes_markup_in_names(self):
        (self.folder / "<b>&.graph").write_text(files.GRAPH)
        text = self.page_of("compare", "<b>&.graph", "--placement", "places")
        self.assertIn("&lt;b&gt;&amp;.graph", text)
        self.assertNotIn("<b>&.graph", text)

    def test_the_html_pages_call_the_bytes_of_migrations_unknown_if_the_sizes_of_tasks_are_unknown(self):
        files.write_vt(self.folder, "vt", [[[3.0, 1.0]], [[1.0]]])
        page = Page(self.page_of("compare", "vt", "-s", "greedy"))
        text = "".join(page.texts)
        self.assertRegex(text, r"It moves \d of 3 tasks, of unknown size\.")
        self.assertRegex(text, r"inside a node\d task.*, size unknown|inside a domain\d task.*, size unknown")
        page = Page(self.page_of("simulate", "vt", "-s", "greedy", "--steps", "20", "--decision-time", "0s"))
        self.assertEqual(page.texts.count("unknown"), 2, "time and bytes of greedy's migrations")

    def test_names_with_bytes_that_are_not_utf8_can_be_printed_as_text_and_json_and_on_pages(self):
        name = os.fsdecode(b"gr\xfcn.graph")
        (self.folder / name).write_text(files.GRAPH)
        for command in (["compare"], ["plan", "--json"], ["map", "--json"], ["compare", "--json"], ["compare", "--csv"],
                        ["evaluate", "-p", "places", "--json"], ["simulate", "--steps", "3", "--json"]):
            with self.subTest(command):
                strategy = [] if "-p" in command else ["-s", "keep"]
                done = self.run_poise(command[0], name, "-m", "core:4", *strategy, *command[1:], errors="replace")
                self.assertEqual(done.returncode, 0, done.stderr)
                if "--json" in command:
                    json.loads(done.stdout)
                    self.assertIn("gr\ufffdn.graph", done.stdout)

    def test_a_long_name_in_utf8_is_shortened_between_characters(self):
        text = self.page_of(*self.compare, "-s", "keep", "--also", 12 * "ü" + "=places")
        self.assertIn(">" + 9 * "ü" + "…<", text)

    def test_names_in_labels_of_pictures_are_escaped_exactly_once(self):
        self.run_poise("plan", *self.compare[1:], "-s", "greedy", "-o", "best")
        text = self.page_of(*self.compare, "-s", "keep", "--also", "a&b=best")
        self.assertIn('aria-label="Communication after a&amp;b"', text)
        self.assertIn('aria-label="Busy time of each place after a&amp;b"', text)

    def test_two_runs_with_the_same_input_write_the_same_html_page(self):
        no_clock = self.compare + ["-s", "keep"]
        time = (r'<td data-v="[^"]*">[0-9.e-]+ [nµm]?s</td>|"(decision_s|decision_wall_s|amortised_s)": [0-9.e-]+'
                r"|decided in [0-9.]+ [nµm]?s|<circle [^>]*")  # a circle's area shows the decision time
        pages = [re.sub(time, "", self.page_of(*no_clock)) for _ in range(2)]
        self.assertEqual(pages[0], pages[1])


if __name__ == "__main__":
    unittest.main()
