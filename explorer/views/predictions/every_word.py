"""Every word masked in turn, as tiles; and one asked-for word, as a table."""

from collections.abc import Mapping, Sequence

from explorer.analysis.digits import probability
from explorer.analysis.predictions.every_word import SpanScore
from explorer.models.tokens import Word
from explorer.views.markup import Markup, el, script_json, table
from explorer.views.numbers import Numbers


def words_canvas(
    words: Sequence[Word],
    text: str,
    scores: Mapping[str, Sequence[SpanScore]],
    labels: Mapping[str, str],
    texts: Mapping[str, object],
) -> str:
    """The strip's JSON: each word of the text with what every model made of it so far."""
    by_start = {key: {s.word.start: s for s in found} for key, found in scores.items()}
    tiles = [
        {
            "word": word.text,
            "breaks": "\n" in text[words[i - 1].end : word.start] if i else False,
            "models": {
                key: _tile(found[word.start])
                for key, found in by_start.items()
                if word.start in found
            },
        }
        for i, word in enumerate(words)
    ]
    return script_json({"words": tiles, "labels": dict(labels), "texts": dict(texts)})


def _tile(score: SpanScore) -> dict[str, object]:
    return {
        "p": None if score.is_unknown else float(f"{score.probability:.6g}"),
        "nats": float(f"{-score.log_probability:.6g}"),
        "rank": score.rank,
        "pieces": list(score.pieces),
        "answers": [[word, float(f"{p:.6g}")] for word, p in score.answers],
    }


def asked_table(
    rows: Sequence[tuple[str | Markup, Mapping[str, SpanScore | str]]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    texts: Mapping[str, str],
) -> Markup:
    """One line per word and gap, one column per model: probability, rank and pieces."""
    cells = [
        [title, *(_asked_cell(found[key], sizes[key], texts) for key in labels)]
        for title, found in rows
    ]
    return table([texts["head"], *labels.values()], cells, texts["caption"])


def asked_numbers(
    asked: Sequence[tuple[str, int]],
    found: Mapping[str, Sequence[SpanScore | str]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    stretches: Sequence[tuple[str, Word]],
) -> Numbers:
    """Return every asked word in every gap; empty where a vocabulary cannot write it.

    Args:
        asked: words, each with its gap, counted from 0.
        found: by model, what it says of each of them.
        labels: by model, its name.
        sizes: by model, the pieces of its vocabulary.
        stretches: the text with each of the words in its place, and where it stands there.
    """
    columns = ("word", "gap", "model", "probability", "surprisal_nats", "rank", "pieces")
    rows = [
        [word, gap + 1, labels[key], *_priced(scores[i]), sizes[key]]
        for i, (word, gap) in enumerate(asked)
        for key, scores in found.items()
    ]
    listed = [[word, gap + 1] for word, gap in asked]
    constants = {"ASKED": listed, "STRETCHES": placed(stretches)}
    state = {"asked": ", ".join(dict.fromkeys(word for word, _ in asked))}
    return Numbers((*columns, "vocabulary"), rows, {"state": state}, constants)


def placed(stretches: Sequence[tuple[str, Word]]) -> list[tuple[str, int, int]]:
    """Texts with a word in its place, and where that stands, for lines of Python."""
    return [(text, word.start, word.end) for text, word in stretches]


def _priced(score: SpanScore | str) -> list[object]:
    if isinstance(score, str) or score.is_unknown:
        return [None] * 4
    return [score.probability, -score.log_probability, score.rank, " ".join(score.pieces)]


def _asked_cell(found: SpanScore | str, size: int, texts: Mapping[str, str]) -> Markup:
    if isinstance(found, str):
        return el("span", found, class_="pr-none")
    if found.is_unknown:
        return el("span", texts["unknown"], class_="pr-none")
    n = len(found.pieces)
    place = texts["rank"].format(rank=found.rank, size=size) if found.rank else ""
    pieces = texts["several"].format(n=n, pieces=" + ".join(found.pieces))
    return el(
        "div",
        el("strong", probability(found.probability)),
        el("span", place, class_="pr-rank") if place else None,
        el("span", pieces, class_="pr-pieces") if n > 1 else None,
        class_="pr-asked",
    )
