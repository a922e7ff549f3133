"""A user's checkpoint, verified against plain transformers, and written anew in a form of today."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from explorer.inference.runs import in_this_thread
from explorer.library import refusals, strings
from explorer.library.results import Result
from explorer.models.choice.family import all_specs
from explorer.models.specs import KINDS, MORE_KINDS, SAME_NETWORKS
from explorer.refusal import Refusal, brief
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel
    from explorer.models.run import Run

TEXTS: tuple[str, ...] = (
    "The capital of France is [MASK].",
    "The cat sat on the [MASK] and looked at the [MASK].",
    "A short text.",
    "[MASK]",
    "The kettle began to whistle. [SEP] She poured the [MASK].",
    "He didn't say whether they'd come back, did he?",
    "In 2010, about 1,500 people (mostly students) signed the well-known petition.",
    "“Nobody knows,” she said — and that’s that…",
    "PARIS is the capital; Berlin is another.",
    "Une façade à l’angle, déjà vue à Zürich.",
    "Die Königin sprach über größere Häuser.",
    "北京是中国的首都。",
    "Emoji 😀 and symbols ≈ ± ∑ in a [MASK].",
    "CC(=O)OCC.[Na+]>>CC[MASK]C(C)=O",
    "Q V Q L [MASK] E S G G G",
    "x = y ** 2 + f(z[0]); # a comment",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    "An antidisestablishmentarian's pneumonoultramicroscopicsilicovolcanoconiosis.",
    "Tabs\tand\nnew lines   and   spaces are white space.",
    "the " * 60 + "[MASK].",
)
"""Texts with masks, pairs, signs, capitals, accents, other scripts, formulas and long words."""
TOLERANCE = 1e-4
"""Largest difference of a float32 number that two ways of computing it may give."""
QUANTITIES = ("logits", "attention", "hidden states", "parameters", "tokens", "offsets")


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference of one quantity between the explorer and plain transformers."""

    quantity: str
    compared: int
    """The number of values that were compared."""
    largest: float
    """The largest absolute difference; for tokens and offsets the number that differ."""
    tolerance: float

    @property
    def agrees(self) -> bool:
        """True where the difference is within the tolerance."""
        return self.largest <= self.tolerance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verification(Result):
    """Differences between the explorer's numbers and plain transformers', over twenty texts."""

    model: str
    differences: tuple[Difference, ...]
    read_as: tuple[str, ...]
    """Sentences on how the checkpoint's files are read, where that is not evident."""

    COLUMNS: ClassVar = ("model", "quantity", "compared", "largest", "tolerance", "agrees")
    SKETCH: ClassVar = Sketch("bars", "quantity", "largest")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how the checkpoint's files are read, and what converting changed."""
        return self.read_as

    @property
    def agrees(self) -> bool:
        """True where every difference is within its tolerance."""
        return all(difference.agrees for difference in self.differences)

    @property
    def is_as_expected(self) -> bool:
        """True where every difference is within its tolerance."""
        return self.agrees

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON."""
        rows = [dict(zip(self.COLUMNS, row, strict=True)) for row in self.rows()]
        return {"model": self.model, "agrees": self.agrees, "rows": rows, "notes": [*self.notes]}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each quantity."""
        return [
            (self.model, d.quantity, d.compared, d.largest, d.tolerance, d.agrees)
            for d in self.differences
        ]

    def sentences(self) -> tuple[str, ...]:
        """Return whether all agrees, what does not, and how the files are read."""
        wrong = [d.quantity for d in self.differences if not d.agrees]
        return (strings.verified(self.model, len(TEXTS), wrong),)


def verify(model: Any) -> Verification:  # noqa: ANN401 - a path, a name, a model, or a pair
    """Return how far the explorer's numbers for a model are from those of plain transformers.

    Twenty texts run through the explorer and through ``AutoModelForPreTraining`` and
    ``AutoTokenizer`` of the same files. Logits at the masks, attention weights of all heads, and
    hidden states of all layers may differ by 1e-4; the counts of parameters, tokens and their
    offsets must be equal. Both networks get the explorer's token ids, so that a difference between
    the tokenizers is counted once.

    Args:
        model: A folder, a hub repository, the name of a bundled or published model; a model object
            of transformers, or a pair (model, tokenizer).

    Returns:
        A table with a row for each quantity; ``agrees`` is False if one exceeds its tolerance.

    Raises:
        Refusal: the model cannot be used; the message is one sentence.

    Example:
        >>> explorer.verify("mini-bert").agrees
        True
    """
    with in_this_thread(), _opened(model) as (loaded, network, tokenizer):
        runs = [_run(loaded, text) for text in TEXTS]
        differences = (
            *_of_numbers(loaded, network, runs),
            _of_counts(loaded, network),
            *_of_tokens(loaded, tokenizer, runs),
        )
        return Verification(loaded.spec.label, differences, loaded.spec.notes)


def convert(  # noqa: PLR0913 - one option for each thing that a folder may leave open
    source: str | Path,
    target: str | Path,
    cased: bool = False,
    pattern: str = "",
    tokenizer: str = "",
    head: str = "",
) -> Verification:
    """Write a checkpoint in a form that every library reads in the same way, and verify it.

    Pickled weights are opened in a separate process, which allows only tensors. Tensors get their
    present names, an adapter is merged (with the extra ``training``), and the folder
    gets safetensors, a config and a tokenizer.json.

    Args:
        source: The folder of the checkpoint, or of an adapter; or a repository of the hub,
            ``OWNER/NAME[@REVISION]``.
        target: The folder to write, which must not exist or be empty.
        cased: Keep the case of texts, whatever the folder says.
        pattern: A regular expression whose matches are the tokens, for a vocabulary of formulas.
        tokenizer: The file or folder of the vocabulary, if it is not next to the weights.
        head: A head that the config does not describe, such as ``cls.species``: a linear layer
            that becomes the classifier of texts, on the pooled state of [CLS].

    Returns:
        The result of ``verify`` on the written folder.

    Raises:
        Refusal: the source cannot be read, or opening it would run code.

    Example:
        >>> explorer.convert("./old-bert", "./my-bert", cased=True)  # doctest: +SKIP
    """
    from explorer.models.choice.own import REPO
    from explorer.models.convert.folder import convert_folder, fetched_repository

    folder = Path(source).expanduser()
    if not folder.exists() and REPO.fullmatch(str(source).partition("@")[0]):
        folder = fetched_repository(str(source))
    notes = convert_folder(
        folder,
        Path(target).expanduser(),
        cased=cased,
        pattern=pattern,
        tokenizer=tokenizer,
        head=head,
    )
    verified = verify(target)
    return Verification(verified.model, verified.differences, (*notes, *verified.notes))


@contextmanager
def _opened(model: Any) -> "Iterator[tuple[LoadedModel, Any, Any]]":  # noqa: ANN401
    """Use a model as the explorer loads it, and as plain transformers does."""
    from explorer.models.choice.own import TAKEN, own_spec
    from explorer.models.hub import checkpoint_path
    from explorer.models.loading import given_model, lent, read_checkpoint
    from explorer.models.plain import plain_model

    if not isinstance(model, str | Path):
        pair = model if isinstance(model, tuple) else (model,)
        loaded = given_model(_key_of_object(pair[0]), *pair[:2])
        try:
            with lent(loaded):
                yield loaded, loaded.network, loaded.tokenizer
        finally:
            TAKEN.discard(loaded.spec.name)
        return
    known = all_specs().get(str(model))
    spec = known or own_spec(_key_of_folder(Path(model).expanduser()), str(model))
    path = spec.folder or checkpoint_path(spec)
    loaded = read_checkpoint(spec, path, "cpu", "float32")
    yield loaded, *plain_model(spec, path)


def _kinds_by_type() -> dict[str, str]:
    """Return the key of each architecture by the model type of its configs."""
    return {kind.config_type: key for key, kind in (KINDS | MORE_KINDS | SAME_NETWORKS).items()}


def _key_of_object(network: Any) -> str:  # noqa: ANN401
    stated = getattr(getattr(network, "config", None), "model_type", None)
    kinds = _kinds_by_type()
    if stated not in kinds:
        raise Refusal(refusals.NO_KIND.format(kind=brief(stated), known=", ".join(kinds)))
    return kinds[stated]


def _key_of_folder(folder: Path) -> str:
    """Return the column that a folder's config names; that of a BERT where it names none."""
    try:
        stated = json.loads((folder / "config.json").read_text("utf-8-sig")).get("model_type")
    except (OSError, ValueError, AttributeError):
        stated = None  # the folder is refused with its own reason
    kinds = _kinds_by_type()
    if stated is not None and stated not in kinds:
        raise Refusal(refusals.NO_KIND.format(kind=brief(stated), known=", ".join(kinds)))
    return kinds.get(stated, next(iter(KINDS)))


def _run(loaded: "LoadedModel", text: str) -> "Run":
    from explorer.models.forward import run_model, tokenize

    return run_model(loaded, tokenize(loaded, text))


def _of_numbers(loaded: "LoadedModel", network: Any, runs: "list[Run]") -> Iterator[Difference]:  # noqa: ANN401
    """Yield the differences of logits, attention and hidden states on the same token ids."""
    from explorer.models.plain import plain_pass

    found: dict[str, list[np.ndarray]] = {name: [] for name in QUANTITIES[:3]}
    for run in runs:
        plain = plain_pass(loaded, network, run.tokens)
        at = list(run.tokens.mask_positions)
        if loaded.spec.has_head:
            found["logits"].append(run.mask_logits - plain.logits[at])
        for name, ours, theirs in (
            ("attention", run.attention, plain.attention),
            ("hidden states", run.hidden_states, plain.hidden_states),
        ):
            found[name] += [ours - theirs]
    for name, parts in found.items():
        sizes = [part.size for part in parts]
        largest = max((float(np.abs(part).max()) for part in parts if part.size), default=0.0)
        # A number that is none is no agreement.
        largest = largest if np.isfinite(largest) else float("inf")
        if sum(sizes):
            yield Difference(name, sum(sizes), largest, TOLERANCE)


def _of_counts(loaded: "LoadedModel", network: Any) -> Difference:  # noqa: ANN401
    """Return the difference of the counts of the encoder and pooler."""
    from explorer.analysis.parameters.count import parameter_counts

    stored = {id(parameter): parameter for parameter in network.base_model.parameters()}
    if not loaded.spec.architecture.has_pooler:
        pooler = getattr(network.base_model, "pooler", None)
        for parameter in pooler.parameters() if pooler is not None else ():
            stored.pop(id(parameter))
    theirs = sum(parameter.numel() for parameter in stored.values())
    ours = parameter_counts(loaded.spec).total
    return Difference("parameters", theirs, float(abs(ours - theirs)), 0.0)


def _of_tokens(loaded: "LoadedModel", tokenizer: Any, runs: "list[Run]") -> Iterator[Difference]:  # noqa: ANN401
    """Yield how many tokens, and parts of the text that they stand for, differ."""
    mask = str(loaded.tokenizer.mask_token)
    n = sum(len(run.tokens) for run in runs)
    tokens = offsets = 0
    for run in runs:
        first, separator, second = run.tokens.text.replace("[MASK]", mask).partition("[SEP]")
        parts = (first, second) if separator else (first,)
        encoded = tokenizer(*parts, return_offsets_mapping=True)
        ids, theirs = encoded["input_ids"], encoded["offset_mapping"]
        tokens += _n_different(run.tokens.ids, ids)
        sides = encoded.sequence_ids()
        texts = [
            parts[side][start:end].strip() if side is not None else ""
            for side, (start, end) in zip(sides, theirs, strict=True)
        ]
        ours = [run.tokens.text[s:e].replace("[MASK]", mask) for s, e in run.tokens.spans]
        offsets += _n_different(ours, texts)
    yield Difference("tokens", n, float(tokens), 0.0)
    yield Difference("offsets", n, float(offsets), 0.0)


def _n_different(ours: Any, theirs: Any) -> int:  # noqa: ANN401 - two sequences
    unequal = sum(a != b for a, b in zip(ours, theirs, strict=False))
    return unequal + abs(len(ours) - len(theirs))
