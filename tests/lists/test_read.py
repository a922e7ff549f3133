"""Thirty files in which something is wrong, and what is read of each."""

import json
from contextlib import suppress

import pytest

from explorer.lists import delimited, json_rows, read
from explorer.lists.read import MAX_BYTES, decoded, read_table
from explorer.lists.roles import MAX_ROWS, BadRows
from explorer.lists.rows import text_list

TWO = [("It is good.", "pos"), ("It is bad.", "neg")]
CSV = "text,label\nIt is good.,pos\nIt is bad.,neg\n"
READ = {
    "plain": (CSV, "a.csv", TWO),
    "byte order mark": (b"\xef\xbb\xbf" + CSV.encode(), "a.csv", TWO),
    "UTF-16 with a mark": (CSV.encode("utf-16"), "a.csv", TWO),
    "UTF-16 big endian": (b"\xfe\xff" + CSV.encode("utf-16-be"), "a.csv", TWO),
    "UTF-16 without a mark": (CSV.encode("utf-16-le"), "a.csv", TWO),
    "big endian without a mark": (CSV.encode("utf-16-be"), "a.csv", TWO),
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


STRAY_QUOTES = {
    "a quote and a later one": (
        '"Hello there\tpos\nShe said "hi" to me\tneg\n',
        "a.tsv",
        [('"Hello there', "pos"), ('She said "hi" to me', "neg")],
        [],
    ),
    "a quoted row after it": (
        'text,label\n"Bad film,neg\nok two,pos\n"Nice, one",pos\n',
        "a.csv",
        [("ok two", "pos"), ("Nice, one", "pos")],
        [1],
    ),
    "words in quotes before it": (
        'text,label\n"Good" film,pos\n"Bad film,neg\nok,pos\n"Two,\nlines",neg\n',
        "a.csv",
        [("Good film", "pos"), ("ok", "pos"), ("Two,\nlines", "neg")],
        [2],
    ),
    "a later one in a row that is as wide": (
        'text,label\n"Hello, there,neg\nok two,pos\nfine one,pos\n"Bad film,neg\nend,pos\n',
        "a.csv",
        [("ok two", "pos"), ("fine one", "pos"), ("end", "pos")],
        [1, 4],
    ),
    "two of them": (
        'text,label\n"a,neg\nok,pos\n"b,neg\nno,neg\n',
        "a.csv",
        [("ok", "pos"), ("no", "neg")],
        [1, 3],
    ),
}


@pytest.mark.parametrize("name", STRAY_QUOTES)
def test_an_open_quote_takes_no_other_row_with_it_wherever_the_next_one_stands(name):
    content, file, expected, faulty = STRAY_QUOTES[name]
    table = read_table(content, file)
    columns = [table.names[0], table.names[1]]
    texts = text_list(table, "labelled", dict(zip(("text", "label"), columns, strict=True)))
    assert [(row.text, row.label) for row in texts.rows] == expected
    assert [row.number for row in texts.left_out] == faulty
    assert all(
        row.reason == "A quotation mark is opened here and never closed." for row in texts.left_out
    )


MANY = 9_000
MANY_ROWS = {
    "lines": ("a\n" * MANY, ""),
    "a table": ("text,label\n" + "a,b\n" * MANY, "a.csv"),
    "a table without a header": ("a,1\n" * MANY, "a.csv"),
    "cells of two lines": ('text,label\n"a\n\nb",c\n' * 1 + '"a\n\nb",c\n' * (MANY - 1), "a.csv"),
    "empty lines": ("text,label\n" + "a,b\n\n,\n" * MANY, "a.csv"),
    "JSON": ('{"text": "a"}\n\n' * MANY, "a.jsonl"),
    "a JSON array": (json.dumps([{"text": "a"}] * MANY), "a.json"),
    "quotes that are wrong": ('a,b\n"a"b,c\n' * (MANY // 2), "a.csv"),
}


@pytest.mark.parametrize("name", MANY_ROWS)
def test_rows_over_the_limit_are_counted_and_not_read(name):
    table = read_table(*MANY_ROWS[name])
    assert (len(table.cells), table.n_rows) == (MAX_ROWS, MANY)
    (row,) = text_list(table, "plain").left_out
    assert row.number == MAX_ROWS + 1
    assert f"{MANY - MAX_ROWS:,} together" in row.reason


HOSTILE_LINES = ("{\n", '"a,b\n', '"a""\n', 'a "b" c",x\n', '"\n', '""\n', "a\n", "{}\n", ",\n")


@pytest.mark.long
@pytest.mark.parametrize("name", ["", "a.csv", "a.jsonl"])
@pytest.mark.parametrize("line", HOSTILE_LINES)
def test_the_work_for_a_megabyte_is_that_of_the_rows_that_are_read(line, name, monkeypatch):
    done = {"parsed": 0, "left out": 0, "lines": 0}

    def counted(what, function):
        def watched(*asked):
            done[what] += 1
            return function(*asked)

        return watched

    monkeypatch.setattr(json_rows, "parsed", counted("parsed", json_rows.parsed))
    monkeypatch.setattr(read, "LeftOut", counted("left out", read.LeftOut))
    monkeypatch.setattr(delimited, "_joined", counted("lines", delimited._joined))
    with suppress(BadRows):
        read_table(line * (MAX_BYTES // 8 // len(line)), name)
    most = MAX_ROWS + 2 * delimited.SAMPLE_ROWS
    assert max(done.values()) <= most, done


def test_a_cell_of_several_lines_may_have_quotes_inside():
    for cell in ('"First line, so\nsecond "line" here"', '"A fine\nfilm, \\"really\\" good"'):
        table = read_table(f"text,label\n{cell},pos\nNo,neg\n", "a.csv")
        assert len(table.cells) == 2
        assert table.left_out == ()
        assert "\n" in table.cells[0][0]
        assert table.cells[0][1] == "pos"
    three = '"One\ntwo\nthree, \\"so\\" it is",pos\n'
    assert [row[1] for row in read_table(f"text,label\n{three * 3}", "a.csv").cells] == ["pos"] * 3
    beside = 'title,text\n"A "b" c","One\ntwo, three\nfour."\nx,y\n'
    assert read_table(beside, "a.csv").cells[0][1] == "One\ntwo, three\nfour."
    alone = 'text\n"First line\nsecond "line" here"\nNo.\n'
    assert len(read_table(alone, "a.csv").cells) == 2


def test_columns_that_a_spreadsheet_leaves_empty_are_none():
    for commas in ("", "," * 150):
        table = read_table(f"text,label{',' * 150}\nGood.,pos{commas}\nBad.,neg{commas}\n", "a.csv")
        assert table.names == ("text", "label")
        assert table.cells == (("Good.", "pos"), ("Bad.", "neg"))


HEADERS = (
    "No.,text,label",
    "S.No.,Review,Sentiment",
    "text,label,sarcastic?",
    "Timestamp,Text,Is it positive?",
    "Timestamp,Review,Does this text sound positive?",
    "Sentence with one [MASK],answer,id",
    "q,word,id",
    "text,label,annotator confidence on a scale of one to five",
    "text (with [MASK]),answer,id",
    "user,text,id",
    "title,review,stars",
    "text,label,source",
)


@pytest.mark.parametrize("header", HEADERS)
def test_an_ordinary_header_is_one(header):
    first = header.split(",")[0]
    body = f"{first},It is [MASK].,x\nb,He was [MASK].,source\n{header}\nc,She [MASK].,y\n"
    table = read_table(f"{header}\n{body}", "a.csv")
    assert (table.has_header, table.names) == (True, tuple(header.split(",")))


def test_a_first_row_with_a_known_word_in_it_is_a_row():
    reviews = "The film was great.,good\nThe film was awful.,bad\n" * 30
    texts = text_list(read_table(reviews, "a.csv"))
    assert (texts.kind, len(texts.rows)) == ("labelled", 60)
    reviews = reviews.replace(".,", ",")
    assert len(text_list(read_table(reviews, "a.csv")).rows) == 60
    masked = "The farmer ploughed the [MASK].,field\nThe cat sat on the [MASK].,mat\n"
    for name in ("a.csv", ""):
        assert "ploughed" in text_list(read_table(masked, name)).rows[0].text
    pasted = "Good, we can start now.\nBad, it rains.\n"
    assert read_table(pasted).cells == tuple((line,) for line in pasted.splitlines())


def test_a_header_stays_one_where_a_cell_is_its_name():
    content = "text,word\nThe [MASK] of honour.,word\nThe [MASK] sat.,cat\n"
    table = read_table(content, "a.csv")
    assert (table.has_header, len(table.cells)) == (True, 2)
    table = read_table("text,word,id\nThe [MASK] sat.,cat,1\nA [MASK] ran.,dog,2\n", "a.csv")
    assert table.names == ("text", "word", "id")


@pytest.mark.parametrize("file", ["", "a.csv", "a.txt"])
def test_one_column_of_sentences_keeps_their_commas(file):
    told = "The capital, Paris, is [MASK].", "In the morning, I drink [MASK].", "It is [MASK]."
    assert read_table("\n".join(("text", *told)), file).cells == tuple((line,) for line in told)
    assert read_table("\n".join(("text", *told[1:])), file).cells == ((told[1],), (told[2],))
    if file != "a.txt":
        quoted = 'text\n"The capital, Paris, is [MASK]."\nIt is [MASK].\n'
        assert read_table(quoted, file).cells == ((told[0],), (told[2],))
    assert read_table("text\nAbout 10,000 came.\nNo.\n", file).cells[0] == ("About 10,000 came.",)
    for unlike in ("It is good,pos", "It is good, really,pos", '1,"It is good, yes."'):
        (row,) = read_table(f"text\n{unlike}\n", "a.csv").left_out
        assert row.reason.endswith(" cells for 1 column.")


def test_other_ends_of_lines_stand_in_a_json_string():
    content = '{"text": "One two\u2028three\x85 [MASK]."}\r\n{"text": "Two [MASK]."}'
    for name in ("a.jsonl", ""):
        table = read_table(content, name)
        assert table.cells == (("One two\u2028three\x85 [MASK].",), ("Two [MASK].",))


@pytest.mark.parametrize("text", ["The caf\xe9", "text,label\nIt is good.,caf\xe9\r\n"])
def test_windows_1252_keeps_its_last_letters(text):
    assert decoded(text.encode("cp1252")) == text


def test_more_columns_than_anybody_has_are_refused():
    wide = ",".join(["text", *map(str, range(100))])
    rows = [json.dumps({f"k{i}": 1}) for i in range(101)]
    for content, name in (
        (f"{wide}\na\n", "a.csv"),
        (f"{'a,' * 100}b\n" * 2, "a.csv"),
        ("\n".join(rows), "a.jsonl"),
    ):
        with pytest.raises(BadRows, match=r"has 101 columns in \d+ rows?, which is more"):
            read_table(content, name)
    assert len(read_table("\n".join(rows[:100]), "a.jsonl").names) == 100
    cells = read_table(f"x{',' * 500_000}y\na\nb\n", "a.csv").cells
    assert cells == (("x",), ("a",), ("b",))


def test_a_json_array_over_a_megabyte_says_what_to_do():
    array = json.dumps([{"text": "It is [MASK]."}] * 50_000)
    for name in ("a.json", ""):
        with pytest.raises(BadRows, match=r"over 1 MB: save it as \.jsonl"):
            read_table(array, name)


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


@pytest.mark.parametrize(
    "content", ["<?xml version='1.0'?>\n<row>A cat.</row>\n", "<!DOCTYPE html>\n<p>A cat.</p>"]
)
def test_markup_is_refused_and_a_text_that_begins_with_a_tag_is_not(content):
    with pytest.raises(BadRows, match="a page or a file in XML"):
        read_table(content, "a.txt")
    assert read_table("<b>A cat.</b>\n<i>A dog.</i>").cells == (
        ("<b>A cat.</b>",),
        ("<i>A dog.</i>",),
    )


def test_the_beginning_of_an_archive_of_tweets_stays_where_it_is_part_of_a_text():
    text = "The file begins with window.YTD.tweets.part0 = [."
    assert read_table(f"{text}\nIt is a script.").cells[0] == (text,)
    script = 'window.YTD.tweets.part0 = [{"tweet": {"full_text": "A cat sat."}}]'
    assert read_table(script, "tweets.js").cells == (("A cat sat.",),)


@pytest.mark.parametrize("name", ["a.tsv", ""])
def test_a_column_of_quoted_cells_loses_its_quotation_marks_and_speech_keeps_them(name):
    quoted = "text\tlabel\n" + '"A cat, he said."\t1\n"A dog."\t0\n' * 2
    assert read_table(quoted, name).cells[0] == ("A cat, he said.", "1")
    speech = "text\tlabel\n" + '"A cat," he said.\t1\n"A dog."\t0\n' * 2
    assert read_table(speech, name).cells[0] == ('"A cat," he said.', "1")


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


@pytest.mark.parametrize("content", ["the cat\nsat", b"the cat\nsat"])
def test_a_text_of_exactly_the_limit_is_whole(content, monkeypatch):
    """One byte more, and the last line that would be cut is left out."""
    monkeypatch.setattr(read, "MAX_BYTES", len(content))
    assert [[*row] for row in read_table(content, "a.txt").cells] == [["the cat"], ["sat"]]
    monkeypatch.setattr(read, "MAX_BYTES", len(content) - 1)
    assert [[*row] for row in read_table(content, "a.txt").cells] == [["the cat"]]
