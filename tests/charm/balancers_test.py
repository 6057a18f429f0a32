#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs a real Charm++ program under Poise's balancers. Environment variables: RING is the path of the
program, POISE that of the poise command, CHARM_HOME the folder of Charm++. If Charm++ was built for a network
(netlrts), a run has several processes on this host: two, or one per PE if processes have no threads (not smp)."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

RING, POISE = os.environ["RING"], os.environ["POISE"]
HOME = pathlib.Path(os.environ["CHARM_HOME"])
IS_NETWORK = HOME.name.startswith("netlrts")
HAS_THREADS = HOME.name.endswith("smp")  # each process has several PEs and a communication thread
HAS_TREES = (HOME / "include/HybridBaseLB.h").exists()
HAS_TREE_LB = (HOME / "include/TreeLB.h").exists()
HAS_MANAGER = (HOME / "include/LBManager.h").exists()  # which PoiseJointLB needs
# The program has this many pieces, of which MOVABLE may migrate. It balances three times.
PIECES, MOVABLE = 64, 56


RUN_S = 300 if IS_NETWORK else 100  # time limit of a run; several processes take longer to start on a busy host
# Exit status of a run in which the program refuses to start: status 2, which charmrun turns into 1.
REFUSED = 1 if IS_NETWORK else 2
# Processes without threads poll while they wait. If there are many more such processes than cores, each exchange takes
# a long time.
MANY_PES = 4 if IS_NETWORK and not HAS_THREADS else 8


def processes(pes):
    """Returns the number of processes of a run."""
    if not IS_NETWORK:
        return 1
    return 2 if HAS_THREADS and pes % 2 == 0 else pes


def moves_of_tree(by_process, by_root, pes=4):
    """Returns how many objects the strategy rotate moves if it decides `by_process` times within each process and
    `by_root` times for all PEs. Within a process with one PE nothing moves."""
    return MOVABLE * (by_root + (by_process if processes(pes) < pes else 0))


def start(pes):
    """Returns the command that starts the program on `pes` PEs."""
    if not IS_NETWORK:
        return [RING, f"+p{pes}"]
    threads = ["++ppn", str(pes // processes(pes))] if HAS_THREADS else []
    return [str(HOME / "bin/charmrun"), "++local", f"+p{pes}", *threads, RING]


def balancers():
    """Returns the names of all balancers that can decide for the program."""
    rows = json.loads(poise("strategies", "--json"))["strategies"]
    # the strategy orb needs positions of objects; the strategy optimal allows only few objects
    return ["PoiseLB", "NucoLB", "NumaLB", "TreeMatchTopoLB",
            *("Poise" + row["name"].title().replace("_", "") + "LB"
              for row in rows if row["name"] not in ("orb", "optimal"))]


def charm(*flags, pes=4, variables=()):
    # There may be more PEs than cores, so +CmiSleepOnIdle makes idle PEs sleep. Network builds whose processes have no
    # threads lack this option. Without +LBPeriod, Charm++ 6.10 waits for half a second at each balancing step.
    shared = ["+setcpuaffinity", *["+CmiSleepOnIdle"] * (HAS_THREADS or not IS_NETWORK)]
    if not (HOME / "include/LBManager.h").exists():
        shared += ["+LBPeriod", "0.001"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POISE_")}
    return subprocess.run([*start(pes), *shared, *flags], capture_output=True, text=True, timeout=RUN_S,
                          env=environment | dict(variables))


def poise(*arguments):
    """Returns the output of a command of poise. charmrun may end shortly before the processes do, and a process
    completes its trace when it ends, so the command is repeated up to a hundred times."""
    for _ in range(100 if IS_NETWORK else 1):
        done = subprocess.run([POISE, *arguments], capture_output=True, text=True, check=False, timeout=100)
        if done.returncode == 0:
            break
        time.sleep(0.1)
    done.check_returncode()
    return done.stdout


class Balancers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def moves(self, *flags, warnings=0, **more):
        done = charm(*flags, **more)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertEqual(done.stderr.count("warning:"), warnings, done.stderr)
        line = re.search(r"ring: (\d+) moves, 0 of pinned pieces; ok", done.stdout)
        self.assertTrue(line, done.stdout)
        return int(line[1])

    def dump(self):
        """Makes Charm++ dump the second and third balancing step to files whose names differ only in the number at the end.
        Returns their path without this number."""
        name = self.folder / "dump"
        done = charm("+balancer", "PoiseKeepLB", "+LBDump", "1", "+LBDumpSteps", "2", "+LBDumpFile", str(name))
        self.assertTrue((self.folder / "dump.2").exists(), done.stdout + done.stderr)
        return name

    def test_no_object_is_lost_with_any_balancer(self):
        for number, name in enumerate(balancers()):
            with self.subTest(name):
                self.moves("+balancer", name, pes=2 + 2 * (number % 2))

    def test_with_the_hybrid_balancer_each_group_of_pes_balances_its_own_objects(self):
        if not HAS_TREES:
            self.skipTest("Charm++ has no HybridBaseLB")
        for pes in (2, 4, 6, 8, 12):  # with 5 PEs or more the tree has three levels
            self.assertGreater(self.moves("+balancer", "PoiseHybridLB", "+PoiseLB", "greedy", pes=pes), 0)
        # The strategy orb fails here, because the objects have no positions. So objects stay on their PEs, except
        # objects that come from another group of PEs. Such an object is put on some PE of its new group.
        self.moves("+balancer", "PoiseHybridLB", "+PoiseLB", "orb", pes=8, warnings=2)
        self.moves("+balancer", "PoiseHybridLB", pes=8, warnings=1, variables={"POISE_LOG": "-"})

    def test_no_object_is_lost_by_the_hybrid_balancer_if_pes_are_at_different_time_steps(self):
        if not HAS_TREES:
            self.skipTest("Charm++ has no HybridBaseLB")
        for pes in (4, 8):  # trees with two and with three levels
            self.moves("+balancer", "PoiseHybridLB", "+PoiseLB", "rotate", "apart", pes=pes)

    def test_the_strategy_rotate_moves_every_movable_object(self):
        self.assertEqual(self.moves("+balancer", "PoiseRotateLB"), 3 * MOVABLE)
        self.assertEqual(self.moves("+balancer", "PoiseKeepLB"), 0)

    def detours(self, *flags, **more):
        """Returns how many messages went to a PE other than the receiver's, in a run in which objects have moved."""
        done = charm(*flags, **more)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertGreater(int(re.search(r"ring: (\d+) moves, 0 of pinned pieces; ok", done.stdout)[1]), MOVABLE / 2)
        return int(re.search(r"ring: (\d+) messages were sent to a PE without the receiver", done.stdout)[1])

    def check_detours(self, *flags, **more):
        # After each of the three balancing steps, senders may send the messages of one time step, two per piece, to the
        # wrong PE before they learn the receivers' new PEs. If they never learnt the new PEs, about a thousand messages
        # would go to the wrong PE.
        self.assertLess(self.detours(*flags, **more), 3 * 2 * PIECES)

    def test_messages_go_directly_to_objects_that_the_balancer_has_moved(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ 6 tells the senders itself")
        self.check_detours("+balancer", "PoiseRandomLB", variables={"POISE_TRACE": str(self.folder / "run.poise")})

    def test_after_a_restart_the_first_balancing_step_ends_the_detours_of_messages_even_if_no_object_moves(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ 6 tells the senders itself")
        trace = {"POISE_TRACE": str(self.folder / "run.poise")}
        self.checkpoint("+balancer", "PoiseLB", "+PoiseLB", "random", variables=trace)
        # After a restart, senders do not know where objects are, so messages make detours until the next balancing
        # step. The first run starts from the checkpoint of step 20. At step 30 it balances and writes a checkpoint,
        # which contains the number of detours so far. The second run starts from that checkpoint and adds about as many
        # detours of its own to this number.
        until_30, until_end = (self.detours("+restart", str(self.folder / f"saved.{step}"), "+PoiseLB", "keep",
                                            variables=trace) for step in (20, 30))
        self.assertGreater(until_30, PIECES)
        self.assertLess(until_30, 0.75 * until_end)

    def test_messages_go_directly_to_objects_that_the_hybrid_balancer_has_moved_within_and_between_groups(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ 6 tells the senders itself")
        for pes in (8, 12):  # two and three groups of four PEs
            self.check_detours("+balancer", "PoiseHybridLB", "+PoiseLB", "greedy_comm", pes=pes)

    def test_messages_go_directly_to_objects_that_the_tree_balancer_has_moved_at_any_level(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        level = {"strategies": ["greedy_comm"]}
        self.check_detours(*self.tree(tree="PE_Root", root=level), pes=8)
        self.check_detours(*self.tree(tree="PE_Process_Root", process=level, root=level | {"step_freq": 2}), pes=8)

    def checkpoint(self, *flags, **more):
        """Returns the number of moves in a run that writes a checkpoint after each balancing step."""
        return self.moves(*flags, "checkpoint", str(self.folder / "saved"), **more)

    def restarted(self, *flags, step=20, **more):
        """Restarts the program from the checkpoint written after iteration `step` (20: the second balancing step),
        and returns the number of moves in that run."""
        return self.moves("+restart", str(self.folder / f"saved.{step}"), *flags, **more)

    def test_every_balancer_continues_after_a_restart_from_a_checkpoint(self):
        for number, name in enumerate(balancers()):
            with self.subTest(name):
                self.checkpoint("+balancer", name)
                for pes in (4, 2, 6) if name == "PoiseLB" else (2,) if number % 2 else (6,):
                    self.restarted(pes=pes)

    def test_the_strategy_rotate_continues_after_a_restart_from_a_checkpoint(self):
        self.assertEqual(self.checkpoint("+balancer", "PoiseRotateLB"), 3 * MOVABLE)
        self.assertEqual(self.restarted(), 3 * MOVABLE)

    def test_a_run_restarted_from_a_checkpoint_makes_the_same_random_decisions_as_a_run_without_restart(self):
        # The seed of a decision is the number of earlier decisions, including those before a restart.
        moved = self.checkpoint("+balancer", "PoiseRandomLB")
        self.assertEqual(self.restarted(step=10), moved)  # this run also writes the checkpoints of steps 20 and 30
        self.assertEqual(self.restarted(step=20), moved)
        self.assertEqual(self.restarted(step=30), moved)
        trace, log = self.folder / "run.poise", self.folder / "log"
        for pes in (2, 4, 6):
            self.restarted(pes=pes, variables={"POISE_TRACE": str(trace), "POISE_LOG": str(log)})
            said = re.search(r"(\d+) migrations", log.read_text())
            # The run was restarted after its second decision, so the first decision here is the third one, with seed 2.
            plan = poise("plan", str(trace), "--strategy", "random", "--seed", "2", "--json")
            self.assertEqual(json.loads(plan)["migrations"], int(said[1]))

    def test_pes_are_bound_to_the_same_cores_after_a_restart(self):
        if not {0, 1} <= os.sched_getaffinity(0):
            self.skipTest("cpus 0 and 1 are not both there")
        before, after = self.folder / "before.poise", self.folder / "after.poise"
        reverse = ["+pemap", "1,0"]
        self.checkpoint("+balancer", "PoiseKeepLB", *reverse, pes=2, variables={"POISE_TRACE": str(before)})
        self.restarted(*reverse, pes=2, variables={"POISE_TRACE": str(after)})
        self.assertEqual(self.planned(after, "keep"), self.planned(before, "keep"))

    def test_the_hybrid_balancer_continues_after_a_restart_from_a_checkpoint(self):
        if not HAS_TREES:
            self.skipTest("Charm++ has no HybridBaseLB")
        for pes in (4, 8):  # trees with two and with three levels
            with self.subTest(pes=pes):
                self.checkpoint("+balancer", "PoiseHybridLB", "+PoiseLB", "greedy", pes=pes)
                for again in (pes, 2, 6, 8):
                    self.restarted("+PoiseLB", "greedy", pes=again)
        moved = self.checkpoint("+balancer", "PoiseHybridLB", "+PoiseLB", "random")
        self.assertEqual(self.restarted("+PoiseLB", "random"), moved)

    def joint(self, *flags, **more):
        """Returns the number of moves in a run in which all PEs decide together."""
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        return self.moves("+balancer", "PoiseJointLB", *flags, **more)

    def test_with_the_joint_balancer_no_object_is_lost_on_any_number_of_pes(self):
        for pes in (1, 2, 3, MANY_PES):
            self.assertEqual(self.joint("+PoiseLB", "rotate", pes=pes), 3 * MOVABLE * (pes > 1))
        self.assertEqual(self.joint("+PoiseLB", "rotate", "apart"), 3 * MOVABLE)
        self.assertGreater(self.joint("+PoiseLB", "greedy_comm", "multicast"), 0)

    def imbalances(self, balancer, strategy, pes):
        """Returns the imbalances before and after the first of three decisions about given loads."""
        log = self.folder / "log"
        self.moves("+balancer", balancer, "+PoiseLB", strategy, "+LBNoBackground", "given", "7", pes=pes,
                   variables={"POISE_LOG": str(log)})
        return [float(value) for value in
                re.match(r"step 0: .* imbalance ([\d.]+), expected ([\d.]+); ", log.read_text()).groups()]

    def test_the_joint_balancer_balances_loads_about_as_well_as_the_central_balancer(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        for pes in (3, MANY_PES):
            for strategy in "poise", "greedy_refine", "nuco":
                with self.subTest(strategy, pes=pes):
                    before, after = self.imbalances("PoiseLB", strategy, pes)
                    joint_before, joint_after = self.imbalances("PoiseJointLB", strategy, pes)
                    self.assertEqual(joint_before, before)
                    self.assertGreater(before, 1.5)
                    self.assertLess(joint_after, min(1.1 * after, before))

    def test_the_joint_balancer_moves_nothing_if_all_loads_are_equal(self):
        self.assertEqual(self.joint("+LBNoBackground", "given", "1"), 0)

    def test_the_joint_balancer_tells_senders_to_which_pes_objects_have_moved(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        for pes in (3, MANY_PES):
            self.check_detours("+balancer", "PoiseJointLB", "+PoiseLB", "greedy_comm", pes=pes)

    def test_the_joint_balancer_continues_after_a_restart_from_a_checkpoint(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        moved = self.checkpoint("+balancer", "PoiseJointLB", "+PoiseLB", "random")
        self.assertEqual(self.restarted("+PoiseLB", "random"), moved)  # the same moves as without a restart
        for pes in (2, 3, MANY_PES):
            self.restarted("+PoiseLB", "greedy_comm", pes=pes)

    def test_the_joint_balancer_prints_a_line_per_decision_on_request(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        done = charm("+balancer", "PoiseJointLB", "+PoiseLB", "rotate", "+LBDebug", "1")
        lines = re.findall(r"poise: PE 0: rotate: (\d+) of 64 objects of 4 PEs move, decided in \S+ s", done.stdout)
        self.assertEqual(lines, 3 * [str(MOVABLE)], done.stdout + done.stderr)

    def test_the_joint_balancer_can_run_before_or_after_another_balancer_in_one_program(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        for order in ("PoiseJointLB", "PoiseKeepLB"), ("PoiseKeepLB", "PoiseJointLB"):
            moves = self.moves(*(flag for name in order for flag in ("+balancer", name)), "+PoiseLB", "rotate")
            self.assertEqual(moves, MOVABLE * (1 if order[0] == "PoiseJointLB" else 2))

    def test_all_movable_objects_leave_an_unavailable_pe_if_all_pes_decide_together(self):
        for pe in "0", "1", "3":
            for strategy in "poise", "keep":
                self.assertGreater(self.joint("+PoiseLB", strategy, pe), 0)

    def test_all_movable_objects_leave_an_unavailable_pe_with_the_hybrid_and_the_tree_balancer(self):
        if IS_NETWORK:
            self.skipTest("the program tells only its first process which PE is unavailable")
        if HAS_TREES:
            for pes, pe in (4, "3"), (8, "5"), (8, "0"):  # four PEs form one group, eight form two
                for strategy in "poise", "keep":
                    self.assertGreater(self.moves("+balancer", "PoiseHybridLB", "+PoiseLB", strategy, pe, pes=pes), 0)
        if HAS_TREE_LB:
            for tree in ({"tree": "PE_Root"}, {"tree": "PE_Process_Root", "process": {"strategies": ["keep"]}}):
                flags = self.tree(**tree, root={"strategies": ["keep"], "step_freq": 3})
                self.assertGreater(self.moves(*flags, "3"), 0)

    def test_if_a_joint_decision_fails_no_object_moves_and_only_one_pe_prints_a_warning(self):
        self.assertEqual(self.joint("+PoiseLB", "optimal", warnings=1), 0)
        self.assertEqual(self.joint("+PoiseLB", "rotate", warnings=1, variables={"POISE_BUDGET": "1ns"}), 0)

    def test_a_strategy_that_the_joint_balancer_cannot_use_ends_the_program_immediately(self):
        if not HAS_MANAGER:
            self.skipTest("Charm++ has no LBManager")
        for strategy, said in (("gredy", '+PoiseLB: unknown strategy "gredy"'),
                               ("orb", "PoiseJointLB: strategy orb needs positions")):
            done = charm("+balancer", "PoiseJointLB", "+PoiseLB", strategy)
            self.assertEqual(done.returncode, REFUSED, done.stdout)
            self.assertEqual(done.stderr.count("poise: "), 1, done.stderr)
            self.assertIn("poise: " + said, done.stderr)
            self.assertNotIn("ring:", done.stdout)

    def tree(self, **configuration):
        """Writes a configuration for PoiseTreeLB; returns the flags that use it."""
        path = self.folder / "tree.json"
        path.write_text(json.dumps(configuration))
        return ["+balancer", "PoiseTreeLB", "+PoiseTreeLB", str(path)]

    def test_the_root_of_the_tree_balancer_makes_the_same_decision_as_the_command_poise_plan(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        for strategy in "poise", "nuco", "greedy_refine", "random", "rotate":
            with self.subTest(strategy):
                trace = self.folder / f"{strategy}.poise"
                flags = self.tree(tree="PE_Root", root={"strategies": [strategy]})
                moves = self.moves(*flags, variables={"POISE_TRACE": str(trace)})
                start = [self.planned(trace, "keep", phase)[:64] for phase in range(3)]
                plan = [self.planned(trace, strategy, phase)[:64] for phase in range(3)]
                self.assertEqual(plan[:2], start[1:])  # object by object
                self.assertEqual(sum(a != b for k in range(3) for a, b in zip(start[k], plan[k])), moves)
                self.assertEqual(moves, 3 * MOVABLE if strategy == "rotate" else moves)

    def test_each_balancing_step_runs_one_level_of_the_tree_with_the_next_strategy_of_that_level(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        # The balancer is called three times. The process level of the tree decides in the first and third call, the
        # root level in the second.
        for process, root, moves in (("rotate", "keep", moves_of_tree(2, 0)), ("keep", "rotate", moves_of_tree(0, 1)),
                                     ("rotate", "rotate", moves_of_tree(2, 1))):
            flags = self.tree(tree="PE_Process_Root", process={"strategies": [process]},
                              root={"strategies": [root], "step_freq": 2})
            self.assertEqual(self.moves(*flags), moves)
        # At each call, a level of the tree uses the next strategy in its list. At the end of the list, it stays with
        # the last strategy or, if repeat_strategies is set, goes back to the first.
        for again, moves in (False, 1), (True, 2):
            flags = self.tree(tree="PE_Root", root={"strategies": ["rotate", "keep"], "repeat_strategies": again})
            self.assertEqual(self.moves(*flags), moves * MOVABLE)

    def test_the_tree_balancer_writes_a_default_configuration_file_for_the_machine_if_none_exists(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        path = self.folder / "PoiseTreeLB.json"
        for _ in range(2):  # the first run writes the file, the second reads it
            self.assertEqual(self.moves("+balancer", "PoiseTreeLB", "+PoiseTreeLB", str(path), "+PoiseLB", "rotate"),
                             3 * MOVABLE)
        root = {"pe": 0, "strategies": ["rotate"]}
        expected = {"tree": "PE_Root", "root": root}
        if 1 < processes(4) < 4:
            expected = {"tree": "PE_Process_Root", "process": {"strategies": ["rotate"]}, "root": root | {"step_freq": 3}}
        self.assertEqual(json.loads(path.read_text()), expected)
        self.assertEqual(self.moves("+balancer", "PoiseTreeLB", variables={"POISE_STRATEGY": "rotate"}), 3 * MOVABLE)

    def test_an_invalid_configuration_of_the_tree_balancer_ends_the_program_immediately(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        root = {"strategies": ["poise"]}
        for tree, said in (({"tree": "PE_Root"}, '+PoiseTreeLB: "root" is missing'),
                           ({"tree": "PE_Rot", "root": root}, '+PoiseTreeLB: "tree" is "PE_Rot"; '),
                           ({"tree": "PE_Root", "root": {"strategies": ["gredy"]}}, 'unknown strategy "gredy"'),
                           ({"tree": "PE_Root", "root": root | {"pe": 9}}, "the root's \"pe\" is 9, but there are 4 PEs"),
                           ({"tree": "PE_Process_Root", "process": root, "root": root | {"step_freq": 0}},
                            '"step_freq" must be at least 1')):
            done = charm(*self.tree(**tree))
            self.assertEqual(done.returncode, REFUSED, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("ring:", done.stdout)

    def test_the_tree_balancer_continues_after_a_restart_from_a_checkpoint(self):
        if not HAS_TREE_LB:
            self.skipTest("Charm++ has no TreeLB")
        moved = self.checkpoint("+balancer", "PoiseTreeLB", "+PoiseLB", "random")
        self.assertEqual(self.restarted(), moved)
        for pes in (2, 6):
            self.restarted(pes=pes)
        rotate = {"strategies": ["rotate"]}
        self.checkpoint(*self.tree(tree="PE_Process_Root", process=rotate, root=rotate | {"step_freq": 2}))
        self.assertEqual(self.restarted(), moves_of_tree(2, 1))
        # If the restart registered the balancer twice, CkStartLB() would start two concurrent balancing steps.
        self.assertIn("ring: CkStartLB() calls 1 functions", charm("+restart", str(self.folder / "saved.20")).stdout)

    def test_the_random_strategy_uses_a_new_seed_at_every_balancing_step(self):
        trace, log = self.folder / "run.poise", self.folder / "log"
        self.moves("+balancer", "PoiseRandomLB", variables={"POISE_TRACE": str(trace), "POISE_LOG": str(log)})
        said = [int(re.search(r"(\d+) migrations", line)[1]) for line in log.read_text().splitlines()]
        self.assertEqual(len(said), 3)
        for phase, migrations in enumerate(said):
            self.assertGreater(migrations, 0)
            plan = json.loads(poise("plan", str(trace), "--phase", str(phase), "--strategy", "random",
                                    "--seed", str(phase), "--json"))
            self.assertEqual(plan["migrations"], migrations)

    def test_the_strategy_can_be_chosen_on_the_command_line_or_by_an_environment_variable(self):
        self.assertEqual(self.moves("+balancer", "PoiseLB", "+PoiseLB", "rotate"), 3 * MOVABLE)
        self.assertEqual(self.moves("+balancer", "PoiseLB", variables={"POISE_STRATEGY": "rotate"}), 3 * MOVABLE)

    def test_option_lbdebug_prints_one_line_per_decision(self):
        done = charm("+balancer", "PoiseRotateLB", "+LBDebug", "1")
        lines = re.findall(r"poise: PE 0: rotate: (\d+) of 64 objects of 4 PEs move, decided in \S+ s", done.stdout)
        self.assertEqual(lines, 3 * [str(MOVABLE)], done.stdout + done.stderr)

    def test_option_lbdebug_prints_one_line_per_decision_of_each_group_of_pes(self):
        flags = ["+LBDebug", "1", "+PoiseLB", "rotate"]
        if HAS_TREES:
            done = charm("+balancer", "PoiseHybridLB", *flags, pes=6)  # three groups of two PEs
            lines = re.findall(r"poise: PE [024]: rotate: \d+ of \d+ objects of 2 PEs move", done.stdout)
            self.assertEqual(len(lines), 3 * 3, done.stdout + done.stderr)
        if HAS_TREE_LB:
            done = charm(*self.tree(tree="PE_Root", root={"strategies": ["rotate"]}), *flags)
            lines = re.findall(rf"poise: PE 0: rotate: {MOVABLE} of 64 objects of 4 PEs move", done.stdout)
            self.assertEqual(len(lines), 3, done.stdout + done.stderr)

    def test_two_balancers_can_be_used_one_after_the_other(self):
        self.assertEqual(self.moves("+balancer", "PoiseRotateLB", "+balancer", "PoiseKeepLB"), MOVABLE)

    def test_if_a_strategy_fails_no_object_moves_and_one_warning_is_printed(self):
        self.assertEqual(self.moves("+balancer", "PoiseOptimalLB", warnings=1), 0)

    def test_if_a_strategy_takes_too_long_no_object_moves_and_one_warning_is_printed(self):
        self.assertEqual(self.moves("+balancer", "PoiseAnnealLB", warnings=1,
                                    variables={"POISE_BUDGET": "10us"}), 0)

    def test_all_movable_objects_leave_an_unavailable_pe(self):
        for pe in "1", "2", "3":  # Charm++ 6.10 crashes without PE 0
            for balancer in "PoiseLB", "PoiseKeepLB", "NucoLB":
                self.assertGreater(self.moves("+balancer", balancer, pe), 0)

    def test_an_invalid_strategy_or_time_budget_ends_the_program_immediately(self):
        for flags, variables, said in (
                ([], {"POISE_STRATEGY": "gredy"}, 'POISE_STRATEGY: unknown strategy "gredy"'),
                (["+PoiseLB", "nuco:alpha=x"], {}, "+PoiseLB: "),
                ([], {"POISE_BUDGET": "soon"}, 'POISE_BUDGET: "soon"')):
            done = charm("+balancer", "PoiseLB", *flags, variables=variables)
            self.assertEqual(done.returncode, REFUSED, done.stdout)
            self.assertIn("poise: " + said, done.stderr)
            self.assertNotIn("ring:", done.stdout)

    def test_poise_plan_repeats_the_decisions_of_a_run_from_its_trace(self):
        trace, log = self.folder / "run.poise", self.folder / "log"
        moves = self.moves("+balancer", "NucoLB", variables={"POISE_TRACE": str(trace), "POISE_LOG": str(log)})
        lines = log.read_text().splitlines()
        self.assertEqual(len(lines), 3, lines)
        said = [int(re.match(r"step \d: nuco: imbalance .* (\d+) migrations, decided in", line)[1]) for line in lines]
        self.assertEqual(sum(said), moves)
        for phase in (0, 1, 2):
            plan = json.loads(poise("plan", str(trace), "--phase", str(phase), "--strategy", "nuco", "--json"))
            self.assertEqual(plan["places"], 4)
            self.assertEqual(plan["migrations"], said[phase])  # the same decision as inside Charm++

    def test_the_trace_counts_the_whole_message_for_every_receiver_of_a_multicast(self):
        trace = self.folder / "run.poise"
        self.moves("+balancer", "PoiseKeepLB", "multicast", variables={"POISE_TRACE": str(trace)})
        poise("convert", str(trace), str(self.folder / "vt"), "--to", "vt")
        received = collections.defaultdict(collections.Counter)  # received[sender][receiver] is a number of messages
        for path in self.folder.glob("vt.*.json"):
            for message in json.loads(path.read_text())["phases"][0]["communications"]:
                received[message["from"]["id"]][message["to"]["id"]] += message["messages"]
        of_first = max(received.values(), key=len)
        # The first piece multicasts 10 times to all 64 pieces. In addition, it sends 10 messages to each of its two
        # neighbours in the ring.
        self.assertEqual(sorted(of_first.values()), 62 * [10] + 2 * [20])

    def test_a_trace_that_cannot_be_written_does_not_stop_the_run(self):
        self.assertGreater(self.moves("+balancer", "PoiseGreedyLB", warnings=1,
                                      variables={"POISE_TRACE": "/nowhere/run.poise"}), 0)

    def test_replaying_a_load_balancing_dump_of_charm_gives_the_same_placement_as_poise_plan(self):
        name = self.dump()
        ids = self.ids(f"{name}.1")
        start = self.planned(f"{name}.1", "keep")
        for strategy, balancer in (("nuco", "NucoLB"), ("greedy", "PoiseGreedyLB"), ("rotate", "PoiseRotateLB"),
                                   ("greedy_comm", "PoiseGreedyCommLB")):
            planned = self.planned(f"{name}.1", strategy)
            for pes in (1,) if IS_NETWORK else (1, 4):  # a dump of 4 PEs can be replayed on one PE, too
                done = charm("+balancer", balancer, "+LBSim", "1", "+LBDumpFile", str(name), "+LBShowDecisions", pes=pes)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                rows = pathlib.Path(f"{name}.1.results").read_text().split("\n")[1:]
                moved = {int(row.split()[0]): int(row.split()[1]) for row in rows if row.strip()}
                if strategy == "rotate":  # this strategy does not depend on the loads measured on this machine
                    self.assertEqual(len(moved), MOVABLE, done.stdout)
                self.assertEqual(moved, {id: pe for id, pe, old in zip(ids, planned, start) if pe != old}, strategy)

    def ids(self, dump):
        """Returns the ids that Charm++ gave to the pieces, in the order of the tasks. An id does not contain the
        piece's index."""
        poise("convert", dump, str(self.folder / "dumped"), "--to", "vt")
        tasks = [task for path in self.folder.glob("dumped.*.json")
                 for task in json.loads(path.read_text())["phases"][0]["tasks"]]
        ids = sorted(task["entity"]["id"] for task in tasks if "collection_id" in task["entity"])
        self.assertEqual(len(ids), 64)
        return ids

    def planned(self, dump, strategy, phase=None):
        """Returns the place that the strategy chooses for each task of one phase. The file `dump` is a trace or a
        Charm++ dump. If `phase` is None, the first phase is used."""
        placement = self.folder / "placement"
        of_phase = [] if phase is None else ["--phase", str(phase), "--seed", str(phase)]
        poise("plan", str(dump), *of_phase, "--strategy", strategy, "-o", str(placement))
        return [int(line) for line in placement.read_text().split()]


if __name__ == "__main__":
    unittest.main(verbosity=2)
