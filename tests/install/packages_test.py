#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""usage: packages_test.py BUILD: makes the Debian packages of a build folder in which the target
`installables` is built, and checks what is
in them. The tests unpack the packages, because installing them would change this machine."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
VERSION = re.search(r"poise VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
# Files that a package must have, as patterns of paths.
CONTENTS = {
    "poise": [r"/usr/bin/poise$", r"/usr/share/man/man1/poise\.1", r"/usr/share/man/man1/poise-compare\.1",
              r"/usr/share/bash-completion/completions/poise$", r"/zsh/site-functions/_poise$",
              r"/usr/share/poise/machines/NUMA32\.json$", r"/libpoise_profile\.so$",
              r"/libpoise_juggle_waits\.so$"],
    "libpoise0": [r"/libpoise\.so\.0$", rf"/libpoise\.so\.{re.escape(VERSION)}$"],
    "libpoise-dev": [r"/libpoise\.so$", r"/libpoise_cxx\.a$", r"/usr/include/poise/poise\.h$", r"/pkgconfig/poise\.pc$",
                     r"/cmake/poise/poise-config\.cmake$", r"/usr/share/poise/fortran/poise\.f90$"],
}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False, **options)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "root"
        out = pathlib.Path(folder.name) / "packages"
        run("cpack", "-G", "DEB", "-D", f"CPACK_OUTPUT_FILE_PREFIX={out}", cwd=BUILD)
        cls.packages = {path.name.split("_")[0]: path for path in out.glob("*.deb")}
        for path in cls.packages.values():
            run("dpkg-deb", "-x", path, cls.root)

    def files_of(self, package):
        return [line.split()[5].removeprefix(".") for line in run("dpkg-deb", "-c", self.packages[package]).splitlines()
                if not line.startswith("d")]

    def field(self, package, name):
        return run("dpkg-deb", "-f", self.packages[package], name).strip()

    def test_each_debian_package_has_the_version_of_the_project_and_the_expected_files(self):
        self.assertEqual(set(self.packages), set(CONTENTS))
        for package, patterns in CONTENTS.items():
            with self.subTest(package):
                self.assertEqual(self.field(package, "Version"), VERSION)
                files = "\n".join(self.files_of(package))
                for pattern in [*patterns, rf"^/usr/share/doc/{package}/copyright$"]:
                    self.assertRegex(files, re.compile(pattern, re.M))

    def test_no_two_debian_packages_share_a_file_and_all_files_are_below_usr(self):
        files = [path for package in self.packages for path in self.files_of(package)]
        self.assertEqual(len(files), len(set(files)))
        self.assertGreater(len(files), 100)
        self.assertEqual([path for path in files if not path.startswith("/usr/")], [])

    def test_each_debian_package_depends_on_the_libraries_that_it_needs(self):
        self.assertIn("libhwloc", self.field("poise", "Depends"))
        self.assertIn("libhwloc", self.field("libpoise0", "Depends"))
        for name in f"libpoise0 (= {VERSION})", "libhwloc-dev", "libfmt-dev":
            self.assertIn(name, self.field("libpoise-dev", "Depends"))

    def test_every_file_that_cmake_installs_is_in_a_debian_package(self):
        with tempfile.TemporaryDirectory() as prefix:
            run("cmake", "--install", BUILD, "--prefix", prefix)
            installed = {"/usr/" + str(path.relative_to(prefix)) for path in pathlib.Path(prefix).rglob("*")
                         if path.is_file() or path.is_symlink()}
        packaged = {path for package in self.packages for path in self.files_of(package)}
        self.assertEqual(installed - packaged, set())

    @unittest.skipUnless((BUILD or ROOT).joinpath("build.ninja").exists(), "not a build by ninja")
    def test_an_installation_builds_no_test_no_benchmark_and_no_miniapp(self):
        built = [path for path in run("ninja", "-t", "inputs", "installables", cwd=BUILD).split() if path.endswith(".o")]
        self.assertGreater(len(built), 100)
        self.assertEqual([path for path in built if re.search(r"_test\b|^bench|^miniapps|^tests", path)], [])

    def test_the_packaged_command_finds_the_packaged_machine_files(self):
        program = self.root / "usr" / "bin" / "poise"
        self.assertIn(VERSION, run(program, "--version"))
        self.assertIn("NUMA48", run(program, "topo", "--machine", "NUMA48"))

    def test_a_program_builds_with_the_packaged_library(self):
        source = re.search(r"(?ms)^```c\n(.*?)^```$", (ROOT / "docs" / "library.md").read_text())[1]
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.with_suffix(".c").write_text(source)
            library = next(self.root.rglob("libpoise.so")).parent
            flags = run("pkg-config", "--cflags", "--libs", next(self.root.rglob("poise.pc"))).split()
            run("cc", program.with_suffix(".c"), *flags, f"-Wl,-rpath,{library}", "-o", program)
            self.assertIn("goes from place 0", run(program))


if __name__ == "__main__":
    if BUILD is None:
        sys.exit(__doc__)
    if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
        sys.exit(77)
    unittest.main()
