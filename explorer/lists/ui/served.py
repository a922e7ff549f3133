"""``/texts``: a program's list has at most 200 rows and a minute."""

from typing import Any

from explorer import limits
from explorer.library import refusals
from explorer.library.family import Family
from explorer.lists.library import Texts, answered, named, table_of
from explorer.lists.results import TextsOptions
from explorer.refusal import Refusal
from explorer.scheduling.cancel import CancelToken


def listed(  # noqa: PLR0913 - the public function's arguments
    rows: list[Any],
    family: Family,
    kind: str,
    group: str,
    columns: dict[str, Any] | None,
    labels: dict[str, list[str]] | None,
    **options: Any,  # noqa: ANN401 - the fields of ``TextsOptions``
) -> Texts:
    """Return what ``explorer.texts`` returns for these rows, or for those done within a minute.

    Raises:
        Refusal: there are too many rows, or none can be read.
    """
    if not isinstance(rows, list):
        raise Refusal(refusals.BAD_ROWS)
    if len(rows) > limits.TEXTS.maximum:
        raise Refusal(limits.TEXTS.sentence(n=f"{len(rows):,}"))
    cancel = CancelToken()
    cancel.set_deadline(limits.TEXTS_TIME.maximum)
    table = table_of(rows)
    chosen = named(table, columns or {}) | ({"group": group} if group else {})
    settings = TextsOptions(labels=labels or {}, **options)
    return answered(table, family, (kind, chosen, settings), cancel)
