#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Prints a random sample of the project's prose, to be read by somebody who has not seen the code.

usage: sample_prose.py SEED [COUNT]

The sample has COUNT pieces (default: 60), a quarter each of comments, error texts, test names and paragraphs of
Markdown. The same seed draws the same pieces from the same tree. A piece is clear if a native HPC engineer
understands it at first reading."""

import ast
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMENT_SIGNS = {".h": "//", ".cc": "//", ".c": "//", ".py": "#", ".cmake": "#", ".f90": "!", "": "#"}
# Python tests contain C code as strings. A preprocessor line there begins with "#", but is not a comment.
PREPROCESSOR = re.compile(r"\s*#(include|define|if|endif|pragma)\b")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# A comment or paragraph with fewer words is a mere label. An error text with fewer words is only a part of a message.
MIN_WORDS = 4


def tracked_files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def lines_of(path):
    try:
        return path.read_text().splitlines()
    except UnicodeDecodeError:
        return []


def is_long_enough(text):
    return len(text.split()) >= MIN_WORDS


def comments(path, lines):
    """Yields whole comments: consecutive comment lines are one piece. A trailing comment is a piece of its own, with
    the code in front of it and with the lines below that continue it."""
    sign = COMMENT_SIGNS.get(path.suffix)
    if sign is None:
        return
    alone = re.compile(rf"\s*{sign}+[!:]?<?\s?(.*)")
    trailing = re.compile(rf"\s*(\S.*?)\s{{2,}}({sign}+)\s(.*)")
    begun, column, words, code = 0, None, [], ""  # the current piece; `column`: where a trailing comment begins
    for number, line in enumerate(lines + [""], 1):
        match = alone.match(line)
        is_comment = match and not (line.startswith("#!") or "SPDX-License-Identifier" in line
                                    or PREPROCESSOR.match(line))
        if is_comment and words and column in (None, line.index(sign)):
            words.append(match[1])
            continue
        if is_long_enough(" ".join(words)):
            yield begun, code + " ".join(words)
        begun, column, words, code = number, None, [match[1]] if is_comment else [], ""
        match = not match and trailing.match(line)
        if match and '"' not in match[3]:
            column, words, code = match.start(2), [match[3]], f"{match[1]}  {match[2]} "


def docstrings(path, lines):
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node) or ""
            if is_long_enough(text):
                yield node.body[0].lineno, " ".join(text.split())


def statement_at(line, next_lines):
    """Returns the statement that begins with `line`: up to its semicolon, or in Python until its brackets close."""
    statement = ""
    for more in [line, *next_lines]:
        statement += " " + more
        code = STRING.sub('""', statement)  # semicolons and brackets in strings do not count
        if ";" in code or code.count("(") <= code.count(")"):
            break
    return statement


def message_of(statement):
    """Returns the first text in a statement: all adjacent string literals, with {} in place of any other expression
    that `+` joins to them."""
    text, end = "", None
    for match in STRING.finditer(statement):
        between = statement[:match.start()] if end is None else statement[end:match.start()]
        if end is None:
            text += "{}" if between.rstrip().endswith("+") else ""
        elif re.fullmatch(r"\s*\+.*\+\s*", between, re.S):
            text += "{}"
        elif between.strip(" f\n"):
            break
        text += match[0][1:-1]
        end = match.end()
    return text


def errors(path, lines):
    """Yields the texts of errors: the string literals of a throw, of an Error or of a refusal."""
    if path.suffix not in (".h", ".cc", ".py", "") or "test" in path.name or path.parts[-3:-1] == ("tests", "support"):
        return
    begins = re.compile(r"\bthrow\b|\bError[{(]|\brefuse\b|\bfail\(|\bsys\.exit\(|parser\.error\(")
    for number, line in enumerate(lines, 1):
        begin = begins.search(line)
        if not begin or line.startswith("#include"):
            continue
        if path.suffix == "":  # a shell script, where quotes nest: the text ends at the last quote of the line
            said = re.search(r'\brefuse "(.*)"', line)
            if said:
                yield number, said[1]
            continue
        statement = statement_at(line[begin.start():], lines[number:number + 6])
        text = message_of(statement)
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= MIN_WORDS:
            yield number, text


def names_of_tests(path, lines):
    for number, line in enumerate(lines, 1):
        # clang-format puts long names on the next line.
        match = re.match(r" *TEST(?:_[FP])?\((\w+),\s*(\w+)\)", "\n".join(lines[number - 1:number + 1]))
        if match:
            yield number, f"{match[1]}: {match[2].replace('_', ' ')}"
        match = re.match(r"\s*def (test_\w+)\(", line)
        if match:
            yield number, match[1].replace("_", " ")


def paragraphs(path, lines):
    """Yields paragraphs and list items of Markdown, without tables, headings, code and HTML comments."""
    if path.suffix != ".md":
        return
    is_code, is_html, begun, words = False, False, 0, []
    for number, line in enumerate(lines + [""], 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        is_html |= line.startswith("<!--")
        ends = not line.strip() or line.startswith(("|", "#", "    ", "```")) or is_code or is_html
        is_html &= "-->" not in line
        is_item = re.match(r"\s*([-*]|\d+\.)\s", line)
        if (ends or is_item) and words:
            if is_long_enough(" ".join(words)):
                yield begun, " ".join(words)
            begun, words = 0, []
        if not ends:
            begun = begun or number
            words.append(line.strip())


def pools():
    def explanations(path, lines):
        yield from comments(path, lines)
        yield from docstrings(path, lines)

    kinds = {"comment": explanations, "error": errors, "test": names_of_tests, "paragraph": paragraphs}
    found = {kind: [] for kind in kinds}
    for path in tracked_files():
        lines = lines_of(path)
        for kind, pieces in kinds.items():
            found[kind] += [(path.relative_to(ROOT), number, text) for number, text in pieces(path, lines)]
    return found


def main():
    if not 2 <= len(sys.argv) <= 3 or not all(word.isdigit() for word in sys.argv[1:]):
        print("usage: sample_prose.py SEED [COUNT]", file=sys.stderr)
        return 2
    seed, count = int(sys.argv[1]), int((sys.argv[2:] or [60])[0])
    draw = random.Random(seed)
    sample = []
    found = pools()
    for kind, pieces in found.items():
        sample += [(kind, *piece) for piece in draw.sample(pieces, min(count // len(found), len(pieces)))]
    draw.shuffle(sample)
    for index, (kind, path, line, text) in enumerate(sample, 1):
        print(f"{index:2}. [{kind}] {path}:{line}\n    {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
