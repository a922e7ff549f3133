"""Task heads: sentence pairs, answer spans, and sentiment with integrated gradients."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from explorer.models.forward import MAX_CHARACTERS, tokenize
from explorer.models.gradients import Slopes, batches_of, embedding_path, integrated
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.task_heads.adapters import TunedModel
from explorer.models.task_heads.windows import Window, window_of, windows, yield_to_others
from explorer.models.tokens import BadText, plain_text, spell_masks


def has_pair_head(loaded: LoadedModel) -> bool:
    """Return whether the checkpoint has every weight of its pair head."""
    head = loaded.spec.kind.pair
    return head is not None and not any(
        part in name for name in loaded.missing for part in (head.weights, "pooler")
    )


@torch.inference_mode()
def pair_logits(loaded: LoadedModel, state: np.ndarray) -> np.ndarray:
    """Return the pair head's logits, float32 [2], from the last state of [CLS]; 0 is in order.

    Raises:
        ValueError: the checkpoint has no such head, so that its scores would be random.
    """
    head = loaded.spec.kind.pair
    if head is None or not has_pair_head(loaded):
        raise ValueError(f"{loaded.spec.label} has no trained sentence-pair head.")
    dtype = next(loaded.network.parameters()).dtype
    first = torch.tensor(state[None, None]).to(loaded.device, dtype)
    return read_only(head.scores(loaded.network, first)[0].float().cpu().numpy())


MAX_WINDOWS = 48
"""Maximum windows of a passage: each is a pass of the network."""


def read_passage(passage: str) -> str:
    """Return the cleaned passage.

    Raises:
        BadText: it is empty, or far longer than can be read.
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
    """Return the windows of a passage, and the logits float32 [token, 2] of start and end in each.

    Raises:
        BadText: the question is empty or too long, or the passage needs too many windows.
    """
    query = plain_text(question)
    if not any(map(str.isalnum, query)):
        raise BadText("There is no question: ask for something that the passage says.")
    size, stride = window_of(tuned.card, tuned.loaded.max_tokens)
    try:
        parts = windows(tuned.loaded.tokenizer, query, passage, size, stride)
    except BadText as error:
        raise BadText(f"{tuned.loaded.spec.label}: {error}") from error
    if len(parts) > MAX_WINDOWS:
        raise BadText(
            f"The passage makes {len(parts)} windows for {tuned.loaded.spec.label}; "
            f"{MAX_WINDOWS} fit. Please shorten it."
        )
    logits = []
    for part in parts:
        logits.append(_window_logits(tuned, part))
        yield_to_others()
    return parts, logits


@torch.inference_mode()
def _window_logits(tuned: TunedModel, part: Window) -> np.ndarray:
    inputs = {"input_ids": torch.tensor([part.ids], device=tuned.loaded.device)}
    if tuned.loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = torch.tensor([part.segments], device=tuned.loaded.device)
    with tuned.lock:
        out = tuned.network(**inputs)
    return torch.stack([out.start_logits[0], out.end_logits[0]], -1).float().cpu().numpy()


def differences(tuned: TunedModel, texts: Sequence[str]) -> np.ndarray:
    """Return the logit of positive minus that of negative for each text, float64 [text].

    Only texts of equal length share a batch: padding would change the input of a model without an
    attention mask.
    """
    tokenizer = tuned.loaded.tokenizer
    spelled = [spell_masks(text, tokenizer.mask_token)[0] for text in texts]
    ids = [tokenizer(text, verbose=False)["input_ids"] for text in spelled]
    result, by_length = np.empty(len(ids)), sorted(range(len(ids)), key=lambda row: len(ids[row]))
    for _, group in groupby(by_length, key=lambda row: len(ids[row])):
        for rows in batches_of(list(group)):
            batch = torch.tensor([ids[row] for row in rows], device=tuned.loaded.device)
            result[rows] = _differences(tuned, input_ids=batch)
            yield_to_others()
    return read_only(result)


def integrated_gradients(tuned: TunedModel, text: str) -> Slopes:
    """Compute integrated gradients of positive minus negative, from a text of masks to the text."""
    tokens, loaded = tokenize(tuned.loaded, text), tuned.loaded

    def difference(embedded: Tensor) -> Tensor:
        logits = tuned.network(inputs_embeds=embedded).logits
        return logits[:, 1] - logits[:, 0]

    masks = int(loaded.tokenizer.mask_token_id)
    embed = tuned.network.get_input_embeddings()
    return integrated(embedding_path(embed, tokens, masks), difference, tuned.lock)


@torch.inference_mode()
def _differences(tuned: TunedModel, **inputs: Tensor) -> np.ndarray:
    """Return F of each input of a batch, float64 [input]."""
    with tuned.lock:
        logits = tuned.network(**inputs).logits
    return (logits[:, 1] - logits[:, 0]).float().cpu().numpy().astype(np.float64)
