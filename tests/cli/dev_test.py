# SPDX-License-Identifier: BSD-3-Clause

"""Tests ./dev in a copied checkout. Stand-ins for cmake and ninja record how they are called."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Dev(unittest.TestCase):
    def calls(self, home, *arguments, owner=None):
        """Runs `./dev ARGUMENTS` in a checkout whose build folder was configured for the checkout `home`. Returns the
        commands by which ./dev called cmake and ninja. ./dev starts with the umask 077; self.umask becomes the umask
        with which ./dev ran the last command. If `owner` is given, the checkout belongs to this user, and the call
        checks that all files that ./dev writes belong to the same user."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "build").mkdir()
            (folder / "build" / "build.ninja").touch()
            (folder / "build" / "CMakeCache.txt").write_text(
                f"// a comment\nCMAKE_HOME_DIRECTORY:INTERNAL={home or folder}\nX:BOOL=ON\n")
            (folder / "packaging").mkdir()
            (folder / "packaging" / "packages.txt").touch()
            shutil.copy(ROOT / "dev", folder)
            for name in "cmake", "ninja":
                tool = folder / "bin" / name
                tool.parent.mkdir(exist_ok=True)
                tool.write_text(f'#!/bin/sh\necho "{name} $*" >> "{folder}/calls"\numask > "{folder}/umask"\n')
                tool.chmod(0o755)
            if owner:
                os.chown(folder, owner, owner)
            subprocess.run(["./dev", *arguments], cwd=folder, check=True, timeout=300, umask=0o077,
                           env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
            if owner:
                self.assertEqual({file.stat().st_uid for file in (folder / "build").rglob("*")}, {owner})
            self.umask = int((folder / "umask").read_text(), 8)
            return (folder / "calls").read_text().splitlines()

    def test_a_second_build_does_not_run_cmake_again(self):
        self.assertEqual(self.calls(None, "build"), ["ninja -C build"])

    def test_a_cmake_that_is_too_old_is_refused_with_an_error_that_names_the_installed_version(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "packaging").mkdir()
            (folder / "packaging" / "packages.txt").touch()
            shutil.copy(ROOT / "dev", folder)
            for version, said in ("3.9.6", "dev: CMake 3.25 or newer is needed, but .* is 3.9; "), ("3.25.1", "why\n"), ("4.0.0", "why\n"):
                (folder / "cmake").write_text(f'#!/bin/sh\n[ $1 != --version ] || exec echo cmake version {version}\necho why\nexit 1\n')
                (folder / "cmake").chmod(0o755)
                done = subprocess.run(["./dev", "build"], cwd=folder, timeout=60, capture_output=True, text=True, check=False,
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertRegex(done.stderr, f"^{said}")
                self.assertEqual(done.returncode, 1 if said == "why\n" else 2)

    def test_a_copied_checkout_is_configured_again_before_it_is_built(self):
        self.assertEqual(self.calls("/where/it/came/from", "build"), ["cmake --preset release --fresh", "ninja -C build"])

    def test_the_ci_workflow_calls_only_commands_that_the_script_dev_has(self):
        help_text = subprocess.run([ROOT / "dev", "help"], check=True, capture_output=True, text=True, timeout=300).stdout
        commands = set(re.findall(r"(?m)^  (\w+)", help_text))
        workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
        self.assertIn("container: debian:12", workflow)
        for text in workflow, (ROOT / ".ci" / "run").read_text():
            called = re.findall(r"(?m)^\s*(?:- run:|exec) \./dev (\w+)", text)
            self.assertEqual(called, ["test"])
            self.assertLessEqual(set(called), commands)

    def test_an_installation_builds_only_the_targets_that_it_installs(self):
        self.assertEqual(self.calls(None, "install", "/opt/poise"),
                         ["ninja -C build installables", "cmake --install build --prefix /opt/poise"])

    def test_all_users_can_read_what_root_installs(self):
        self.calls(None, "install", "/opt/poise")
        self.assertEqual(self.umask, 0o077 if os.geteuid() else 0o022)

    @unittest.skipIf(os.geteuid(), "only root can give files to others")
    def test_files_that_root_builds_belong_to_the_owner_of_the_checkout(self):
        self.calls(None, "install", "/opt/poise", owner=65534)

    def test_dev_install_takes_one_folder_as_its_argument_and_dev_uninstall_takes_no_argument(self):
        for *arguments, said in (["install", "--prefix", "/opt", "takes one folder"], ["install", "--prefix=/opt", "takes one folder"],
                                 ["install", "/opt", "/usr", "takes one folder"], ["uninstall", "/opt", "takes no folder"]):
            done = subprocess.run([ROOT / "dev", *arguments], timeout=60, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_a_misspelt_name_of_a_benchmark_or_paper_is_refused_in_one_line_before_anything_is_built(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool in "cmake", "ninja":
                (pathlib.Path(folder) / tool).write_text("#!/bin/sh\necho builds\nexit 1\n")
                (pathlib.Path(folder) / tool).chmod(0o755)
            for *arguments, said in (["bench", "decied", "unknown benchmark decied"], ["reproduce", "numa", "unknown paper or section numa"],
                                     ["fuzz", "long", "takes the number of seconds"]):
                done = subprocess.run([ROOT / "dev", *arguments], timeout=60, capture_output=True, text=True, check=False,
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, rf"^[^\n]*{said}[^\n]*\n$")

    def test_a_relative_install_folder_is_relative_to_the_working_directory(self):
        calls = self.calls(None, "install", "to/poise")
        self.assertRegex(calls[1], "^cmake --install build --prefix /.*/to/poise$")

    def test_folders_created_by_an_installation_are_recorded_as_absolute_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            subprocess.run(["cmake", "-DCMAKE_INSTALL_PREFIX=a b/to", "-Dfolders=bin;lib/poise", "-Drecord=record.txt",
                            "-P", ROOT / "cmake" / "new_folders.cmake"], cwd=folder, check=True, timeout=300)
            self.assertEqual((folder / "record.txt").read_text().split("\n")[:-1],
                             [str(folder / path) for path in ("a b/to/bin", "a b/to", "a b", "a b/to/lib/poise", "a b/to/lib")])

    def test_dev_docs_fails_if_sphinx_cannot_be_installed_unless_the_option_no_html_is_given(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            for name in "bin/ninja", "bin/python3":  # this python3 cannot make a virtual environment
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text('#!/bin/sh\ntest "$2" != venv\n')
                (folder / name).chmod(0o755)
            (folder / "build").mkdir()
            (folder / "build" / "build.ninja").touch()
            (folder / "build" / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={folder}\n")
            (folder / "packaging").mkdir()
            (folder / "packaging" / "packages.txt").touch()
            shutil.copy(ROOT / "dev", folder)
            for options, status in ([], 1), (["--no-html"], 0), (["--html"], 2):
                done = subprocess.run(["./dev", "docs", *options], cwd=folder, timeout=300, capture_output=True, text=True, check=False,
                                      env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": str(folder)})
                self.assertEqual(done.returncode, status, done.stderr)
                if status:
                    self.assertIn("--no-html", done.stderr)

    def test_uninstall_removes_what_the_last_install_wrote(self):
        self.assertEqual(self.calls(None, "uninstall"), ["cmake -P ../cmake/uninstall.cmake"])

    def uninstall(self, folder, *installed):
        """Uninstalls files. The folder `folder` looks like a build folder whose installation wrote the files
        `installed` and created the folder `prefix[1]`."""
        (folder / "install_manifest.txt").write_text("\n".join(map(str, installed)))
        (folder / "install_folders.txt").write_text(f"{folder}/prefix[1]\n")
        return subprocess.run(["cmake", "-P", ROOT / "cmake" / "uninstall.cmake"], cwd=folder, timeout=60,
                              capture_output=True, text=True, check=False)

    def test_uninstalling_keeps_files_that_were_not_installed_even_if_the_folder_name_has_brackets(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            files = folder / "prefix[1]" / "installed", folder / "prefix[1]" / "of others"
            files[0].parent.mkdir()
            for file in files:
                file.touch()
            done = self.uninstall(folder, files[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([file.exists() for file in files], [False, True])

    def test_uninstalling_fails_and_can_be_repeated_if_a_file_cannot_be_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            obstacle = folder / "prefix[1]" / "installed"  # a folder: rm does not remove it, not even for root
            obstacle.mkdir(parents=True)
            done = self.uninstall(folder, obstacle)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("not all files were removed", done.stderr)
            self.assertTrue((folder / "install_manifest.txt").exists())
            obstacle.rmdir()
            done = self.uninstall(folder, obstacle)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(obstacle.parent.exists())


if __name__ == "__main__":
    unittest.main()
