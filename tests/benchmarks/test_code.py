"""Code lines are what is left without blanks, imports, docstrings, comments and prose."""

from benchmarks.code import code_lines, count, named_twice

SOURCE = '''"""A module.

Of two paragraphs.
"""

import sys
from os import (
    path,
)

NAME = "name"
SENTENCE = "a sentence"
TABLE = {
    "one": "a sentence",
    "two": "another",
}
LIMITS = (1, 2)
"""Two numbers."""


# A comment.
def twice(value):
    """Return it twice."""
    text = """of
    lines"""
    return value, text  # a comment


def used():
    return twice(sys) + (path, NAME, SENTENCE, TABLE, LIMITS, twice)
'''


def test_what_is_counted_and_what_is_not(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(SOURCE)
    # NAME, LIMITS, def twice, two lines of its text, return; def used, return.
    assert code_lines(file) == 8
    counted = count("folder", [file])
    assert (counted.files, counted.lines, counted.lengths) == (1, 8, (5, 2))
    assert named_twice([file]) == 0, "twice is named three times, used once"
    file.write_text(SOURCE + "\nused()\n")
    assert named_twice([file]) == 1
