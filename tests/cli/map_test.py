#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests `poise map`: the maps of ranks, the output, and that real launchers place ranks as the written files say."""

import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap
import unittest

from run_poise import CliTest

# Each rank prints its number and the processing units on which it may run.
PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, used = 0;
  char text[8192];
  cpu_set_t cpus;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sched_getaffinity(0, sizeof cpus, &cpus);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) used += snprintf(text + used, sizeof text - used, used ? ",%d" : "%d", cpu);
  printf("rank %d cpus %s\n", rank, text);
  MPI_Finalize();
  return 0;
}
"""

MPIP = """@ mpiP
@ MPI Task Assignment      : 0 a
@ MPI Task Assignment      : 1 a
@--- MPI Time (seconds) ---------------------------------------------------
Task    AppTime    MPITime     MPI%
   0         10        2.5    25.00
   1         10          4    40.00
   *         20        6.5    32.50
------- Start Communication Matrix -------------
0\t1\t3000\t3
1\t0\t500\t1
------- End Communication Matrix -------------
"""


def pairs_graph(ranks):
    """A METIS graph: rank r exchanges 100 bytes with rank r + ranks / 2, and 1 byte with its neighbours in a ring."""
    edges = [{} for _ in range(ranks)]
    for r in range(ranks):
        for other, weight in [((r + 1) % ranks, 1), ((r + ranks // 2) % ranks, 100)]:
            edges[r][other] = edges[other][r] = weight
    lines = [" ".join(f"{other + 1} {weight}" for other, weight in sorted(row.items())) for row in edges]
    return f"{ranks} {sum(map(len, edges)) // 2} 001\n" + "\n".join(lines) + "\n", edges


class Map(CliTest):
    def setUp(self):
        super().setUp()
        text, self.edges = pairs_graph(16)
        (self.folder / "g.graph").write_text(text)

    def places(self, name="places"):
        return [int(line) for line in (self.folder / name).read_text().split()]

    def test_each_place_gets_one_rank_and_the_report_describes_the_written_map(self):
        for machine in "node:4 core:4", "torus:4x4 core:1", "rack:2 node:2 numa:2 core:2":
            report = self.json_of("map", "g.graph", "-m", machine, "-o", "places", "--json")
            places = self.places()
            self.assertEqual(sorted(places), list(range(16)))
            self.assertEqual(report["tasks"], 16)
            self.assertLess(report["after"]["traffic"], report["before"]["traffic"])
            for key in "internode_bytes", "busiest_node_bytes", "busiest_card_bytes":
                self.assertLessEqual(report["after"][key], report["before"][key])

    def test_the_reported_traffic_equals_the_bytes_of_all_messages_weighted_by_distance(self):
        report = self.json_of("map", "g.graph", "-m", "node:4 core:4", "-o", "places", "--json")
        for places, cost in (self.places(), report["after"]), (range(16), report["before"]):
            nodes = [place // 4 for place in places]
            traffic = internode = 0
            of_node = [0] * 4
            for rank, row in enumerate(self.edges):
                for other, weight in row.items():
                    traffic += weight * (2 if nodes[rank] == nodes[other] else 4)
                    if nodes[rank] != nodes[other]:
                        internode += weight
                        of_node[nodes[rank]] += weight
                        of_node[nodes[other]] += weight
            self.assertEqual(cost["traffic"], traffic)
            self.assertEqual(cost["internode_bytes"], internode)
            self.assertEqual(cost["busiest_node_bytes"], max(of_node))

    def test_poise_map_assigns_one_rank_per_place_with_any_strategy(self):
        for strategy in "poise:from_scratch=1", "treematch", "greedy", "random", "keep":
            done = self.run_poise("map", "g.graph", "-m", "node:4 core:6", "-s", strategy, "-o", "places")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(set(self.places())), 16, strategy)

    def test_poise_map_improves_the_rank_map_that_is_given_as_a_start(self):
        scattered = [4 * (r % 4) + r // 4 for r in range(16)]
        (self.folder / "now").write_text("".join(f"{p}\n" for p in scattered))
        report = self.json_of("map", "g.graph", "-m", "node:4 core:4", "--placement", "now", "--json")
        kept = self.json_of("map", "g.graph", "-m", "node:4 core:4", "--placement", "now", "-s", "keep", "--json")
        self.assertEqual(kept["before"], kept["after"])
        self.assertEqual(report["before"], kept["after"])
        self.assertLess(report["after"]["traffic"], report["before"]["traffic"])

    def test_ranks_stay_in_place_unless_a_map_lowers_a_cost_by_at_least_a_thousandth(self):
        ranks, place = range(16), [5 * r % 16 for r in range(16)]
        (self.folder / "now").write_text("".join(f"{p}\n" for p in place))
        for extra in 1, 10**6:  # each pair of ranks exchanges 100,000 bytes; ranks 0 and 1 exchange `extra` bytes more
            lines = [" ".join(f"{other + 1} {100_000 + extra * ({r, other} == {0, 1})}" for other in ranks if other != r)
                     for r in ranks]
            (self.folder / "even.graph").write_text("16 120 001\n" + "\n".join(lines) + "\n")
            command = "map", "even.graph", "-m", "node:4 core:4", "--placement", "now"
            report = self.json_of(*command, "-o", "places", "--json")
            self.assertEqual(report["kept"], extra == 1)
            self.assertEqual(report["kept"], report["before"] == report["after"])
            self.assertEqual(report["kept"], self.places() == place)
            self.assertEqual(report["kept"], "the ranks stay in place" in self.run_poise(*command).stdout)

    def test_few_ranks_may_be_mapped_to_any_nodes_and_the_text_says_which_maps_were_tried(self):
        (self.folder / "uneven.json").write_text(json.dumps(
            {"poise_machine": 1, "levels": [{"name": "node", "count": 3}, {"name": "core", "count": [2, 1, 3]}]}))
        (self.folder / "ring.csv").write_text("from,to,bytes\n0,1,1000\n1,2,1000\n2,0,1000\n")
        report = self.json_of("map", "ring.csv", "-m", "uneven.json", "-o", "places", "--json")
        self.assertEqual(sorted(self.places()), [3, 4, 5])
        self.assertEqual((report["after"]["traffic"], report["after"]["internode_bytes"]), (6000, 0))
        (self.folder / "even.csv").write_text("from,to,bytes\n" + "".join(
            f"{a},{b},10\n" for a in range(12) for b in range(12) if a != b))
        for graph, machine, says in (
                ("ring.csv", "node:2 core:3", "No map lowers a row"),
                ("ring.csv", "node:1000 core:3", "No map on 1 of the 1000 nodes lowers a row"),
                ("even.csv", "node:2 core:6", "No map that was tried lowers a row"),
                ("even.csv", "node:5 core:6", "No map that was tried on 2 of the 5 nodes lowers a row")):
            self.assertIn(says, self.run_poise("map", graph, "-m", machine).stdout)

    def test_poise_map_accepts_a_start_map_that_leaves_cores_free(self):
        machine = "-m", "node:8 core:4", "--placement", "now"
        spread = [4 * (r // 2) + r % 2 for r in range(16)]
        (self.folder / "now").write_text("".join(f"{p}\n" for p in spread))
        kept = self.json_of("map", "g.graph", *machine, "-s", "keep", "-o", "places", "--json")
        self.assertEqual(self.places(), spread)
        report = self.json_of("map", "g.graph", *machine, "--json")
        self.assertEqual((kept["before"], kept["after"]), (report["before"],) * 2)
        for key, value in report["after"].items():
            self.assertLessEqual(value, report["before"][key], key)
        (self.folder / "now").write_text("".join(f"{2 * r + 1}\n" for r in range(16)))
        self.assert_refused("map", "g.graph", *machine, "--cores", 2,
                            says="rank 0 on place 1, which is not allowed: with --cores 2")
        self.assert_refused("map", "g.graph", *machine, "--for", "cray", says="this launcher fills the nodes in order")
        (self.folder / "now").write_text("0\n1\n1\n" + "".join(f"{p // 2}\n" for p in range(4, 17)))
        self.assert_refused("map", "g.graph", *machine, "--for", "cray", "--capacity", 2,
                            says="this launcher fills the nodes in order")

    def test_the_option_capacity_sets_the_ranks_per_place_and_the_option_cores_sets_the_cores_per_rank(self):
        self.json_of("map", "g.graph", "-m", "node:2 core:4", "--capacity", 2, "-o", "places", "--json")
        self.assertEqual(sorted(self.places()), sorted([*range(8)] * 2))
        self.json_of("map", "g.graph", "-m", "node:4 core:8", "--cores", 2, "-o", "places", "--json")
        self.assertEqual(sorted(self.places()), list(range(0, 32, 2)))

    def test_the_traffic_between_ranks_can_be_read_from_a_report_of_the_profiler_mpip(self):
        (self.folder / "r.mpiP").write_text(MPIP)
        report = self.json_of("map", "r.mpiP", "-m", "node:2 core:1", "--json")
        self.assertEqual(report["before"]["internode_bytes"], 3500)
        self.assertEqual(report["before"]["busiest_card_bytes"], 3000)
        self.assertEqual(report["messages"], 4)

    def write_phases(self, *phases):
        """Writes, in vt's format, a trace of four ranks with one task each. A phase is a dictionary {(from, to): bytes}."""
        def task(rank):
            return {"type": "object", "id": rank, "home": rank, "migratable": True}
        for rank in range(4):
            listed = [{"id": number, "tasks": [{"entity": task(rank), "node": rank, "resource": "cpu", "time": 1.0}],
                       "communications": [{"type": "SendRecv", "from": task(a), "to": task(b), "messages": 1, "bytes": size}
                                          for (a, b), size in messages.items() if a == rank]}
                      for number, messages in enumerate(phases)]
            (self.folder / f"t.{rank}.json").write_text(json.dumps({"type": "LBDatafile", "metadata": {"type": "LBDatafile", "rank": rank},
                                                                    "phases": listed}))

    def test_poise_map_counts_the_messages_of_all_phases_unless_a_phase_is_chosen(self):
        self.write_phases({(0, 1): 1000, (2, 3): 1000}, {(0, 2): 9000, (1, 3): 9000})
        for options, before, after in ((), 18000, 2000), (("--phase", 0), 0, 0), (("--phase", 1), 18000, 0):
            with self.subTest(options):
                report = self.json_of("map", "t", "-m", "node:2 core:2", *options, "--json")
                self.assertEqual((report["before"]["internode_bytes"], report["after"]["internode_bytes"]), (before, after))
        done = self.run_poise("map", "t", "-m", "node:2 core:2")
        self.assertIn("the messages of all 2 phases count", done.stdout + done.stderr)
        self.assertIn(", all 2 phases: 4 tasks", done.stdout)

    def test_poise_map_refuses_too_many_ranks_and_wrong_host_lists_and_invalid_options(self):
        self.assert_refused("map", "g.graph", "-m", "node:2 core:4", says=["16 ranks", "--capacity"])
        self.assert_refused("map", "g.graph", "-m", "node:2 core:4", "--cores", 2, "--capacity", 4,
                            says="can share a place")
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--distance", "hop", says='"hops"')
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--for", "openmpy", says='"openmpi"')
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "-o", "-", "--json", says="stdout")
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--for", "slurm", says="--hosts")
        for option, value in ("--hosts", "a,b,c,d"), ("--launch-file", "x"):
            self.assert_refused("map", "g.graph", "-m", "node:4 core:4", option, value, says="--for LAUNCHER")
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--for", "slurm", "--hosts", "a,b",
                            says="2 host names are given, but the map uses 4 nodes")
        (self.folder / "nodes").write_text("a\na\nb\nb\n")
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--for", "pbs", "--hosts", "nodes",
                            says='node "a" is named twice')
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--for", "pbs", "--hosts", "a slots=4,b,c,d",
                            says='"a slots=4" is not the name of a node')
        (self.folder / "twice").write_text("0\n" * 16)
        self.assert_refused("map", "g.graph", "-m", "node:4 core:4", "--placement", "twice", says="--capacity")

    def test_the_table_shows_numbers_of_messages_instead_of_bytes_if_message_sizes_are_unknown(self):
        for size, unit in (0, "messages"), (8, "bytes"):
            self.run_poise("generate", f"ring:message_bytes={size}", "--tasks", 16, "--places", 16, "-o", "r.poise")
            done = self.run_poise("map", "r.poise", "-m", "node:4 core:4")
            self.assertIn(f"{unit} x hops", done.stdout)
            self.assertEqual(" B " in done.stdout, unit == "bytes", done.stdout)


class LaunchFiles(CliTest):
    """Compares the files that `poise map` writes for launchers with examples that were made by hand from the launchers'
    documentation. These launchers need not be installed."""

    def setUp(self):
        super().setUp()
        # Rank 0 exchanges messages with rank 2, and rank 1 with rank 3. The strategy `keep` moves no rank, so the map
        # is the given placement.
        (self.folder / "g.graph").write_text("4 2 001\n3 10\n4 10\n1 10\n2 10\n")

    def launch(self, launcher, places, *arguments, machine="node:2 core:2"):
        (self.folder / "now").write_text("".join(f"{p}\n" for p in places))
        report = self.json_of("map", "g.graph", "-m", machine, "--placement", "now", "-s", "keep", "--json",
                              "--for", launcher, *arguments)
        return {name: (self.folder / name).read_text() for name in report["files"]}, report["commands"]

    def test_the_rankfile_for_openmpi_binds_each_rank_to_the_cores_that_the_map_assigns_to_it(self):
        files, commands = self.launch("openmpi", [0, 2, 1, 3], "--hosts", "aa,bb")
        self.assertEqual(files, {"rankfile": "rank 0=aa slot=0\nrank 1=bb slot=0\nrank 2=aa slot=1\nrank 3=bb slot=1\n"})
        self.assertIn("mpirun -np 4 --rankfile rankfile ./program", commands[0])
        self.assertIn("--map-by rankfile:file=rankfile ./program", commands[1])
        files, _ = self.launch("openmpi", [0, 8, 4, 12], "--cores", 4, machine="node:2 core:8")
        self.assertEqual(files["rankfile"],
                         "rank 0=+n0 slot=0-3\nrank 1=+n1 slot=0-3\nrank 2=+n0 slot=4-7\nrank 3=+n1 slot=4-7\n")

    def test_the_host_list_and_cpu_binding_for_mpich_place_ranks_as_the_map_says(self):
        files, commands = self.launch("mpich", [1, 0, 3, 2], "--hosts", "aa,bb")
        self.assertEqual(files, {"hosts": "aa:2\nbb:2\n"})
        self.assertEqual(commands, ["mpiexec -n 4 -f hosts -bind-to user:1,0 ./program"])
        files, commands = self.launch("mpich", [0, 2, 1, 3], "--hosts", "aa,bb")
        self.assertEqual(files["hosts"], "aa:1\nbb:1\naa:1\nbb:1\n")
        self.assertIn("  2) cpus=1 ;;\n", files["hosts.bind.sh"])
        self.assertEqual(commands, ["mpiexec -n 4 -f hosts -bind-to none sh hosts.bind.sh ./program"])

    def test_the_slurm_host_file_and_cpu_binding_place_ranks_as_the_map_says(self):
        # srun(1): with --distribution=arbitrary, line k of SLURM_HOSTFILE is the host of rank k. On every node, map_cpu
        # binds the lowest rank to the first CPU of its list, the next rank to the second CPU, and so on.
        files, commands = self.launch("slurm", [0, 2, 1, 3], "--hosts", "aa,bb", "--launch-file", "h")
        self.assertEqual(files, {"h": "aa\nbb\naa\nbb\n"})
        self.assertEqual(commands, ["SLURM_HOSTFILE=h srun -n 4 --distribution=arbitrary --cpu-bind=map_cpu:0,1 "
                                    "./program"])
        _, commands = self.launch("slurm", [0, 8, 4, 12], "--hosts", "aa,bb", "--cores", 4, machine="node:2 core:8")
        self.assertIn("--cpu-bind=mask_cpu:0xf,0xf0 ./program", commands[0])
        files, commands = self.launch("slurm", [1, 2, 0, 3], "--hosts", "aa,bb")
        self.assertIn("--cpu-bind=none sh hosts.bind.sh ./program", commands[0])
        self.assertEqual(len(files), 2)

    def test_the_launch_command_permits_oversubscription_if_the_map_puts_several_ranks_on_one_core(self):
        # srun(1): "Normally, srun will not allocate more than one process per CPU."
        for launcher, option in ("openmpi", "--oversubscribe"), ("slurm", "--overcommit"), ("cray", "--overcommit"):
            for capacity, machine in (2, "node:1 core:2"), (1, "node:1 core:4"):
                _, commands = self.launch(launcher, [0, 0, 1, 1] if capacity == 2 else [0, 1, 2, 3], "--hosts", "aa",
                                          "--capacity", capacity, machine=machine)
                self.assertEqual(option in commands[0], capacity == 2, commands)

    def test_the_rank_order_for_cray_mpich_follows_the_map(self):
        # intro_mpi(3): MPICH_RANK_ORDER lists ranks, comma-separated, in the order in which nodes are filled.
        files, commands = self.launch("cray", [0, 2, 1, 3])
        self.assertEqual(files, {"MPICH_RANK_ORDER": "0,2,1,3\n"})
        self.assertTrue(commands[0].startswith("MPICH_RANK_REORDER_METHOD=3 "))
        self.assertIn("--ntasks-per-node=2", commands[0])

    def test_command_lines_quote_a_file_name_with_blanks(self):
        for launcher in ("openmpi", "mpich", "slurm", "cray", "lsf", "pbs"):
            _, commands = self.launch(launcher, [0, 2, 1, 3], "--hosts", "aa,bb", "--launch-file", "my map's")
            for command in commands:
                words = shlex.split(command)
                self.assertTrue(any(word.endswith("my map's") for word in words), command)
                self.assertNotIn("my", words)

    def test_the_names_of_hosts_can_be_read_from_a_pipe(self):
        self.run_poise("generate", "ring", "--tasks", 4, "--places", 4, "-o", "r.poise")
        done = self.run_poise("map", "r.poise", "-m", "node:2 core:2", "--for", "slurm", "--hosts", "/dev/stdin",
                              input="\ufeffaa\nbb\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set((self.folder / "hosts").read_text(encoding="utf-8").split()), {"aa", "bb"})

    def test_blanks_around_the_names_of_hosts_are_ignored(self):
        files, _ = self.launch("slurm", [0, 2, 1, 3], "--hosts", "aa, bb")
        self.assertEqual(files["hosts"], "aa\nbb\naa\nbb\n")

    def test_the_lsf_resource_file_places_ranks_as_the_map_says(self):
        # The format is described in IBM Job Step Manager, "Explicit Resource File (ERF) format". It counts the hosts of
        # a job from 1.
        files, commands = self.launch("lsf", [0, 2, 1, 3])
        self.assertEqual(files["map.erf"], "cpu_index_using: physical\nrank: 0: { host: 1; cpu: {0} }\n"
                         "rank: 1: { host: 2; cpu: {0} }\nrank: 2: { host: 1; cpu: {1} }\n"
                         "rank: 3: { host: 2; cpu: {1} }\n")
        self.assertEqual(commands, ["jsrun --erf_input map.erf ./program"])

    def test_the_pbs_host_file_and_script_place_ranks_as_the_map_says(self):
        files, commands = self.launch("pbs", [0, 2, 1, 3], "--hosts", "aa,bb")
        self.assertEqual(files["hosts"], "aa\nbb\naa\nbb\n")
        self.assertIn("-machinefile hosts sh hosts.bind.sh ./program", commands[0])


class BatchJob(CliTest):
    """Tests that --machine job reads hosts and switches from environment variables and files of batch schedulers."""

    VARIABLES = "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CONF", "LSB_MCPU_HOSTS", "PBS_NODEFILE"

    def hosts_of(self, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in self.VARIABLES} | variables
        done = self.run_poise("map", "g.graph", "-m", "job", "-s", "keep", "--for", "pbs", "-o", "places", "--json",
                              env=environment)
        if done.returncode:
            return done.stderr
        cores = json.loads(done.stdout)["places"]
        return cores, (self.folder / "hosts").read_text().split()

    def test_the_hosts_of_a_batch_job_are_read_from_slurm_or_lsf_or_pbs(self):
        (self.folder / "g.graph").write_text("2 1 001\n2 10\n1 10\n")
        (self.folder / "nodes").write_text("b\nb\na\na\n")
        (self.folder / "topology.conf").write_text("SwitchName=s0 Nodes=n1,n3\nSwitchName=s1 Nodes=n2\n")
        alone, _ = self.hosts_of(SLURM_JOB_NODELIST="n1")
        self.assertEqual(self.hosts_of(SLURM_JOB_NODELIST="n[1-3]", SLURM_CONF=str(self.folder / "slurm.conf"))[0],
                         3 * alone)
        self.assertEqual(self.hosts_of(LSB_MCPU_HOSTS="hostB 2 hostA 2")[1][0], "hostB")
        self.assertEqual(self.hosts_of(PBS_NODEFILE=str(self.folder / "nodes"))[1][0], "b")
        self.assertIn("SLURM_JOB_NODELIST", self.hosts_of())
        self.assertIn("not a range", self.hosts_of(SLURM_JOB_NODELIST="n[3-1]"))


class RealLaunchers(CliTest):
    """Starts a program with the command line that `poise map` prints. Every rank of the program prints on which cpus it
    may run."""

    def setUp(self):
        super().setUp()
        self.cpus = sorted(os.sched_getaffinity(0))
        if len(self.cpus) < 2:
            self.skipTest("one processor shows no binding")
        (self.folder / "g.graph").write_text("2 1 001\n2 10\n1 10\n")
        (self.folder / "program.c").write_text(textwrap.dedent(PROGRAM))

    def run_as_printed(self, launcher, compiler, place_of_rank, *arguments, replace=(), which=0):
        compiler = shutil.which(compiler)
        if compiler is None:
            self.skipTest(f"no {launcher}")
        subprocess.run([compiler, "program.c", "-o", "program"], cwd=self.folder, check=True, timeout=300)
        (self.folder / "now").write_text("".join(f"{p}\n" for p in place_of_rank))
        report = self.json_of("map", "g.graph", "-m", "live", "--placement", "now", "-s", "keep", "--json", "--for",
                              launcher, *arguments)
        command = report["commands"][which]
        for old, new in replace:
            self.assertIn(old, command)
            command = command.replace(old, new)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        for name in list(environment):  # removes variables that could keep the command from binding ranks
            if name.startswith(("OMPI_MCA_", "PRTE_MCA_")):
                del environment[name]
        done = subprocess.run(command, shell=True, cwd=self.folder, env=environment, check=False, timeout=300,
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return {int(rank): cpus for rank, cpus in re.findall(r"rank (\d+) cpus ([\d,]+)", done.stdout)}

    def expect(self, bound, places):
        # Open MPI binds a rank to all hardware threads of a core; the rank's place must be one of them.
        for rank, place in enumerate(places):
            self.assertIn(str(self.cpus[place]), bound[rank].split(","), bound)
        self.assertNotEqual(bound[0], bound[1])

    def test_open_mpi_binds_ranks_as_the_rankfile_says(self):
        for places in [1, 0], [0, 1]:
            bound = self.run_as_printed("openmpi", "mpicc.openmpi", places, replace=[("mpirun ", "mpirun.openmpi ")])
            self.expect(bound, places)

    def test_open_mpi_5_binds_ranks_as_the_rankfile_says(self):
        home = os.environ.get("OPENMPI5_HOME")
        if not home:
            self.skipTest("OPENMPI5_HOME does not name an installation of Open MPI 5")
        bound = self.run_as_printed("openmpi", f"{home}/bin/mpicc", [1, 0], which=1,
                                    replace=[("mpirun ", f"{home}/bin/mpirun ")])
        self.expect(bound, [1, 0])

    def test_hydra_binds_ranks_as_the_host_list_says(self):
        for places in [1, 0], [0, 1]:
            bound = self.run_as_printed("mpich", "mpicc.mpich", places, replace=[("mpiexec ", "mpiexec.mpich ")])
            self.expect(bound, places)

    def test_the_wrapper_script_binds_ranks_if_the_launcher_cannot(self):
        for launcher, compiler, program in ("mpich", "mpicc.mpich", "mpiexec.mpich"), \
                ("openmpi", "mpicc.openmpi", "mpirun.openmpi --bind-to none --oversubscribe"):
            if shutil.which(compiler) is None:
                continue
            bound = self.run_as_printed("pbs", compiler, [1, 0], replace=[("mpiexec ", program + " ")])
            self.expect(bound, [1, 0])


if __name__ == "__main__":
    unittest.main()
