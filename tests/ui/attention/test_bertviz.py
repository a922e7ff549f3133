"""The fold that holds BertViz says what its picture cannot."""

from explorer.page_state import PageState
from explorer.ui.attention.bertviz import show_view


def test_bertviz_says_what_its_unknown_pieces_are(tiny_family):
    said, _ = show_view(PageState(text="the cat 漢 😀 sat"), "bert", "head")
    pieces = tiny_family.run("bert", "the cat 漢 😀 sat").tokens.pieces
    assert f"{pieces.count('[UNK]')} of {len(pieces) - 2} pieces" in said
    assert "[UNK]" not in show_view(PageState(text="the cat sat"), "bert", "head")[0]
