#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Copies poise/online/lending_tuning.h to a header whose numbers can be changed at run time: `mutable_numbers.py IN OUT`.
lending_tuning_bench compiles the decisions about lending with this copy. Constants whose type is a struct stay
constant."""

import pathlib
import re
import sys

NUMBER = re.compile(r"^inline constexpr (double|std::\w+|int) (k[^{}]*?);", re.MULTILINE | re.DOTALL)


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    text = source.read_text()
    text = re.sub(r"^static_assert\(.*?\);\n", "", text, flags=re.MULTILINE | re.DOTALL)
    names = [name for number in NUMBER.finditer(text) for name in re.findall(r"\b(k\w+) =", number[2])]
    text = NUMBER.sub(r"inline \1 \2;", text)
    table = ["/// Every number by name.", "struct Number {", "  const char* name;", "  double (*get)();",
             "  void (*set)(double);", "};", "inline const Number kNumbers[] = {"]
    table += [f'    {{"{name}", [] {{ return static_cast<double>({name}); }},'
              f" [](double value) {{ {name} = static_cast<decltype({name})>(value); }}}}," for name in names]
    end = "}  // namespace poise::lending_tuning"
    text = text.replace(end, "\n".join(table) + "\n};\n\n" + end)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


main()
