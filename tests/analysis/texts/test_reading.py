"""Thirty files in which something is wrong, and what is read of each."""

import pytest

from explorer.analysis.texts.reading import read_table
from explorer.analysis.texts.rows import BadRows, text_list

TWO = [("It is good.", "pos"), ("It is bad.", "neg")]
CSV = "text,label\nIt is good.,pos\nIt is bad.,neg\n"
READ = {
    "plain": (CSV, "a.csv", TWO),
    "byte order mark": (b"\xef\xbb\xbf" + CSV.encode(), "a.csv", TWO),
    "UTF-16 with a mark": (CSV.encode("utf-16"), "a.csv", TWO),
    "UTF-16 big endian": (b"\xfe\xff" + CSV.encode("utf-16-be"), "a.csv", TWO),
    "UTF-16 without a mark": (CSV.encode("utf-16-le"), "a.csv", TWO),
    "Windows-1252": (
        "text,label\nCafé is good.,pos\nIt is bad.,neg".encode("cp1252"),
        "a.csv",
        [("Café is good.", "pos"), TWO[1]],
    ),
    "CRLF": (CSV.replace("\n", "\r\n"), "a.csv", TWO),
    "CR alone": (CSV.replace("\n", "\r"), "a.csv", TWO),
    "semicolons": (CSV.replace(",", ";"), "a.csv", TWO),
    "tabs in a .csv": (CSV.replace(",", "\t"), "a.csv", TWO),
    "commas in a .tsv": (CSV, "a.tsv", TWO),
    "bars": (CSV.replace(",", "|"), "a.csv", TWO),
    "no line end": (CSV.rstrip(), "a.csv", TWO),
    "empty rows": (CSV.replace("\n", "\n\n\n") + ",\n , \n", "a.csv", TWO),
    "spaces around": ("text , label\n  It is good. , pos \nIt is bad.,neg", "a.csv", TWO),
    "upper-case header": (CSV.replace("text,label", "TEXT,Label"), "a.csv", TWO),
    "quotes": (
        'text,label\n"It is ""good"", yes.",pos\n"It is bad.",neg',
        "a.csv",
        [('It is "good", yes.', "pos"), TWO[1]],
    ),
    "a line break in a quote": (
        'text,label\n"It is\ngood.",pos\nIt is bad.,neg',
        "a.csv",
        [("It is\ngood.", "pos"), TWO[1]],
    ),
    "a quote inside a word": (
        'text,label\nIt is 5" good.,pos\nIt is bad.,neg',
        "a.csv",
        [('It is 5" good.', "pos"), TWO[1]],
    ),
    "text after a quote": (
        'text,label\n"It is" good.,pos\nIt is bad.,neg',
        "a.csv",
        [("It is good.", "pos"), TWO[1]],
    ),
    "a short row": ("text,label,group\nIt is good.,pos\nIt is bad.,neg,x", "a.csv", TWO),
    "a formula": (
        'text,label\n"=HYPERLINK(""http://x"")",pos\n@SUM(A1),neg',
        "a.csv",
        [('=HYPERLINK("http://x")', "pos"), ("@SUM(A1)", "neg")],
    ),
    "zero bytes": (CSV.replace("good", "go\x00od"), "a.csv", TWO),
    "no header": (
        "It is good.,pos\nIt is bad.,neg\nIt is good.,pos\nIt is bad.,neg",
        "a.csv",
        TWO * 2,
    ),
    "unknown header": (
        "phrase number,tone\nIt is really very good for all of us today.,pos\nIt is really very bad for all of us today.,neg",
        "a.csv",
        None,
    ),
    "JSON lines": (
        '{"text": "It is good.", "label": "pos"}\n{"label": "neg", "text": "It is bad."}',
        "a.jsonl",
        TWO,
    ),
    "JSON lines with a number": (
        '{"text": "It is good.", "label": 1}\n{"text": "It is bad.", "label": 0}',
        "a.jsonl",
        [("It is good.", "1"), ("It is bad.", "0")],
    ),
    "pasted JSON": (
        '{"text": "It is good.", "label": "pos"}\n{"text": "It is bad.", "label": "neg"}',
        "",
        TWO,
    ),
    "pasted table": (CSV, "", TWO),
    "a nameless column": ("text,label,\nIt is good.,pos,x\nIt is bad.,neg,y", "a.csv", TWO),
    "a column twice": ("text,label,label\nIt is good.,pos,x\nIt is bad.,neg,y", "a.csv", TWO),
}


@pytest.mark.parametrize("name", READ)
def test_a_broken_file_is_read(name):
    content, file, expected = READ[name]
    rows = text_list(read_table(content, file)).rows
    if expected is None:
        assert [row.text[:12] for row in rows] == ["It is really", "It is really"]
    else:
        assert [(row.text, row.label) for row in rows] == expected


def left_out(content, name="a.csv"):
    return [(row.number, row.reason) for row in text_list(read_table(content, name)).left_out]


def test_a_quote_that_never_closes_loses_its_own_row_alone():
    content = 'text,answer\nA [MASK] is here.,x\n"The [MASK] is open,y\nOne [MASK] more.,z\n'
    texts = text_list(read_table(content, "a.csv"))
    assert [row.answer for row in texts.rows] == ["x", "z"]
    assert left_out(content) == [(2, "A quotation mark is opened here and never closed.")]


def test_a_row_with_more_cells_than_columns_is_reported():
    assert left_out(CSV + "It is, so to say, good.,pos\n") == [(3, "It has 4 cells for 2 columns.")]


def test_a_line_that_is_no_json_is_reported():
    content = '{"text": "One [MASK]."}\nno json\n[1, 2]\n{"text": "Two [MASK]."}'
    assert left_out(content, "a.jsonl") == [(n, "Its line is no JSON object.") for n in (2, 3)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        "",
        " \n\n",
        b"\xef\xbb\xbf",
        "\x00\x00",
        b"PK\x03\x04" + b"\x00" * 50,
        b"%PDF-1.7",
        b"\x89PNG\r\n",
        bytes(range(256)) * 9,
    ],
)
def test_what_is_no_text_is_refused(content):
    with pytest.raises(BadRows, match=r"nothing to read|holds no text"):
        read_table(content, "a.csv")


def test_a_file_with_a_zero_byte_is_refused_and_never_read_as_another_text():
    for content in (CSV.replace("good", "go\x00od").encode(), CSV.encode() + b"\x00" * 200):
        with pytest.raises(BadRows, match="holds zero bytes"):
            read_table(content, "a.csv")


def test_what_is_over_a_megabyte_is_reported_and_the_rest_is_read():
    content = "text,label\n" + "".join(f"{'word ' * 200}{i},{i % 2}\n" for i in range(1_500))
    for data in (content, content.encode()):
        table = read_table(data, "a.csv")
        assert 1_000 < len(table.cells) < 1_100
        assert table.left_out[-1].number == len(table.cells) + 1
        assert "1 MB" in table.left_out[-1].reason


ARRAY = '[{"text": "It is good.", "label": "pos"},\n {"text": "It is bad.", "label": "neg"}]'


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", ""])
def test_a_json_array_has_a_row_for_each_of_its_objects(name):
    texts = text_list(read_table(ARRAY, name), "labelled")
    assert [(row.text, row.label) for row in texts.rows] == TWO


@pytest.mark.parametrize("line", ["[MASK] is good.", "[1, 2]", "[]"])
def test_a_pasted_line_in_brackets_is_a_text(line):
    assert read_table(line).cells == ((line,),)


def test_a_header_alone_is_no_row():
    with pytest.raises(BadRows, match="below the names of the columns there is no row"):
        read_table("text,label\n", "a.csv")
