"""A span head: for each token of a passage, does the answer begin or end here?"""

import numpy as np
import torch

from explorer.models.forward import MAX_CHARACTERS
from explorer.models.task_heads.adapters import TunedModel
from explorer.models.task_heads.windows import Window, windows
from explorer.models.task_heads.yielding import yield_to_others
from explorer.models.tokens import BadText, plain_text

MOST_WINDOWS = 48
"""Each is a pass of the network."""


def read_passage(passage: str) -> str:
    """The passage as it is run.

    Raises:
        BadText: there is nothing in it, or far more than can be read.
    """
    text = plain_text(passage)
    if not any(map(str.isalnum, text)):
        raise BadText("There is no passage: type some sentences that contain the answer.")
    if len(text) > MAX_CHARACTERS:
        raise BadText(
            f"The passage has {len(text):,} characters; {MAX_CHARACTERS:,} fit. Please shorten it."
        )
    return text


def span_logits(
    tuned: TunedModel, question: str, passage: str
) -> tuple[list[Window], list[np.ndarray]]:
    """The windows of a passage, and the logits float32 [token, 2] of start and end in each.

    Raises:
        BadText: the question is empty or too long, or the passage needs too many windows.
    """
    asked = plain_text(question)
    if not any(map(str.isalnum, asked)):
        raise BadText("There is no question: ask for something that the passage says.")
    size, stride = int(tuned.card["window"]), int(tuned.card["stride"])
    try:
        parts = windows(tuned.loaded.tokenizer, asked, passage, size, stride)
    except BadText as error:
        raise BadText(f"{tuned.loaded.spec.label}: {error}") from error
    if len(parts) > MOST_WINDOWS:
        raise BadText(
            f"The passage makes {len(parts)} windows for {tuned.loaded.spec.label}; "
            f"{MOST_WINDOWS} fit. Please shorten it."
        )
    found = []
    for part in parts:
        found.append(_window_logits(tuned, part))
        yield_to_others()
    return parts, found


@torch.inference_mode()
def _window_logits(tuned: TunedModel, part: Window) -> np.ndarray:
    inputs = {"input_ids": torch.tensor([part.ids], device=tuned.loaded.device)}
    if tuned.loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = torch.tensor([part.segments], device=tuned.loaded.device)
    with tuned.lock:
        out = tuned.network(**inputs)
    return torch.stack([out.start_logits[0], out.end_logits[0]], -1).float().cpu().numpy()
