"""Files in the form of public data sets are read as their publishers mean them, or refused."""

import pytest

from explorer.lists.read import read_table
from explorer.lists.roles import BadRows
from explorer.lists.rows import text_list
from tests.lists.formats import DOCUMENT, FORMATS, written


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.source)
def test_a_public_form_is_read_as_it_is_meant_or_refused_in_a_sentence(each):
    if not each.columns:
        with pytest.raises(BadRows) as refused:
            text_list(read_table(each.content, each.name))
        assert each.first in str(refused.value)
        return
    texts = text_list(read_table(each.content, each.name))
    assert (texts.kind, dict(texts.columns)) == (each.kind, each.columns)
    assert len(texts.rows) == each.n_rows
    first = texts.rows[0]
    assert (first.text, first.label, first.other) == (each.first, each.label, each.other)


def test_the_table_of_formats_is_what_the_reader_does():
    assert DOCUMENT.read_text("utf-8") == written()
