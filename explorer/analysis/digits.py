"""Numbers and lists in sentences of the page, its cards and reports; browser: kit/numbers.js."""

from collections.abc import Callable, Iterable, Sequence

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNBREAKABLE = "\u00a0"
ROUND_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MAX_DECIMALS = 6
"""Most decimals of a probability that float32 resolves; values equal at these count as equal."""


def power(x: float, decimals: int = 1) -> str:
    """Format a small or large number as a power of ten: ``7.0×10⁻⁴``."""
    if not x:
        return "0"
    digits, _, exponent = f"{x:.{decimals}e}".replace("-", "−", int(x < 0)).partition("e")
    return f"{digits}×10{str(int(exponent)).translate(RAISED)}"


def probability(p: float, decimals: int = 3) -> str:
    """Format a probability to three decimals, or as a power of ten where these would all be 0."""
    return power(p, decimals - 2) if 0 < p < 0.001 else f"{p:.{decimals}f}"


def side_by_side(values: Sequence[float]) -> list[str]:
    """Format probabilities in the fewest decimals, three to six, that tell unequal ones apart."""
    return told_apart(values, probability, 3)


def told_apart(
    values: Sequence[float], form: Callable[[float, int], str], fewest: int
) -> list[str]:
    """Format values in the fewest decimals, from ``fewest`` to six, that tell unequal ones apart.

    Args:
        values: The numbers that stand beside each other.
        form: Formats a value with a number of decimals.
        fewest: Decimals to begin with.
    """
    printed = [[form(x, decimals) for x in values] for decimals in range(fewest, MAX_DECIMALS + 1)]
    return max(printed, key=lambda row: len(set(row)))


def round_top(p: float) -> float:
    """Return the smallest round share that holds ``p``, where a scale of shares ends."""
    return next((top for top in ROUND_SHARES if p <= top), 1.0)


def none_or_all(count: int, total: int) -> str:
    """Format a count of a total: "none", "all", or the number."""
    return {0: "none", total: "all"}.get(count, str(count))


def percent(share: float) -> str:
    """Format a share as per cent: ``93.4%``; 100.0% is all of them, not nearly all."""
    return "> 99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def signed(x: float, decimals: int = 2) -> str:
    """Format a change with its sign: a typographic minus, and a plus for what rounds to 0."""
    return f"{round(x, decimals) + 0.0:+.{decimals}f}".replace("-", "−")


def counted(n: int, noun: str) -> str:
    """Format a count with its noun, singular or plural: ``1 round``, ``1,200 rounds``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def enumerated(items: Iterable[str]) -> str:
    """Join items as ``a``, ``a and b`` or ``a, b and c``; empty for none."""
    *most, last = [*items] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def capitalised(text: str) -> str:
    """Return a text with its first letter in upper case and all others as they are."""
    return text[:1].upper() + text[1:]


def repeated(n: int) -> str:
    """Format a number of repetitions: ``once``, ``12 times``."""
    return "once" if n == 1 else f"{n} times"


def ordinal(n: int) -> str:
    """Format a place in a row: ``1st``, ``2nd``, ``3rd``, ``11th``."""
    suffix = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


def quotient(x: float) -> str:
    """Format a quotient of two sizes: two decimals below 2, one from there on."""
    return f"{x:,.2f}" if x < 1.995 else f"{x:,.1f}"


def in_unit(value: float, unit: str, decimals: int = 1) -> str:
    """Format a value with its unit, joined by a space at which no line breaks."""
    return f"{value:,.{decimals}f}{UNBREAKABLE}{unit}"


def millions(count: float) -> str:
    """Format a count in millions: 109,482,240 as ``109.5 M``."""
    return in_unit(count / 1e6, "M")


def milliseconds(ms: float) -> str:
    """Format a time: two decimals below 10 ms, one below 100 ms, none from there on."""
    return in_unit(ms, "ms", 0 if ms >= 100 else 1 if ms >= 10 else 2)
