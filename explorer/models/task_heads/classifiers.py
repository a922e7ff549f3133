"""Task heads: sentence pairs, answer spans, and sentiment with integrated gradients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from explorer.models.forward import (
    MAX_CHARACTERS,
    EncodedText,
    classified_features,
    clock_of,
    inputs_of,
    readable_tokens,
    timed_features,
    tokenize,
)
from explorer.models.gradients import Slopes, batches_of, embedding_path, integrated
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.task_heads.adapters import TunedModel, head_for, tuned_of
from explorer.models.task_heads.windows import Window, window_of, windows, yield_to_others
from explorer.models.tokens import SEPARATOR, BadText, Tokens, plain_text, sides_of, spell_masks
from explorer.refusal import Sentence, brief


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
        raise BadText(
            Sentence(
                "no-passage", "There is no passage: type some sentences that contain the answer."
            )
        )
    if len(text) > MAX_CHARACTERS:
        raise BadText(
            Sentence(
                "passage-too-long",
                f"The passage has {len(text):,} characters; {MAX_CHARACTERS:,} fit. Please "
                "shorten it.",
            )
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
        raise BadText(
            Sentence(
                "no-question", "There is no question: ask for something that the passage says."
            )
        )
    size, stride = window_of(tuned.card, tuned.loaded.max_tokens)
    try:
        parts = windows(tuned.loaded.tokenizer, query, passage, size, stride)
    except BadText as error:
        raise BadText(Sentence(error.code, f"{tuned.loaded.spec.label}: {error}")) from error
    if len(parts) > MAX_WINDOWS:
        raise BadText(
            Sentence(
                "too-many-windows",
                f"The passage makes {len(parts)} windows for {tuned.loaded.spec.label}; "
                f"{MAX_WINDOWS} fit. Please shorten it.",
            )
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


Margin = Callable[[Tensor], Tensor]
"""F: from a head's logits [text, label] to the number for each [text] that is attributed.

The logits of a token classifier are [text, token, label].
"""


def log_odds(*labels: int) -> Margin:
    """Return the log-odds of a label of a softmax, or of several together: ln (p / (1 - p)).

    With two labels, it is the logit of the one minus that of the other.
    """

    def total(logits: Tensor) -> Tensor:
        # ln sum exp x = x_0 - ln softmax(x)_0, which is exact for a single label.
        return logits[:, 0] - logits.log_softmax(-1)[:, 0]

    def margin(logits: Tensor) -> Tensor:
        others = [place for place in range(logits.shape[-1]) if place not in labels]
        return total(logits[:, list(labels)]) - total(logits[:, others])

    return margin


def at_token(position: int, margin: Margin) -> Margin:
    """Return F of the logits of one token, from those of a token classifier."""
    return lambda logits: margin(logits[:, position])


def own_logit(label: int) -> Margin:
    """Return the logit of a label: of a sigmoid, ln (p / (1 - p)); of a score, its value."""
    return lambda logits: logits[:, label]


def margins(tuned: TunedModel, texts: Sequence[str], margin: Margin) -> np.ndarray:
    """Return F of each text, float64 [text]; ``A [SEP] B`` is a pair.

    Only texts of equal length share a batch: padding would change the input of a model without an
    attention mask.
    """
    return _margins(tuned, [_inputs(tuned, text) for text in texts], margin)


def masked_margins(tuned: TunedModel, tokens: Tokens, margin: Margin) -> np.ndarray:
    """Return F of a text with each word masked in turn, float64 [word]; all its tokens together."""
    mask = int(tuned.loaded.tokenizer.mask_token_id)
    placed = [*zip(tokens.ids, tokens.word_index, strict=True)]
    inputs = [
        ([mask if at == word else i for i, at in placed], tokens.segments)
        for word in range(len(tokens.words))
    ]
    return _margins(tuned, inputs, margin)


def _margins(
    tuned: TunedModel, inputs: Sequence[tuple[Sequence[int], Sequence[int]]], margin: Margin
) -> np.ndarray:
    """Return F of ids and segments, float64 [text]."""
    length = [len(ids) for ids, _ in inputs]
    result, by_length = np.empty(len(inputs)), sorted(range(len(inputs)), key=length.__getitem__)
    for _, group in groupby(by_length, key=length.__getitem__):
        for rows in batches_of(list(group)):
            logits = _class_logits(tuned, [inputs[row] for row in rows])
            result[rows] = margin(logits).float().cpu().numpy().astype(np.float64)
            yield_to_others()
    return read_only(result)


def class_logits(tuned: TunedModel, text: str) -> np.ndarray:
    """Return the logits of a classifier's labels, float32 [label]; ``A [SEP] B`` is a pair.

    Raises:
        BadText: the text is empty or too long.
    """
    tokens = tokenize(tuned.loaded, text)
    (logits,) = _class_logits(tuned, [(tokens.ids, tokens.segments)])
    return read_only(logits.float().cpu().numpy())


def timed_logits(
    loaded: LoadedModel, texts: Sequence[EncodedText], pooling: str
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return ``timed_features`` of texts, and the logits of the model's own classifier.

    The classifier of a checkpoint reads the states of the same pass. An adapter has changed the
    encoder, so that it has a pass of its own, whose seconds are not counted.

    Returns:
        Features float32 [text, layer + 1, d_model], seconds, and logits float32 [text, label].

    Raises:
        NotTuned: the model has no head for texts.
    """
    task, _ = head_for(loaded.spec, "classes")
    tuned = tuned_of(loaded, task)
    headed = replace(loaded, network=tuned.network, lock=tuned.lock)
    if loaded.spec.task_head is None:
        features, seconds = timed_features(loaded, texts, pooling)
        return features, seconds, classified_features(headed, texts, pooling)[1]
    clock = clock_of(loaded)
    begun = clock()
    features, logits = classified_features(headed, texts, pooling)
    return features, clock() - begun, logits


def token_logits(tuned: TunedModel, tokens: Tokens) -> np.ndarray:
    """Return the logits of a token classifier, float32 [token, label]."""
    (logits,) = _class_logits(tuned, [(tokens.ids, tokens.segments)])
    return read_only(logits.float().cpu().numpy())


NOT_AS_GIVEN = Sentence(
    "row-word-read-otherwise", "It has a word that is read as a mask, a choice or a separator."
)
NO_TOKEN = Sentence(
    "row-word-without-token", "{label} has no token of its own for its word “{word}”."
)


@dataclass(frozen=True, slots=True)
class TagPlan:
    """Input of a text whose words are given, and the tokens that their tags are read at."""

    text: EncodedText
    firsts: tuple[int, ...]
    """The position of the first token of each word."""


def tag_plans(
    loaded: LoadedModel, texts: Sequence[Sequence[str]], max_tokens: int
) -> list[TagPlan | str]:
    """Return the input of each text, whose words spaces divide, or the sentence why it has none."""
    return [_tag_plan(loaded, words, max_tokens) for words in texts]


def _tag_plan(loaded: LoadedModel, words: Sequence[str], max_tokens: int) -> TagPlan | str:
    text = " ".join(words)
    tokens = readable_tokens(loaded, text, max_tokens)
    if isinstance(tokens, str):
        return tokens
    if tokens.text != text or SEPARATOR in text:
        return NOT_AS_GIVEN
    own = [
        (start, place)
        for place, (start, end) in enumerate(tokens.spans)
        if end > start and not tokens.special[place]
    ]
    firsts, begins = [], 0
    for word in words:
        ends = begins + len(word)
        inside = [place for start, place in own if begins <= start < ends]
        if not inside:
            return NO_TOKEN.format(label=loaded.spec.label, word=brief(word))
        firsts.append(inside[0])
        begins = ends + 1
    return TagPlan(EncodedText(tokens.ids, tokens.segments), tuple(firsts))


def tag_logits(loaded: LoadedModel, plans: Sequence[TagPlan]) -> list[np.ndarray]:
    """Return the logits of the model's own token classifier, float32 [word, label] by text.

    Raises:
        NotTuned: the model has no head for tokens.
    """
    task, _ = head_for(loaded.spec, "tokens")
    tuned = tuned_of(loaded, task)
    headed = replace(loaded, network=tuned.network, lock=tuned.lock)
    _, logits = classified_features(headed, [plan.text for plan in plans], "cls")
    return [
        read_only(of_text[list(plan.firsts)]) for of_text, plan in zip(logits, plans, strict=True)
    ]


def margin_slopes(tuned: TunedModel, text: str, margin: Margin) -> Slopes:
    """Compute integrated gradients of F, from a text of masks to the text."""
    tokens, loaded = tokenize(tuned.loaded, text), tuned.loaded
    segments = inputs_of(loaded, tokens).get("token_type_ids")

    def value(embedded: Tensor) -> Tensor:
        inputs = {"inputs_embeds": embedded}
        if segments is not None:
            inputs["token_type_ids"] = segments.expand(len(embedded), -1)
        return margin(tuned.network(**inputs).logits)

    masks = int(loaded.tokenizer.mask_token_id)
    embed = tuned.network.get_input_embeddings()
    return integrated(embedding_path(embed, tokens, masks), value, tuned.lock)


def _inputs(tuned: TunedModel, text: str) -> tuple[Sequence[int], Sequence[int]]:
    """Return the ids and segments of a text, which may be empty."""
    tokenizer = tuned.loaded.tokenizer
    sides = (spell_masks(side, tokenizer.mask_token)[0] for side in sides_of(text))
    encoded = tokenizer(*sides, return_token_type_ids=True, verbose=False)
    return encoded["input_ids"], encoded["token_type_ids"]


@torch.inference_mode()
def _class_logits(tuned: TunedModel, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Tensor:
    """Return the head's logits [row, label] of ids and segments of one length."""
    columns = zip(*rows, strict=True)
    ids, segments = (torch.tensor(column, device=tuned.loaded.device) for column in columns)
    inputs = {"input_ids": ids}
    if tuned.loaded.spec.architecture.n_segments > 1:
        inputs["token_type_ids"] = segments
    with tuned.lock:
        return tuned.network(**inputs).logits
