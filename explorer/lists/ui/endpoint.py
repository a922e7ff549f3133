"""``/texts``: a list of texts through all models, as JSON."""

from typing import Any

from explorer import limits
from explorer.library import strings
from explorer.lists.library import answered, named, table_of
from explorer.lists.results import TextsOptions
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken
from explorer.ui.kit.validation import page_family


def texts(  # noqa: PLR0913 - the endpoint's published arguments
    rows: list[Any],
    family: str = "mini",
    kind: str = "",
    pooling: str = "mean",
    layer: int = -1,
    score: str = "pll",
    group: str = "",
    columns: dict[str, Any] | None = None,
    too_long: str = "leave_out",
    labels: dict[str, list[str]] | None = None,
    precision: str = "float32",
) -> dict[str, Any]:
    """Return what each model says of every row of a list, and how the models compare.

    Args:
        rows: Texts, or objects with ``text`` and any of ``answer``, ``label`` and ``group``; for
            pairs ``good`` and ``bad``. At most 200.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        kind: "masked" (rows with one [MASK]), "plain" (sentences), "pairs" (which is likelier),
            "labelled", "multilabel" or "scored". The last three train a regression on frozen
            features: for one label, several, or a number. Empty: by the columns.
        pooling: Features of labelled rows: "mean" of all tokens, or "cls", the first token.
        layer: Layer of these features; 0 is the embeddings, ``-1`` the last.
        score: Score that pairs are judged by: "pll" or "pll_word_l2r" (Kauf and Ivanova 2023).
        group: Column of each row's group, which no split of labelled rows divides.
        columns: Column of a role, by its name or its number from 1: ``{"text": "tweet", "label":
            3}``. Roles: text, second, answer, good, bad, label, score, group and direction.
        too_long: Way with a labelled or scored row of over 512 tokens: "leave_out", "head" (its
            first words are read) or "head_and_tail" (its first and last words).
        labels: Names for the labels of a model's own head, in the order of its outputs:
            ``{"bert": ["negative", "positive"]}``. It is scored where they are the list's.
        precision: "float32", or "fast": bfloat16 except where a decision is close.

    Returns:
        The kind, the columns, the rows left out with their reasons, a summary, and a row for each
        row and model. ``done`` is false where the time ran out: it then has the rows that were
        done, without predicted labels. ``missing`` says which model was not asked, and why.
    """
    if not isinstance(rows, list):
        raise Refusal(strings.BAD_ROWS)
    if len(rows) > limits.TEXTS.maximum:
        raise Refusal(limits.TEXTS.sentence(n=f"{len(rows):,}"))
    models, cancel = page_family(family), CancelToken()
    cancel.set_deadline(limits.TEXTS_TIME.maximum)
    table = table_of(rows)
    chosen = named(table, columns or {}) | ({"group": group} if group else {})
    options = TextsOptions(pooling, layer, score, too_long, precision, labels=labels or {})
    return answered(table, models, (kind, chosen, options), cancel).to_dict()
