# SPDX-License-Identifier: BSD-3-Clause

"""Invalid input of any kind must give status 2, one helpful line on stderr, and no file."""

import json
import resource
import unittest

import files
from run_poise import CliTest


class BadInput(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "g.graph").write_text(files.GRAPH)
        (self.folder / "places").write_text("0\n0\n1\n1\n")

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    # The command line.

    def test_poise_without_a_command_is_refused(self):
        self.assert_refused(says="--help")

    def test_the_error_for_an_unknown_command_suggests_the_command_with_the_most_similar_name(self):
        self.assert_refused("comapre", "g.graph", says=['"comapre"', 'did you mean "compare"?', "plan"])

    def test_the_error_for_an_unknown_option_suggests_the_option_with_the_most_similar_name(self):
        self.assert_refused("--verson", says='did you mean "--version"?')
        self.assert_refused("compare", "g.graph", "--stratgies", "keep",
                            says=['did you mean "--strategies"?', "poise compare --help"])
        self.assert_refused("plan", "g.graph", "--strategy=keep", "--jsn", says='"--json"')

    def test_an_option_that_needs_another_option_is_refused_without_that_option(self):
        self.assert_refused("measure", "--ranks-as-hosts", "-o", "m.json", says="--ranks-as-hosts needs --launcher")

    def test_missing_and_additional_arguments_are_refused(self):
        self.assert_refused("plan", "--strategy", "keep", says="TRACE is missing")
        self.assert_refused("plan", "g.graph", "--strategy", says="--strategy needs a value")
        self.assert_refused("evaluate", "g.graph", says="--placement is missing")
        self.assert_refused("plan", "g.graph", "other", "--strategy=keep", says='"other"')
        self.assert_refused("plan", "g.graph", "-s", "keep", "-s", "greedy", says="more than once")
        self.assert_refused("strategies", "all", says='"all"')

    def test_the_error_for_a_machine_description_without_quotes_asks_for_quotes(self):
        self.assert_refused("map", "g.graph", "--machine", "node:2", "core:2", says=['"core:2"', "quotes"])
        self.assert_refused("map", "g.graph", "--machine", "node:2", "--machine", "core:2", says="more than once")

    def test_option_values_that_are_out_of_range_or_not_whole_numbers_are_refused(self):
        plan = "plan", "g.graph", "--strategy=keep", "--machine=core:2"
        for flag in "--seed", "--phase", "--every":
            for text in "-1", "1.5", "15e-1", "1e16", "x", "", "99999999999999999999":
                self.assert_refused(*plan, f"{flag}={text}", says=flag)
        self.assert_refused(*plan, "--every=0", says="from 1")

    def test_whole_numbers_are_read_as_decimal_even_with_leading_zeros_and_may_have_an_exponent(self):
        for text, number in ("010", 10), ("08", 8), ("0007", 7), ("1e9", 10**9), ("2.5e3", 2500):
            plan = self.json_of("plan", "g.graph", "--strategy=keep", "--machine=core:2", "--every", text, "--json")
            self.assertEqual(plan["every"], number)

    def test_options_that_exclude_each_other_are_refused(self):
        self.assert_refused("compare", "g.graph", "--placement", "places", "--start", "blocked",
                            says=["--placement", "--start"])
        self.assert_refused("plan", "g.graph", "-s", "keep", "-m", "core:2", "-o", "-", "--json",
                            says="stdout")
        self.assert_refused("strategies", "--tuning", "--json", says=["--tuning", "--json"])
        self.assert_refused("variables", "--page", "--json", says=["--page", "--json"])

    def test_an_unknown_start_placement_is_refused(self):
        self.assert_refused("compare", "g.graph", "--machine=core:2", "--start=block",
                            says='did you mean "blocked"?')

    # Strategies.

    def test_the_error_for_an_unknown_strategy_suggests_the_most_similar_name_and_lists_all_strategies(self):
        self.assert_refused("plan", "g.graph", "-m", "core:2", "-s", "gredy",
                            says=['"gredy"', 'did you mean "greedy"?', "nuco"])
        self.assert_refused("compare", "g.graph", "-m", "core:2", "-s", "keep,nucco",
                            says='did you mean "nuco"?')
        self.assert_refused("compare", "g.graph", "-m", "core:2", "-s", "", says="strategies")
        self.assert_refused("compare", "g.graph", "-m", "core:2", "-s", "keep,",
                            says='the list of strategies "keep," contains an empty name')

    def test_unknown_and_invalid_parameters_of_a_strategy_are_refused(self):
        compare = "compare", "g.graph", "-m", "core:2", "-s"
        self.assert_refused(*compare, "nuco:alhpa=1", says=['"alhpa"', 'did you mean "alpha"?'])
        self.assert_refused(*compare, "nuco:alpha=-1", says=["alpha=-1", "0 to"])
        for text in "abc", "nan", "", "1e":
            self.assert_refused(*compare, f"nuco:alpha={text}",
                                says=[f"alpha={text} is not a number", "0 to 1"])
        self.assert_refused(*compare, "nuco:alpha", says="KNOB=VALUE")
        self.assert_refused(*compare, "keep:alpha=1", says="no knobs")

    # Machines.

    def test_invalid_machine_descriptions_are_refused(self):
        compare = "compare", "g.graph", "--machine"
        self.assert_refused(*compare, "core:0", says="core:0")
        self.assert_refused(*compare, "node:x core:2", says='"x"')
        self.assert_refused(*compare, "node:2 core:2 factors:1", says="factors")
        self.assert_refused(*compare, "node:2 core:2 factors:10,-1", says="-1")
        self.assert_refused(*compare, "core:99999999999", says="core")
        self.assert_refused(*compare, "core:2 bus:1 bus:2", says='"bus" is given twice')
        self.assert_refused(*compare, "core:2 speeds:1,0.5 speeds:1", says='"speeds" is given twice')
        self.assert_refused(*compare, "node:4 core:8 card:2", says='did you mean "cards"?')
        self.assert_refused(*compare, "core:2 hop:0.5", says='"hop" has an effect only on a torus')
        self.assert_refused(*compare, "node:2 core:4 uplink:1e9",
                            says=["uplink", "is 1, but the number of tiers is 0", "rack:4"])
        self.assert_refused(*compare, "rack:2 node:2 core:4 uplink:1e9,1e9", says="is 2, but the number of tiers is 1")
        self.assert_refused(*compare, "NUMA33", says='did you mean "NUMA32"?')
        self.assert_refused(*compare, "numa32", says='did you mean "NUMA32"?')
        self.assert_refused(*compare, "claix", says='did you mean "CLAIX"?')
        self.assert_refused(*compare, "absent.json", says="absent.json")
        self.assert_refused(*compare, "absent/machine", says="No such file")
        self.assert_refused(*compare, f"{self.folder}/", says="it is a directory")
        self.assert_refused(*compare, "core:4 factors:1e300", says="1e+300")
        self.assert_refused(*compare, self.write("m.json", "{"), says="m.json")
        self.assert_refused(*compare, self.write("m.xml", "<topology"), says="m.xml")
        # hwloc 2 dereferences a null pointer if the attribute complete_cpuset is missing.
        sets = 'cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" allowed_cpuset="0x1" allowed_nodeset="0x1"'
        unit = f'<object type="PU" os_index="0" {sets} complete_cpuset="0x1"/>'
        topology = f'<topology version="2.0"><object type="Machine" {sets}>{unit}</object></topology>'
        self.assert_refused(*compare, self.write("m.xml", topology), says="m.xml")

    def test_errors_show_control_characters_of_files_as_escapes(self):
        self.write("red", "\x1b[31m\x07\n")
        self.write("m.json", json.dumps({"poise_machine": 1, "levels": [], "a\nb\x1b[31m": 1}))
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n\x1b[31m 1 1\n")
        for command in (["evaluate", "g.graph", "-m", "core:4", "-p", "red"], ["topo", "-m", "m.json"],
                        ["compare", "a.mtx"]):
            with self.subTest(command):
                message = self.assert_refused(*command, says="\\x1b[31m")
                self.assertTrue(message.rstrip("\n").isprintable(), message)

    def test_a_machine_with_fewer_places_than_the_placement_uses_is_refused(self):
        self.write("wide", "0\n1\n2\n5\n")
        message = self.assert_refused("compare", "g.graph", "--placement", "wide", "--machine",
                                      "core:4", says=["wide", "6 places", "has only 4", "--start"])
        self.assertIn("core:4", message)
        files.write_vt(self.folder, "vt", [[[1.0]], [[2.0]], [[3.0]]])
        self.assert_refused("plan", "vt", "-s", "greedy", "-m", "core:2", says=["3 places", "--start"])
        self.assert_refused("evaluate", "g.graph", "--placement", "wide", "--machine", "core:4",
                            says="wide")

    # Placements.

    def test_invalid_placement_files_are_refused(self):
        for name, content, words in [
                ("short", "0\n1\n", ["short", "2", "4"]), ("long", "0\n" * 5, ["long", "5", "4"]),
                ("empty", "", "empty"), ("word", "0\n1\nx\n1\n", ["word:3", '"x"']),
                ("minus", "0\n-1\n0\n0\n", "minus:2"), ("huge", "0\n4294967296\n0\n0\n", "huge:2"),
                ("half", "0.5\n0\n0\n0\n", "half:1"), ("bad.json", '{"placement": [0, "1"]}', "bad.json"),
                ("none.json", "{}", "placement")]:
            with self.subTest(name=name):
                self.write(name, content)
                self.assert_refused("evaluate", "g.graph", "-m", "core:2", "--placement", name, says=words)
                self.assert_refused("plan", "g.graph", "-m", "core:2", "-s", "greedy", "--placement",
                                    name, says=words)
        self.assert_refused("evaluate", "g.graph", "--placement", "absent", says="absent")

    # Traces.

    def test_missing_files_are_refused(self):
        self.assert_refused("compare", "absent", says="absent")
        (self.folder / "hollow").mkdir()
        self.assert_refused("compare", "hollow", says="hollow")
        self.assert_refused("compare", self.write("nothing", ""), says="nothing")
        self.assert_refused("compare", self.write("noise", bytes(range(256))), says="noise")

    def test_empty_files_are_refused_with_an_error_that_names_the_file(self):
        for name in "empty", "empty.json", "empty.xml", "empty.graph", "empty.poise", "empty.0.json":
            self.write(name, "")
            self.assert_refused("compare", name, says=f"{name}: the file is empty")
            self.assert_refused("compare", "g.graph", "-m", f"./{name}", says=f"{name}: the file is empty")
        for name in "empty", "empty.json":
            self.assert_refused("evaluate", "g.graph", "-m", "core:2", "--placement", name,
                                says=f"{name}: the file is empty")
            self.assert_refused("compare", "g.graph", "-m", "core:2", "--timeline", name, "--html",
                                "page.html", says=f"{name}: the file is empty")

    def test_a_trace_damaged_by_a_file_transfer_in_text_mode_is_recognised(self):
        self.run_poise("convert", "g.graph", "good.poise", "--placement", "places")
        good = (self.folder / "good.poise").read_bytes()
        self.assertIn(b"\n", good[:8])
        self.assert_refused("compare", self.write("crlf.poise", good.replace(b"\n", b"\r\n")),
                            says=["crlf.poise", "changed its line endings", "binary"])

    def test_endless_input_files_such_as_dev_zero_are_refused_immediately(self):
        for device in "/dev/zero", "/dev/urandom":
            for arguments in (["compare", device], ["evaluate", "g.graph", "-m", "core:2", "--placement", device],
                              ["diagnose", device]):
                with self.subTest(device=device, arguments=arguments):
                    self.assert_refused(*arguments, says=[device, "first bytes match no file format"], memory=1 << 30)
            with self.subTest(device), open(device, "rb") as endless:
                done = self.run_poise("compare", "-", stdin=endless,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_text_in_utf_16_is_refused_with_an_error_that_names_the_encoding(self):
        self.assert_refused("compare", self.write("m.csv", "0,1\n1,0\n".encode("utf-16")), says=["m.csv", "UTF-16"])

    def test_evaluate_refuses_to_read_both_a_trace_and_a_placement_from_stdin(self):
        self.assert_refused("evaluate", "-", "--placement", "-", says="stdin")

    def test_convert_and_compare_and_timeline_and_diagnose_refuse_to_read_two_inputs_from_stdin(self):
        self.assert_refused("convert", "-", "t.poise", "--placement", "-", says='"-" is given for 2 inputs')
        self.assert_refused("compare", "-", "--also", "a=-", says='"-" is given for 2 inputs')
        for command in "timeline", "diagnose":
            self.assert_refused(command, "-", "-", says='"-" is given for 2 inputs')

    def test_convert_refuses_a_dash_as_the_name_of_its_output(self):
        self.assert_refused("convert", "g.graph", "-", "--to", "csv", says="use /dev/stdout")

    def test_plan_refuses_a_graph_if_neither_a_machine_nor_a_placement_is_given(self):
        self.assert_refused("plan", "g.graph", "-s", "greedy", says=["g.graph", "--machine"])

    def test_inconsistent_metis_files_are_refused(self):
        for name, content in [
                ("more_edges.graph", files.GRAPH.replace("4 3 111", "4 5 111")),
                ("fewer_lines.graph", files.GRAPH.replace("4 3 111", "5 3 111")),
                ("far.graph", files.GRAPH.replace("1000 3 500", "1000 9 500")),
                ("one_way.graph", "2 1\n2\n\n"),
                ("minus.graph", files.GRAPH.replace("3000", "-3000")),
                ("nan.graph", files.GRAPH.replace("3000", "nan")),
                ("tasks.graph", "1000000000 1\n2\n1\n"),
                ("none.graph", "0 0\n")]:
            with self.subTest(name=name):
                self.assert_refused("compare", self.write(name, content), "-m", "core:2", says=name)

    def test_invalid_trace_files_of_the_runtime_vt_are_refused(self):
        files.write_vt(self.folder, "ok", [[[1.0]], [[2.0]], [[3.0]]])
        self.json_of("compare", "ok", "--json")
        (self.folder / "ok.1.json").unlink()
        self.assert_refused("compare", "ok", says=["ok", "1"])
        for name, load in ("minus", -1.0), ("nan", float("nan")), ("infinite", float("inf")):
            files.write_vt(self.folder, name, [[[load]]])
            self.assert_refused("compare", name, says=name)
        rank = files.vt_rank(0, [[1.0]])
        rank["phases"][0]["tasks"][0]["time"] = "long"
        self.assert_refused("compare", self.write("word.0.json", json.dumps(rank)), says="word.0.json")
        self.assert_refused("compare", self.write("none.0.json", json.dumps(files.vt_rank(0, []))),
                            says="none.0.json")
        self.assert_refused("compare", self.write("cut.0.json", json.dumps(rank)[:-30]), says="cut")

    def test_corrupted_brotli_files_are_refused(self):
        self.assert_refused("compare", self.write("b.0.json", b"\x1b\x10\x00\xf8" + b"\xa5" * 60),
                            says="b.0.json")

    def test_poise_trace_files_that_are_truncated_or_whose_header_is_corrupted_are_refused(self):
        self.run_poise("convert", "g.graph", "good.poise", "--placement", "places")
        good = (self.folder / "good.poise").read_bytes()
        for cut in 4, 16, len(good) // 2, len(good) - 1:
            self.assert_refused("compare", self.write("cut.poise", good[:cut]), says="cut.poise")
        for position in range(8, min(len(good), 200), 8):
            claimed = bytearray(good)
            claimed[position:position + 4] = (10 ** 9).to_bytes(4, "little")
            if claimed != good:
                self.assert_refused("compare", self.write("lie.poise", bytes(claimed)),
                                    says="lie.poise")

    def test_a_phase_whose_task_loads_exceed_the_limit_is_refused(self):
        files.write_vt(self.folder, "huge", [[[1.0], [1e300]]])
        self.assert_refused("compare", "huge", says=["huge", "phase 1", "the limit of 1e+15"])

    def test_a_phase_that_the_trace_does_not_contain_is_refused(self):
        files.write_vt(self.folder, "two", [[[1.0], [2.0]]])
        self.assert_refused("convert", "two", "one.poise", "--phase", "-1", says="--phase")
        self.assert_refused("convert", "two", "one.poise", "--phase", "2", says=["two", "phase 2"])
        self.assert_refused("plan", "two", "-s", "keep", "--phase", "2", says=["phase 2", "0 to 1"])
        self.assert_refused("plan", "g.graph", "-m", "core:2", "--phase", "2", says="the trace has only phase 0")

    def test_generate_reports_an_unknown_kind_of_workload_before_it_reports_missing_options(self):
        self.assert_refused("generate", "lenmd", says=['"lenmd"', 'did you mean "leanmd"?'])
        self.assert_refused("generate", "leanmd", says="--tasks")

    def test_options_without_effect_are_refused(self):
        self.assert_refused("evaluate", "g.graph", "-m", "core:4", "-p", "places", "--seed", 3, says="--seed")
        self.assert_refused("generate", "--list", "--tasks", 3, "-o", "x.poise", says="--list")
        self.assert_refused("convert", "--recover", "g.graph", "x.poise", says=["g.graph", "--recover"])

    def test_an_empty_text_is_refused_as_the_value_of_an_option(self):
        plan = "plan", "g.graph", "-m", "core:4"
        self.assert_refused(*plan, "-o", "", says="--output takes FILE, not an empty text")
        self.assert_refused("compare", *plan[1:], "--html", "", says="--html takes FILE")
        self.assert_refused("juggle", "--cpus", "", "--", "true", says="--cpus takes LIST")

    # Outputs.

    def test_paths_of_output_files_that_cannot_be_written_are_refused(self):
        plan = "plan", "g.graph", "-m", "core:2", "-s", "greedy", "-o"
        self.assert_refused(*plan, "absent/places", says="absent/places")
        (self.folder / "folder").mkdir()
        self.assert_refused(*plan, "folder", says="folder")
        self.assert_refused("compare", "g.graph", "-m", "core:2", "--html", "absent/page.html",
                            says="absent/page.html")

        self.assert_refused("compare", "g.graph", "-m", "core:2", "--html", "-", says="/dev/stdout")
        self.assert_refused("compare", "g.graph", "-m", "core:2", "--html", "x" * 5000, says="xxx")

    def test_a_command_refuses_to_overwrite_its_input_or_to_write_two_outputs_to_one_file(self):
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        for command in (["plan", "g.poise", "-o", "./g.poise"], ["compare", "g.poise", "-s", "keep", "--html", "g.poise"],
                        ["map", "g.graph", "-m", "core:4", "-o", "g.graph"],
                        ["map", "g.graph", "-m", "core:4", "-o", "m", "--for", "openmpi", "--launch-file", "m"],
                        ["profile", "-o", "run", "--json", "run", "--", "true"],
                        ["convert", "--recover", "g.poise", "./g.poise"],
                        ["convert", "g.graph", "places", "--to", "native", "--placement", "places"],
                        ["diagnose", "run", "--json=run"], ["diagnose", "g.poise", "--json=d", "--html", "d"]):
            with self.subTest(command):
                self.assert_refused(*command, says="which this command also reads or writes")
        plan = self.run_poise("plan", "g.graph", "-m", "core:2", "--placement", "places", "-o", "places")
        self.assertEqual(plan.returncode, 0, "a new placement may replace the old one")

    def test_html_pages_and_timelines_overwrite_neither_inputs_nor_other_outputs(self):
        self.run_poise("convert", "g.graph", "g.poise", "--placement", "places")
        self.write("m.json", self.run_poise("topo", "-m", "core:2", "--json").stdout)
        self.write("own.py", "print(0)\n")
        simulate = "simulate", "g.poise", "-s", "keep", "--engine", "events", "--steps", 3
        self.run_poise(*simulate, "--timeline", "t.json")
        files.write_vt(self.folder, "vt", [[[1.0]], [[2.0]]])
        (self.folder / "run").mkdir()
        files.write_vt(self.folder / "run", "vt", [[[1.0]], [[2.0]]])
        compare = "compare", "g.poise", "-s", "keep"
        for command in ([*simulate, "--timeline", "g.poise"], [*simulate, "--html", "./g.poise"],
                        [*simulate, "-m", "m.json", "--timeline", "m.json"],
                        [*simulate, "--placement", "places", "--html", "places"],
                        [*simulate, "--html", "x", "--timeline", "x"],
                        [*compare, "--also", "x=places", "--html", "places"],
                        [*compare, "--placement", "places", "--html", "places"],
                        [*compare, "--timeline", "t.json", "--html", "t.json"],
                        [*compare[:2], "-s", "keep,exec:python3 own.py", "--html", "own.py"],
                        ["plan", "g.poise", "-s", "exec:python3 own.py", "-o", "own.py"],
                        ["compare", "vt", "-s", "keep", "--html", "vt.1.json"],
                        ["compare", "vt.0.json", "-s", "keep", "--html", "vt.1.json"],
                        ["compare", "run", "-s", "keep", "--html", "run/vt.0.json"],
                        ["generate", "ring", "--tasks", 4, "-m", "m.json", "-o", "m.json"],
                        ["juggle", "--json", "x", "--trace", "x", "--", "true"]):
            with self.subTest(command):
                self.assert_refused(*command, says="which this command also reads or writes")

    def test_an_output_file_with_an_unknown_suffix_is_refused_before_the_work_starts(self):
        huge = "generate", "ring", "--tasks", 4_000_000_000, "-o"
        self.assert_refused(*huge, "trace.txt", says=["trace.txt", ".poise"])
        self.assert_refused("convert", "absent", "trace.txt", says=["trace.txt", ".graph", ".csv"])
        self.assert_refused("convert", "absent", "trace", "--to", "cvs", says=["metis", "csv"])
        self.assert_refused("convert", "absent", "trace.txt", "--to", "charm", says="can be read, but not written")

    def test_running_out_of_memory_is_reported_as_an_error(self):
        self.assert_refused("generate", "ring", "--tasks", 1_000_000_000, "-o", "ring.poise",
                            status=1, says="not enough memory", memory=1 << 30)

    def test_a_failing_run_keeps_the_old_output_file(self):
        self.write("old", "kept\n")
        self.assert_refused("plan", "g.graph", "-m", "core:2", "-s", "orb", "-o", "old")

    def test_compare_exits_with_status_1_if_every_strategy_fails(self):
        self.assert_refused("compare", "g.graph", "-m", "core:2", "-s", "orb", says="orb", status=1)


if __name__ == "__main__":
    unittest.main()
