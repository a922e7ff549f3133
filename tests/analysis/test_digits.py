"""Numbers are printed one way."""

from explorer.analysis.digits import (
    enumerated,
    milliseconds,
    ordinal,
    percent,
    power,
    probability,
    side_by_side,
    signed,
)


def test_powers_of_ten_have_a_raised_exponent_and_a_true_minus() -> None:
    assert [power(x) for x in (0.0007, -3.2e-20, 1.2e7, 0)] == [
        "7.0×10⁻⁴",
        "−3.2×10⁻²⁰",
        "1.2×10⁷",
        "0",
    ]


def test_a_probability_has_three_decimals_as_long_as_one_of_them_is_not_zero() -> None:
    shown = [probability(p) for p in (1, 0.0532, 0.001, 0.00099, 0)]
    assert shown == ["1.000", "0.053", "0.001", "9.9×10⁻⁴", "0.000"]


def test_probabilities_beside_each_other_print_alike_only_where_six_decimals_are_alike() -> None:
    assert side_by_side([0.4996, 0.5004, 0.25]) == ["0.4996", "0.5004", "0.2500"]
    small = [0.5, 0.5, 1.21e-5, 1.24e-5]
    assert side_by_side(small) == ["0.5000", "0.5000", "1.21×10⁻⁵", "1.24×10⁻⁵"]
    assert side_by_side([0.5, 0.50000001, 0.3]) == ["0.500", "0.500", "0.300"]
    assert side_by_side([]) == []


def test_a_list_has_one_and_before_its_last() -> None:
    said = [enumerated("abc"[:n]) for n in range(4)]
    assert said == ["", "a", "a and b", "a, b and c"]


def test_shares_changes_and_times() -> None:
    assert percent(0.6) == "60.0%"
    assert [signed(x) for x in (-2.678, 0.5, -0.001)] == ["−2.68", "+0.50", "+0.00"]
    assert [milliseconds(ms) for ms in (1234.5, 12.34, 1.234)] == [
        "1,234\u00a0ms",
        "12.3\u00a0ms",
        "1.23\u00a0ms",
    ]


def test_all_but_a_few_is_not_all() -> None:
    shares = (1, 1999 / 2000, 1998 / 2000, 0.5, 0)
    assert [percent(x) for x in shares] == ["100.0%", "> 99.9%", "99.9%", "50.0%", "0.0%"]


def test_places_in_a_row_have_the_suffix_that_is_spoken() -> None:
    said = [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111)]
    assert said == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "22nd",
        "103rd",
        "111th",
    ]
