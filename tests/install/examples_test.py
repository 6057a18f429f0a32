#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""usage: examples_test.py PREFIX: builds the programs of docs/library.md and other programs against an installed Poise,
by CMake, by pkg-config, and by the compilers of MPI (MPICC, MPICXX, MPIFORT), as users do."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
from guide_blocks import blocks_of  # noqa: E402

PREFIX = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
FLANG = next(filter(None, map(shutil.which, ("flang-new-19", "flang-19", "flang-new", "flang"))), None)
MOVES = r"task (7)?0 goes from place 0 to"
# Debian's deal.II uses Open MPI.
HAS_DEALII = pathlib.Path("/usr/include/deal.II").exists() and "mpich" not in os.environ.get("MPICXX", "mpich")
HWLOC = """
#include <hwloc.h>
#include <poise/poise.h>
#include <stdio.h>
int main(void) {
  hwloc_topology_t topology;
  poise_machine *machine = NULL;
  hwloc_topology_init(&topology);
  hwloc_topology_set_synthetic(topology, "pack:2 numa:1 core:3 pu:1");
  hwloc_topology_load(topology);
  if (poise_machine_from_hwloc(topology, &machine) != POISE_OK) return puts(poise_last_error()), 1;
  printf("%d places\\n", (int)poise_machine_num_places(machine));
  poise_machine_destroy(machine);
  hwloc_topology_destroy(topology);
  return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES {languages})
find_package(poise REQUIRED {components})
add_executable(program {source})
target_link_libraries(program PRIVATE {target})
{more}
"""


def run(command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
                          env=os.environ | (environment or {}))
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def pkg_config(*arguments):
    folder = next(PREFIX.rglob("poise.pc")).parent
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
    return run(["pkg-config", *arguments], {"PKG_CONFIG_PATH": path}).split()


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for page in "library.md", "library_cpp.md":
            for block in blocks_of(ROOT / "docs" / page):
                if "file" in block.marks:
                    pathlib.Path(block.marks["file"]).write_text(block.body)
        pathlib.Path("topology.c").write_text(HWLOC)
        cls.library = next(PREFIX.rglob("libpoise.so")).parent

    def moves(self, printed):
        self.assertRegex(printed, MOVES)

    def by_cmake(self, name, environment=None, more="", options=(), **project):
        folder = pathlib.Path(name)
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT.format(more=more, **project))
        run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", *options], environment)
        run(["cmake", "--build", folder / "build"])
        return run([str(folder / "build" / "program")])

    def by_compiler(self, compiler, sources, package, *options):
        run([*compiler, *map(str, sources), *options, *pkg_config("--cflags", "--libs", package), "-o", "program",
             f"-Wl,-rpath,{self.library}"])
        return run(["./program"])

    def build_answers(self, name):
        """Builds the library that implements the functions of ParMETIS or of Zoltan, from the source that Poise
        installs."""
        run([os.environ["MPICC"], "-shared", "-fPIC", "-Wall", "-Werror",
             str(PREFIX / "share" / "poise" / "partitioners" / f"poise_{name}.c"), "-isystem", "/usr/include/trilinos",
             *pkg_config("--cflags", "--libs", "poise"), "-o", f"libpoise_{name}.so", f"-Wl,-rpath,{self.library}"])

    def by_mpicc(self, page):
        """Builds the C program of a page with the compiler of MPI and returns what it prints under the launcher."""
        program, = (block for block in blocks_of(ROOT / "docs" / page) if block.language == "c")
        source = pathlib.Path(page).with_suffix(".c")
        source.write_text(program.body)
        flags = pkg_config("--cflags", "--libs", "poise")
        run([os.environ["MPICC"], "-std=c99", "-Wall", "-Wextra", "-Werror", str(source), *flags, "-o", "program",
             f"-Wl,-rpath,{self.library}"])
        return run([*os.environ["LAUNCH"].split(), "./program"])

    def test_a_cmake_project_in_c_can_use_the_cmake_component_for_c(self):
        self.moves(self.by_cmake("in_c", languages="C", components="COMPONENTS c", source="../program.c",
                                           target="poise::c"))

    def test_a_cmake_project_in_c_that_names_no_component_gets_the_c_library(self):
        self.moves(self.by_cmake("plain_c", languages="C", components="", source="../program.c",
                                           target="poise::c"))

    def test_a_cmake_project_in_c_that_asks_for_the_cpp_component_gets_an_error_with_the_reason(self):
        with self.assertRaisesRegex(AssertionError, "need a project with the language CXX"):
            self.by_cmake("wrong", languages="C", components="COMPONENTS cxx", source="../program.c", target="poise::c")
        with self.assertRaisesRegex(AssertionError, "nonsense"):
            self.by_cmake("nonsense", languages="C", components="COMPONENTS nonsense", source="../program.c",
                          target="poise::c")

    def test_the_cmake_component_for_cpp_links_the_static_library(self):
        self.moves(self.by_cmake("in_cpp", languages="CXX", components="COMPONENTS cxx",
                                           source="../program.cc", target="poise::poise"))

    def test_cmake_does_not_find_the_cpp_library_if_pkg_config_does_not_find_hwloc(self):
        with self.assertRaisesRegex(AssertionError, r"(?s)poise_FOUND to FALSE.*pkg-config\s+does\s+not\s+find\s+hwloc"):
            self.by_cmake("no_hwloc", {"PKG_CONFIG_LIBDIR": "/nowhere"}, languages="CXX", components="COMPONENTS cxx",
                          source="../program.cc", target="poise::poise")

    @unittest.skipUnless(shutil.which("gfortran"), "there is no Fortran compiler")
    def test_a_cmake_project_in_fortran_compiles_the_installed_fortran_module(self):
        expected = "makespan 3.000, moves 3"
        # Ninja refuses a project in which two targets write the same module file.
        again = "add_executable(again ../program.f90)\ntarget_link_libraries(again PRIVATE poise::fortran)"
        self.assertIn(expected, self.by_cmake("in_fortran", {"CMAKE_GENERATOR": "Ninja"}, again, languages="C Fortran",
                                              components="COMPONENTS fortran", source="../program.f90",
                                              target="poise::fortran"))
        with self.assertRaisesRegex(AssertionError, "needs a project with the language Fortran"):
            self.by_cmake("no_fortran", languages="C", components="COMPONENTS fortran", source="../program.c",
                          target="poise::c")
        module = PREFIX / "share" / "poise" / "fortran" / "poise.f90"
        self.assertIn(expected, self.by_compiler(["gfortran"], [module, "program.f90"], "poise"))

    @unittest.skipUnless(os.environ.get("MPIFORT"), "there is no MPI for Fortran")
    def test_a_cmake_project_compiles_the_installed_fortran_module_for_tasks(self):
        # With -z text, the linker refuses text relocations, as hardened systems do.
        options = [f"-DMPI_{language}_COMPILER={os.environ[variable]}"
                   for language, variable in (("CXX", "MPICXX"), ("Fortran", "MPIFORT"))]
        options.append("-DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,text")
        mpi = "find_package(MPI REQUIRED COMPONENTS Fortran)\ntarget_link_libraries(program PRIVATE MPI::MPI_Fortran)"
        printed = self.by_cmake("tasks_in_fortran", None, mpi, options, languages="C CXX Fortran",
                                components="COMPONENTS tasks_c", source=ROOT / "docs" / "double.f90",
                                target="poise::tasks_fortran")
        self.assertIn("the last number is 1998", printed)

    @unittest.skipUnless(FLANG, "there is no flang")
    def test_flang_compiles_the_installed_fortran_modules_and_their_programs(self):
        folder = PREFIX / "share" / "poise" / "fortran"
        self.assertIn("makespan 3.000, moves 3", self.by_compiler([FLANG], [folder / "poise.f90", "program.f90"], "poise"))
        # The modules pass the communicator as an integer. So they need no MPI module, which only the compiler that
        # built MPI could read.
        for module in "poise.f90", "poise_mpi.f90":
            run([FLANG, "-c", folder / module])

    def test_c_and_cpp_programs_build_with_the_flags_of_pkg_config(self):
        self.moves(self.by_compiler(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror"], ["program.c"], "poise"))
        self.moves(self.by_compiler(["c++", "-std=c++20"], ["program.cc"], "poise-cxx"))

    def test_the_adaptive_mesh_example_takes_less_time_with_poise_than_with_the_maps_of_amrex(self):
        printed = self.by_compiler(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror"], [ROOT / "examples" / "boxes.c"],
                                   "poise", "-lm")
        together = {line.split()[0]: float(re.search(r"together ([\d.]+) s", line)[1]) for line in printed.splitlines()}
        self.assertLess(together["poise"], 0.85 * min(together["knapsack"], together["curve"], together["keep"]))

    @unittest.skipUnless(shutil.which("make"), "there is no make")
    def test_a_makefile_that_calls_pkg_config_builds_c_and_cpp_programs(self):
        folder = pathlib.Path("made")
        folder.mkdir()
        for suffix, package, flags in ("c", "poise", "CFLAGS"), ("cc", "poise-cxx", "CXXFLAGS"):
            with self.subTest(package):
                shutil.copy(f"program.{suffix}", folder / f"{package}.{suffix}")
                (folder / "Makefile").write_text(
                    f"{flags} = -O1 $(shell pkg-config --cflags {package})\n"
                    f"LDLIBS = $(shell pkg-config --libs {package}) -Wl,-rpath,{self.library}\n"
                    f"{package}: {package}.{suffix}\n" + ("" if suffix == "c" else "CXXFLAGS += -std=c++20\n"))
                where = os.pathsep.join(filter(None, [str(next(PREFIX.rglob("poise.pc")).parent),
                                                      os.environ.get("PKG_CONFIG_PATH")]))
                run(["make", "-C", folder, package], {"PKG_CONFIG_PATH": where})
                self.moves(run([str(folder / package)]))

    def test_the_installed_library_accepts_a_topology_object_of_hwloc(self):
        hwloc = run(["pkg-config", "--cflags", "--libs", "hwloc"]).split()
        self.assertIn("6 places", self.by_compiler(["cc", "-Wall", "-Werror"], ["topology.c"], "poise", *hwloc))

    @unittest.skipUnless(os.environ.get("LAUNCH") and os.environ.get("MPICC"), "there is no MPI")
    def test_mpicc_and_mpicxx_build_programs_with_tasks_and_objects(self):
        launch = os.environ["LAUNCH"].split()
        matmul = ROOT / "miniapps" / "matmul"
        builds = [(os.environ["MPICC"], [matmul / "matmul.c"], "poise-tasks-c", [], ["20", "20", "0"]),
                  (os.environ["MPICXX"], [ROOT / "docs" / "objects_example.cc"], "poise-objects", ["-std=c++20"], [])]
        if os.environ.get("MPIFORT"):
            module = PREFIX / "share" / "poise" / "fortran" / "poise_tasks.f90"
            builds.append((os.environ["MPIFORT"], [module, matmul / "matmul.f90"], "poise-tasks-c", [], ["20", "20", "0"]))
        for compiler, sources, package, options, arguments in builds:
            with self.subTest(package=package, compiler=compiler):
                run([compiler, *options, *map(str, sources), *pkg_config("--cflags", "--libs", package), "-o", "program"])
                self.assertTrue(run([*launch, "./program", *arguments]))

    @unittest.skipUnless(os.environ.get("LAUNCH") and os.environ.get("MPICC"), "there is no MPI")
    def test_mpicc_builds_the_distributed_planning_example_in_c(self):
        self.assertRegex(self.by_mpicc("distributed.md"), r"task \d+ goes from rank 0 to rank 1")

    @unittest.skipUnless(os.environ.get("LAUNCH") and os.environ.get("MPICC"), "there is no MPI")
    def test_mpicc_builds_the_example_that_calls_zoltan_and_the_example_balances_its_cells(self):
        self.assertIn("the busiest rank works 2.00 s instead of 3.00 s", self.by_mpicc("zoltan.md"))

    @unittest.skipUnless(os.environ.get("LAUNCH") and os.environ.get("MPICC"), "there is no MPI")
    def test_mpicc_builds_the_installed_sources_that_implement_the_functions_of_parmetis_and_zoltan(self):
        for name in ["parmetis"] + ["zoltan"] * pathlib.Path("/usr/include/trilinos/zoltan.h").exists():
            self.build_answers(name)
        run([os.environ["MPICC"], "-DHAS_ADAPTIVE", str(ROOT / "faces" / "partitioners" / "parmetis_mpi.c"), "-L.",
             "-lpoise_parmetis", "-o", "program", f"-Wl,-rpath,{pathlib.Path.cwd()}"])
        self.assertIn("all is right", run([*os.environ["LAUNCH"].split(), "./program"]))

    @unittest.skipUnless(os.environ.get("LAUNCH") and HAS_DEALII, "there is no deal.II")
    def test_dealii_divides_a_mesh_more_evenly_if_poise_is_preloaded_in_place_of_zoltan(self):
        self.build_answers("zoltan")
        run([os.environ["MPICXX"], "-std=c++17", "-w", str(ROOT / "examples" / "dealii.cc"), "-I/usr/include/trilinos",
             "-ldeal.ii", "-ltbb", "-ltrilinos_teuchoscomm", "-ltrilinos_teuchoscore", "-o", "mesh"])
        largest, faces = {}, {}
        for who, preload in ("zoltan", []), ("poise", [f"LD_PRELOAD={pathlib.Path.cwd()}/libpoise_zoltan.so"]):
            printed = run([*os.environ["LAUNCH"].split(), "env", *preload, "./mesh"])
            cells, most, cut = re.search(r"(\d+) cells, .* has ([\d.]+) times .* (\d+) faces", printed).groups()
            self.assertEqual(cells, "22396")
            largest[who], faces[who] = float(most), int(cut)
        self.assertGreater(faces["poise"], 0)
        self.assertLess(largest["poise"], min(1.05, largest["zoltan"]))
        self.assertLess(faces["poise"], 1.2 * faces["zoltan"])

    @unittest.skipUnless(os.environ.get("LAUNCH") and os.environ.get("MPIFORT"), "there is no MPI for Fortran")
    def test_mpifort_builds_a_distributed_planning_program_in_fortran(self):
        sources = [PREFIX / "share" / "poise" / "fortran" / name for name in ("poise.f90", "poise_mpi.f90", "poise_mpi.c")]
        run([os.environ["MPIFORT"], *map(str, sources), str(ROOT / "faces" / "fortran" / "distributed_mpi.f90"),
             *pkg_config("--cflags", "--libs", "poise"), "-o", "program", f"-Wl,-rpath,{self.library}"])
        self.assertIn("all is right", run([*os.environ["LAUNCH"].split(), "./program"]))


if __name__ == "__main__":
    if PREFIX is None:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        unittest.main()
