"""Whatever a text holds, what is saved of it is the recipe with that text in it, and nothing else."""

import ast
import csv
import io
import json
import math
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from explorer.ui.kit.canvas import RECIPES, recipe_parts
from tests.needs import needs_node

HERE = Path(__file__).parent
KINDS = ("predictions/words", "depth/film", "parameters/memory", "tasks/sentiment")
"""With a text, with words and groups, without models, with adapters."""
TEXTS = [
    "a plain [MASK] text.",
    "one\n# A plain figure\nand more",
    "\n\nprint(*columns, sep='')\n# A plain figure of these numbers: pip install plotly\n",
    "nul \0 bell \a escape \x1b delete \x7f next line \x85 no-break \xa0",
    "separators \u2028MODELS = 1\u2029TEXT = 2 \x0b \x0c \x1c \r alone",
    "marks \u202e\u2066\u200b\ufeff\u200d tags \U000e0001 emoji 👩‍💻 half \ud83d other \ude00 end",
    "quotes \" ' ''' \"\"\" `` \\ \\\" $& $1 $' {x} %s \\N{BULLET} \\u0041",
    "assets/models/mini-bert",
    "coding=utf-7 AAo-print(1)AAo- -*- coding: rot13 -*-",
    "coding: utf-16",
    "TEXT = 1\nMODELS = {\n    1\n}\nWORDS = [\n    2\n]",
    "漢字 é ﬁ Ω",
    "",
]
"""``utf-7`` would make a line of its own of what stands between ``+AAo-`` in the link's comment."""
CELLS = ["=1+1", "a;=1+1", "a\t=1+1", "a,=1+1", 'a"=1+1', "a\n=1+1", "a\r=1+1", "#=1", "@x", "-1;2"]
pytestmark = needs_node


@pytest.fixture(scope="module")
def saved():
    texts = [*TEXTS, *CELLS]
    given = {"recipes": {kind: recipe_parts(kind) for kind in KINDS}, "texts": texts}
    done = subprocess.run(
        ["node", HERE / "nasty.js"], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(KINDS) * len(texts)
    return found


def constants(tree):
    """What the module sets at its top level, by name, where that is a plain value."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def without(tree, names):
    """The code but for the values of some names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in names:
            node.value = ast.Constant(None)
    return ast.dump(tree)


TOLD = ("TEXT", "MODELS", "WORDS", "GROUPS", "SPACE")


def whole(kind):
    """A script's lines before it is told anything, in their order."""
    parts = recipe_parts(kind)
    if "\nMODELS = " not in parts["computes"]:
        del parts["finds"]
    order = ("finds", "computes", "prints", "draws", "writes")
    return "".join(parts[name] for name in order if name in parts)


def holds(tree, text):
    """Whether every constant that is told holds the text exactly."""
    found = constants(tree)
    if "TEXT" in found:
        assert ast.literal_eval(found["TEXT"]) == text
    if "WORDS" in found:
        assert ast.literal_eval(found["WORDS"]) == [text]
    if "GROUPS" in found:
        ((key, values),) = eval(ast.unparse(found["GROUPS"]), {"float": float}).items()
        assert (key, values[0]) == (text, text)
        assert math.isnan(values[1])
        assert values[2] == -math.inf


@pytest.mark.long
def test_the_lines_are_the_recipes_and_the_text_is_in_them(saved):
    """As Python reads the file: from its bytes, with what they say of their encoding."""
    for one in saved:
        code = one["code"].encode("utf-8")
        seen = {unicodedata.category(sign) for sign in one["code"] if sign != "\n"}
        assert not seen & {"Cc", "Cf", "Cs", "Zl", "Zp"}, one["text"]
        tree = ast.parse(code)
        holds(tree, one["text"])
        recipe = ast.parse(whole(one["kind"]))
        assert without(tree, TOLD) == without(recipe, TOLD), one["text"]


@pytest.mark.long
def test_every_cell_of_a_notebook_is_its_part_of_the_recipe(saved):
    for one in saved:
        parts = recipe_parts(one["kind"])
        said, *code = one["cells"]
        assert said["cell_type"] == "markdown"
        assert {cell["cell_type"] for cell in code} == {"code"}
        needs_models = "\nMODELS = " in parts["computes"]
        assert len(code) == 3 + needs_models
        computed, printed, drawn = (ast.parse(cell["source"]) for cell in code[-3:])
        holds(computed, one["text"])
        assert without(computed, TOLD) == without(ast.parse(parts["computes"]), TOLD)
        assert ast.dump(printed) == ast.dump(ast.parse(parts["prints"]))
        assert ast.dump(drawn) == ast.dump(ast.parse(f"{parts['draws']}figure"))
        for cell in one["cells"]:
            assert not {s for s in cell["source"] if unicodedata.category(s) in ("Cc", "Zl")} - {
                "\n"
            }


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_a_spreadsheet_divides_at(saved, delimiter):
    for one in saved:
        for row in csv.reader(io.StringIO(one["rows"], newline=""), delimiter=delimiter):
            for cell in row:
                assert not re.match(r"[\t\r\n]*[=+\-@]", cell), (one["text"], cell)


def test_what_is_read_back_is_what_was_there_but_for_the_apostrophes(saved):
    for one in saved:
        *_, first, second = csv.reader(io.StringIO(one["rows"], newline=""))
        plain = [re.sub(r"(^|[;\t\r\n])'(?=[=+\-@\t\r])", r"\1", row[0]) for row in (first, second)]
        assert plain == [one["text"], f"a{one['text']}"]
        assert (first[1], second[1]) == ("1", "")


def test_the_kinds_that_are_tried_are_there():
    assert all((RECIPES / f"{kind}.py").exists() for kind in KINDS)
