# SPDX-License-Identifier: BSD-3-Clause

"""Makes the pages of the API reference from public headers, Fortran modules and the Python package; docs/site.py calls it.

A comment stands above the declarations that it describes, in the sources and on the pages."""

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name of a page -> (its title, the guide that explains the API, the source files)
PAGES = {
    "api_c": ("API: libpoise in C", "library.md", ["poise/poise.h", "poise/result.h", "poise/communication.h", "faces/library/poise_mpi.h",
                                                "poise/plugin.h"]),
    "api_tasks": ("API: tasks in C++, C and Fortran", "tasks.md",
                  ["runtimes/tasks/context.h", "runtimes/tasks/start/function.h", "runtimes/tasks/pool/item.h", "runtimes/tasks/policy.h",
                   "runtimes/tasks/counters.h", "faces/c/poise_tasks.h", "faces/fortran/poise_tasks.f90"]),
    "api_objects": ("API: objects", "objects.md", ["runtimes/objects/collection.h", "runtimes/objects/options.h", "runtimes/objects/mail.h"]),
    "api_fortran": ("API: libpoise in Fortran", "library.md", ["faces/fortran/poise.f90", "faces/fortran/poise_mpi.f90"]),
    "api_python": ("API: Python", "python.md", ["faces/python/poise"])}
COMMENT = re.compile(r"^\s*(///?<?|/\*|\*/|!)")


def prose(comment):
    """Returns the lines of a comment as Markdown. Lines that the comment indents by four columns stay code."""
    text = re.sub(r"(?m)^[ \t]*(?:///?|!|/\*| \*)? ?", "", re.sub(r"(?s)^\s*/\*(.*?)\*/", lambda block: re.sub(r"(?m)^\s+", "", block[1]), comment))
    lines, was_code = [], False
    for line in text.split("\n"):
        is_code = line.startswith("    ")
        if is_code != was_code:
            lines.append("")
        lines.append(line.rstrip() if is_code else re.sub(r"(`[^`]*`)|([<\[])", lambda found: found[1] or "\\" + found[2], line.rstrip()))
        was_code = is_code
    return "\n".join(lines).strip()


def blocks_of(text):
    """Yields the pair (comment, code) of each group of declarations at file level. A blank line or a comment ends a group."""
    comment, code, depth, in_comment = [], [], 0, False
    for line in [*text.split("\n"), ""]:
        is_comment = depth == 0 and (in_comment or COMMENT.match(line))
        if depth == 0 and code and (is_comment or not line.strip()):
            yield "\n".join(comment), "\n".join(code)
            comment, code = [], []
        if is_comment:
            in_comment = (in_comment or "/*" in line) and "*/" not in line
            comment.append(line)
            continue
        if not line.strip() and depth == 0:
            comment = [] if not in_comment else comment
            continue
        code.append(line)
        plain = re.sub(r"//.*|/\*.*?\*/|\"[^\"]*\"", "", line)
        depth += plain.count("{") - plain.count("}")


def without_bodies(text):
    """Replaces the body of each function by a semicolon."""
    text = re.sub(r"\)\s+: \w+\([^;{}]*?\)\s*\{\}", ");", text)  # drops the member initializers of a constructor
    text = re.sub(r"(?m)(\)[^(){};=\n]*?) \{[^\n]*\}(?:[ \t]*//.*)?$", r"\1;", text)
    kept, statement, end = [], 0, None
    for line in text.split("\n"):
        if end is not None:
            end = None if line.rstrip() == end else end
            continue
        kept.append(line)
        whole = "\n".join(kept[statement:])
        if line.endswith(" {") and "(" in whole and not re.match(r"\s*(typedef )?(struct|class|enum|union|namespace|extern)\b", whole):
            first = next(row for row in kept[statement:] if row.strip())
            end = re.match(r"\s*", first)[0] + "}"
            kept[-1] = line[:-2] + ";"
        if not line.strip() or line.endswith((";", "}", "{", ":", "*/")) or COMMENT.match(line) or "//" in line or line.startswith("#"):
            statement = len(kept)
    return "\n".join(kept)


def declarations_of(header):
    """Returns the declarations that a program may use, without function bodies, private members and namespaces."""
    text = header[header.index("#pragma once") + len("#pragma once"):]
    text = re.sub(r"(?ms)^#ifdef __cplusplus\n.*?^#endif\n", "\n", text)
    text = re.sub(r"(?ms)^namespace detail \{.*?^\}  // namespace detail$", "", text)
    text = re.sub(r"(?ms)^(template <[^\n]*>\n)?[^\n/#=]*\b\w+(?:<[^\n>]*>)?::\w+\([^;{]*\{\n.*?^\}\n", "", text)  # drops members defined outside their class
    text = re.sub(r"(?ms)^( *) private:\n.*?^\1\};", r"\1};", text)
    text = re.sub(r"(?m)^(#(?!define POISE_).*|namespace .*\{|\}  // namespace.*|(class|struct) \w+;)$", "", text)
    return re.sub(r"\n\n( *\};)", r"\n\1", without_bodies(text))


def header_text(header):
    """Returns the sections, comments and declarations of a header in C or C++."""
    language = "cpp" if "namespace" in header else "c"
    lines = [prose(header.split("#pragma once")[0].split("\n", 1)[1]), ""]
    text = re.sub(r"(?m)^/\* -+ (.*?) -+ \*/$", r"struct TITLE_\1_TITLE;\n", declarations_of(header))
    for comment, code in blocks_of(text):
        title = re.match(r"struct TITLE_(.*)_TITLE;", code)
        lines += [f"### {title[1]}", ""] if title else [*([prose(comment), ""] if comment else []), f"```{language}", code, "```", ""]
    return "\n".join(lines)


def procedure_of(lines):
    """Returns the first statement of a Fortran procedure and the declarations of its arguments and its result."""
    head = 1
    while lines[head - 1].rstrip().endswith("&"):
        head += 1
    known = set(re.findall(r"\w+", " ".join(lines[:head])))
    kept = lines[:head]
    for line in lines[head:]:
        declared = re.match(r"\s+(?:character|integer|real|logical|type|class)\b.*?:: *(.*)", line)
        if declared and known & set(re.findall(r"\w+", declared[1].split("!")[0])):
            kept.append(line)
        elif not declared and not re.match(r"\s*(!|import\b)", line):
            break
    return kept


def fortran_entity(lines):
    """Returns the name and the declaration of the type, enumeration, constant or procedure that begins in the first
    line. Both are empty if none begins there."""
    for pattern, end in (r" +type(?:, bind\(c\))? :: (\w+)", "end type"), (r" +enum, bind\(c\)\n\s+enumerator :: (\w+)", "end enum"):
        entity = re.match(pattern, "\n".join(lines[:2]))
        if entity:
            return entity[1], lines[:next(i for i, line in enumerate(lines) if line.strip().startswith(end)) + 1]
    entity = re.match(r" +\w[^!]*, parameter :: (\w+)", lines[0])
    if entity:
        return entity[1], lines[:1]
    entity = re.match(r" +(?!end )(?:[\w()*]+ )*(?:function|subroutine) (\w+)", lines[0])
    return (entity[1], procedure_of(lines)) if entity else ("", [])


def fortran_text(source):
    """Returns the comments, types, constants and procedures of a Fortran module that a program may use. If a module has no
    list of public names, a program may use the names that begin with poise_."""
    lines = source.split("\n")
    public = set(re.findall(r"\w+", " ".join(re.findall(r"(?m)^  public :: (.*)$", source)))) | set(re.findall(r"=> (\w+)", source))
    start = next(i for i, line in enumerate(lines) if line.startswith("module "))
    found = [prose("\n".join(lines[1:start])), ""]
    for i in range(start, len(lines)):
        name, body = fortran_entity(lines[i:])
        if not (name in public if public else name.startswith("poise_")):
            continue
        above = i
        while lines[above - 1].strip().startswith("!"):
            above -= 1
        indent = len(body[0]) - len(body[0].lstrip())
        found += [prose("\n".join(lines[above:i])), "", "```fortran", *(row[indent:] for row in body), "```", ""]
    return "\n".join(found)


def signature_of(function):
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"def {function.name}({ast.unparse(function.args)}){result}"


def python_entity(node, source):
    """Returns the signature and the docstring of a function, or of a class with its fields and methods."""
    if isinstance(node, ast.FunctionDef):
        return [f"### {node.name}", "", "```python", signature_of(node), "```", "", prose(ast.get_docstring(node) or ""), ""]
    fields = [source[item.lineno - 1].strip() for item in node.body if isinstance(item, ast.AnnAssign) and not item.target.id.startswith("_")]
    lines = [f"### {node.name}", "", prose(ast.get_docstring(node) or ""), "", *(["```python", *fields, "```", ""] if fields else [])]
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and (not item.name.startswith("_") or item.name == "__init__"):
            lines += ["```python", signature_of(item), "```", "", prose(ast.get_docstring(item) or ""), ""]
    return lines


def python_text(folder):
    """Returns the signatures and docstrings of the names that the package exports."""
    root = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    exported = next(ast.literal_eval(node.value) for node in root.body
                    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    lines = [prose(ast.get_docstring(root)), ""]
    for module in sorted(folder.glob("*.py")):
        text = module.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in exported:
                lines += python_entity(node, text.split("\n"))
    return "\n".join(lines)


def source_text(path):
    if path.is_dir():
        return python_text(path)
    return (fortran_text if path.suffix == ".f90" else header_text)(path.read_text(encoding="utf-8"))


def pages():
    """Returns the text of each page by its name."""
    made = {}
    for name, (title, guide, sources) in PAGES.items():
        lines = [f"# {title}", "", f"Made by `docs/api.py` from the sources. [The guide]({guide}) shows programs.", ""]
        for source in sources:
            lines += [f"## `{source}`", "", source_text(ROOT / source), ""]
        made[name] = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return made
