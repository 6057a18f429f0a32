# SPDX-License-Identifier: BSD-3-Clause

"""Reads profiles, without code of the project's own reader, and runs programs with the MPI installations for tests."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

MAGIC = b"POISE PROFILE 7\n"
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
COMPILED = tempfile.TemporaryDirectory()  # programs that the tests of this process have compiled
LIBRARY = os.environ.get("POISE_PROFILE_LIBRARY", "")
POISE = os.environ.get("POISE", "")
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1"}
WAITS = ["collective", "message"]
KINDS = ["point_to_point", "collective", "wait", "io", "other"]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()


def read_phase(reader):
    phase = {"label": reader.number(), "begin_ns": reader.signed(), "end_ns": reader.signed(),
             "useful_ns": reader.signed(), "mpi_ns": dict(zip(KINDS, [reader.signed() for _ in KINDS])),
             "calls": dict(zip(KINDS, [reader.number() for _ in KINDS])), "not_understood": reader.number(),
             "outside": reader.number(), "may_wait_ns": dict(zip(WAITS, [reader.signed() for _ in WAITS])),
             "may_wait_calls": dict(zip(WAITS, [reader.number() for _ in WAITS])), "cpu_ns": reader.signed(), "queued_ns": reader.signed(),
             "peak": reader.number(), "cpu": reader.signed()}
    # Maps (peer, is_fetched) to (messages, bytes). If is_fetched, this rank fetched the data from the peer (MPI_Get);
    # otherwise this rank sent the data to the peer.
    phase["traffic"] = {}
    for _ in range(reader.number()):
        key = reader.number()
        phase["traffic"][key >> 1, bool(key & 1)] = reader.number(), reader.number()
    phase["waiting"] = {what: read_waiting(reader) for what in WAITS}
    return phase


def read_waiting(reader):
    waiting = {"samples": reader.number(), "sampled_ns": reader.signed(), "waited_ns": reader.signed(),
               "for_receiver_ns": reader.signed(), "squares": [reader.number() for _ in range(3)]}
    waiting["for_whom"] = {reader.number(): reader.signed() for _ in range(reader.number())}
    return waiting


def read_reorderings(reader):
    counts = {"calls": reader.number(), "reordered": reader.number(), "deciding_ns": reader.signed()}
    before, after = (struct.unpack("<d", reader.number().to_bytes(8, "little"))[0] for _ in range(2))
    return counts | {"before": before, "after": after}


def read_team(reader):
    team = {"watched_ns": reader.signed(), "cpus": [reader.signed() for _ in range(reader.number())]}
    team["threads"] = [{"run_ns": reader.signed(), "queued_ns": reader.signed(), "turns": reader.number(),
                        "only_cpu": reader.signed()} for _ in range(reader.number())]
    return team


def read_profile(path, num_ranks=None):
    """Returns one dictionary per rank. If num_ranks is given, reads only that many blocks of the file. Raises an error if the file ends inside a block."""
    data = pathlib.Path(path).read_bytes()
    assert data.startswith(MAGIC), path
    reader = Reader(data)
    reader.at = len(MAGIC)
    ranks = []
    while reader.at < len(data) and len(ranks) != num_ranks:
        size = reader.number()
        end = reader.at + size
        rank = {"rank": reader.number(), "size": reader.number(), "host": reader.text(), "cuts": reader.number(),
                "flags": reader.number(), "clock_error_ns": reader.number(), "reorderings": read_reorderings(reader), "phases": [read_phase(reader) for _ in range(reader.number())]}
        rank["names"] = {reader.number(): reader.text() for _ in range(reader.number())}
        rank["team"] = read_team(reader)
        rank["cpus"] = {"all_ns": reader.signed(), "own_ns": reader.signed(),
                        "quota_cpus": struct.unpack("<d", reader.number().to_bytes(8, "little"))[0], "stopped_ns": reader.signed()}
        for phase in rank["phases"]:
            phase["useful_queued_ns"] = reader.signed()
        rank["omp_work_ns"] = [reader.signed() for _ in range(reader.number())] if reader.at < end else []
        ranks.append(rank)
    return sorted(ranks, key=lambda rank: rank["rank"])


def traffic_of(ranks):
    """Returns {(from, to): [messages, bytes]} over all phases."""
    matrix = {}
    for rank in ranks:
        for phase in rank["phases"]:
            for (peer, is_fetched), (messages, size) in phase["traffic"].items():
                pair = (peer, rank["rank"]) if is_fetched else (rank["rank"], peer)
                sums = matrix.setdefault(pair, [0, 0])
                sums[0] += messages
                sums[1] += size
    return matrix


def installations():
    """Returns the Debian names (openmpi, mpich) of the MPI libraries whose compiler and launcher are installed."""
    return [name for name in ("openmpi", "mpich")
            if shutil.which(f"mpicc.{name}") and shutil.which(f"mpirun.{name}")]


def launch(mpi, ranks, command, variables, timeout=300, launcher=None):
    """Runs a command under the launcher of an MPI. The ranks get the environment variables, the launcher itself does
    not."""
    words = [launcher or f"mpirun.{mpi}", "-np", str(ranks)]
    if mpi == "openmpi":
        words += ["--oversubscribe", "--bind-to", "none"]
    for name, value in variables.items():
        words += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]
    return subprocess.run(words + [str(word) for word in command], capture_output=True, text=True, env=ENVIRONMENT,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def launcher(mpi, *words):
    """Returns the words with which a command line starts ranks."""
    return [f"mpirun.{mpi}", *map(str, words)] + (["--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else [])


def compile_c(mpi, source, *options):
    """Compiles a program of the folder programs, such as late.c, once per process. Returns the path of the binary."""
    program = pathlib.Path(COMPILED.name) / f"{pathlib.Path(source).stem}.{mpi}"
    if not program.exists():
        subprocess.run([f"mpicc.{mpi}", "-O1", "-w", PROGRAMS / source, "-o", program, *options], check=True, timeout=300)
    return program


def compile_fortran(mpi, head, source, folder, *options):
    """`head` is the module of MPI, mpi or mpi_f08. Skips the test if there is no Fortran compiler."""
    if not shutil.which(f"mpifort.{mpi}") or not shutil.which("gfortran"):
        raise unittest.SkipTest("no Fortran compiler")
    program = folder / f"{pathlib.Path(source).stem}.{head}.{mpi}"
    subprocess.run([f"mpifort.{mpi}", "-cpp", "-w", "-ffree-line-length-none", "-fallow-argument-mismatch", f"-DMPI_HEAD={head}",
                    *options, source, "-o", program], check=True, timeout=300)
    return program


class CommandTest(unittest.TestCase):
    """Each test runs `poise` in a folder of its own."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def poise(self, *words, **options):
        return subprocess.run([POISE, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              env=ENVIRONMENT | {"POISE_PROFILE_LIBRARY": LIBRARY}, stdin=subprocess.DEVNULL, **options)


class ProfileTest(unittest.TestCase):
    """The tests of a class share a folder."""
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def profiled(self, mpi, size, command, stdout=""):
        """Runs a program that must print `stdout`. Returns its profile, with one entry per rank."""
        output = self.folder / "profile"
        output.unlink(missing_ok=True)
        done = launch(mpi, size, command, {"LD_PRELOAD": LIBRARY, "POISE_PROFILE": str(output)})
        self.assertEqual((done.returncode, done.stdout), (0, stdout), done.stderr)
        return read_profile(output)
