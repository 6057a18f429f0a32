#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Checks the architecture: includes between folders, rows of the table of strategies, the length of functions,
and the comment that opens each header. Exits with status 1 and one line per problem.

If git has the whole history since FIRST_BASE, it also checks the messages of all commits since then. With --commits
BASE it checks only the messages since BASE."""

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_FUNCTION_LINES = 70
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
SOURCES = {".h", ".cc", ".c", ".ci", ".cmake", ".f90", ".inc", ".js", ".py"}
MAX_MARKDOWN_COLUMNS = 100  # maximum length of a line outside tables and code
MAX_DECISION_LINES = 60
MAX_SUBJECT = 60  # limit for the first line of a commit message, in characters
# The messages of all commits are checked except those of this commit and its ancestors. A merged message cannot be
# changed, so the full hashes of merged commits that break a rule are listed here as exceptions.
FIRST_BASE = "82c4d2e667ec401f64abed132975c9eb2a5942ef"
MERGED_COMMITS = ("0e027725bcc94b67cc18c78be83caedba28d23dc", "da3304ab8c96b36d471da8ea7f89dcf07c775b30")
MAX_CASTS = 6.3  # static_casts per 1000 lines of C++ without tests (STYLE.md says when a cast is written)
MIN_LINES_WITHOUT_BODY = 10  # a commit that changes more lines needs a body that says why
# Example programs for users. Each has a folder of its own and is short enough to be read as a whole.
SMALL_MINIAPPS = ["lb_test", "kneighbor", "stencil4d", "leanmd", "jacobi2d", "imbalance", "poisson3d", "commbench",
                  "nbody", "waves3d"]
MAX_MINIAPP_LINES = 300

# The folders of the library, from the lowest layer to the highest. Files of a folder may include only files of the same
# folder and of folders before it in this list.
ORDER = ["base", "machine", "workload", "placement", "search", "partition", "strategies", "distributed", "online", "trace", "simulate", "diagnosis"]
# The header with the table of all strategies. A test in any folder may include it, to compare an algorithm with them.
TABLE = "poise/strategies/strategy.h"
# Headers for C, which include only each other; anything may include them.
C_HEADERS = ["result.h", "plugin.h", "communication.h", "poise.h"]
# The runtimes, each with the other runtimes whose files it may include. All of them may include the library. Apps and
# tests may include anything.
RUNTIMES = {"archive": [], "balance": [], "tasks": ["archive"], "objects": ["archive", "balance", "tasks"], "charm": ["archive", "balance"],
            "cgroup": [], "juggle": ["cgroup"], "profile": ["cgroup"]}
# The top-level folders, from the lowest layer to the highest. Files of a layer may include only files of this layer and
# of lower ones. Other folders (tests, bench, docs) may include anything.
LAYERS = ["poise", "runtimes", "apps", "faces", "miniapps"]
# Headers of other projects, each with the only files that may include it.
DOORS = {"hwloc.h": {"poise/machine/discover.cc", "poise/machine/hwloc_xml.cc"}}
# Things that code in poise/ must not do; each rule lists the files that are exceptions. Decisions depend only on values
# that are passed in; code that touches the outside world is short and in a file of its own. Tests are exempt.
PURE = [
    ("reads a clock", r"poise/base/clock\.h", {"machine/probe.cc", "machine/sandbox.cc", "strategies/poise.cc"}),
    ("starts a thread", r"std::j?thread\b|std::async|pthread_create", {"base/in_parallel.h", "machine/probe.cc"}),
    ("starts a process", r"\bfork\(|\bposix_spawn", {"machine/sandbox.cc"}),
    ("prints", r"std::(cout|cerr|clog)|\bf?printf\(|fmt::print|\bputs\(", {"base/check.cc"}),
    ("reads the environment", r"\bgetenv\(", {"machine/find.cc"}),
    ("uses MPI", r"\bMPI_|<mpi\.h>", set()),
]
# All code must read clocks by the functions of one header. Examples for users (miniapps/) and MPI programs written in C
# read a clock of their own language or library.
CLOCK_HEADER = "poise/base/clock.h"
CLOCKS = r"(steady|system|high_resolution)_clock|\bclock_gettime\(|\bgettimeofday\(|\bstd::clock\(|\bomp_get_wtime\(|\bMPI_Wtime\("
# A test must not depend on the speed of the machine, so tests read no wall clock. These files are exceptions, each with
# its reason. Tests with the label `timed` are repeated once if they fail (tests/run.py).
WALL_CLOCK = (r"(steady|system|high_resolution)_clock|CLOCK_(MONOTONIC|REALTIME)|\bMPI_Wtime\(|\bwall_now_n?s\(\)"
              r"|\btime\.(time|monotonic|perf_counter)(_ns)?\(")
LIMIT = "ends a wait that would hang, long before the time limit of the test"
TIMED = "has the label timed"
CLOCKS_IN_TESTS = {
    "apps/pingpong/launcher_test.cc": "a killed command must not last as long as its sleep of 300 s",
    "runtimes/juggle/counter_test.cc": "the wall time is an upper bound of the count on any machine",
    "runtimes/objects/collection_test.cc": TIMED,
    "runtimes/tasks/pool/pool_test.cc": "passes the time in",
    "runtimes/tasks/transport/parker_test.cc": "a sleep must not be too short; it may be longer on a busy machine",
    "runtimes/profile/tick_clock_test.cc": "compares two clocks; no result depends on how long anything took",
    "tests/cli/completion_test.py": LIMIT,
    "tests/cli/juggle_faults_test.py": TIMED,
    "tests/cli/juggle_programs_test.py": TIMED,
    "tests/cli/juggle_test.py": TIMED,
    "tests/cli/own_strategies_test.py": "a killed program must not last as long as its sleep of 600 s",
    "tests/cli/tidy_test.py": "tests this check",
    "tests/tasks/doorbell_test.cc": LIMIT,
    "tests/tasks/misuse_test.cc": LIMIT,
    "tests/tasks/exploration_test.cc": TIMED,
    "tests/tasks/load_table_test.cc": "writes for a while; no result depends on how often",
    "tests/tasks/replicas_test.cc": LIMIT,
    "tests/vm/vm_test.py": "times are checked only if the host was idle",
}
# Constants that were tuned belong in the file tuning.h of their folder, each in a line with unit and effect
# (ARCHITECTURE.md). These folders may define other numbers only if they follow from arithmetic, from a format or from
# the program's own structure.
LISTED_ROOMS = ("poise/search", "poise/partition", "poise/strategies", "poise/distributed", "poise/simulate", "poise/online")
# Matches a constant of one of these types, and a constant of any other type if its value begins with a number.
NUMBER = (r"\bconst(?:expr)? (?:(?:double|int|unsigned|std::size_t|std::u?int\d+_t|Vertex|Part|Slot|TaskId|PlaceId|NodeId|DomainId) "
          r"|[\w:]+(?:<[^=;]*>)? (?=\w+(?:\[\d*\])? ?=? ?\{?-?\.?\d))(k[A-Z]\w*)")
UNTUNED_NUMBERS = {
    "kRounding": "rounding errors of a sum", "kRoundingSlack": "rounding errors of a sum", "kEqual": "rounding errors of a sum",
    "kNever": "infinity", "kInfinity": "infinity", "kWorthwhile": "rounding errors of a sum",
    "kNone": "marks a missing index", "kNobody": "marks a missing index", "kNowhere": "marks a missing index",
    "kOutside": "marks a missing index", "kGone": "marks a missing index",
    "kFree": "marks a missing index", "kNothing": "marks a missing index", "kWinsTies": "below any time", "kTotalCost": "range of a library's integers",
    "kTotalWeight": "range of a library's integers", "kTotalLoad": "range of a library's integers",
    "kFinestFactor": "resolution of a library's integers", "kMinShare": "a library's limit",
    "kFirstTemperature": "from the list", "kLastTemperature": "from the list", "kMaxEntries": "limit of memory",
    "kSame": "rounding errors of a sum", "kRoundingOfPhase": "rounding errors of a sum", "kNoTask": "marks a missing index",
    "kNoPlace": "marks a missing index", "kNoRank": "marks a missing index", "kDirect": "marks a missing index", "kOver": "marks a state",
    "kPortSpeed": "limit of the input", "kMaxSeconds": "limit of the input", "kMaxCount": "limit of the input",
    "kPointS": "a paper's figure", "kStepS": "of a simulated kernel", "kTiers": "an order",
    "kRow": "distance of a prefetch", "kFewWeights": "size of a cache", "kEntries": "size of a cache",
}
# Headers that programs of users include. Each type and free function in them has a comment above it or its group.
PUBLIC_HEADERS = {
    "poise/communication.h", "poise/plugin.h", "poise/poise.h", "poise/result.h", "faces/c/poise_tasks.h",
    "faces/library/poise_mpi.h", "poise/strategies/strategy.h", "runtimes/tasks/context.h", "runtimes/objects/collection.h",
    "runtimes/objects/mail.h", "runtimes/objects/options.h", "runtimes/objects/totals.h",
}
DECLARATION = (r"(?:inline |constexpr |extern |static )*(?:(?:class|struct|enum class|enum) \w+[^;]*\{|typedef\b|using\b"
               r"|[A-Za-z_][\w:<>,\s*&]*[ *&]\w+\()")
FORBIDDEN_FOLDERS = {"utils", "util", "common", "core", "helpers", "misc"}

# The glossary: each idea has one word, the usual one of the field. Patterns of refused words, each with the word to use
# instead.
RETIRED = {
    r"\b(in vain|ask_if_hungry|asks? if hungry)\b": "empty poll, steal request",
    r"\b[Ww]orkplaces?\b": "task pool",
    r"\b[Pp]arcels?\b": "message: header and payloads",
    r"\b(of_each_rank|OfEachRank)\b": "per rank",
    r"\b[Ww]hereabouts\b": "locality",
    r"\b([Ll]essons?|loan_to_learn)\b": "exploration",
    r"\bhelper (thread|naps|sleeps)\b|\bnaps?\b": "progress thread, sleeps",
    r"\bk(Most|Longest|Largest)[A-Z]\w*": "kMax...",
    r"\bk(Least|Fewest|Shortest)[A-Z]\w*": "kMin...",
    r"\blines of memory\b": "cache lines",
    r"\b(home rank|ways? home)\b": "owner rank, return path",
    r"\bso (many|much)\b": "n, or name the number",
    r"\b[Rr]elaxation\b": "local search",
    r"\bpaper 00\d\b": "author, title, venue, year",
    r"\bis no (number|value|processor|address|std::exception)\b": "is not a ...",
    r"\b([Nn]obody|[Ww]hoever)\b": "no rank, no thread; the rank that",
    r"\bcut short\b": "truncated",
    r"\bunder way\b": "in flight, running",
    r"\b[Ff]or several threads at once\b": "thread-safe",
    r"\bstands? down\b": "stops balancing",
    r"\b[Mm]aximal (number|seconds|bytes|share|size)\b": "maximum",
    r"\b[Tt]urns per second\b": "context switches per second",
    r"\bt(ell|old) apart\b": "distinguish",
    r"\bthe cure\b": "what would help",
}
# These files may use the word "nobody", because it is the name of an object in vt's files.
WORDS_OF_OTHERS = {"poise/trace/vt_write.cc", "poise/trace/vt_read.cc", "poise/trace/vt_read_test.cc"}

troubles = []


def complain(path, line, text):
    troubles.append(f"{path}:{line}: {text}")


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True)
    return [pathlib.PurePosixPath(name) for name in listed.stdout.splitlines()
            if (ROOT / name).is_file()]


def is_test(path):
    return path.name.endswith(("_test.cc", "_testing.h", "_mpi.cc", "_mpi.c"))


def check_include(path, number, included):
    if included in DOORS and str(path) not in DOORS[included]:
        complain(path, number, f"<{included}> belongs to {', '.join(DOORS[included])}")
    target = included.split("/")
    source = path.parts
    if source[0] == "poise" and target[0] == "poise" and target[-1] in C_HEADERS:
        return
    if source[0] in LAYERS and target[0] in (*LAYERS, "tests", "bench"):
        lower = LAYERS[:LAYERS.index(source[0]) + 1]
        support = is_test(path) and target[:2] == ["tests", "support"]
        if target[0] not in lower and not support:
            complain(path, number, f"{source[0]}/ must not include {included}")
            return
    if source[0] == "poise":
        if path.name.endswith("_test.cc") and included == TABLE:
            return
        elif target[0] == "poise" and ORDER.index(target[1]) > ORDER.index(source[1]):
            complain(path, number, f"{source[1]}/ must not include {target[1]}/")
    if source[0] == "runtimes" and target[0] == "runtimes":
        if target[1] != source[1] and target[1] not in RUNTIMES[source[1]]:
            complain(path, number, f"runtimes/{source[1]} must not include runtimes/{target[1]}")


def check_includes(path, lines):
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#include\s+([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        check_include(path, number, match[2])
        if match[1] == '"' and "/" not in match[2] and not match[2].endswith(".decl.h") \
                and not match[2].endswith(".def.h"):
            complain(path, number, f'include "{match[2]}" by its true path')


def check_functions(path, lines):
    """Checks the length of functions. Relies on the layout of clang-format, in which the closing brace of a
    definition stands in the column where the definition starts."""
    other = re.compile(r"\s*(namespace|if|for|while|switch|else|do|class|struct|enum|union|case|return)\b")
    for indent in ("", "  "):
        begun = opened = None  # begun: first line of the unfinished signature; opened: first line of the open body
        for number, line in enumerate(lines, 1):
            if opened:
                if line.startswith(indent + "}"):
                    length = number - opened + 1
                    if length > MAX_FUNCTION_LINES:
                        complain(path, opened, f"a function of {length} lines; "
                                 f"{MAX_FUNCTION_LINES} fit a screen")
                    opened = None
                continue
            if re.match(rf"{indent}[A-Za-z_~\[]", line):
                begun = number if "(" in line and not other.match(line) else None
            if begun and line.endswith("{"):
                begun, opened = None, begun
            elif begun and line.endswith((";", "}")):
                begun = None


def check_python(path, text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                complain(path, node.lineno, f"{node.name} has {length} lines")


def check_opening(path, lines):
    """Checks that a header begins with its licence and a sentence that says what it contains."""
    if path.suffix == ".h" and not any(line.startswith("//") and LICENCE not in line for line in lines[:2]):
        complain(path, 1, "a header opens with one sentence that tells what lives there")
    if path.suffix == ".h" and "#pragma once" not in lines:
        complain(path, 1, "no #pragma once")


def check_licence(path, lines):
    is_source = path.suffix in SOURCES or path.name == "CMakeLists.txt"
    if is_source and not any(line.removesuffix(" */").endswith(LICENCE) for line in lines[:10]):
        complain(path, 1, f"a source file opens with a line that ends with: {LICENCE}")


def check_words(path, lines):
    if path.name == "tidy.py":
        return
    is_checked = str(path) not in WORDS_OF_OTHERS
    for number, line in enumerate(lines, 1):
        for retired, instead in RETIRED.items():
            match = re.search(retired, line) if is_checked else None
            if match:
                complain(path, number, f'the word "{match[0]}" is retired; write: {instead}')
        if path.suffix != ".md" and re.search(r"\bTODO\b(?!\(#\d+\))|\bFIXME\b|\bXXX\b", line):
            complain(path, number, "a TODO carries an issue number: TODO(#12)")


def check_markdown(path, lines):
    """Checks that lines of text are short, and that each file in docs/decisions fits on one page. Lines of tables and
    code may be longer."""
    in_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif len(line) > MAX_MARKDOWN_COLUMNS and not in_code and not line.startswith(("|", "    ")):
            complain(path, number, f"a line of {len(line)} columns; the limit is {MAX_MARKDOWN_COLUMNS}")
        if not in_code and re.match(r"<!--.*-->.*\S", line):  # CommonMark does not format the rest of such a line
            complain(path, number, "text after a comment that begins the line; end the line after -->")
    if path.parts[:2] == ("docs", "decisions") and len(lines) > MAX_DECISION_LINES:
        complain(path, 1, f"a decision of {len(lines)} lines; the limit is {MAX_DECISION_LINES}")


def check_pure(path, lines):
    name = "/".join(path.parts[1:])
    if path.parts[0] != "poise" or name.endswith(("_test.cc", "_testing.h")):
        return
    for number, line in enumerate(lines, 1):
        for what, pattern, excepted in PURE:
            if name not in excepted and re.search(pattern, line.split("//")[0]):
                complain(path, number, f"the library decides and does not act, but this {what}")


def check_runtimes(path, lines):
    """Runtimes must not compare names of policies: whatever differs between policies is in the table of policies
    (poise/online/offload_policy.h)."""
    if path.parts[0] != "runtimes" or path.name.endswith(("_test.cc", "_testing.h")):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r'choice\("policy"\)\s*[!=]=', line):
            complain(path, number, "a runtime does not know policies by name; put the difference into the policy's row")


def reads_wall_clock(lines):
    """Returns the numbers of the lines that read a wall clock."""
    return [number for number, line in enumerate(lines, 1) if re.search(WALL_CLOCK, line.split("//")[0])]


def check_numbers(path, lines):
    if not str(path).startswith(LISTED_ROOMS) or path.name.endswith(("tuning.h", "_test.cc", "_testing.h")):
        return
    for number, line in enumerate(lines, 1):
        for name in re.findall(NUMBER, line):
            if name not in UNTUNED_NUMBERS:
                complain(path, number, f"{name} belongs to the tuning.h of its folder, with unit and effect")


def check_documented(path, lines):
    """Checks that each type and function of a public header has a comment above it, or belongs to a group (declarations
    without blank lines between them) that has a comment above it."""
    is_documented = False
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("namespace", 'extern "C"')):
            is_documented = False
        elif re.match(r"\s*(//|/?\*)", line):
            is_documented = True
        elif re.match(DECLARATION, line) and not is_documented:
            complain(path, number, "a public header says what each type and function is for")


def check_one_clock(path, lines):
    if path.parts[0] == "miniapps" or path.suffix not in (".h", ".cc") or str(path) == CLOCK_HEADER:
        return
    for number, line in enumerate(lines, 1):
        if re.search(CLOCKS, line.split("//")[0]):
            complain(path, number, f"read clocks by the functions of {CLOCK_HEADER}")


def check_clocks_in_tests(path, lines):
    if not re.search(r"_test\.(cc|c|py)$", path.name):
        return
    found, is_listed = reads_wall_clock(lines), str(path) in CLOCKS_IN_TESTS
    if found and not is_listed:
        complain(path, found[0], "a test reads no wall clock: pass the time in, count, measure CPU time, or give the test the "
                 "label timed and a row in CLOCKS_IN_TESTS (tests/tidy.py)")
    if is_listed and not found:
        complain(path, 1, "reads no wall clock; remove its row in CLOCKS_IN_TESTS (tests/tidy.py)")


def check_files_of_tests(path, lines):
    if not path.name.endswith("_test.cc"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"\bTempDir\(|\btemp_directory_path\(|\bmkdtemp\(", line):
            complain(path, number, "tests run at the same time, so each needs files of its own: use TestFolder "
                     "(tests/support/test_folder.h)")


def num_casts(path, lines):
    """Returns the numbers of static_casts and of lines in a C++ file, or (0, 0) for tests and other languages."""
    if path.suffix not in (".h", ".cc") or path.name.endswith("_test.cc"):
        return 0, 0
    return sum(line.count("static_cast<") for line in lines), len(lines)


def check_casts(casts, lines):
    if lines and 1000 * casts / lines > MAX_CASTS:
        complain("tests/tidy.py", 1, f"{casts} static_casts in {lines} lines; at most {MAX_CASTS} per 1000: choose types "
                 "that need no cast")


def check_miniapps():
    for name in SMALL_MINIAPPS:
        sources = list((ROOT / "miniapps" / name).iterdir())
        length = sum(LICENCE not in line for source in sources for line in source.read_text().splitlines())
        if not 0 < length <= MAX_MINIAPP_LINES:
            complain(f"miniapps/{name}", 0, f"{length} lines in all; {MAX_MINIAPP_LINES} are small")


def check_strategies():
    folder = ROOT / "poise" / "strategies"
    table = (folder / "table.cc").read_text()
    rows = dict(re.findall(r'\.name = "(\w+)".*?\.rebalance = (\w+)', table, re.S))
    for source in sorted(folder.glob("*.cc")):
        defined = re.findall(r"^Placement (\w+)\(const Problem&", source.read_text(), re.M)
        if source.name.endswith("_test.cc") or source.name == "table.cc" or not defined:
            continue
        name = f"poise/strategies/{source.name}"
        for function in defined:
            if function not in rows.values():
                complain(name, 1, f"strategy {function} has no row in table.cc")
        stem = source.stem.removesuffix("_missing")
        if not (folder / f"{stem}_test.cc").exists():
            complain(name, 1, f"no {stem}_test.cc beside it")
    for row, function in rows.items():
        sources = [s for s in folder.glob("*.cc") if s.name != "table.cc"]
        if not any(re.search(rf"^Placement {function}\(const Problem&", s.read_text(), re.M)
                   for s in sources):
            complain("poise/strategies/table.cc", 1, f"row {row} has no file")


def check_poise_alone():
    """Checks that the strategy `poise` computes its own placement, instead of running other strategies and taking their
    best result. Only its source file is checked, because the folders search/ and partition/, whose functions it calls,
    cannot include strategies."""
    folder = ROOT / "poise" / "strategies"
    rows = re.findall(r"\.rebalance = (\w+)", (folder / "table.cc").read_text())
    others = set(rows) - {"poise_strategy"} | {"strategies", "parse_strategy", "parse_strategies"}
    for number, line in enumerate((folder / "poise.cc").read_text().splitlines(), 1):
        code = line.split("//")[0]
        for called in re.findall(r"\b(\w+)\(", code):
            if called in others:
                complain("poise/strategies/poise.cc", number, f"calls {called}, another row of the table")
        included = re.match(r'#include "poise/strategies/(?!(?:poise|tuning)\.h)', code)
        if included:
            complain("poise/strategies/poise.cc", number, "includes other strategies")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def has_history():
    """Returns true if git has all commits since FIRST_BASE; false in a shallow clone or without git."""
    return (git("rev-parse", "--is-shallow-repository").stdout.strip() == "false"
            and not git("merge-base", "--is-ancestor", FIRST_BASE, "HEAD").returncode)


def check_message(commit, message, num_changed):
    subject, _, body = message.partition("\n")
    if len(subject) > MAX_SUBJECT:
        complain(commit, 1, f"a subject of {len(subject)} characters; at most {MAX_SUBJECT}")
    if subject.endswith("."):
        complain(commit, 1, "a subject does not end with a full stop")
    if num_changed > MIN_LINES_WITHOUT_BODY and not body.strip():
        complain(commit, 1, f"{num_changed} lines changed and no body that says why")


def check_commits(base):
    """Checks the messages of all commits since `base` except merges."""
    listed = git("log", "--no-merges", "--shortstat", "--format=%x01%h%x00%s%n%b%x00", f"{base}..HEAD")
    if listed.returncode:
        sys.exit(f"tidy: git log failed: {listed.stderr.splitlines()[0]}")
    for entry in listed.stdout.split("\1")[1:]:
        commit, message, changes = entry.split("\0")
        if not any(known.startswith(commit) for known in MERGED_COMMITS):
            check_message(commit, message, sum(map(int, re.findall(r"(\d+) (?:insertion|deletion)", changes))))


def check_tree():
    casts = all_lines = 0
    for path in tracked_files():
        if FORBIDDEN_FOLDERS & set(path.parts[:-1]):
            complain(path, 1, "name the folder by what lives there")
        if path.suffix not in SOURCES and path.suffix not in (".md", ".txt"):
            continue
        text = (ROOT / path).read_text()
        lines = text.splitlines()
        check_licence(path, lines)
        check_words(path, lines)
        if path.suffix == ".md":
            check_markdown(path, lines)
        if path.suffix not in (".h", ".cc", ".c", ".py"):
            continue
        check_clocks_in_tests(path, lines)
        check_files_of_tests(path, lines)
        if path.suffix == ".py":
            check_python(path, text)
            continue
        check_one_clock(path, lines)
        check_numbers(path, lines)
        check_includes(path, lines)
        check_functions(path, lines)
        check_pure(path, lines)
        check_runtimes(path, lines)
        check_opening(path, lines)
        if str(path) in PUBLIC_HEADERS:
            check_documented(path, lines)
        found, length = num_casts(path, lines)
        casts, all_lines = casts + found, all_lines + length
    check_casts(casts, all_lines)
    check_strategies()
    check_poise_alone()
    check_miniapps()


def main():
    if sys.argv[1:2] == ["--commits"] and len(sys.argv) == 3:
        check_commits(sys.argv[2])
    elif len(sys.argv) == 1:
        check_tree()
        if has_history():
            check_commits(FIRST_BASE)
    else:
        print("usage: tidy.py [--commits BASE]", file=sys.stderr)
        return 2
    print("\n".join(troubles) if troubles else "tidy: the house is in order")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
