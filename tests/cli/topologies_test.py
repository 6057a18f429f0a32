"""Real topologies, where they lie beside the checkout, against what their XML says by a plain count."""

import collections
import os
import pathlib
import unittest
import xml.etree.ElementTree as xml

import run_poise

DATA = pathlib.Path(os.environ.get("POISE_TEST_DATA", "")) / "topologies"
FILES = sorted(DATA.glob("*.xml"))


def units(cpuset):
    """How many processing units a set such as "0x00000003,0xffffffff" holds."""
    return sum(bin(int(word, 16)).count("1") for word in cpuset.split(",") if word)


def spread_out(numbers, size):
    numbers = numbers if isinstance(numbers, list) else [numbers]
    return [numbers[i % len(numbers)] for i in range(size)]


@unittest.skipUnless(FILES, f"no topologies in {DATA}")
class TopologiesTest(run_poise.CliTest):
    def test_places_domains_and_caches_are_those_of_the_file(self):
        for path in FILES:
            with self.subTest(path.name):
                self.check(path)

    def check(self, path):
        machine = self.json_of("topo", "--machine", path, "--json")
        objects = collections.Counter(entry.get("type") for entry in xml.parse(path).iter("object"))
        allowed = units(xml.parse(path).find("object").get("allowed_cpuset"))
        self.assertEqual(objects["PU"], allowed, "the test does not know what is left out")
        summary = machine["summary"]
        places, domains = summary["places"], summary["domains"]
        self.assertEqual(summary["nodes"], 1)
        self.assertEqual(places, objects["Core"])
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

    def test_the_drawing_names_the_source_of_every_factor(self):
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
