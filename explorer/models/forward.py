"""Forward passes of the networks: one text, masked rows, the head alone, and many short texts.

The numbers of a text do not depend on the texts that share its batch.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from explorer.models.hub import ModelUnavailable
from explorer.models.loading import LoadedModel
from explorer.models.run import MaskedRow, Run, read_only
from explorer.models.tokens import (
    EMPTY_TEXT,
    LONG_TEXT,
    MANY_IN_ROW,
    MANY_TOKENS,
    SEPARATOR,
    BadText,
    Tokens,
    Word,
    clean_text,
    sides_of,
    spell_masks,
    split_words,
    trim_span,
    word_of_span,
)
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from torch import Tensor

ALL_STATES = {"output_attentions": True, "output_hidden_states": True}
NO_HEAD = Sentence(
    "no-masked-lm-head",
    "it has no masked-LM head, so that it predicts no words; Attention, Layer, Parameters, Latency "
    "and lists of labelled texts do without",
)
MAX_CHARACTERS = 20_000
"""Far above any position table, so that a megabyte is refused before it is tokenized."""


def tokenize(loaded: LoadedModel, text: str) -> Tokens:
    """Return the ids, pieces, spans and words of a text. ``A [SEP] B`` is a sentence pair.

    Raises:
        BadText: the text is empty, or has more tokens than the model has positions.
    """
    text, words = _readable(text, loaded.max_tokens)
    sides = sides_of(text)
    spelled = [spell_masks(side, loaded.tokenizer.mask_token) for side in sides]
    encoding = loaded.tokenizer(
        *(part for part, _ in spelled),
        return_offsets_mapping=True,
        return_token_type_ids=True,
        verbose=False,
    )
    ids = tuple(encoding["input_ids"])
    if len(ids) > loaded.max_tokens:
        label, fits = loaded.spec.label, loaded.max_tokens
        raise BadText(MANY_TOKENS.format(n=len(ids), label=label, fits=fits))
    sequence = encoding.sequence_ids()
    shifts = (0, len(sides[0]) + len(SEPARATOR))
    spans = tuple(
        trim_span(text, *(shifts[side] + spelled[side][1][edge] for edge in edges))
        if side is not None
        else (0, 0)
        for edges, side in zip(encoding["offset_mapping"], sequence, strict=True)
    )
    mask_id = loaded.tokenizer.mask_token_id
    ends = [word.end for word in words]
    return Tokens(
        text,
        ids,
        tuple(loaded.tokenizer.convert_ids_to_tokens(ids)),
        spans,
        tuple(side is None for side in sequence),
        tuple(side or 0 for side in _segments(sequence)),
        words,
        tuple(
            -1 if side is None else word_of_span(ends, span[0])
            for side, span in zip(sequence, spans, strict=True)
        ),
        tuple(i for i, token in enumerate(ids) if token == mask_id),
        _own_words(sequence, encoding.word_ids()),
    )


def _own_words(sequence: Sequence[int | None], numbers: Sequence[int | None]) -> tuple[int, ...]:
    """Return the number of each token's word, counted over both sentences; -1 for added tokens.

    Args:
        sequence: The sentence of each token; None for added tokens.
        numbers: The tokenizer's number of each token's word within its sentence. A token of the
            text without a number is a word of its own.
    """
    found: dict[tuple[int, int], int] = {}
    return tuple(
        -1
        if side is None
        else found.setdefault((side, -1 - place if number is None else number), len(found))
        for place, (side, number) in enumerate(zip(sequence, numbers, strict=True))
    )


def _readable(text: str, max_tokens: int) -> tuple[str, tuple[Word, ...]]:
    """Return the cleaned text and its words; refuse a text that is empty or too long."""
    text = clean_text(text)
    if len(text) > MAX_CHARACTERS:
        raise BadText(LONG_TEXT.format(n=len(text), fits=max_tokens))
    words = split_words(text)
    if not words:
        raise BadText(EMPTY_TEXT)
    return text, words


def _segments(sequence: list[int | None]) -> list[int]:
    """Return segment ids: 0 up to and including the first [SEP] after sentence A, then 1."""
    starts_b = sequence.index(1) if 1 in sequence else len(sequence)
    return [int(i >= starts_b) for i in range(len(sequence))]


def inputs_of(loaded: LoadedModel, tokens: Tokens) -> dict[str, torch.Tensor]:
    """Return the keyword arguments of the encoder; segments only where the model has them."""
    inputs = {"input_ids": torch.tensor([tokens.ids], device=loaded.device)}
    if loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = torch.tensor([tokens.segments], device=loaded.device)
    return inputs


def apply_head(loaded: LoadedModel, hidden: torch.Tensor) -> torch.Tensor:
    """Return vocabulary logits [..., vocabulary] of last hidden states [..., d_model].

    Raises:
        ModelUnavailable: the checkpoint has no masked-LM head.
    """
    if not loaded.spec.has_head:
        raise ModelUnavailable(loaded.spec, NO_HEAD)
    network: PreTrainedModel = loaded.network
    return loaded.spec.kind.head(network, hidden)


@torch.inference_mode()
def run_model(loaded: LoadedModel, tokens: Tokens) -> Run:
    """Run one forward pass with attentions and hidden states; the head only at the masks."""
    with loaded.lock:
        out = loaded.network.base_model(**inputs_of(loaded, tokens), **ALL_STATES)
        return _run_of(loaded, tokens, out, 0)


@torch.inference_mode()
def run_together(loaded: LoadedModel, texts: Sequence[Tokens]) -> list[Run]:
    """Run several texts in one forward pass, the shorter ones padded and the padding masked."""
    if len(texts) < 2:
        return [run_model(loaded, tokens) for tokens in texts]
    inputs = padded([inputs_of(loaded, tokens) for tokens in texts], loaded.tokenizer.pad_token_id)
    with loaded.lock:
        out = loaded.network.base_model(**inputs, **ALL_STATES)
        return [_run_of(loaded, tokens, out, row) for row, tokens in enumerate(texts)]


@torch.inference_mode()
def hidden_together(loaded: LoadedModel, texts: Sequence[Tokens]) -> list[np.ndarray]:
    """Return the hidden states float32 [layer + 1, pos, d_model] of texts that share a pass."""
    inputs = [inputs_of(loaded, tokens) for tokens in texts]
    one_length = len({len(tokens) for tokens in texts}) == 1
    if one_length:
        batch = {name: torch.cat([text[name] for text in inputs]) for name in inputs[0]}
    else:
        batch = padded(inputs, loaded.tokenizer.pad_token_id)
    with loaded.lock:
        out = loaded.network.base_model(**batch, output_hidden_states=True)
    layers = torch.stack(out.hidden_states, 1).float().cpu().numpy()
    return [read_only(layers[row, :, : len(tokens)]) for row, tokens in enumerate(texts)]


def padded(texts: Sequence[dict[str, torch.Tensor]], pad: int) -> dict[str, torch.Tensor]:
    """Return the inputs of several texts as one padded batch with its attention mask."""
    fill = dict.fromkeys(texts[0], 0) | {"input_ids": pad}
    inputs = {
        name: pad_sequence([text[name][0] for text in texts], True, value)
        for name, value in fill.items()
    }
    lengths = torch.tensor([text["input_ids"].shape[1] for text in texts])
    positions = torch.arange(int(lengths.max()))
    mask = (positions < lengths[:, None]).long().to(inputs["input_ids"].device)
    return inputs | {"attention_mask": mask}


def _run_of(loaded: LoadedModel, tokens: Tokens, out: BaseModelOutput, row: int) -> Run:
    """Return one text's Run from the output of a forward pass."""
    if not out.attentions or not out.hidden_states or out.last_hidden_state is None:
        raise RuntimeError(
            f"{loaded.spec.name} returned no attentions: load it with eager attention"
        )
    n = len(tokens.ids)
    at_masks = out.last_hidden_state[row, list(tokens.mask_positions)]
    # Without a head there are no predictions: NaN, not the numbers of a random head.
    unknown = at_masks.new_full((len(at_masks), len(loaded.vocabulary)), float("nan"))
    logits = apply_head(loaded, at_masks) if loaded.spec.has_head else unknown
    return Run(
        loaded.spec,
        tokens,
        array_of(torch.stack([states[row, :n] for states in out.hidden_states])),
        array_of(torch.stack([weights[row, :, :n, :n] for weights in out.attentions])),
        array_of(logits),
        loaded.vocabulary,
        int(loaded.tokenizer.mask_token_id),
        loaded.device,
        loaded.dtype,
    )


def position_logits(loaded: LoadedModel, run: Run, positions: tuple[int, ...]) -> np.ndarray:
    """Return logits [position, vocabulary] at positions of a run: the head alone, no encoder."""
    return state_logits(loaded, run.hidden_states[-1, list(positions)])


@torch.inference_mode()
def state_logits(loaded: LoadedModel, states: np.ndarray) -> np.ndarray:
    """Return logits [..., vocabulary] of hidden states [..., d_model]: the head alone."""
    dtype = next(loaded.network.parameters()).dtype
    return array_of(apply_head(loaded, torch.tensor(states).to(loaded.device, dtype)))


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """Return a tensor as a read-only float32 array of this machine."""
    return read_only(tensor.float().cpu().numpy())


@torch.inference_mode()
def row_logits(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Return logits float32 [row, vocabulary] at each row's position; rows of equal length.

    Raises:
        ValueError: the rows differ in length (padding would change nothing but cost time).
    """
    inputs, index = _row_inputs(loaded, rows)
    with loaded.lock:
        hidden = loaded.network.base_model(**inputs).last_hidden_state
        logits = apply_head(loaded, hidden[index])
    return read_only(logits.float().cpu().numpy())


@torch.inference_mode()
def row_states(loaded: LoadedModel, rows: Sequence[MaskedRow]) -> np.ndarray:
    """Return hidden states float32 [row, layer + 1, d_model] at each row's position.

    Raises:
        ValueError: the rows differ in length.
    """
    inputs, index = _row_inputs(loaded, rows)
    with loaded.lock:
        out = loaded.network.base_model(**inputs, output_hidden_states=True)
    states = torch.stack([layer[index] for layer in out.hidden_states], 1)
    return read_only(states.float().cpu().numpy())


def _row_inputs(
    loaded: LoadedModel, rows: Sequence[MaskedRow]
) -> tuple[dict[str, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
    """Return the encoder's arguments, and the index of each row's position."""
    if len({len(row.ids) for row in rows}) != 1:
        raise ValueError("rows of one batch must have one length")
    inputs = {"input_ids": torch.tensor([row.ids for row in rows], device=loaded.device)}
    if loaded.spec.architecture.n_segments > 1:
        segments = [row.segments for row in rows]
        inputs["token_type_ids"] = torch.tensor(segments, device=loaded.device)
    positions = torch.tensor([row.position for row in rows], device=loaded.device)
    return inputs, (torch.arange(len(rows), device=loaded.device), positions)


@dataclass(frozen=True, slots=True)
class EncodedText:
    """Input ids of a text for one model."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]


def encoded_texts(
    loaded: LoadedModel, texts: Sequence[str], max_tokens: int
) -> list[EncodedText | str]:
    """Return the ids of each text, or the sentence why it cannot be run."""
    return [_encoded(loaded, text, max_tokens) for text in texts]


def word_lengths(
    loaded: LoadedModel, texts: Sequence[tuple[str, ...]], _max_tokens: int
) -> list[list[np.ndarray]]:
    """Return the tokens of each word, as spaces divide them: int64 [word] by text and part."""
    return [[_lengths(loaded, part) for part in parts] for parts in texts]


def _lengths(loaded: LoadedModel, text: str) -> np.ndarray:
    text = clean_text(text)
    ends = np.array([word.end() for word in re.finditer(r"\S+", text)], np.int64)
    encoding = loaded.tokenizer(
        text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )
    last = np.array([end for _, end in encoding["offset_mapping"]], np.int64)
    return np.bincount(np.searchsorted(ends, last), minlength=len(ends))[: len(ends)]


def _encoded(loaded: LoadedModel, text: str, max_tokens: int) -> EncodedText | str:
    tokens = readable_tokens(loaded, text, max_tokens)
    return tokens if isinstance(tokens, str) else EncodedText(tokens.ids, tokens.segments)


def readable_tokens(loaded: LoadedModel, text: str, max_tokens: int) -> Tokens | str:
    """Return the tokens of a text, or the sentence why it cannot be run."""
    try:
        tokens = tokenize(loaded, text)
    except BadText as error:
        return str(error)
    if len(tokens) > max_tokens:
        return MANY_IN_ROW.format(n=len(tokens), label=loaded.spec.label, most=max_tokens)
    return tokens


def loaded_vocabulary(loaded: LoadedModel) -> tuple[str, ...]:
    """Return the piece of each id of a network's vocabulary."""
    return loaded.vocabulary


@contextmanager
def encoding_of(loaded: LoadedModel) -> Iterator[None]:
    """Hold the network for a pass of which no attention is shown; half precision is fused.

    PyTorch's ``scaled_dot_product_attention`` is FlashAttention on CUDA where no row is padded. In
    float32 attention stays eager, so that a list and the page give one text the same numbers.
    """
    with loaded.lock:
        if loaded.dtype == "float32":
            yield
            return
        loaded.network.set_attn_implementation("sdpa")
        try:
            yield
        finally:
            loaded.network.set_attn_implementation("eager")


@torch.inference_mode()
def text_features(loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str) -> np.ndarray:
    """Return the frozen encoder's features of texts: float32 [text, layer + 1, d_model]."""
    inputs = batch_inputs(loaded, texts)
    with encoding_of(loaded):
        states = loaded.network.base_model(**inputs, output_hidden_states=True).hidden_states
    return _features_of(states, inputs, pooling)


@torch.inference_mode()
def classified_features(
    loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return ``text_features`` and the logits of a classifier, float32 [text, label], of one pass.

    Args:
        loaded: A model whose network classifies texts.
        texts: The texts.
        pooling: Features of a text: "mean" of all tokens, or "cls", the first token.
    """
    inputs = batch_inputs(loaded, texts)
    with encoding_of(loaded):
        out = loaded.network(**inputs, output_hidden_states=True)
    return _features_of(out.hidden_states, inputs, pooling), array_of(out.logits)


def _features_of(
    states: Sequence["Tensor"], inputs: dict[str, "Tensor"], pooling: str
) -> np.ndarray:
    """Return the pooled states of each text: float32 [text, layer + 1, d_model]."""
    pooled = [_pooled(layer.float(), inputs, pooling) for layer in states]
    return read_only(torch.stack(pooled, 1).cpu().numpy())


def timed_features(
    loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str
) -> tuple[np.ndarray, float]:
    """Return ``text_features``, and the seconds that they took.

    On one core these are seconds of processor time, so that other work on the machine does not
    count; otherwise seconds of the clock.
    """
    clock = clock_of(loaded)
    begun = clock()
    features = text_features(loaded, texts, pooling)
    return features, clock() - begun


def clock_of(loaded: LoadedModel) -> Callable[[], float]:
    """Return the clock of ``timed_features`` for a network: of the processor, or of the wall."""
    one_core = torch.device(loaded.device).type == "cpu" and torch.get_num_threads() == 1
    return time.thread_time if one_core else time.perf_counter


def encoder_bytes(loaded: LoadedModel) -> int:
    """Return the bytes of the encoder's weights, each counted once."""
    weights = {id(w): w for w in loaded.network.base_model.parameters()}.values()
    return sum(w.numel() * w.element_size() for w in weights)


def _pooled(states: "Tensor", inputs: dict[str, "Tensor"], pooling: str) -> "Tensor":
    if pooling == "cls":
        return states[:, 0]
    if "attention_mask" not in inputs:
        return states.mean(1)
    weights = inputs["attention_mask"][..., None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def batch_inputs(
    loaded: LoadedModel, rows: Sequence[MaskedRow] | Sequence[EncodedText]
) -> dict[str, "Tensor"]:
    """Return the encoder's arguments; only rows of different length are padded."""
    has_segments = loaded.spec.architecture.n_segments > 1
    rows_of_tensors = [
        {"input_ids": torch.tensor([row.ids])}
        | ({"token_type_ids": torch.tensor([row.segments])} if has_segments else {})
        for row in rows
    ]
    if len({len(row.ids) for row in rows}) > 1:
        inputs = padded(rows_of_tensors, loaded.tokenizer.pad_token_id)
    else:
        inputs = {
            name: torch.cat([row[name] for row in rows_of_tensors]) for name in rows_of_tensors[0]
        }
    # One copy of the batch to the device, not one of each row.
    return {name: value.to(loaded.device) for name, value in inputs.items()}
