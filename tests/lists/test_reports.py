"""Lists that people reported as misread elsewhere are read as they mean them, with their numbers."""

import csv
import io
import json

import pytest

import explorer
from explorer.lists.read import MAX_BYTES, read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from explorer.lists.run import judgeable
from explorer.lists.ui.tab import list_in
from explorer.lists.views.strings import read_as
from tests.lists.formats import BINARY, FIRST, SECOND, N, json_lines, rows, table
from tests.lists.ui.test_tab import packed

MRPC = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
STS = ("index", "genre", "filename", "year", "score", "sentence1", "sentence2")
NOTE = "This note says at length who wrote the text and when it was written and where."
LABELS = ("None", "NA", "null")


def listed(content, name="", **how):
    return text_list(read_table(content, name), **how)


def test_the_quality_of_a_paraphrase_is_its_label_whatever_the_file_is_called():
    """The header was taken for a row of a .tsv, and all of a .txt for lines (GLUE-baselines#13)."""
    content = table(MRPC, rows(lambda i: (BINARY[i], f"{i}", f"9{i}", f'"{FIRST[i]}', SECOND[i])))
    for name in ("train.tsv", "train.txt", ""):
        texts = listed(content, name)
        assert (texts.kind, len(texts.rows), texts.rows[1].label) == ("labelled", N, "1")
        assert texts.rows[0].text == f'"{FIRST[0]} [SEP] {SECOND[0]}'


def test_a_tsv_has_its_quotation_marks_as_letters_and_its_scores():
    """They were removed, and a cell with one alone lost its row (pytorch/text#349).

    The values are plain transformers'.
    """
    content = 'text\tlabel\n"Good," he said.\t1\n"Quite good.\t0\nHe said so.\t1\n'
    texts = listed(content, "rows.tsv", kind="labelled")
    assert [row.text for row in texts.rows] == ['"Good," he said.', '"Quite good.', "He said so."]
    found = explorer.texts([texts.rows[0].text], kind="plain").answers.scores
    assert found["bert"][0].pll == pytest.approx(-23.84, abs=0.005)
    assert found["albert"][0].pll == pytest.approx(-22.66, abs=0.005)


def test_a_sentence_in_a_list_of_one_is_that_sentence_and_any_of_several_answers_counts():
    """Brackets and quotation marks went to the tokenizer (LAMA#31); "lyon|paris" was one word."""
    asked = [
        {"masked_sentences": ["He drove the [MASK] to work."], "obj_label": "car"},
        {"masked_sentences": ["The capital of France is [MASK]."], "obj_label": "lyon|paris"},
    ]
    bert = explorer.texts(asked).answers.answers["bert"]
    assert bert.words[0] == "car"
    assert bert.probabilities[0] == pytest.approx(0.970, abs=0.0005)
    assert bert.ranks.tolist() == [1, 1]


def test_words_with_an_apostrophe_are_masked_as_the_reference_masks_them():
    """PLL-word-l2r took "didn't" for one word of BERT's (tokenizers#1507)."""
    found = explorer.texts(["The dog's owner didn't come."]).answers.scores
    assert found["bert"][0].pll_word_l2r == pytest.approx(-32.906, abs=0.001)
    assert found["distilbert"][0].pll_word_l2r == pytest.approx(-22.165, abs=0.001)


def test_the_text_is_the_column_with_the_mask_and_not_the_longest():
    texts = listed(f"notes,cloze\n{NOTE},The [MASK] sat.\n{NOTE},A [MASK] ran.\n", "rows.csv")
    assert (texts.kind, dict(texts.columns)) == ("masked", {"text": "cloze"})


def test_lines_that_all_have_a_tab_are_a_table_in_a_txt():
    texts = listed(table(("text", "label"), rows(lambda i: (FIRST[i], BINARY[i]))), "rows.txt")
    assert (texts.kind, texts.rows[0].text, texts.rows[0].label) == ("labelled", FIRST[0], "0")


def test_one_json_object_over_many_lines_is_its_rows_or_is_refused_and_never_lines():
    """The page read an object of several tasks as sentences of JSON syntax (bias-bench#19)."""
    row = {"sentence": FIRST[0], "label": 1}
    several = json.dumps({"sst2": [row], "qqp": [row]}, indent=2)
    for name in ("dev.json", ""):
        with pytest.raises(BadRows, match=r"holds several lists \(sst2, qqp\)"):
            listed(several, name)
        assert len(listed(json.dumps({"data": [row, row]}, indent=2), name).rows) == 2


def test_one_row_with_its_evidence_in_a_list_is_one_row_with_its_answer():
    evidence = [{"obj_surface": "pot", "masked_sentence": f"{text} [MASK]."} for text in FIRST[:2]]
    for rows_ in ([{"obj_label": "pot", "evidences": evidence}], [evidence[0], evidence[1]]):
        content = "\n".join(map(json.dumps, rows_))
        texts = listed(content, "P19.jsonl")
        answers = [(row.text, row.answer) for row in texts.rows]
        assert answers[0] == (f"{FIRST[0]} [MASK].", "pot" if len(rows_) == 1 else "")
        assert len(answers) == len(rows_)
    several = "\n".join(json.dumps({"obj_label": "pot", "evidences": evidence}) for _ in range(3))
    assert "the first masked sentence is read, and 3 more are not: LAMA" in listed(several).note
    columns = json.dumps({"masked_sentences": [f"{t} [MASK]." for t in FIRST], "n": [*range(N)]})
    assert len(listed(columns).rows) == N


def test_several_labels_a_row_are_several_and_not_one_label():
    """Each list of labels was a label of its own: "[0, 1]" (simpletransformers#51)."""
    content = json_lines(lambda i: {"text": FIRST[i], "label": [i % 2, 1 - i % 2]})
    several = listed(content, "rows.jsonl")
    assert (several.kind, several.rows[0].labels) == ("multilabel", ("0", "1"))
    with pytest.raises(BadRows, match="“label” holds several labels in 10 rows, and labelled"):
        listed(content, "rows.jsonl", kind="labelled")
    single = listed(json_lines(lambda i: {"text": FIRST[i], "label": [i % 2]}), "rows.jsonl")
    assert [row.label for row in single.rows] == list(BINARY)


@pytest.mark.parametrize("name", ["label", "intent", "reaction_class", "Category"])
def test_a_column_that_the_header_names_is_the_label_with_any_number_of_values(name):
    """Of fifty classes in sixty rows nothing was said: the texts were scored as sentences."""
    lines = rows(lambda i: (FIRST[i], f"c{i}")) * 6
    lines = [(f"{text} {i}", f"c{i % 50}") for i, (text, _) in enumerate(lines)]
    texts = listed(table(("text", name), lines), "a.tsv")
    assert (texts.kind, texts.columns["label"]) == ("labelled", name)
    assert f"“{name}” the label (c0, c1, c10, c11, c12, 45 more)" in read_as(texts)
    assert listed(table(("text", "colour"), lines), "a.tsv").kind == "plain"
    chosen = listed(table(("text", "colour"), lines), "a.tsv", columns={"label": "colour"})
    assert chosen.kind == "labelled"
    assert listed(table((), lines), "a.tsv").kind == "plain"


def test_a_row_with_a_cell_too_many_is_left_out_and_shifts_no_column():
    """A file of similar pairs has rows of eight cells for seven (kor-nlu-datasets#2)."""
    lines = rows(lambda i: (f"{i}", "news", "a", "2013", f"{i / 2:.3f}", FIRST[i], SECOND[i]))
    lines[3] = (*lines[3], "more")
    texts = listed(table(STS, lines), "sts.tsv")
    assert (texts.kind, len(texts.rows)) == ("scored", N - 1)
    assert [(row.number, row.reason) for row in texts.left_out] == [
        (4, "It has 8 cells for 7 columns.")
    ]
    assert texts.rows[3].text == f"{FIRST[4]} [SEP] {SECOND[4]}"


def test_a_refused_list_names_the_rows_that_are_not_read_and_a_parquet_file_says_where_it_is_read():
    faulty = 'text,label\n"It was good.,a\nIt was bad.,b\nToo,many,cells\n'
    with pytest.raises(
        BadRows, match=r"^All rows have the label “b”.* Not read: Row 1: A quot.*3: It"
    ):
        judgeable(listed(faulty, "a.csv"))
    with pytest.raises(BadRows, match=r"^This is a Parquet file, which Python and a shell read by"):
        listed(b"PAR1\x15\x00\x15", "rows.parquet")


def test_words_that_a_frame_takes_for_nothing_are_labels():
    """None, NA and null stay what they are (flair#2068)."""
    content = table(("text", "label"), [(f"{FIRST[i % N]} {i}", LABELS[i % 3]) for i in range(45)])
    texts = listed(content, "na.tsv")
    assert (texts.kind, len(texts.rows)) == ("labelled", 45)
    assert {row.label for row in texts.rows} == set(LABELS)


def test_the_page_reads_the_first_rows_of_a_file_that_has_more():
    """A file of half a megabyte was refused whole, of which 2,000 rows can be read."""
    out = io.StringIO()
    csv.writer(out).writerows([("text", "label"), *((f"{NOTE} {i}", i % 2) for i in range(5_000))])
    content = out.getvalue()
    assert 400_000 < len(content) < MAX_BYTES
    texts = list_in({"packed": packed(content), "name": "list.csv", "file": True})
    assert (texts.kind, len(texts.rows)) == ("labelled", 2_000)
    assert texts.left_out[0].number == 2_001
