"""How a text may be in the messages of a template: what `search` asks before any message is read.

The answers are those of `protolog_may_have` in integrations/duckdb/protolog.sql.
"""

import re

ALWAYS = "always"
"""The template has the text."""
TEXTS = "texts"
"""The text can only be within one text argument."""
SOMEWHERE = "somewhere"
"""Only the rendered message tells."""


def may_have(pieces, wanted):
    """One of the three, or None if no message of the template can have the text."""
    literals = [piece["text"] for piece in pieces if piece.get("text") is not None]
    arguments = [piece for piece in pieces if piece.get("kind") is not None]
    texts = [piece for piece in arguments if piece["kind"] == "s"]
    if any(wanted in literal for literal in literals):
        return ALWAYS
    if _is_across(pieces, arguments, wanted):
        return SOMEWHERE if texts or _has_rest(literals, arguments, wanted) else None
    letters = f"[{_letters(arguments)}]*"
    if len(texts) < len(arguments) and re.fullmatch(letters, wanted):
        return SOMEWHERE
    if any(piece.get("precision") is not None for piece in texts):
        return SOMEWHERE
    return TEXTS if texts else None


def _is_across(pieces, arguments, wanted):
    """Whether a text may begin in an argument and end behind it, or the other way round: at a literal that has an argument
    before it, or behind it."""
    halves = [(wanted[:cut], wanted[cut:]) for cut in range(1, len(wanted))]
    for place, piece in enumerate(pieces):
        literal = piece.get("text")
        if literal is None:
            continue
        for head, tail in halves:
            if place > 0 and (tail.startswith(literal) or literal.startswith(tail)):
                return True
            if place < len(pieces) - 1 and (head.endswith(literal) or literal.endswith(head)):
                return True
    kinds = [piece.get("kind") for piece in pieces]
    if any(one and other for one, other in zip(kinds, kinds[1:], strict=False)):
        return True
    return " " in wanted and any(piece["width"] > 0 for piece in arguments)


def _letters(arguments):
    """The letters that the numbers and truth values may have, for the class of a regular expression."""
    classes = []
    for piece in arguments:
        if piece["kind"] == "i":
            classes.append("0-9a-f " if piece["verb"] == "x" else "0-9 ")
        elif piece["kind"] == "f":
            classes.append("0-9.+einfa ")
        elif piece["kind"] == "b":
            classes.append("truefals ")
    return "".join(classes) + "-"


def _has_rest(literals, arguments, wanted):
    """Whether all that numbers can't have is in the template."""
    parts = re.findall(f"[^{_letters(arguments)}]+", wanted)
    return all(any(part in literal for literal in literals) for part in parts)
