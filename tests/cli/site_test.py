# SPDX-License-Identifier: BSD-3-Clause

"""Tests the HTML pages: what the API reference of docs/api.py contains, and (if Sphinx is installed) that docs/site.py
reports broken links."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
import api  # noqa: E402

spec = importlib.util.spec_from_file_location("poise_site", ROOT / "docs" / "site.py")  # `import site` loads Python's module `site`
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)

TOOLS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "poise" / "docs" / "bin"
C_HEADER = '''// A licence
// What this is.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
/* ---- Machines ---- */

/* Makes one.
   It says more. */
int poise_make(const char* text,
               int how);
int poise_drop(int which);

static inline int poise_inline(int x) {
  int y = x;

  return y;
}
/* How. */
struct poise_how {
  int x;

  /* Inside. */
  int y;
};
#ifdef __cplusplus
}  // extern "C"
#endif
'''
CPP_HEADER = '''// A licence
// What this is.
#pragma once
#include <span>
namespace poise {
class Hidden;
/// A <thing> with f[0].
template <typename T>
class Thing : public Other {
 public:
  /// Made of n.
  explicit Thing(int n)
      : n_(n), m_(2) {}
  /// The size.
  int size() const { return n_; }

  /// All of
  /// them.
  template <typename Visit>
  void each(Visit visit) {
    for (;;) visit();
  }

 private:
  /// Secret.
  int n_, m_;
};
namespace detail {
int inner();
}  // namespace detail
template <typename T>
int Thing<T>::late(int x) {
  return x;
}
}  // namespace poise
'''
FORTRAN = '''! A licence
! What this is.
module m
  private
  public :: thing, make
  interface
    integer function make_c(x) bind(c)
    end function
  end interface

  ! A thing.
  type :: thing
    integer :: x = 0
  contains
    procedure :: set => thing_set
  end type
contains
  ! Makes one.
  function make(n, &
                error) result(made)
    integer, intent(in) :: n
    integer, optional :: error
    type(thing) :: made
    integer :: i
    made%x = n
  end function
  subroutine thing_set(self)
    class(thing) :: self
  end subroutine
end module
'''


def documented(header):
    """Returns the lines of comments that begin with ///, without those of private members and of namespace detail."""
    text = re.sub(r"(?ms)^( *) private:.*?^\1\};|^namespace detail \{.*?^\}  // namespace detail", "", header)
    return {line.strip("/ ") for line in re.findall(r"(?m)^ *(///.*)$", text)}


class Site(unittest.TestCase):
    maxDiff = None

    def test_the_reference_of_a_c_header_shows_each_comment_above_the_declarations_it_describes(self):
        self.assertEqual(api.header_text(C_HEADER).strip().split("\n\n"), [
            "What this is.", "### Machines", "Makes one.\nIt says more.",
            "```c\nint poise_make(const char* text,\n               int how);\nint poise_drop(int which);\n```",
            "```c\nstatic inline int poise_inline(int x);\n```", "How.",
            "```c\nstruct poise_how {\n  int x;", "  /* Inside. */\n  int y;\n};\n```"])

    def test_the_reference_of_a_cpp_header_shows_no_bodies_and_no_private_members(self):
        self.assertEqual(api.header_text(CPP_HEADER).strip().split("\n\n"), [
            "What this is.", "A \\<thing> with f\\[0].",
            "```cpp\ntemplate <typename T>\nclass Thing : public Other {\n public:\n  /// Made of n.\n  explicit Thing(int n);\n"
            "  /// The size.\n  int size() const;",
            "  /// All of\n  /// them.\n  template <typename Visit>\n  void each(Visit visit);\n};\n```"])

    def test_the_reference_of_a_fortran_module_shows_public_types_and_procedures_with_their_arguments(self):
        text = api.fortran_text(FORTRAN)
        self.assertEqual(re.findall(r"(?s)```fortran\n(.*?)\n```", text), [
            "type :: thing\n  integer :: x = 0\ncontains\n  procedure :: set => thing_set\nend type",
            "function make(n, &\n              error) result(made)\n  integer, intent(in) :: n\n  integer, optional :: error\n  type(thing) :: made",
            "subroutine thing_set(self)\n  class(thing) :: self"])
        self.assertIn("A thing.\n\n```", text)
        self.assertIn("Makes one.\n\n```", text)

    def test_the_reference_has_every_function_of_the_c_interfaces(self):
        for source in "poise/poise.h", "poise/plugin.h", "poise/communication.h", "faces/c/poise_tasks.h":
            header = (ROOT / source).read_text(encoding="utf-8")
            declared = set(re.findall(r"(?m)^[a-z].*?\b(poise_\w+)\(", header)) | set(re.findall(r"(?m)^(?:typedef )?(?:struct|enum) (poise_\w+) \{", header))
            self.assertTrue(declared, source)
            blocks = "\n".join(re.findall(r"(?s)```c\n(.*?)```", api.header_text(header)))
            self.assertEqual({name for name in declared if not re.search(rf"\b{name}\b", blocks)}, set(), source)

    def test_the_reference_has_all_comments_of_public_headers_and_its_code_has_balanced_braces(self):
        headers = [source for _, _, sources in api.PAGES.values() for source in sources if source.endswith(".h")]
        self.assertIn("runtimes/tasks/context.h", headers)
        for source in headers:
            header = (ROOT / source).read_text(encoding="utf-8")
            text = api.header_text(header)
            shown = text.replace("\\", "")
            self.assertEqual({line for line in documented(header) if line not in shown}, set(), source)
            for block in re.findall(r"(?s)```c(?:pp)?\n(.*?)```", text):
                plain = re.sub(r"//.*|/\*.*?\*/|\"[^\"]*\"", "", block)
                self.assertEqual((plain.count("{"), plain.count("(")), (plain.count("}"), plain.count(")")), f"{source}: {block}")
                self.assertNotIn("return ", plain)

    def test_the_reference_has_every_header_and_fortran_module_that_programs_include(self):
        public = [*(ROOT / "poise").glob("*.h"), *(ROOT / "faces" / "library").glob("poise_*.h"), *(ROOT / "faces" / "c").glob("*.h"),
                  *(ROOT / "faces" / "fortran").glob("poise*.f90")]
        shown = {source for _, _, sources in api.PAGES.values() for source in sources}
        self.assertGreater(len(public), 7)
        self.assertEqual({str(path.relative_to(ROOT)) for path in public} - shown, set())

    def test_the_reference_has_every_name_that_the_python_package_exports(self):
        source = (ROOT / "faces" / "python" / "poise" / "__init__.py").read_text(encoding="utf-8")
        exported = set(re.findall(r'"(\w+)"', re.search(r"(?s)__all__ = \[(.*?)\]", source)[1])) - {"built_with", "pictures"}
        self.assertGreater(len(exported), 20)
        self.assertEqual({name for name in exported if f"### {name}\n" not in api.pages()["api_python"]}, set())

    def test_files_that_a_guide_links_to_are_copied_beside_its_html_page(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "docs" / "sub").mkdir(parents=True)
            (folder / "a.h").write_text("x")
            (folder / "docs" / "page.md").write_text("[h](../a.h) [p](other.md#x) [s](sub/) [w](https://a.example)")
            with mock.patch.object(site, "ROOT", folder):
                site.copy_page(folder / "docs" / "page.md", folder / "out")
            self.assertEqual((folder / "out" / "a.h").read_text(), "x")
            self.assertEqual((folder / "out" / "docs" / "page.md").read_text(),
                             "[h](../a.h) [p](other.md#x) `docs/sub/` [w](https://a.example)")

    @unittest.skipUnless((TOOLS / "sphinx-build").exists(), "no Sphinx: ./dev docs gets it")
    def test_all_pages_are_built_as_html_without_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([TOOLS / "python", ROOT / "docs" / "site.py", folder], capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless((TOOLS / "sphinx-build").exists(), "no Sphinx: ./dev docs gets it")
    def test_broken_links_fail_the_build_of_the_html_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for text, status in ("# A\n\n[a](#a)\n", 0), ("# A\n\n[b](other.md)\n", 1), ("# A\n\n[c](#c)\n", 1):
                (folder / "index.md").write_text(text)
                options = {**site.OPTIONS, "root_doc": "index"}
                command = site.sphinx(TOOLS / "python", options, folder, folder / "html")
                done = subprocess.run(command, capture_output=True, timeout=300, check=False)
                self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
