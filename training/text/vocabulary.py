"""The two vocabularies: WordPieces cut from BERT's by frequency, and Unigram pieces of ALBERT's."""

import io
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, pre_tokenizers, trainers
from transformers import AlbertTokenizer, BertTokenizer, PreTrainedTokenizerFast

from explorer.refusal import Refusal
from training.text.corpus import split_sentences

BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ALBERT_SPECIALS = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
SPARE = 1.15  # so many more pieces are trained than are wanted; mixed ones are dropped
WHOLE = 0.01  # per letter: by how much a word that must be a piece is likelier than its spelling
SENTENCEPIECE: dict[str, Any] = {
    "model_type": "unigram",
    "normalization_rule_name": "identity",  # the lines are normalised before
    "character_coverage": 0.9998,
    "pad_id": 0,
    "pad_piece": ALBERT_SPECIALS[0],
    "unk_id": 1,
    "unk_piece": ALBERT_SPECIALS[1],
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": list(ALBERT_SPECIALS[2:]),
    "hard_vocab_limit": False,  # a toy corpus has fewer pieces than are asked for
    "minloglevel": 2,
}
# No space is marked before a closing sign, so "[MASK]." reads as "word." did in training.
CLOSING = Regex(r"▁(?=[.,;:!?)\]'’”%])")
CHINESE = range(0x4E00, 0xA000)  # BERT's tokenizer always splits these into single characters


def cut_wordpieces(
    documents: Sequence[str], full: list[str], size: int, words: Sequence[str] = ()
) -> list[str]:
    """The `size` most useful pieces of BERT's vocabulary on these documents, in its own order.

    All single characters stay, so that (almost) no word becomes unknown, and so do `words`; the
    rest of the places goes to the pieces that the full vocabulary uses most often here.

    Raises:
        ValueError: BERT's vocabulary lacks one of `words`.
    """
    if absent := sorted(set(words) - set(full)):
        raise ValueError(f"BERT's vocabulary has no piece {', '.join(absent)}.")
    tokenizer = bert_tokenizer(full).backend_tokenizer
    counts = np.zeros(len(full), dtype=np.int64)
    for start in range(0, len(documents), 500):
        for encoding in tokenizer.encode_batch_fast(
            list(documents[start : start + 500]), add_special_tokens=False
        ):
            counts += np.bincount(encoding.ids, minlength=len(full))
    wanted = set(words)
    kept = {i for i, piece in enumerate(full) if piece in wanted or _always_kept(piece)}
    for i in np.argsort(-counts, kind="stable"):
        if len(kept) >= size:
            break
        kept.add(int(i))
    return [piece for i, piece in enumerate(full) if i in kept]


def _always_kept(piece: str) -> bool:
    character = piece.removeprefix("##")
    within_word = piece != character
    chinese = len(character) == 1 and ord(character) in CHINESE
    return piece in BERT_SPECIALS or (len(character) == 1 and not (within_word and chinese))


def train_wordpieces(documents: Sequence[str], size: int) -> list[str]:
    """WordPieces learned from the documents alone, when no BERT vocabulary is at hand."""
    tokenizer = bert_tokenizer(list(BERT_SPECIALS)).backend_tokenizer
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=list(BERT_SPECIALS),
        limit_alphabet=size // 3,  # a character may need two pieces; the rarer become unknown
        show_progress=False,
    )
    tokenizer.train_from_iterator(documents, trainer)
    return sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)


def train_unigrams(
    documents: Sequence[str], size: int, words: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Unigram pieces with their log probabilities, trained by SentencePiece as ALBERT's were.

    `tokenizers`' own trainer takes its candidates from substrings that different characters
    follow, so a word that begins no longer word never becomes a piece. `words` are pieces of it.

    Raises:
        Refusal: The documents have more different characters than the vocabulary has places.
    """
    import sentencepiece  # a need of training alone

    normalizer = albert_tokenizer([(s, 0.0) for s in ALBERT_SPECIALS]).backend_tokenizer.normalizer
    lines = [
        normalizer.normalize_str(sentence)
        for document in documents
        for sentence in split_sentences(document)
    ]
    alphabet = set().union(*lines)
    if len(alphabet) + len(ALBERT_SPECIALS) >= size:
        raise Refusal(
            f"The corpus has {len(alphabet):,} different characters: "
            f"too many for a vocabulary of {size:,} pieces."
        )
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=int(size * SPARE),
        **SENTENCEPIECE,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(len(model))]
    return kept_unigrams(with_words(pieces, words), size, words)


def with_words(pieces: list[tuple[str, float]], words: Sequence[str]) -> list[tuple[str, float]]:
    """The pieces, and every word as one that is a little likelier than what spelt it before.

    The longer a word, the more: so it is not read as a shorter one of them and its rest.
    """
    model = albert_tokenizer(pieces).backend_tokenizer.model
    scores = dict(pieces)
    spelt = {word: model.tokenize(word) for word in (f"▁{word}" for word in words)}
    better = {
        word: sum(scores[token.value] for token in tokens) + WHOLE * len(word)
        for word, tokens in spelt.items()
    }
    return list({**scores, **better}.items())


def kept_unigrams(
    pieces: list[tuple[str, float]], size: int, words: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """The best `size` of the pieces in which letters, digits and signs are not mixed.

    SentencePiece has no such option that does not also lose whole words: its delimiter of words
    makes every word end alike, and what has one ending alone is no candidate. Single characters
    stay, so that no word becomes unknown, and so do `words`.
    """
    specials, rest = pieces[: len(ALBERT_SPECIALS)], pieces[len(ALBERT_SPECIALS) :]
    plain = [piece for piece in rest if not mixed(piece[0])]
    always = {f"▁{word}" for word in words}
    fixed = [p for p in plain if len(p[0]) == 1 or p[0] in always]
    longer = sorted((p for p in plain if len(p[0]) > 1 and p[0] not in always), key=lambda p: -p[1])
    kept = fixed + longer[: max(0, size - len(specials) - len(fixed))]
    return specials + sorted(kept, key=lambda p: -p[1])


def mixed(piece: str) -> bool:
    """Whether a piece holds two of letters, digits and signs."""
    return len({kind_of_sign(character) for character in piece.removeprefix("▁")}) > 1


def kind_of_sign(character: str) -> str:
    """L for letters and their marks, N for digits, S for any other sign."""
    kind = unicodedata.category(character)[0]
    return {"L": "L", "M": "L", "N": "N"}.get(kind, "S")


def bert_tokenizer(pieces: list[str]) -> BertTokenizer:
    """BERT's uncased tokenizer over these pieces."""
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=512)


def albert_tokenizer(pieces: list[tuple[str, float]]) -> PreTrainedTokenizerFast:
    """ALBERT's lower-casing tokenizer over these pieces, without a space before closing signs."""
    backend = AlbertTokenizer(vocab=pieces, do_lower_case=True).backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [backend.pre_tokenizer, pre_tokenizers.Split(CLOSING, "removed")]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="[CLS]",
        eos_token="[SEP]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("[MASK]", lstrip=True, normalized=False, special=True),
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def unigram_frequencies(ids: np.ndarray, size: int) -> np.ndarray:
    """Log relative frequency of every piece, one occurrence added to each."""
    counts = np.bincount(ids, minlength=size).astype(np.float64) + 1
    return np.log(counts / counts.sum())


def load_pieces(path: Path) -> list[str]:
    """The pieces of a saved tokenizer, by id."""
    vocabulary = Tokenizer.from_file(str(path)).get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def repeated(pieces: Sequence[str]) -> list[str]:
    """Pieces that occur more than once; a vocabulary must have none."""
    return [piece for piece, times in Counter(pieces).items() if times > 1]
