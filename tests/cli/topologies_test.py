# SPDX-License-Identifier: BSD-3-Clause

"""Reads hwloc XML files of real machines, if they are stored beside the source tree. Compares the machine that `poise`
reads with the numbers of objects in the XML."""

import collections
import os
import pathlib
import unittest
import xml.etree.ElementTree as xml

import run_poise

DATA = pathlib.Path(os.environ.get("POISE_TEST_DATA", "")) / "topologies"
FILES = sorted(DATA.glob("*.xml"))


def bits(text):
    """Converts a set such as "0x00000003,0xffffffff" (words of 32 bits) to a number."""
    return int("0x" + "".join(f"{int(word or '0', 16):08x}" for word in text.split(",")), 16)


def allowed_objects(path):
    """Counts the usable objects of each type. A NUMA node is usable if it is in the allowed node set; any other object
    is usable if at least one of its processing units is allowed."""
    root = xml.parse(path).getroot()
    machine = root.find("object")
    sets = {name: bits(machine.get(f"allowed_{name}")) for name in ("cpuset", "nodeset")}
    counts = collections.Counter()
    for entry in root.iter("object"):
        name = "nodeset" if entry.get("type") == "NUMANode" else "cpuset"
        if entry.get(name) and bits(entry.get(name)) & sets[name]:
            counts[entry.get("type")] += 1
    counts["PU"] = bin(sets["cpuset"]).count("1")
    return counts


def spread_out(numbers, size):
    """Expands a value of a machine file to a list of `size` numbers: a single number is repeated `size` times; in a
    list, the entry "4x2" is the number 2, repeated four times."""
    if not isinstance(numbers, list):
        return [numbers] * size
    out = []
    for entry in numbers:
        times, _, number = str(entry).rpartition("x")
        out += int(times or 1) * [int(number)]
    return out


@unittest.skipUnless(FILES, f"no topologies in {DATA}")
class TopologiesTest(run_poise.CliTest):
    def test_the_numbers_of_cores_and_numa_domains_and_caches_equal_those_in_the_hwloc_file(self):
        for path in FILES:
            with self.subTest(path.name):
                self.check(path)

    def check(self, path):
        machine = self.json_of("topo", "--machine", path, "--json")
        objects = allowed_objects(path)
        summary = machine["summary"]
        places, domains = summary["places"], summary["domains"]
        self.assertEqual(summary["nodes"], 1)
        self.assertEqual(places, objects["Core"] or objects["PU"])
        self.assertEqual(sum(spread_out(machine.get("threads", 1), places)), objects["PU"])
        self.assertEqual(domains + len(machine.get("other_memory", [])), objects["NUMANode"])
        caches = collections.Counter()
        for cache in machine.get("caches", []):
            caches[cache["name"]] += cache["count"]
        for level in range(1, 6):
            self.assertEqual(caches[f"l{level}"], objects[f"L{level}Cache"], f"l{level}")
        self.check_factors(machine.get("numa", {}), domains)

    def check_factors(self, numa, domains):
        if domains == 1:
            return
        self.assertIn(numa["source"], ("firmware", "assumed"))
        rows = numa["latency_factor"]
        self.assertEqual([len(row) for row in rows], [domains] * domains)
        for i, row in enumerate(rows):
            self.assertEqual(row[i], 1)
            self.assertTrue(all(1 < factor < 20 for j, factor in enumerate(row) if j != i), row)

    def test_poise_topo_says_for_each_cost_whether_it_is_assumed_or_given_or_measured_or_from_firmware(self):
        for path in FILES:
            with self.subTest(path.name):
                done = self.run_poise("topo", "--machine", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                headings = [line for line in done.stdout.splitlines()
                            if line.startswith(("NUMA factors", "Messages inside", "Network"))]
                self.assertTrue(headings)
                for line in headings:
                    self.assertRegex(line, r"\((assumed|firmware|given|measured)\)$")


if __name__ == "__main__":
    unittest.main()
