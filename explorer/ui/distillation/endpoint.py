"""``/distillation``: soft probabilities, divergences and the recipe's losses on a text, as JSON."""

from typing import Any

from explorer.library import distillation as library
from explorer.ui.distillation import strings
from explorer.ui.kit.validation import check_masks, page_family

MAX_MASKS = 20


def distillation(
    text: str, family: str = "mini", temperature: float = 2.0, teacher: str = "", student: str = ""
) -> dict[str, Any]:
    """Return teacher's and student's soft predictions at each [MASK], and the recipe's losses.

    Args:
        text: The text, with 1 to 20 [MASK]s; every one is compared.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        temperature: Divides the logits, from 0.05 to 20; 1 leaves the models as they are.
        teacher: The column that is the teacher; empty: BERT, or another model that can be.
        student: The column that is the student; empty: DistilBERT, or another model that can be.

    Returns:
        Per mask the union of both top 10 lists, with probabilities over the full vocabulary, and
        the divergences in nats. The losses as the recipe has them: ``ce`` and ``cos`` are averaged
        over all tokens. ``cos`` is null where the models' widths differ. ``mlm`` is always null,
        because no text says which word stood behind a [MASK]; the page knows it where a word was
        clicked. ``total`` leaves out what is null, and ``total_is_of`` lists its parts.
    """
    check_masks(text, MAX_MASKS, strings.TOO_MANY_MASKS)
    return library.distillation(text, page_family(family), temperature, teacher, student).to_dict()
