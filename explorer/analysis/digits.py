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
    """Format a share as per cent: ``93.4%``; 100.0% is all of them and 0.0% none, not nearly so."""
    if 0 < share < 0.0005:
        return "< 0.1%"
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


def nats(x: float) -> str:
    """Format an amount of nats to three decimals, or as a power of ten where these would be 0."""
    if abs(x) < 0.5 * 10**-MAX_DECIMALS:
        return "0.000"
    return power(x) if abs(x) < 0.001 else f"{x:,.3f}".replace("-", "−")


def cosine(x: float) -> str:
    """Format a cosine or a CKA, of at most 1, to three decimals."""
    return f"{round(x, 3) + 0.0:.3f}".replace("-", "−")


def quotient(x: float) -> str:
    """Format a quotient of two amounts: two decimals below 2, one from there on."""
    return power(x) if 0 < x < 0.01 else f"{x:,.2f}" if x < 1.995 else f"{x:,.1f}"


def time_ratio(x: float) -> str:
    """Format the ratio of two measured times, or an end of its interval: two decimals."""
    return f"{x:,.2f}"


def in_unit(value: float, unit: str, decimals: int = 1) -> str:
    """Format a value with its unit, joined by a space at which no line breaks."""
    return f"{value:,.{decimals}f}{UNBREAKABLE}{unit}"


def weights(count: float) -> str:
    """Format a number of weights: exact below a million, two decimals below ten, then one.

    ``591,360``, ``9.55 M``, ``109.5 M``, ``1.2 G``.
    """
    size = abs(count)
    if size < 999_999.5:
        return f"{count:,.0f}".replace("-", "−")
    if size >= 999.95e6:
        return in_unit(count / 1e9, "G").replace("-", "−")
    return in_unit(count / 1e6, "M", 2 if size < 9.995e6 else 1).replace("-", "−")


def memory(n_bytes: float) -> str:
    """Format an amount of memory: one decimal in MB, two in GB; 1 MB is 1,000,000 bytes."""
    if n_bytes >= 999.95e6:
        return in_unit(n_bytes / 1e9, "GB", 2)
    return in_unit(n_bytes / 1e6, "MB", 1 if n_bytes >= 0.95e6 else 2)


def gflop(x: float) -> str:
    """Format operations, given in GFLOP: two decimals below 10, one from there on."""
    return in_unit(x, "GFLOP", 2 if x < 9.995 else 1)


def milliseconds(ms: float) -> str:
    """Format a time: two decimals below 10 ms, one below 100 ms, none from there on."""
    return f"{in_ms(ms)}{UNBREAKABLE}ms"


def in_ms(ms: float) -> str:
    """Format a time as ``milliseconds`` without its unit, for a column that names it."""
    if 0 < ms < 0.01:
        return power(ms)
    return f"{ms:,.{0 if ms >= 100 else 1 if ms >= 10 else 2}f}"


def rate(per_second: float) -> str:
    """Format a number a second: one decimal below 100, none from there on."""
    return f"{per_second:,.{1 if per_second < 100 else 0}f}"
