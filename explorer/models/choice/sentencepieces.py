"""A ``spiece.model`` read as sentencepiece, and so the pre-training of ALBERT, read it."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram
from transformers import AddedToken, PreTrainedTokenizerFast

PIECES, TRAINER, NORMALIZER = 1, 2, 3
"""Fields of the file's message: its pieces, how they were found, how a text is normalised."""
PIECE, SCORE, TYPE, MODEL, CHARSMAP = 1, 2, 3, 3, 2
UNKNOWN_TYPE = 2
MERGES = 2
"""Value of the trainer's field for byte-pair encoding; that of a unigram language model is 1."""
FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
FAIRSEQ_CAMEMBERT = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED")
FAIRSEQ_NAMES = {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
PENALTY = 100.0
"""Taken from the score of a piece such as ``▁2010,``: Google's code cuts it before the comma."""
NAMES = {"pad": "<pad>", "unk": "<unk>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


class Pieces(NamedTuple):
    """Contents of a ``spiece.model``."""

    scores: list[tuple[str, float]]
    unknown: int
    charsmap: bytes
    merges: bool = False
    """True where a text is split by byte-pair encoding, whose scores are an order of merges."""


def read_pieces(path: Path) -> Pieces:
    """Return the pieces of a ``spiece.model`` with their log-probabilities, and its normaliser.

    Raises:
        ValueError, IndexError, KeyError: the file is damaged.
    """
    scores, unknown, charsmap, merges = list[tuple[str, float]](), 1, b"", False
    for field, value in _fields(path.read_bytes()):
        if field == PIECES:
            piece = dict(_fields(value))
            if piece.get(TYPE) == UNKNOWN_TYPE:
                unknown = len(scores)
            score = struct.unpack("<f", piece[SCORE])[0] if SCORE in piece else 0.0
            scores.append((piece[PIECE].decode("utf-8"), float(score)))
        elif field == TRAINER:
            merges = dict(_fields(value)).get(MODEL) == MERGES
        elif field == NORMALIZER:
            charsmap = dict(_fields(value)).get(CHARSMAP, b"")
    if not scores:
        raise ValueError("it lists no pieces")
    return Pieces(scores, unknown, charsmap, merges)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each field of a protocol-buffer message."""
    at = 0
    while at < len(data):
        key, at = _whole(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _whole(data, at)
            yield key >> 3, value
            continue
        size, at = _whole(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        if at + size > len(data):
            raise ValueError("it ends within a field")
        yield key >> 3, data[at : at + size]
        at += size


def _whole(data: bytes, at: int) -> tuple[int, int]:
    """Return a whole number of seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def _ends_in_comma(piece: str) -> bool:
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def sentencepiece_tokenizer(path: Path, settings: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """Return the tokenizer of an ALBERT's ``spiece.model``; it splits a text as sentencepiece does.

    transformers makes added tokens of the signs ``( ) " - .``, and what follows one inside a word
    begins a new word there: findings/albert-spiece-inner-signs.sh.

    Args:
        path: The file.
        settings: ``do_lower_case``, ``keep_accents`` and the special tokens of a
            tokenizer_config.json.
    """
    pieces = read_pieces(path)
    vocabulary = [
        (piece, score - PENALTY if _ends_in_comma(piece) else score)
        for piece, score in pieces.scores
    ]
    steps: list[normalizers.Normalizer] = [
        normalizers.Replace("``", '"'),
        normalizers.Replace("''", '"'),
    ]
    if not settings.get("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if settings.get("do_lower_case", True):
        steps.append(normalizers.Lowercase())
    names = {role: str(settings.get(f"{role}_token") or name) for role, name in NAMES.items()}
    pair = "{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1"
    return _tokenizer(pieces._replace(scores=vocabulary), steps, names, pair)


def bpe_model_tokenizer(path: Path, *, is_camembert: bool) -> PreTrainedTokenizerFast:
    """Return the tokenizer of the ``sentencepiece.bpe.model`` of an XLM-RoBERTa or a CamemBERT.

    Their networks number the pieces as fairseq does: four special tokens come first, and the mask
    is last.
    """
    pieces = read_pieces(path)
    first = (*FAIRSEQ_CAMEMBERT,) if is_camembert else (*FAIRSEQ,)
    rest = pieces.scores[1:] if is_camembert else pieces.scores[3:]
    scores = [*((piece, 0.0) for piece in first), *rest, (FAIRSEQ_NAMES["mask"], 0.0)]
    pair = "{cls}:0 $A:0 {sep}:0 {sep}:0 $B:0 {sep}:0"
    numbered = pieces._replace(scores=scores, unknown=first.index("<unk>"))
    return _tokenizer(numbered, [], FAIRSEQ_NAMES, pair)


def _tokenizer(
    pieces: Pieces, steps: list[normalizers.Normalizer], names: Mapping[str, str], pair: str
) -> PreTrainedTokenizerFast:
    """Return a tokenizer of these pieces, which applies the steps before the file's normaliser."""
    backend = Tokenizer(_merging(pieces) if pieces.merges else _likeliest(pieces))
    if pieces.charsmap:
        steps = [*steps, normalizers.Precompiled(pieces.charsmap)]
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", prepend_scheme="always")]
    )
    backend.decoder = decoders.Metaspace("▁", prepend_scheme="always")
    cls, sep = names["cls"], names["sep"]
    ids = {piece: place for place, (piece, _) in enumerate(pieces.scores)}
    backend.post_processor = processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=pair.format(cls=cls, sep=sep),
        special_tokens=[(cls, ids[cls]), (sep, ids[sep])],
    )
    special = {f"{role}_token": name for role, name in names.items() if role != "mask"}
    mask = AddedToken(names["mask"], lstrip=True, normalized=False, special=True)
    return PreTrainedTokenizerFast(tokenizer_object=backend, mask_token=mask, **special)


def _likeliest(pieces: Pieces) -> Unigram:
    return Unigram(pieces.scores, unk_id=pieces.unknown, byte_fallback=False)


def _merging(pieces: Pieces) -> BPE:
    """Return the model that joins, of two neighbours, those whose piece has the highest score."""
    ids = {piece: place for place, (piece, _) in enumerate(pieces.scores)}
    merges = [
        (-score, ids[piece[:at]], ids[piece[at:]], (piece[:at], piece[at:]))
        for piece, score in pieces.scores
        for at in range(1, len(piece))
        if piece[:at] in ids and piece[at:] in ids
    ]
    unknown = pieces.scores[pieces.unknown][0]
    return BPE(ids, [merge for *_, merge in sorted(merges)], unk_token=unknown, fuse_unk=True)
