#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that every wrapper has as many parameters as its MPI function, in C and in Fortran, and that it passes all arguments
and the result on. A small library stands in for MPI: each of its functions records its arguments."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from reader import ENVIRONMENT, LIBRARY, installations

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "runtimes" / "profile"
LISTED = re.findall(r"^POISE_MPI\((\w+), (\w+), (\d+), (\d+),|^POISE_MPI_C\((\w+), (\d+),", (FOLDER / "functions.inc").read_text(), re.M)
# (name in C, number of parameters in C, name in Fortran or "", number of parameters in Fortran)
FUNCTIONS = [(name or only_c, int(c or only), lower, int(fortran or 0)) for name, lower, c, fortran, only_c, only in LISTED]
WITHOUT_ARGV = {"Init", "Init_thread", "Info_create_env"}  # Fortran has neither argc nor argv
MAX_ARITY = 14

CALLER = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef uintptr_t W;
extern W seen[16];
extern int num_seen, num_calls;
static const struct { const char* name; int arity; } kFunctions[] = {
%(table)s
};
static int call(void* f, int arity, const W* w) {
  switch (arity) {
%(cases)s
  }
  return -1;
}
int main(void) {
  static int one[16]; /* Fortran passes addresses; what is there is not 0, as if the call had failed */
  const int count = sizeof kFunctions / sizeof *kFunctions;
  for (int i = 0; i < count; ++i) {
    const int arity = kFunctions[i].arity, is_fortran = kFunctions[i].name[0] == 'm';
    W words[16];
    for (int k = 0; k < 16; ++k) one[k] = 1, words[k] = is_fortran ? (W)&one[k] : 0x1111111111111111u * (W)(k + 1) - 1;
    void* const wrapper = dlsym(RTLD_DEFAULT, kFunctions[i].name);
    Dl_info where = {0};
    if (wrapper == NULL || dladdr(wrapper, &where) == 0 || strstr(where.dli_fname, "libpoise_profile") == NULL) {
      printf("%%s has no wrapper\\n", kFunctions[i].name);
      continue;
    }
    num_seen = -1;
    const int result = call(wrapper, arity, words);
    if (result != 1000 + num_calls || num_seen != arity || memcmp(seen, words, (size_t)arity * sizeof(W)) != 0)
      printf("%%s: %%d arguments arrived, %%d were passed, result %%d\\n", kFunctions[i].name, num_seen, arity, result);
  }
  printf("%%d calls of %%d functions\\n", num_calls, count);
  return 0;
}
"""


def symbols():
    """Returns the names of all wrappers with their numbers of parameters."""
    for name, arity, lower, fortran in FUNCTIONS:
        yield f"MPI_{name}", arity
        if lower:
            yield f"mpi_{lower}_", fortran
            yield f"mpi_{lower}_f08_", fortran


def words_of(arity):
    return ", ".join(f"W a{k}" for k in range(arity)) or "void"


def library_text():
    """Returns the C source of a library that defines the PMPI function for each function in FUNCTIONS."""
    lines = ["#include <stdint.h>", "typedef uintptr_t W;", "W seen[16];", "int num_seen, num_calls;"]
    for name, arity in symbols():
        notes = " ".join(f"seen[{k}] = a{k};" for k in range(arity))
        lines.append(f"int {'P' if name[0] == 'M' else 'p'}{name}({words_of(arity)}) {{ {notes} num_seen = {arity}; return 1000 + ++num_calls; }}")
    return "\n".join(lines) + "\n"


def caller_text():
    table = "\n".join(f'  {{"{name}", {arity}}},' for name, arity in symbols())
    cases = "\n".join(f"    case {arity}: return ((int (*)({words_of(arity)}))f)({', '.join(f'w[{k}]' for k in range(arity))});"
                      for arity in range(MAX_ARITY + 1))
    return CALLER % {"table": table, "cases": cases}


def declared(mpi, folder):
    """Returns {name: [parameters]} of the functions that mpi.h declares."""
    source = folder / "include.c"
    source.write_text("#include <mpi.h>\n")
    text = subprocess.run([f"mpicc.{mpi}", "-E", "-P", source], capture_output=True, text=True, check=True, timeout=300).stdout
    found = {}
    for name, rest in re.findall(r"\bint\s+MPI_(\w+)\s*\(([^;]*?)\)\s*(?:__attribute__[^;]*)?;", " ".join(text.split())):
        flat = re.sub(r"\([^()]*\)", "", rest)  # remove the parameter lists of function pointers
        found[name] = [] if flat.strip() in ("", "void") else flat.split(",")
    return found


def fortran_arity(name, parameters):
    """Returns the number of parameters in Fortran: C's parameters, a hidden length for each string, and ierror."""
    if name == "Pcontrol":  # level and, in MPICH's mpi_f08, ierror; C's variable arguments do not exist in Fortran
        return 2
    if name in WITHOUT_ARGV:
        return len(parameters) - 1
    texts = sum(re.search(r"\bchar\b", parameter) is not None for parameter in parameters)
    return len(parameters) + texts + 1


class Relay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_wrapper_passes_on_all_arguments_and_the_result_of_its_mpi_function(self):
        library, caller = self.folder / "libfake.so", self.folder / "caller"
        (self.folder / "fake.c").write_text(library_text())
        (self.folder / "caller.c").write_text(caller_text())
        for command in (["cc", "-w", "-O0", "-shared", "-fPIC", self.folder / "fake.c", "-o", library],
                        ["cc", "-w", "-O0", self.folder / "caller.c", "-o", caller, library, "-ldl"]):
            subprocess.run(command, check=True, timeout=300)
        done = subprocess.run([caller], capture_output=True, text=True, timeout=300, check=False,
                              env=ENVIRONMENT | {"LD_PRELOAD": LIBRARY, "LD_LIBRARY_PATH": str(self.folder)})
        count = len(list(symbols()))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{count} calls of {count} functions\n", ""))
        self.assertGreater(count, 1000)

    def test_wrappers_have_as_many_parameters_as_the_functions_that_mpi_h_declares(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                functions = declared(mpi, self.folder)
                known = [function for function in FUNCTIONS if function[0] in functions]
                self.assertGreater(len(known), 300)
                wrong = {name for name, arity, _, _ in known if arity != len(functions[name])}
                wrong |= {f"{lower}_" for name, _, lower, arity in known if lower and arity != fortran_arity(name, functions[name])}
                self.assertEqual(wrong, set())


if __name__ == "__main__":
    if not LIBRARY:
        print("POISE_PROFILE_LIBRARY names no library")
        sys.exit(77)
    unittest.main()
