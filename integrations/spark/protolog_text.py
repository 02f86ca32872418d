"""Messages as text, by expressions of Spark: `render` for rows, and the conversions of a template that it is made of.

The conversions of floats are those of C, to the last digit: a float is a whole number times a power of two, so its digits
are found by multiplying, and cut where the precision says. Java's, which Spark has, rounds the shortest digits that mean
the float, so that `%.2f` of 1.005 is another text than in the log.
"""

import sys

from pyspark.sql import functions as F

# Whole numbers of any length are lists of digits of this base, the lowest first.
_BASE = 10**9
# So many fives, or twos, are one factor: less than the base, so that what is carried is a digit.
_FIVES = 12
_TWOS = 29


def render(pieces, args, kinds="sifb"):
    """The text of a message: the pieces of its template, and its arguments by kind, as the column `arguments` of `messages` has them.

    Bit i of `args.unsigned_args` is set if argument i is an unsigned integer. Templates have arguments of `kinds` alone: Spark plans for
    seconds what converts floats, so who has none should say so.
    """

    def shown(piece):
        place = piece["place"]
        is_unsigned = F.when(piece["argument"] < 64, F.getbit(args["unsigned_args"], piece["argument"]) == 1)
        by_kind = {
            "s": lambda: _text(F.get(args["texts"], place), piece),
            "i": lambda: _integer(F.get(args["integers"], place), piece, F.coalesce(is_unsigned, F.lit(False))),
            "f": lambda: _let(F.get(args["floats"], place), lambda value: _floating(value, piece)),
            "b": lambda: F.get(args["bools"], place).cast("string"),
        }
        converted = piece["text"]
        for kind in kinds:
            converted = F.when(piece["kind"] == kind, by_kind[kind]()).otherwise(converted)
        return _let(converted, lambda it: _padded(it, piece))

    # An argument that is missing makes the text null, where `array_join` would leave it out.
    def joined(parts):
        return F.when(~F.exists(parts, lambda part: part.isNull()), F.array_join(parts, ""))

    return _let(F.transform(pieces, shown), joined)


def _text(value, piece):
    """`%s`, with a precision in characters."""
    return F.when(piece["precision"].isNull(), value).otherwise(F.left(value, piece["precision"]))


def _integer(value, piece, is_unsigned):
    """`%d`, `%x`, `%o`; the last two show the bits."""
    return (
        F.when(piece["verb"] == "x", F.lower(F.hex(value)))
        .when(piece["verb"] == "o", F.conv(F.hex(value), 16, 8))
        .when(is_unsigned, F.conv(F.hex(value), 16, 10))
        .otherwise(value.cast("string"))
    )


def _floating(value, piece):
    """`%f`, `%e`, `%g`."""
    magnitude = F.abs(value)
    finite = _let(_digits(magnitude), lambda digits: _let(_rounded(digits, piece), lambda it: _shaped(it, piece)))
    shown = F.when(F.isnan(value), "nan").when(magnitude == float("inf"), "inf").otherwise(finite)
    return F.when(value.isNotNull(), F.concat(F.when(value.cast("string").startswith("-"), "-").otherwise(""), shown))


def _padded(shown, piece):
    """As wide as a conversion says: zeros stand between the sign and the digits."""
    width = piece["width"]
    sign = F.when(shown.startswith("-"), "-").otherwise("")
    # `lpad` cuts what is longer.
    missing = F.greatest(width - F.length(shown), F.lit(0))
    with_zeros = F.concat(sign, F.repeat(F.lit("0"), missing), F.substr(shown, F.length(sign) + 1))
    takes_zeros = piece["zero_pad"] & piece["kind"].isin("i", "f") & ~shown.isin("nan", "inf", "-inf")
    return (
        F.when(width.isNull() | (missing == 0), shown)
        .when(takes_zeros, with_zeros)
        .otherwise(F.concat(F.repeat(F.lit(" "), missing), shown))
    )


def _let(value, body):
    """`body(value)`, where the value is computed once however often the body has it."""
    return F.get(F.transform(F.array(value), body), F.lit(0))


def _digits(value):
    """All digits of a float that is not negative: those before the point, and those behind it up to the last that is not 0."""

    def of_exponent(exponent):
        # The float is `mantissa` times 2 to `exponent`. In two steps, since 2 to 1074 is no float.
        half = F.floor(-exponent / 2)
        two = F.lit(2.0)
        mantissa = (value * F.pow(two, half) * F.pow(two, -exponent - half)).cast("bigint")
        low = F.pmod(mantissa, F.lit(_BASE))
        limbs = F.array(low, ((mantissa - low) / F.lit(_BASE)).cast("bigint"))
        shift = F.when(exponent > 0, exponent).otherwise(0)
        # A half is five tenths: with as many digits behind the point as there are halvings, the number is whole.
        places = F.when(exponent < 0, -exponent).otherwise(0)
        whole = _times_powers(_times_powers(limbs, 2, _TWOS, shift), 5, _FIVES, places)
        return _let(_text_of(whole), lambda digits: split(digits, places))

    def split(digits, places):
        digits = F.when(F.length(digits) > places, digits).otherwise(F.lpad(digits, places + 1, F.lit("0")))
        before = F.length(digits) - places
        return F.struct(
            F.left(digits, before).alias("whole"),
            F.rtrim(F.substr(digits, before + 1), F.lit("0")).alias("fraction"),
        )

    # Others have no digits, and Spark may compute them nevertheless. NaN is above all.
    value = F.when(value <= sys.float_info.max, value).otherwise(0.0)
    # Two bits to spare, since the logarithm is rounded.
    exponent = F.greatest(F.floor(F.log2(F.when(value > 0, value).otherwise(1.0))) - 54, F.lit(-1074)).cast("int")
    return _let(exponent, of_exponent)


def _times_powers(limbs, base, step, count):
    """A whole number times `base` to the power of `count`, `step` of them at a time."""
    rest = F.pmod(count, F.lit(step))
    steps = ((count - rest) / step).cast("int")
    turns = F.when(steps > 0, F.sequence(F.lit(1), F.greatest(steps, F.lit(1)))).otherwise(F.array().cast("array<int>"))
    whole = F.aggregate(turns, limbs, lambda number, _: _times(number, F.lit(base**step)))
    return _times(whole, F.pow(F.lit(float(base)), rest).cast("bigint"))


def _times(limbs, factor):
    """A whole number times a small one."""
    start = F.struct(F.array().cast("array<bigint>").alias("limbs"), F.lit(0).cast("bigint").alias("carry"))

    def add(state, limb):
        def carried(product):
            low = F.pmod(product, F.lit(_BASE))
            return F.struct(
                F.concat(state["limbs"], F.array(low)).alias("limbs"),
                ((product - low) / F.lit(_BASE)).cast("bigint").alias("carry"),
            )

        return _let(limb * factor + state["carry"], carried)

    def finish(state):
        return F.when(state["carry"] > 0, F.concat(state["limbs"], F.array(state["carry"]))).otherwise(state["limbs"])

    return F.aggregate(limbs, start, add, finish)


def _text_of(limbs):
    """The digits of a whole number; none of 0."""
    parts = F.transform(F.reverse(limbs), lambda limb: F.lpad(limb.cast("string"), 9, "0"))
    return F.ltrim(F.array_join(parts, ""), F.lit("0"))


def _figures(piece):
    """The number of figures of `%e` and `%g`."""
    precision = F.coalesce(piece["precision"], F.lit(6))
    return F.when(piece["verb"] == "e", precision + 1).otherwise(F.greatest(precision, F.lit(1)))


def _rounded(digits, piece):
    """The digits that a conversion shows, and the number of those before the point.

    They are one more where the rest is above a half, or is a half and the last one is odd.
    """

    def of_all(every):
        zeros = F.length(every) - F.length(F.ltrim(every, F.lit("0")))
        behind = F.length(digits["whole"]) + F.coalesce(piece["precision"], F.lit(6))
        return _let(F.when(piece["verb"] == "f", behind).otherwise(zeros + _figures(piece)), lambda cut: at(every, cut))

    def at(every, cut):
        # `rpad` cuts what is longer.
        parts = F.struct(
            F.rpad(every, cut, F.lit("0")).alias("kept"), F.rtrim(F.substr(every, cut + 1), F.lit("0")).alias("rest")
        )
        before = F.length(digits["whole"]) - cut
        return _let(
            _let(parts, carried), lambda it: F.struct(it.alias("every"), (F.length(it) + before).alias("before"))
        )

    def carried(parts):
        kept, rest = parts["kept"], parts["rest"]
        is_odd = F.right(kept, F.lit(1)).isin("1", "3", "5", "7", "9")
        one_more = _let(F.rtrim(kept, F.lit("9")), lambda head: up(head, kept))
        return F.when((rest > "5") | ((rest == "5") & is_odd), one_more).otherwise(kept)

    def up(head, kept):
        last = (F.right(head, F.lit(1)).cast("int") + 1).cast("string")
        more = F.concat(F.left(head, F.length(head) - 1), last)
        zeros = F.repeat(F.lit("0"), F.length(kept) - F.length(head))
        return F.concat(F.when(head == "", "1").otherwise(more), zeros)

    return _let(F.concat(digits["whole"], digits["fraction"]), of_all)


def _shaped(rounded, piece):
    """Rounded digits in the form of `%f`, `%e`, or the shorter of both."""
    every, before = rounded["every"], rounded["before"]

    def with_exponent(number):
        exponent, mantissa = number["exponent"], number["mantissa"]
        is_long = (exponent < -4) | (exponent >= _figures(piece))
        is_scientific = (piece["verb"] == "e") | ((piece["verb"] == "g") & is_long)
        tail = F.when(is_scientific, F.substr(mantissa, F.lit(2))).otherwise(F.substr(every, before + 1))
        tail = F.when(piece["verb"] == "g", F.rtrim(tail, F.lit("0"))).otherwise(tail)
        size = F.abs(exponent).cast("string")
        power = F.concat(F.when(exponent < 0, "e-").otherwise("e+"), F.when(F.length(size) < 2, "0").otherwise(""), size)
        return F.concat(
            F.when(is_scientific, F.left(mantissa, F.lit(1))).otherwise(F.left(every, before)),
            _let(tail, lambda it: F.when(it == "", "").otherwise(F.concat(F.lit("."), it))),
            F.when(is_scientific, power).otherwise(""),
        )

    def of_significant(significant):
        exponent = before - 1 - F.length(every) + F.length(significant)
        return F.struct(
            F.when(significant == "", 0).otherwise(exponent).alias("exponent"),
            F.rpad(significant, _figures(piece), F.lit("0")).alias("mantissa"),
        )

    return _let(_let(F.ltrim(every, F.lit("0")), of_significant), with_exponent)
