#!/usr/bin/env python3
"""Writes the methods of ProtoLogImpl for up to three arguments, one for each sequence of types, and for four to six.

    java/overloads.py           writes the files
    java/overloads.py --check   fails if a file is not as it would be written
"""

import itertools
import pathlib
import sys

SOURCES = pathlib.Path(__file__).parent / "src/dev/protolog"
# Results of `l`, `f`, `b` and `s`.
TYPES = ["long", "double", "boolean", "String"]
LEVELS = {"v": "VERBOSE", "d": "DEBUG", "i": "INFO", "w": "WARN", "e": "ERROR", "wtf": "WTF"}
LONGEST_LINE = 140

# A class file has room for so many methods that one class would do; a source file of 500 lines has not.
CLASSES = [
    ("TwoArgumentCalls", "ThreeArgumentCalls", "no argument, one or two", [0, 1, 2], "v d i w e wtf"),
    ("ThreeArgumentCalls", "ThreeArgumentWarnings", "three arguments and levels up to INFO", [3], "v d i"),
    ("ThreeArgumentWarnings", "SixArgumentCalls", "three arguments and levels from WARN on", [3], "w e wtf"),
]

COUNTS_OF_BOXED = [4, 5, 6]
AT = """
    static Call at(IProtoLogGroup g, LogLevel level, long id, long mask) {
        return Call.begin(g, level, id, mask);
    }
"""


def method(name, types):
    parameters = "".join(f", {type} {letter}" for type, letter in zip(types, "abc"))
    adds = "".join(f".add({letter})" for letter in "abc"[: len(types)])
    head = f"    public static void {name}(IProtoLogGroup g, long id, long m{parameters}) {{"
    body = f"at(g, {LEVELS[name]}, id, m){adds}.end();"
    line = f"{head} {body} }}"
    return line if len(line) <= LONGEST_LINE else f"{head}\n        {body}\n    }}"


def source(name, base, what, counts, methods):
    methods = methods.split()
    imports = sorted(f"import static dev.protolog.LogLevel.{LEVELS[method]};" for method in methods)
    bodies = [
        method(level, types)
        for level in methods
        for count in counts
        for types in itertools.product(TYPES, repeat=count)
    ]
    return "\n".join([
        "package dev.protolog;",
        "",
        *imports,
        "",
        "/**",
        f" * The methods of {{@link ProtoLogImpl}} for {what}, one for each sequence of the types that its conversions give:",
        " * nothing is boxed, and a call allocates nothing. Written by {@code java/overloads.py}.",
        " *",
        " * <p>Invariant: no method throws.",
        " */",
        f"abstract class {name} extends {base} {{",
        f"    {name}() {{}}",
        "",
        *bodies,
    ]) + "\n}\n"


def boxed_method(name, count):
    letters = "abcdef"[:count]
    parameters = "".join(f", Object {letter}" for letter in letters)
    texts = ", ".join(f"Object {letter}{letter} = valueOf({letter})" for letter in letters).replace(", Object", ",")
    adds = "".join(f".add({letter}{letter})" for letter in letters)
    return "\n".join([
        f"    public static void {name}(IProtoLogGroup g, long id, long m{parameters}) {{",
        f"        {texts};",
        f"        at(g, {LEVELS[name]}, id, m){adds}.end();",
        "    }",
    ])


def boxed_source(name):
    imports = sorted(f"import static dev.protolog.LogLevel.{level};" for level in LEVELS.values())
    return "\n".join([
        "package dev.protolog;",
        "",
        *imports,
        "import static dev.protolog.internal.text.MessageText.valueOf;",
        "",
        "/**",
        " * The methods of {@link ProtoLogImpl} for four to six arguments. There are too many sequences of types for a method each, so javac boxes",
        " * what the conversions give; in code that runs often the JVM's compiler takes the boxes away again. Written by {@code java/overloads.py}.",
        " *",
        " * <p>Invariants: no method throws; code of the application, such as {@code toString}, runs before the call begins.",
        " */",
        f"abstract class {name} {{",
        f"    {name}() {{}}",
        "",
        *(boxed_method(level, count) for level in LEVELS for count in COUNTS_OF_BOXED),
    ]) + "\n" + AT + "}\n"


def main(words):
    is_check = words == ["--check"]
    texts = {description[0]: source(*description) for description in CLASSES}
    texts["SixArgumentCalls"] = boxed_source("SixArgumentCalls")
    for name, text in texts.items():
        path = SOURCES / f"{name}.java"
        if not is_check:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"error: `{path}` is not as `java/overloads.py` writes it\nhelp: run `java/overloads.py`")


main(sys.argv[1:])
