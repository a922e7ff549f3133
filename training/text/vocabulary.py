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
SPARE = 1.15  # factor of extra pieces that are trained, because mixed ones are dropped
WHOLE = 0.01  # per letter: added log probability of a required word over its best spelling
SENTENCEPIECE: dict[str, Any] = {
    "model_type": "unigram",
    "normalization_rule_name": "identity",  # the lines are already normalised
    "character_coverage": 0.9998,
    "pad_id": 0,
    "pad_piece": ALBERT_SPECIALS[0],
    "unk_id": 1,
    "unk_piece": ALBERT_SPECIALS[1],
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": list(ALBERT_SPECIALS[2:]),
    "hard_vocab_limit": False,  # a toy corpus has fewer pieces than requested
    "minloglevel": 2,
}
# No space is marked before a closing sign, so "[MASK]." is tokenised as "word." was in training.
CLOSING = Regex(r"▁(?=[.,;:!?)\]'’”%])")
CHINESE = range(0x4E00, 0xA000)  # BERT's tokenizer splits these into single characters


def cut_wordpieces(
    documents: Sequence[str], full: list[str], size: int, words: Sequence[str] = ()
) -> list[str]:
    """Return the `size` most frequent pieces of BERT's vocabulary in the documents, in its order.

    All single characters are kept, so that (almost) no word becomes unknown, and so are `words`;
    the rest are the pieces that the full vocabulary uses most often here.

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
    required = set(words)
    ids = {i for i, piece in enumerate(full) if piece in required or _always_kept(piece)}
    for i in np.argsort(-counts, kind="stable"):
        if len(ids) >= size:
            break
        ids.add(int(i))
    return [piece for i, piece in enumerate(full) if i in ids]


def _always_kept(piece: str) -> bool:
    character = piece.removeprefix("##")
    within_word = piece != character
    chinese = len(character) == 1 and ord(character) in CHINESE
    return piece in BERT_SPECIALS or (len(character) == 1 and not (within_word and chinese))


def train_wordpieces(documents: Sequence[str], size: int) -> list[str]:
    """Train WordPieces on the documents alone, when no BERT vocabulary is available."""
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
    """Train Unigram pieces with SentencePiece, as ALBERT's were; return their log probabilities.

    The trainer of `tokenizers` takes its candidates from substrings that different characters
    follow, so a word that is no prefix of another never becomes a piece. `words` always are pieces.

    Raises:
        Refusal: The documents have more different characters than the vocabulary has places.
    """
    import sentencepiece  # a dependency of training only

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
    model_file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model_file,
        vocab_size=int(size * SPARE),
        **SENTENCEPIECE,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=model_file.getvalue())
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(len(model))]
    return kept_unigrams(with_words(pieces, words), size, words)


def with_words(pieces: list[tuple[str, float]], words: Sequence[str]) -> list[tuple[str, float]]:
    """Return the pieces with each word added, a little likelier than its previous spelling.

    The margin grows with the word's length, so that it is not split into a shorter one and a rest.
    """
    model = albert_tokenizer(pieces).backend_tokenizer.model
    scores = dict(pieces)
    spellings = {word: model.tokenize(word) for word in (f"▁{word}" for word in words)}
    required = {
        word: sum(scores[token.value] for token in tokens) + WHOLE * len(word)
        for word, tokens in spellings.items()
    }
    return list({**scores, **required}.items())


def kept_unigrams(
    pieces: list[tuple[str, float]], size: int, words: Sequence[str] = ()
) -> list[tuple[str, float]]:
    """Return the best `size` pieces that do not mix letters, digits and signs.

    SentencePiece has no such option that does not also lose whole words: with its word delimiter
    every word ends alike, and a string with a single ending is no candidate. Single characters are
    kept, so that no word becomes unknown, and so are `words`.
    """
    specials, rest = pieces[: len(ALBERT_SPECIALS)], pieces[len(ALBERT_SPECIALS) :]
    plain = [piece for piece in rest if not mixed(piece[0])]
    always = {f"▁{word}" for word in words}
    fixed = [p for p in plain if len(p[0]) == 1 or p[0] in always]
    longer = sorted((p for p in plain if len(p[0]) > 1 and p[0] not in always), key=lambda p: -p[1])
    selected = fixed + longer[: max(0, size - len(specials) - len(fixed))]
    return specials + sorted(selected, key=lambda p: -p[1])


def mixed(piece: str) -> bool:
    """Return whether a piece mixes letters, digits and signs."""
    return len({kind_of_sign(character) for character in piece.removeprefix("▁")}) > 1


def kind_of_sign(character: str) -> str:
    """Return L for letters and their marks, N for digits, S for any other sign."""
    kind = unicodedata.category(character)[0]
    return {"L": "L", "M": "L", "N": "N"}.get(kind, "S")


def bert_tokenizer(pieces: list[str]) -> BertTokenizer:
    """Return BERT's uncased tokenizer with these pieces."""
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=512)


def albert_tokenizer(pieces: list[tuple[str, float]]) -> PreTrainedTokenizerFast:
    """Return ALBERT's lower-casing tokenizer with these pieces, no space before closing signs."""
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
    """Return the log relative frequency of every piece, with add-one smoothing."""
    counts = np.bincount(ids, minlength=size).astype(np.float64) + 1
    return np.log(counts / counts.sum())


def load_pieces(path: Path) -> list[str]:
    """Return the pieces of a saved tokenizer, by id."""
    vocabulary = Tokenizer.from_file(str(path)).get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def repeated(pieces: Sequence[str]) -> list[str]:
    """Return the pieces that occur more than once; a valid vocabulary has none."""
    return [piece for piece, times in Counter(pieces).items() if times > 1]
