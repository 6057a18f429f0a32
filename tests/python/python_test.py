#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests the Python package: its results are compared with those of the command `poise` and with numpy, and wrong
arguments must be refused. Exits with status 77 (skipped) if numpy is missing."""

import contextlib
import copy
import importlib.util
import io
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)
import numpy as np

import poise

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from guide_blocks import blocks_run_by  # noqa: E402

HAS = {name: importlib.util.find_spec(name) is not None for name in ("scipy", "networkx", "pandas", "matplotlib", "mypy")}
MACHINE = "node:2 numa:2 core:2"


def needs(*names):
    absent = [name for name in names if not HAS[name]]
    return unittest.skipIf(absent, f"there is no {', '.join(absent)}")


def ring(n=40, seed=1):
    """Returns a workload with random loads and sizes, in which each task sends 1000 bytes to the next."""
    random = np.random.default_rng(seed)
    messages = (np.arange(n), (np.arange(n) + 1) % n, np.full(n, 1000))
    return poise.Workload(random.random(n), random.integers(1, 10**6, n), messages)


class Types(unittest.TestCase):
    @needs("mypy")
    def test_the_package_passes_mypy_strict(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", root / "pyproject.toml", "--cache-dir", cache,
                                   root / "faces" / "python" / "poise"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_problem_in_python_has_the_same_members_and_types_as_the_c_struct(self):
        declared, found = poise.Problem.__annotations__, {}

        def strategy(problem):
            found.update((name, type(getattr(problem, name)).__name__) for name in declared)
            return np.array(problem.current)

        poise.compare(MACHINE, ring(), np.zeros(40, int), [strategy])
        self.assertEqual(set(declared), {name for name, _ in poise._library.Problem._fields_})
        for name, types in declared.items():
            allowed = types.replace("np.", "").replace("list[str]", "list").replace("None", "NoneType").split(" | ")
            self.assertIn(found.get(name), allowed, name)


class Decisions(unittest.TestCase):
    def test_plan_returns_the_same_placement_as_the_command_poise_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.poise")
            now = np.arange(40) % 3
            poise.write(poise.Trace([poise.Phase(ring(), now)], 8, poise.Machine(MACHINE)), path)
            for strategy in "poise", "greedy", "nuco:alpha=1e-4", "metis":
                printed = subprocess.run([os.environ["POISE"], "plan", path, "-s", strategy, "-o", "-"], check=True,
                                         capture_output=True, text=True, timeout=300).stdout
                found = poise.plan(MACHINE, ring(), now, strategy)
                self.assertEqual(found.tolist(), list(map(int, printed.split())), strategy)
            done = subprocess.run([os.environ["POISE"], "plan", path, "-s", "keep", "--json"], check=True,
                                  capture_output=True, text=True, timeout=300).stdout
            self.assertEqual(poise.evaluate(MACHINE, ring(), now).iteration_s, json.loads(done)["iteration_s"])

    def test_evaluate_returns_the_metrics_that_numpy_computes(self):
        workload, where = ring(), np.arange(40) % 8
        work_s = np.bincount(where, weights=workload.load_s, minlength=8)
        metrics = poise.evaluate(MACHINE, workload, np.zeros(40, int), where)
        self.assertAlmostEqual(metrics.makespan_s, work_s.max(), places=12)
        self.assertAlmostEqual(metrics.average_s, workload.load_s.sum() / 8, places=12)
        self.assertEqual(metrics.migrations, 35)
        self.assertEqual(metrics.migrated_bytes, workload.size_bytes[where > 0].sum())

    def test_compare_accepts_python_functions_as_strategies(self):
        seen = {}

        def mine(problem):
            seen.update(load_s=problem.load_s.copy(), indptr=problem.indptr.copy(), current=problem.current.copy())
            return np.arange(problem.num_tasks) % problem.num_places

        def wrong(problem):
            return np.full(problem.num_tasks, -1)

        def short(problem):
            return [0]

        now, workload = np.zeros(40, np.uint32), ring()
        comparison = poise.compare(MACHINE, workload, now, ["greedy", mine, wrong, short])
        self.assertEqual([row.strategy for row in comparison], ["greedy", "mine", "wrong", "short"])
        self.assertEqual(comparison["mine"].metrics, poise.evaluate(MACHINE, workload, now, np.arange(40) % 8))
        self.assertIn("[0] is -1", comparison["wrong"].error)
        self.assertIn("shape (1,)", comparison["short"].error)
        self.assertIs(comparison.best, comparison["greedy"])
        np.testing.assert_array_equal(seen["load_s"], workload.load_s)
        np.testing.assert_array_equal(seen["indptr"], np.arange(41))
        np.testing.assert_array_equal(poise.plan(MACHINE, workload, now, mine), np.arange(40) % 8)

    def test_the_progress_callback_is_called_for_each_strategy_and_can_stop_the_comparison(self):
        told = []
        poise.compare(MACHINE, ring(), None, ["keep", "greedy"], progress=lambda *what: told.append(what))
        self.assertEqual(told, [(0, 2, "keep"), (1, 2, "greedy")])
        with self.assertRaises(poise.Cancelled):
            poise.compare(MACHINE, ring(), None, ["keep", "greedy"], progress=lambda done, *_: done == 1)
        with self.assertRaises(ZeroDivisionError):
            poise.compare(MACHINE, ring(), None, ["keep"], progress=lambda *_: 1 / 0)

        def interrupted(_problem):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            poise.compare(MACHINE, ring(), None, ["keep", interrupted, "greedy"])

    def test_exports_and_imports_list_the_tasks_that_change_their_place(self):
        before, after = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
        moves = poise.exports(before, after, global_ids=np.array([10, 11, 12, 2**64 - 1], np.uint64))
        self.assertEqual((moves.global_id.tolist(), moves.from_place.tolist(), moves.to_place.tolist()),
                         ([11, 12], [0, 1], [1, 2]))
        self.assertEqual(poise.imports(before, after, 2).task.tolist(), [2])
        self.assertEqual(len(poise.exports(before, before)), 0)
        ids = [2**63 + 1, 5, 2**64 - 1, 3]  # numpy would make floats of this list
        self.assertEqual(poise.exports([0, 0, 0, 0], [1, 1, 1, 1], global_ids=ids).global_id.tolist(), ids)

    def test_several_threads_can_compute_plans_at_the_same_time(self):
        results = [None] * 4
        workload = ring(400)

        def run(i):
            results[i] = poise.plan(MACHINE, workload, None, "poise")
        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=300)
        for result in results:
            np.testing.assert_array_equal(result, results[0])


class Data(unittest.TestCase):
    def test_a_machine_returns_its_speeds_and_levels_and_latency_factors_as_arrays(self):
        machine = poise.Machine("node:2 numa:2 core:2 factors:10,1.5,1 speeds:1,0.5")
        self.assertEqual((machine.num_places, machine.num_domains, machine.num_nodes), (8, 4, 2))
        self.assertEqual(machine.speed.tolist(), [1, 0.5] * 4)
        self.assertEqual(machine.levels["numa"].tolist(), [0, 0, 1, 1, 2, 2, 3, 3])
        self.assertEqual(machine.latency_factor[0].tolist(), [1, 1.5, 10, 10])
        self.assertEqual(poise.Machine.from_json(machine.json).json, machine.json)
        self.assertEqual(poise.Machine("NUMA32").num_places, 32)
        self.assertEqual(poise.Machine("core:2000 speeds:" + ",".join(["0.25", "1"] * 1000)).num_places, 2000)
        where = np.arange(40) % 8
        nuco = machine.with_costs("nuco", seconds_per_migrated_byte=0.5)
        costs = [poise.evaluate(m, ring(), where * 0, where).migration_s
                 for m in (machine, machine.with_costs(seconds_per_migrated_byte=0.5), nuco.with_costs(bus_bytes_per_s=1e9))]
        self.assertGreater(costs[1], 1e6 * costs[0])
        self.assertEqual((machine.model, nuco.model, nuco.with_costs(cards=2).model), ("physical", "nuco", "nuco"))

    def test_a_machine_file_in_the_users_folder_replaces_the_file_of_the_same_name_in_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            package, own = pathlib.Path(folder) / "poise", pathlib.Path(folder) / "own"
            shutil.copytree(pathlib.Path(poise.__file__).parent, package)
            for machines, places in (package / "machines", 2), (own, 3):
                machines.mkdir(exist_ok=True)
                (machines / "mine.json").write_text(f'{{"poise_machine": 1, "levels": [{{"name": "core", "count": {places}}}]}}')
            shutil.copy(os.path.realpath(os.environ["POISE_LIBRARY"]), package / "libpoise.so.0")
            environment = {**os.environ, "PYTHONPATH": folder}
            del environment["POISE_LIBRARY"]
            for folders, places in (str(own), "3"), ("", "2"):
                done = subprocess.run([sys.executable, "-c", "import poise; print(poise.Machine('mine').num_places)"], check=True,
                                      env={**environment, "POISE_MACHINES": folders}, capture_output=True, encoding="utf-8", timeout=300)
                self.assertEqual(done.stdout.strip(), places)

    def test_a_machine_file_of_the_package_is_found_before_one_that_is_installed_beside_the_interpreter(self):
        with tempfile.TemporaryDirectory() as folder:
            package, prefix = pathlib.Path(folder) / "poise", pathlib.Path(folder) / "prefix"
            shutil.copytree(pathlib.Path(poise.__file__).parent, package)
            for machines, places in (package / "machines", 2), (prefix / "share" / "poise" / "machines", 3):
                machines.mkdir(parents=True, exist_ok=True)
                (machines / "mine.json").write_text(f'{{"poise_machine": 1, "levels": [{{"name": "core", "count": {places}}}]}}')
            shutil.copy(os.path.realpath(os.environ["POISE_LIBRARY"]), package / "libpoise.so.0")
            (prefix / "bin").mkdir()
            python = shutil.copy(os.path.realpath(sys.executable), prefix / "bin")
            numpy_folder = pathlib.Path(np.__file__).parent.parent
            environment = {**os.environ, "PYTHONPATH": f"{folder}:{numpy_folder}", "PYTHONHOME": sys.base_prefix, "POISE_MACHINES": ""}
            del environment["POISE_LIBRARY"]

            def done(code):
                return subprocess.run([python, "-c", code], env=environment, capture_output=True, encoding="utf-8", timeout=300)
            if done("import numpy").returncode != 0:
                self.skipTest("a copy of this Python does not run")
            self.assertEqual(done("import poise; print(poise.Machine('mine').num_places)").stdout.strip(), "2")

    def test_a_workload_without_messages_has_empty_arrays_of_messages(self):
        workload = poise.Workload([1, 2])
        self.assertEqual(repr(workload), "<poise.Workload: 2 tasks, 3 s, 0 messages>")
        for column, dtype in (workload.indices, np.uint32), (workload.counts, np.uint64), (workload.bytes, np.uint64):
            self.assertEqual((column.shape, column.dtype), ((0,), dtype))

    def test_each_row_shows_the_error_of_its_own_strategy_function_even_if_two_functions_share_a_name(self):
        rows = poise.compare(MACHINE, ring(), None, ["keep", lambda p: 1 / 0, lambda p: p.current, lambda p: {}["k"]]).rows
        self.assertEqual([row.error for row in rows],
                         [None, "<lambda>: ZeroDivisionError: division by zero", None, "<lambda>: KeyError: 'k'"])

    def test_the_error_for_copying_or_pickling_a_workload_says_what_to_do_instead(self):
        for function in copy.deepcopy, pickle.dumps:
            with self.assertRaisesRegex(TypeError, "a workload of poise cannot be copied or pickled; create it anew"):
                function(ring())

    def test_the_arrays_of_a_workload_are_read_only_views_of_its_memory(self):
        workload = ring()
        self.assertIs(workload.load_s.base.owner, workload.load_s.base.owner)
        with self.assertRaises(ValueError):
            workload.load_s[0] = 1
        with self.assertRaisesRegex(AttributeError, "load_s of a workload cannot be changed; create a new workload"):
            workload.load_s = [1] * 40
        column = workload.load_s
        expected = column.copy()
        del workload  # the array must keep the workload's memory alive
        np.testing.assert_array_equal(column, expected)

    def test_a_plan_balances_each_kind_of_load_separately_and_keeps_every_place_within_its_capacity(self):
        kinds = [[1, 0], [1, 0], [0, 1], [0, 1]]
        workload = poise.Workload([1] * 4, kind_load_s=kinds, kind_speeds=[[1, 1], [1, 2]])
        places = poise.plan("core:2", workload, [0, 0, 1, 1], "poise")
        self.assertNotEqual(places[0], places[1])
        for capacity in (1, [2, 2]):
            limited = poise.Workload([5, 1, 1, 1], capacity=capacity, cores=None if capacity == 1 else [2, 1, 1, 1])
            machine = poise.Machine("core:4" if capacity == 1 else "core:2")
            if capacity == 1:
                self.assertEqual(sorted(poise.plan(machine, limited, [0] * 4, "greedy")), [0, 1, 2, 3])
            else:
                with self.assertRaisesRegex(poise.Error, "take 5 cores"):
                    poise.plan(machine, limited, [0] * 4, "greedy")

    def test_a_trace_that_is_written_and_read_again_is_unchanged(self):
        workload = poise.Workload([1, 2, 3], [4, 5, 6], ([0, 1], [1, 2], [7, 8], [2, 3]), positions=[[0, 1], [2, 3], [4, 5]],
                                  pinned=[False, True, False], background_s=[0.5, 0.25], footprint_bytes=[1, 2, 3],
                                  shared_block=[-1, 0, 0], shared_block_bytes=[9], place_bytes=[10, 11], overlap=0.5,
                                  loads_include="send", subphase_load_s=[[1, 0], [1, 1], [0, 3]])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.poise"
            poise.write(poise.Trace([poise.Phase(workload, [0, 1, 1], 4, 2.5), poise.Phase(workload, None, 5)], 2), path)
            trace = poise.read(path)
        self.assertEqual((len(trace.phases), trace.num_places, trace.machine), (2, 2, None))
        first, second = trace.phases
        self.assertEqual((first.id, first.wall_s, first.placement.tolist(), second.placement), (4, 2.5, [0, 1, 1], None))
        for name in ("load_s", "size_bytes", "movable", "indices", "counts", "bytes", "position", "background_s",
                     "footprint_bytes", "shared_block", "shared_block_bytes", "place_bytes", "overlap", "loads_include",
                     "subphase_load_s"):
            np.testing.assert_array_equal(getattr(first.workload, name), getattr(workload, name), name)

    def test_a_simulation_returns_the_time_of_every_step_for_each_strategy(self):
        trace = poise.Trace([poise.Phase(ring(), np.zeros(40))], 8)
        simulation = poise.simulate(MACHINE, trace, ["greedy", lambda p: p.current], steps=20, every=5, decision_s=1)
        still, greedy, own = simulation
        self.assertEqual((still.strategy, greedy.decisions, greedy.decision_s), ("no balancing", 3, 3))
        self.assertEqual(own.iteration_s, still.iteration_s)
        self.assertAlmostEqual(greedy.step_iteration_s.sum(), greedy.iteration_s)
        self.assertLess(greedy.step_iteration_s[5], still.step_iteration_s[5] / 2)

    def test_the_table_of_strategies_lists_the_parameters_of_each_strategy(self):
        table = {row.name: row for row in poise.strategies()}
        self.assertIn("poise", table)
        self.assertIn("alpha", [knob.name for knob in table["nuco"].knobs])
        self.assertTrue(table["anneal"].is_oracle)

    @needs("scipy")
    def test_a_scipy_sparse_matrix_is_accepted_as_the_communication_matrix_of_the_tasks(self):
        from scipy.sparse import coo_array, random
        matrix = coo_array(([5, 6], ([0, 1], [1, 2])), shape=(3, 3))
        workload = poise.Workload([1, 1, 1], messages=matrix)
        self.assertEqual((workload.messages() != matrix.tocsr()).nnz, 0)
        self.assertEqual(poise.Workload([1, 1, 1], messages=matrix.astype(bool)).bytes.tolist(), [1, 1])
        with self.assertRaisesRegex(poise.Error, r"shape \(2, 3\)"):
            poise.Workload([1, 1, 1], messages=coo_array(np.zeros((2, 3))))
        with self.assertRaisesRegex(poise.Error, "whole number"):
            poise.Workload([1] * 9, messages=random(9, 9, density=0.5))

    @needs("networkx")
    def test_networkx_graphs_are_accepted_as_workloads(self):
        import networkx
        graph = networkx.Graph()
        graph.add_node("a", load_s=2, size_bytes=10)
        graph.add_node("b", load_s=3, size_bytes=20)
        graph.add_edge("a", "b", bytes=7)
        workload = poise.Workload.from_networkx(graph)
        self.assertEqual((workload.load_s.tolist(), workload.size_bytes.tolist()), ([2, 3], [10, 20]))
        self.assertEqual((workload.indices.tolist(), workload.bytes.tolist()), ([1, 0], [7, 7]))
        self.assertEqual(poise.Workload.from_networkx(networkx.DiGraph([(0, 1)])).indptr.tolist(), [0, 1, 1])
        graph.add_node("c")
        self.assertEqual(poise.Workload.from_networkx(graph).size_bytes.tolist(), [10, 20, 0])

    @needs("pandas")
    def test_pandas_tables_are_accepted_as_workloads(self):
        import pandas
        tasks = pandas.DataFrame({"load_s": [1.0, 2.0], "size_bytes": [3, 4], "x": [0.5, 1.5]})
        messages = pandas.DataFrame({"from": [0], "to": [1], "bytes": [9]})
        workload = poise.Workload(tasks, messages=messages)
        self.assertEqual((workload.bytes.tolist(), workload.position.tolist()), ([9], [[0.5, 0, 0], [1.5, 0, 0]]))
        self.assertEqual(workload.to_pandas()["size_bytes"].tolist(), [3, 4])
        with self.assertRaisesRegex(poise.Error, "no column 'to'"):
            poise.Workload(tasks, messages=messages.drop(columns="to"))
        table = poise.compare(MACHINE, workload, strategies=["keep", "greedy"]).to_pandas()
        self.assertEqual(table["strategy"].tolist(), ["keep", "greedy"])


class Refusals(unittest.TestCase):
    def refuses(self, words, function, *arguments, **options):
        with self.assertRaises(poise.Error) as caught:
            function(*arguments, **options)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_the_error_about_a_wrong_array_names_the_array_and_the_wrong_entry(self):
        self.refuses("load_s[1] is nan", poise.Workload, [1, np.nan])
        self.refuses("load_s[0] is -1", poise.Workload, [-1])
        self.refuses("load_s[1] is masked", poise.Workload, np.ma.array([1.0, 2.0], mask=[False, True]))
        self.assertEqual(poise.Workload(np.ma.array([1.0, 2.0])).load_s.tolist(), [1, 2])
        self.refuses("load_s has shape (1, 1)", poise.Workload, [[1]])
        self.refuses("load_s ", poise.Workload, [[1], [1, 2]])
        self.refuses("elements of type", poise.Workload, ["a"])
        self.refuses("size_bytes[1] is -5", poise.Workload, [1, 1], [3, -5])
        self.refuses("size_bytes[0] is 0.5", poise.Workload, [1], [0.5])
        self.refuses("size_bytes[1] is 0.5", poise.Workload, [1, 1], [2**60, 0.5])
        self.refuses("messages.from[0] is -1", poise.Workload, [1], messages=([-1], [0]))
        self.refuses("to[0] is 1; it must be at least 0 and below 1, the number of tasks", poise.Workload, [1], messages=([0], [1]))
        self.refuses("messages.to has shape (2,)", poise.Workload, [1], messages=([0], [0, 0]))
        self.refuses("messages must be", poise.Workload, [1], messages=[0, 1])
        self.refuses("exclude each other", poise.Workload, [1], subphase_load_s=[[1, 1]], kind_load_s=[[1, 1]])
        self.refuses("loads_include", poise.Workload, [1], loads_include="all")
        self.refuses("loads_include is ['none']; it must be a string", poise.Workload, [1], loads_include=["none"])
        self.refuses("overlap is 'half'; it must be a number", poise.Workload, [1], overlap="half")
        self.refuses("strategy is 'poise\\x00'", poise.plan, MACHINE, [1], [0], "poise\0")
        for seed in 0.5, 2**64, -1, "1", None, np.zeros((2, 3, 4)):
            self.refuses("it must be a whole number from 0 to 2^64 - 1", poise.plan, MACHINE, [1], [0], seed=seed)
        trace = poise.Trace([poise.Phase(poise.Workload([1, 1]))], 8)
        self.refuses("every is 2.5", poise.simulate, MACHINE, trace, ["greedy"], every=2.5)
        self.refuses("decision_s is [0]; it must be a number", poise.simulate, MACHINE, trace, ["greedy"], decision_s=[0])
        self.refuses("format is 3", poise.write, trace, "trace.poise", 3)
        self.refuses("current[0] is 8", poise.plan, MACHINE, [1, 1], [8, 0])
        self.refuses("current has shape (1,)", poise.plan, MACHINE, [1, 1], [0])
        self.refuses("did you mean \"greedy\"", poise.plan, MACHINE, [1], [0], "gredy")
        self.refuses("is not a strategy", poise.compare, MACHINE, [1], [0], [3])
        self.refuses("nowhere.poise", poise.read, "/nowhere.poise")
        self.refuses("core:", poise.Machine, "node:2 core:")
        self.refuses("the machine has no cost named", poise.Machine(MACHINE).with_costs, alpha=1)
        self.refuses('"background load" has 1 entries', poise.plan, MACHINE, poise.Workload([1], background_s=[1]))

    def test_the_error_about_an_argument_of_a_wrong_type_names_the_argument(self):
        phase = poise.Phase(poise.Workload([1.0, 2.0]))
        for call, text in ((lambda: poise.simulate("core:2", phase.workload), "trace is .*; it must be a Trace"),
                           (lambda: poise.write(1, "t.poise"), "trace is 1; it must be a Trace"),
                           (lambda: poise.write(poise.Trace([7], 2), "t.poise"), "trace.phases contains 7"),
                           (lambda: poise.write(poise.Trace([phase], 2, 5), "t.poise"), "description is 5"),
                           (lambda: poise.write(poise.Trace([phase], 2), 5), "path is 5; it must be the name of a file"),
                           (lambda: poise.read(5), "path is 5"), (lambda: poise.diagnose(5), "path is 5"),
                           (lambda: poise.Machine(5), "description is 5; it must be a string")):
            self.assertRaisesRegex(poise.Error, text, call)

    def test_an_inconsistent_sparse_matrix_is_refused_and_the_error_names_the_wrong_entry(self):
        class Matrix:  # looks like a matrix of scipy.sparse, but its arrays contradict each other
            shape, nnz, data = (2, 2), 1, np.array([1])
            indptr, indices = np.array([0, 1, 5]), np.array([1])

            def tocsr(self):
                return self
        self.refuses("messages.indptr[2] is 5, but messages.indices has only 1 entries",
                     poise.Workload, [1, 1], messages=Matrix())

    def test_random_arguments_raise_only_poise_errors_or_type_or_value_or_overflow_errors(self):
        random = np.random.default_rng(7)
        values = [None, 0, -1, 2**70, np.nan, "x", [], [1], [[1]], [np.inf, 1], np.zeros(3), {"a": 1}, (1, 2), object(),
                  ([0], [9], [1]), ([0], [0], [-1], [1]), np.array([1 + 2j]), b"x"]
        pick = lambda: values[random.integers(len(values))]
        for _ in range(500):
            try:
                workload = poise.Workload(pick(), pick(), pick(), positions=pick(), pinned=pick(), background_s=pick(),
                                          shared_block=pick(), footprint_bytes=pick(), subphase_load_s=pick())
                poise.plan(MACHINE, workload, pick(), "greedy")
            except (poise.Error, TypeError, ValueError, OverflowError):
                pass


class Runs(unittest.TestCase):
    def command(self, *arguments):
        return subprocess.run([os.environ["POISE"], *map(str, arguments)], check=True, capture_output=True, text=True,
                              timeout=300).stdout

    def test_map_returns_the_same_map_as_the_command_poise_map(self):
        random = np.random.default_rng(3)
        pairs = random.integers(0, 16, (2, 60))
        workload = poise.Workload(np.ones(16), messages=(*pairs, random.integers(1, 9999, 60)))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.poise")
            poise.write(poise.Trace([poise.Phase(workload)], 16), path)
            for options, arguments in ((), {}), (("--distance", "factors", "--cores", 2), {"distance": "factors", "cores_per_rank": 2}):
                printed = self.command("map", path, "-m", "node:4 numa:2 core:4", *options, "-o", "-")
                self.assertEqual(poise.map("node:4 numa:2 core:4", workload, **arguments).tolist(), list(map(int, printed.split())))
        with self.assertRaisesRegex(poise.Error, "ranks_per_place is 0"):
            poise.map("core:16", workload, ranks_per_place=0)
        with self.assertRaisesRegex(poise.Error, "cores_per_rank is 4294967297"):
            poise.map("core:16", workload, cores_per_rank=2**32 + 1)

    def test_theory_returns_what_the_command_poise_theory_prints(self):
        printed = json.loads(self.command("theory", "--threads", 8, "--cpus", 7, "--phase", "30s", "--period", "100ms", "--json"))
        outlook = poise.theory(8, 7, 30)
        self.assertEqual((outlook.static_s, outlook.ideal_s, outlook.reactive_s, outlook.proactive_bound_s, outlook.advice),
                         tuple(printed[name] for name in ("static_s", "ideal_s", "reactive_s", "proactive_bound_s", "advice")))
        self.assertEqual(outlook.simulated_swaps_s, printed["simulated_swaps"]["completion_s"])
        self.assertEqual(outlook.swap_migrations, printed["simulated_swaps"]["migrations"])
        with self.assertRaises(poise.Error):
            poise.theory(0, 7, 30)

    def test_diagnose_refuses_a_trace_without_a_profile_and_names_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.poise")
            poise.write(poise.Trace([poise.Phase(ring())], 8), path)
            with self.assertRaisesRegex(poise.Error, "t.poise: the trace has no profile"):
                poise.diagnose(path)


class Import(unittest.TestCase):
    def test_importing_the_package_imports_no_optional_package(self):
        program = f"import sys, poise; print([name for name in {sorted(HAS)} + ['mpi4py'] if name in sys.modules])"
        printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300)
        self.assertEqual(printed.stdout.strip(), "[]")


class Pictures(unittest.TestCase):
    @needs("matplotlib")
    def test_the_example_in_the_python_guide_runs(self):
        import matplotlib
        matplotlib.use("Agg")
        example, = blocks_run_by(__file__, "docs/python.md")
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            exec(example.replace('"trade_off.png"', repr(os.path.join(folder, "trade_off.png"))), {})
            self.assertGreater(os.path.getsize(os.path.join(folder, "trade_off.png")), 1000)
        self.assertEqual([line.split()[0] for line in printed.getvalue().splitlines()], ["poise", "deal"])

    @needs("matplotlib")
    def test_all_cells_of_the_notebook_run(self):
        import matplotlib
        matplotlib.use("Agg")
        notebook = json.loads((pathlib.Path(__file__).resolve().parents[2] / "examples" / "strategies.ipynb").read_text())
        printed, names = io.StringIO(), {}
        with contextlib.redirect_stdout(printed):
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), names)
        iteration_s = {row.strategy: row.metrics.iteration_s for row in names["comparison"]}
        self.assertLess(iteration_s["poise"], 0.5 * iteration_s["keep"])
        self.assertLess(iteration_s["poise"], iteration_s["deal"])
        self.assertEqual([line.split()[0] for line in printed.getvalue().splitlines()], ["poise", "greedy", "keep", "deal"])

    @needs("matplotlib")
    def test_plotting_functions_return_matplotlib_axes_that_contain_the_data(self):
        import matplotlib
        matplotlib.use("Agg")
        workload, now = ring(), np.zeros(40)
        comparison = poise.compare(MACHINE, workload, now, ["poise", "keep"])
        after = comparison["poise"].placement
        bars = poise.pictures.loads(MACHINE, workload, {"now": now, "poise": after})
        self.assertEqual(len(bars.patches), 16)
        self.assertAlmostEqual(sum(bar.get_height() for bar in bars.patches), 2 * workload.load_s.sum())
        shown = poise.pictures.heat_map(MACHINE, workload, np.arange(40) % 2 * 4, by="node").images[0].get_array()
        np.testing.assert_array_equal(shown, [[0, 20000], [20000, 0]])
        self.assertEqual(len(poise.pictures.trade_off(comparison).texts), 2)
        self.assertEqual(len(poise.pictures.machine_tree(MACHINE).patches), 2 + 4 + 8)
        trace = poise.Trace([poise.Phase(workload, now)], 8)
        self.assertEqual(len(poise.pictures.timeline(poise.simulate(MACHINE, trace, "greedy", steps=5)).lines), 2)
        with self.assertRaisesRegex(poise.Error, "no level 'rack'"):
            poise.pictures.heat_map(MACHINE, workload, now, by="rack")


if __name__ == "__main__":
    unittest.main()
