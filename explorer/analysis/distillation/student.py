"""Live distillation: a fresh student learns from the bundled teacher in about a minute.

Losses, objective and initialisation are DistilBERT's; only the sentences are short and plain, more
tokens are masked, and there is no dropout, so that a seed gives the same curve every time.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from transformers import (
    AlbertForPreTraining,
    BertForPreTraining,
    DistilBertConfig,
    DistilBertForMaskedLM,
    PreTrainedTokenizerFast,
)

from explorer.analysis.distillation.live import (
    PARTS,
    LiveAgreement,
    LiveReport,
    LiveSettings,
    WatchedSentence,
    made_up_sentences,
    questions_of,
    split_sentences,
)
from explorer.analysis.distillation.triple_loss import (
    IGNORED,
    distillation_ce,
    hidden_cosine,
    mlm_loss,
    triple_loss,
)
from explorer.models.architectures import fill_randomly
from explorer.models.loading import LoadedModel

ROWS = 24
"""Batch size in sentences."""
RATE, WARM_UP = 4e-4, 0.1
MASK_SHARE = 0.25
"""Share of masked tokens: above 15%, because short sentences would have one mask each."""
REPORTS = 60
"""Divisor of the steps for the interval between reports, rounded down and at least 1."""
EVALUATIONS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Input of one step: ids, types and mask ``[sequences, length]``, and labels of masked tokens.

    Attributes:
        hidden: Flat positions of the tokens to predict, ``[predictions]``.
        labels: Original ids of these tokens, ``[predictions]``.
        pairs: 0 in order, 1 not (NSP: random; SOP: swapped), -100 for single texts.
    """

    ids: Tensor
    types: Tensor
    mask: Tensor
    masked_positions: Tensor
    labels: Tensor
    pairs: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on another device."""
        return Batch(*(getattr(self, name).to(device) for name in self.__slots__))

    @property
    def tokens(self) -> int:
        """The number of tokens in the batch without padding."""
        return int(self.mask.sum())


@torch.no_grad()
def copy_teacher(
    teacher: BertForPreTraining, student: DistilBertForMaskedLM, layers: Sequence[int]
) -> None:
    """Copy embeddings, the given layers and the MLM head of a BERT teacher to a student.

    DistilBERT has no segment embeddings: segment 0 is added to the position embeddings.
    """
    source, target = teacher.state_dict(), {}
    embeddings = "bert.embeddings."
    target["distilbert.embeddings.word_embeddings.weight"] = source[
        f"{embeddings}word_embeddings.weight"
    ]
    target["distilbert.embeddings.position_embeddings.weight"] = (
        source[f"{embeddings}position_embeddings.weight"]
        + source[f"{embeddings}token_type_embeddings.weight"][0]
    )
    parts = {
        "attention.q_lin": "attention.self.query",
        "attention.k_lin": "attention.self.key",
        "attention.v_lin": "attention.self.value",
        "attention.out_lin": "attention.output.dense",
        "sa_layer_norm": "attention.output.LayerNorm",
        "ffn.lin1": "intermediate.dense",
        "ffn.lin2": "output.dense",
        "output_layer_norm": "output.LayerNorm",
    }
    names = {
        "distilbert.embeddings.LayerNorm": f"{embeddings}LayerNorm",
        "vocab_transform": "cls.predictions.transform.dense",
        "vocab_layer_norm": "cls.predictions.transform.LayerNorm",
    }
    for layer, origin in enumerate(layers):
        for new, old in parts.items():
            names[f"distilbert.transformer.layer.{layer}.{new}"] = (
                f"bert.encoder.layer.{origin}.{old}"
            )
    for new, old in names.items():
        for kind in ("weight", "bias"):
            target[f"{new}.{kind}"] = source[f"{old}.{kind}"]
    target["vocab_projector.bias"] = source["cls.predictions.bias"]
    target["vocab_projector.weight"] = target["distilbert.embeddings.word_embeddings.weight"]
    student.load_state_dict(target)


@dataclass(frozen=True, slots=True, eq=False)
class PretrainOutput:
    """Result of a forward pass: MLM logits at masked tokens, pair logits, last hidden states."""

    words: Tensor
    pair: Tensor | None
    states: Tensor


def run_batch(model: nn.Module, batch: Batch) -> PretrainOutput:
    """Run a BERT, DistilBERT or ALBERT network on a batch."""
    if isinstance(model, DistilBertForMaskedLM):
        states = model.distilbert(input_ids=batch.ids, attention_mask=batch.mask)[0]
        return PretrainOutput(
            distilbert_words(model, states_at(states, batch.masked_positions)), None, states
        )
    inputs = {
        "input_ids": batch.ids,
        "attention_mask": batch.mask,
        "token_type_ids": batch.types,
    }
    if isinstance(model, BertForPreTraining):
        output = model.bert(**inputs)
        words = model.cls.predictions(states_at(output.last_hidden_state, batch.masked_positions))
        classify = model.cls.seq_relationship
    else:
        assert isinstance(model, AlbertForPreTraining)
        output = model.albert(**inputs)
        words = model.predictions(states_at(output.last_hidden_state, batch.masked_positions))
        classify = model.sop_classifier
    pooled = output.pooler_output
    return PretrainOutput(
        words, None if pooled is None else classify(pooled), output.last_hidden_state
    )


def distilbert_words(model: DistilBertForMaskedLM, states: Tensor) -> Tensor:
    """Return DistilBERT's MLM logits; its head is not a module of its own."""
    states = model.activation(model.vocab_transform(states))
    return model.vocab_projector(model.vocab_layer_norm(states))


def states_at(states: Tensor, positions: Tensor) -> Tensor:
    """Return the hidden states at flat positions."""
    return states.reshape(-1, states.shape[-1])[positions]


class DistillObjective(nn.Module):
    """DistilBERT's triple loss against a frozen teacher."""

    def __init__(
        self,
        model: nn.Module,
        teacher: nn.Module,
        temperature: float,
        weights: dict[str, float] | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.frozen = [teacher.eval().requires_grad_(False)]  # a list, so that it is no submodule
        self.temperature = temperature
        self.weights = weights

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss, its parts and the top-1 accuracy."""
        with torch.no_grad():
            teacher = run_batch(self.frozen[0], batch)
        student = run_batch(self.model, batch)
        parts = {
            "ce": distillation_ce(student.words, teacher.words, self.temperature),
            "mlm": mlm_loss(student.words, batch.labels),
            "cos": hidden_cosine(student.states, teacher.states, batch.mask),
        }
        loss = triple_loss(**parts, weights=self.weights)
        return {"loss": loss, **parts, "top1": top1(student.words, batch)}


def top1(words: Tensor, batch: Batch) -> Tensor:
    """Return the share of masked tokens whose top-1 prediction is right."""
    return (words.argmax(-1) == batch.labels).float().mean()


@dataclass(slots=True, eq=False)
class _TrainingState:
    """State of one run: the student, its objective and the held-out questions."""

    student: DistilBertForMaskedLM
    objective: DistillObjective
    settings: LiveSettings
    texts: list[list[int]]
    questions: Batch
    teacher_logits: Tensor
    sentence: WatchedSentence
    device: torch.device
    sums: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in PARTS})


def student_layers(teacher_layers: int, layers: int) -> tuple[int, ...]:
    """Return the teacher layers to copy: evenly spaced, the last one included."""
    return tuple((i + 1) * teacher_layers // layers - 1 for i in range(layers))


def fresh_student(teacher: BertForPreTraining, settings: LiveSettings) -> DistilBertForMaskedLM:
    """Build a student of the teacher's width, initialised from its layers or at random."""
    base = teacher.config
    config = DistilBertConfig(
        vocab_size=base.vocab_size, dim=base.hidden_size, n_layers=settings.layers,
        n_heads=base.num_attention_heads, hidden_dim=base.intermediate_size,
        max_position_embeddings=base.max_position_embeddings, dropout=0.0, attention_dropout=0.0,
        pad_token_id=base.pad_token_id,
    )  # fmt: skip
    with torch.device("meta"):
        student = DistilBertForMaskedLM(config)
    student.to_empty(device="cpu").tie_weights()
    fill_randomly(student, settings.seed).train()
    if settings.start == "copied":
        layers = student_layers(base.num_hidden_layers, settings.layers)
        copy_teacher(teacher, student, layers)
    return student


def distil_live(
    loaded: LoadedModel,
    settings: LiveSettings,
    sentence: WatchedSentence | None = None,
) -> Iterator[LiveReport | None]:
    """Train a student, yielding a report before the first step and then at regular intervals.

    None after the steps in between, so that the caller can end the run at every step by closing
    the iterator. The teacher is a copy, so that the network that serves requests is not changed.
    """
    with loaded.lock:  # so that no ablation's hooks are copied
        teacher = copy.deepcopy(loaded.network)
    tokenizer = loaded.tokenizer
    state = _training_state(teacher, tokenizer, settings, sentence or WatchedSentence())
    adam = torch.optim.AdamW(state.student.parameters(), lr=RATE, weight_decay=0.01)
    rng = np.random.default_rng(settings.seed)
    interval = max(1, settings.steps // REPORTS)
    evaluated = {
        round(settings.steps * i / EVALUATIONS) // interval * interval for i in range(EVALUATIONS)
    }
    yield _report(state, 0, evaluate=True)
    for step in range(1, settings.steps + 1):
        batch = masked_batch(tokenizer, state.texts, rng).to(state.device)
        _step(state, adam, batch, step)
        last = step == settings.steps
        reports = last or step % interval == 0
        yield _report(state, step, evaluate=last or step in evaluated) if reports else None


def masked_batch(
    tokenizer: PreTrainedTokenizerFast, texts: list[list[int]], rng: np.random.Generator
) -> Batch:
    """Return a batch of random sentences with 25% of the tokens masked (80/10/10), at least one."""
    rows = [texts[i] for i in rng.integers(len(texts), size=ROWS)]
    width = max(map(len, rows))
    ids = np.full((ROWS, width), tokenizer.pad_token_id, np.int64)
    labels = np.full((ROWS, width), IGNORED, np.int64)
    for row, text in enumerate(rows):
        ids[row, : len(text)] = text
        inner = np.arange(1, len(text) - 1)
        n_masked = max(1, round(MASK_SHARE * len(inner)))
        for position in rng.choice(inner, size=n_masked, replace=False):
            labels[row, position] = ids[row, position]
            random_id, fate = int(rng.integers(len(tokenizer))), rng.random()
            if fate < 0.9:
                ids[row, position] = tokenizer.mask_token_id if fate < 0.8 else random_id
    hidden = np.flatnonzero(labels != IGNORED)
    return _batch(ids, ids != tokenizer.pad_token_id, hidden, labels.reshape(-1)[hidden])


def _batch(ids: np.ndarray, real: np.ndarray, hidden: np.ndarray, labels: np.ndarray) -> Batch:
    pairs = np.full(len(ids), IGNORED, np.int64)
    arrays = (ids, np.zeros_like(ids), real.astype(np.int64), hidden, labels, pairs)
    return Batch(*(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays))


def _training_state(
    teacher: BertForPreTraining,
    tokenizer: PreTrainedTokenizerFast,
    settings: LiveSettings,
    sentence: WatchedSentence,
) -> _TrainingState:
    device = teacher.device
    student = fresh_student(teacher, settings).to(device).train()
    objective = DistillObjective(student, teacher, settings.temperature, settings.weights)
    training, held_out = split_sentences()
    texts = [tokenizer(text)["input_ids"] for text in (*training, *made_up_sentences())]
    questions = _questions(
        tokenizer, [pair for held in held_out for pair in questions_of(held)]
    ).to(device)
    return _TrainingState(
        student, objective, settings, texts, questions, _logits(teacher, questions),
        sentence, device,
    )  # fmt: skip


def _questions(tokenizer: PreTrainedTokenizerFast, pairs: list[tuple[str, str]]) -> Batch:
    """Return the held-out sentences as one batch, labelled with the hidden words' token ids."""
    encoded = [tokenizer(text)["input_ids"] for text, _ in pairs]
    ids = np.full((len(encoded), max(map(len, encoded))), tokenizer.pad_token_id, np.int64)
    for row, text in enumerate(encoded):
        ids[row, : len(text)] = text
    hidden = np.flatnonzero(ids == tokenizer.mask_token_id)
    labels = np.array(tokenizer.convert_tokens_to_ids([answer for _, answer in pairs]), np.int64)
    return _batch(ids, ids != tokenizer.pad_token_id, hidden, labels)


@torch.no_grad()
def _logits(model: nn.Module, batch: Batch) -> Tensor:
    model.eval()
    return run_batch(model, batch).words


def _step(state: _TrainingState, adam: torch.optim.Optimizer, batch: Batch, step: int) -> None:
    state.student.train()
    total, warm_up = state.settings.steps, max(1, round(WARM_UP * state.settings.steps))
    for group in adam.param_groups:
        group["lr"] = RATE * min(step / warm_up, (total - step + 1) / (total - warm_up + 1))
    losses = state.objective(batch)
    adam.zero_grad(set_to_none=True)
    losses["loss"].backward()
    nn.utils.clip_grad_norm_(state.student.parameters(), 1.0)
    adam.step()
    for part, values in state.sums.items():
        values.append(float(losses[part].detach()))


def _report(state: _TrainingState, step: int, evaluate: bool) -> LiveReport:
    parts = {part: float(np.mean(values)) for part, values in state.sums.items() if values}
    for values in state.sums.values():
        values.clear()
    return LiveReport(
        step, parts, _evaluate(state) if evaluate else None, _sentence_probabilities(state)
    )


def _evaluate(state: _TrainingState) -> LiveAgreement:
    student, teacher = _logits(state.student, state.questions), state.teacher_logits
    student_top, teacher_top = student.topk(5).indices, teacher.topk(5).indices
    shared = (student_top[:, :, None] == teacher_top[:, None, :]).any(-1).float().mean()
    same = (student_top[:, 0] == teacher_top[:, 0]).float().mean()
    correct = (student_top[:, 0] == state.questions.labels).float().mean()
    return LiveAgreement(float(same), float(shared), float(correct))


@torch.no_grad()
def _sentence_probabilities(state: _TrainingState) -> np.ndarray | None:
    sentence = state.sentence
    if not sentence.words:
        return None
    state.student.eval()
    logits = state.student(torch.tensor([sentence.ids], device=state.device)).logits
    p = (logits[0, sentence.position].float() / state.settings.temperature).softmax(-1)
    return p[list(sentence.words)].cpu().numpy()
