"""How the page writes the pieces of a vocabulary: put in front of a recipe that asks for it."""

from functools import cache


@cache
def beginning(tokenizer):
    """The mark before a piece that begins a word, where a vocabulary marks those."""
    pieces = tokenizer.get_vocab()
    return next((mark for mark in "▁Ġ" if any(one.startswith(mark) for one in pieces)), "")


def spelled(tokenizer, i):
    """A piece as a reader writes it: ``▁the`` is the, and what goes on with a word is …ing."""
    piece, mark = tokenizer.convert_ids_to_tokens(int(i)) or "", beginning(tokenizer)
    if piece == mark:
        return "␣"
    bare = tokenizer.convert_tokens_to_string([piece]) if mark == "Ġ" else piece
    text = (bare.replace(mark, " ") if mark else bare.removeprefix("##")).strip() or piece
    inside = not piece.startswith(mark) if mark else piece.startswith("##")
    return f"…{text}" if inside and text[:1].isalnum() else text
