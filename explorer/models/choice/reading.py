"""The tokenizer of a folder as its publishers mean it, checked against its vocabulary file."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.models.choice.files import OTHERWISE
from explorer.models.choice.refused import (
    CONVERT,
    NotAModel,
    has_mark,
    mistaken,
    mistaken_for,
    read_json,
    unreadable,
)
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

TOKENIZER, SPIECE, VOCAB = "tokenizer.json", "spiece.model", "vocab.txt"
BPE_MODEL = "sentencepiece.bpe.model"
SETTINGS, SPECIAL = "tokenizer_config.json", "special_tokens_map.json"
ADDED = "added_tokens.json"
CASE = ("do_lower_case", "strip_accents")
SHARE = 0.01
"""Share of unreachable pieces above which a tokenizer is not the one of its vocabulary."""
CASES = {
    (("do_lower_case", True), ("strip_accents", False)): "lower-cased, with its accents",
    (("do_lower_case", False),): "as it is written, with capitals",
}
"""Ways to read a vocab.txt whose case no file states, where BERT's default cannot be meant."""
SPIECE_CASES = {
    (("do_lower_case", True), ("keep_accents", True)): "lower-cased, with its accents",
    (("do_lower_case", False), ("keep_accents", True)): "as it is written, with capitals",
}
"""The same for a spiece.model, where ALBERT's default cannot be meant."""
WORDPIECE = ("BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast")
NEEDS = {"BertJapaneseTokenizer": "fugashi", "RoFormerTokenizer": "rjieba"}
"""Packages of the tokenizers that split words by another program."""
PROGRAMS = {"basic": "", "sudachi": "sudachipy", "jumanpp": "rhoknp"}
"""Packages of the other programs of BertJapaneseTokenizer, by ``word_tokenizer_type``."""
ONLY_IN_PYTHON = ("PhobertTokenizer", "BertweetTokenizer")
UNUSED = re.compile(r"\[unused\d*\]|\[[A-Z]+\]|<\w+>")
IN_PYTHON = Sentence(
    "tokenizer-in-python",
    "{source} has the tokenizer {name}, which needs {package} and does not say where its tokens "
    "are in a text.",
)
BY_CHARACTERS = Sentence(
    "tokenizer-by-characters",
    "{source} has the tokenizer {name}, which is written in Python and does not say where its "
    "tokens are in a text: “{command}” writes one that does.",
)
FILES_OF_PYTHON = Sentence(
    "tokenizer-files-of-python",
    "{source} has the tokenizer {name}, whose files only a program in Python reads: it needs a "
    "tokenizer.json.",
)
BROKEN = Sentence("unreadable-tokenizer", "a tokenizer that cannot be read")
NO_PIECES = Sentence("unreadable-file", "no {name} that can be read")
NO_MERGES = Sentence(
    "no-merges", "{source} has a vocab.json without its merges.txt, which says how a word is split."
)
OF_SENTENCEPIECE = Sentence(
    "vocabulary-of-sentencepiece",
    "{source} has a vocab.txt with pieces of sentencepiece, such as {piece}, and no file that says "
    "how a text is split into them: a tokenizer.json or spiece.model.",
)
NOT_FAST = Sentence(
    "slow-tokenizer",
    "{source} has a tokenizer that does not say where its tokens are in a text; take a fast one.",
)
NOT_UTF8 = Sentence("not-utf-8", "{source} has a {name} that is not in UTF-8.")
CONTRADICTED = (
    "Its tokenizer.json and its tokenizer_config.json differ in their case: by the second, which "
    "counts, a text is {case}."
)
LACKS = Sentence(
    "vocabulary-without-special-tokens",
    "{source} has a vocabulary file without {tokens}, which have no trained row in its network.",
)
BARE = "Its tokenizer puts no {cls} and no {sep} around a text, so that its network reads none."
TRIALS = (
    "The capital of France is [MASK].",
    "PARIS, Zürich and naïve cafés: well-known (again), 2010, 1,500 & 3.5%",
    "the [MASK], a [MASK] and[MASK]x",
    "北京是中国的首都。 don’t “quote” ``this''",
    "CC(=O)OCC.[Na+]>>CC[MASK]C(C)=O",
    "a_b@c.de #tag\tx = y**2  {z}",
)
"""Texts by which two tokenizers are compared."""
NO_TOKEN = Sentence("tokenizer-without-token", "{source} has a tokenizer without a {token} token.")
UNNAMED = Sentence(
    "unnamed-token",
    '{source} has a tokenizer whose {token} token no file names: write “"{token}_token": '
    '"{name}"” into its tokenizer_config.json.',
)
USUAL = {"mask": ("[MASK]", "<mask>"), "pad": ("[PAD]", "<pad>")}
"""Names of the special tokens that are needed here, in most vocabularies."""
NO_WORDS = Sentence(
    "tokenizer-without-words",
    "{source} has a tokenizer of {n} special tokens and no words: its vocabulary was not read.",
)
LOST = Sentence(
    "other-vocabulary-file",
    "{source} contradicts itself: its tokenizer has {n:,} pieces, its vocabulary file {wanted:,}, "
    "its network {rows:,}.",
)
TOO_MANY = Sentence(
    "more-pieces-than-rows",
    "{source} contradicts itself: its tokenizer has {n} pieces, its network {rows}.",
)
UNSTATED = (
    "No file states whether a text is lower-cased. {n:,} of the {total:,} pieces of its vocabulary "
    "have capitals or accents that lower-casing would remove, so it is read {case}."
)
STATED = (
    "Its tokenizer lower-cases a text or removes its accents, so that {n:,} of the {total:,} "
    "pieces of its vocabulary cannot occur."
)
ROWS = (
    "Its network has {rows:,} rows of words and its vocabulary {n:,} pieces. Lists of words leave "
    "out the {rest} without a piece."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A tokenizer, whether it lower-cases, and what a reader has to know of how it was read."""

    tokenizer: "PreTrainedTokenizerFast"
    lower_case: bool
    notes: tuple[str, ...]


def read_tokenizer(folder: Path, rows: int, source: str) -> Reading:
    """Return the tokenizer of a folder.

    ``tokenizer.json`` is read as it is. A ``spiece.model`` alone is read as sentencepiece reads it,
    a ``vocab.txt`` alone as WordPiece, whatever the model.

    Args:
        folder: The checkpoint's files.
        rows: The number of words of its network.
        source: How the reader named the checkpoint.

    Raises:
        NotAModel: it cannot be read, or is of another vocabulary than its file or its network.
    """
    pieces = _checked_pieces(folder, source)
    try:
        tokenizer, notes = _from_files(folder, source)
    except NotAModel:
        raise
    except Exception as error:
        # tokenizers and json raise their own errors.
        raise unreadable(source, BROKEN, error) from error
    check_tokenizer(tokenizer, rows, source, pieces)
    lower_case = lowers_case(tokenizer)
    notes = (*notes, *rows_note(tokenizer, rows), *_bare_note(tokenizer))
    return Reading(tokenizer, lower_case, notes)


def _checked_pieces(folder: Path, source: str) -> dict[str, int]:
    """Return the pieces of a folder's vocabulary file.

    Raises:
        NotAModel: the file holds something else; the sentence says what.
    """
    files = (TOKENIZER, SPIECE, BPE_MODEL, VOCAB)
    name = next((name for name in files if (folder / name).exists()), "")
    if name and (what := mistaken_for(folder / name)):
        raise NotAModel(mistaken(source, name, what))
    try:
        return file_pieces(folder)
    except NotAModel:
        raise
    except UnicodeDecodeError as error:
        raise NotAModel(NOT_UTF8.format(source=source, name=name)) from error
    except Exception as error:
        # json, struct and lookups in their values raise their own errors.
        raise unreadable(source, NO_PIECES.format(name=name), error) from error


def _from_files(folder: Path, source: str) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    command = CONVERT.format(source=source)
    if (folder / TOKENIZER).exists():
        tokenizer, notes = _as_saved(folder, source, command)
        return tokenizer, (*notes, *case_note(tokenizer))
    _refuse_python(folder, source)
    if (folder / SPIECE).exists():
        return _sentencepieces(folder, source, command)
    if (folder / BPE_MODEL).exists():
        from explorer.models.choice.sentencepieces import bpe_model_tokenizer

        named = "".join(_classes(folder, source))
        is_camembert = "camembert" in named.lower()
        return bpe_model_tokenizer(folder / BPE_MODEL, is_camembert=is_camembert), ()
    if (folder / VOCAB).exists():
        return _wordpieces(folder, source, command)
    if not (folder / "merges.txt").exists():
        raise NotAModel(NO_MERGES.format(source=source))
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True), ()


def _as_saved(
    folder: Path, source: str, command: str
) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    """Return the tokenizer of a tokenizer.json, and a note where transformers reads it otherwise.

    For a BERT or an ALBERT transformers takes the pieces of the file and builds the rest anew:
    findings/tokenizer-json-rebuilt.sh. Only a case that a tokenizer_config.json states overrides
    the file, here as there.
    """
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    saved = Tokenizer.from_file(str(folder / TOKENIZER))
    saved.no_padding()
    saved.no_truncation()
    rebuilt = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    notes: tuple[str, ...] = ()
    if type(rebuilt) is not PreTrainedTokenizerFast:
        notes = _state_case(saved, read_json(folder / SETTINGS, source, "{}"))
    if _agree(rebuilt, saved):
        return rebuilt, notes
    added = {token.content: token for token in saved.get_added_tokens_decoder().values()}
    special = {
        role: added.get(token, token)
        for role, token in rebuilt.special_tokens_map.items()
        if isinstance(token, str) and saved.token_to_id(token) is not None
    }
    otherwise = OTHERWISE.format(file=TOKENIZER, command=command)
    return PreTrainedTokenizerFast(tokenizer_object=saved, **special), (*notes, otherwise)


def _agree(tokenizer: Any, saved: "Tokenizer") -> bool:  # noqa: ANN401 - any class of transformers
    """Return whether a tokenizer splits some texts as the one of a tokenizer.json does."""
    if not getattr(tokenizer, "is_fast", False) or not _holds(tokenizer, saved.get_vocab()):
        return False
    mask = str(tokenizer.mask_token)
    texts = [text.replace("[MASK]", mask) for text in TRIALS]
    return all(tokenizer(text)["input_ids"] == saved.encode(text).ids for text in texts)


def _state_case(saved: "Tokenizer", settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Give a tokenizer the case that its settings state; return a note if its file has another."""
    from tokenizers.normalizers import BertNormalizer

    normalizer, stated = saved.normalizer, settings.get("do_lower_case")
    if not isinstance(normalizer, BertNormalizer) or stated in (None, normalizer.lowercase):
        return ()
    normalizer.lowercase = stated
    saved.normalizer = normalizer
    return (CONTRADICTED.format(case="lower-cased" if stated else "not lower-cased"),)


def _refuse_python(folder: Path, source: str) -> None:
    """Refuse a tokenizer that is written in Python and splits words by another program."""
    for name in _classes(folder, source):
        if name.removesuffix("Fast") in ONLY_IN_PYTHON:
            raise NotAModel(FILES_OF_PYTHON.format(source=source, name=name))
        if (package := package_of(folder, name, source)) is not None:
            sentence = IN_PYTHON if package else BY_CHARACTERS
            command = CONVERT.format(source=source)
            values = {"source": source, "name": name, "package": package, "command": command}
            raise NotAModel(sentence.format(**values))


def package_of(folder: Path, name: str, source: str) -> str | None:
    """Return the package that a tokenizer's program needs; empty for none, None for no program."""
    package = NEEDS.get(name.removesuffix("Fast"))
    kind = read_json(folder / SETTINGS, source, "{}").get("word_tokenizer_type")
    return package and PROGRAMS.get(str(kind), package)


def python_class(folder: Path, source: str) -> str:
    """Return the tokenizer that splits words by a program of its own; empty if there is none."""
    return next((n for n in _classes(folder, source) if n.removesuffix("Fast") in NEEDS), "")


def _classes(folder: Path, source: str) -> list[str]:
    """Return the tokenizer's class and the model's type, as the files of a folder name them."""
    files = [read_json(folder / name, source, "{}") for name in (SETTINGS, "config.json")]
    named = [values.get(name) for values in files for name in ("tokenizer_class", "model_type")]
    return [name for name in named if isinstance(name, str)]


def _sentencepieces(
    folder: Path, source: str, command: str
) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    """Return the tokenizer of a spiece.model; where no case is stated, its pieces' own."""
    from explorer.models.choice.sentencepieces import sentencepiece_tokenizer

    settings = _plain(read_json(folder / SETTINGS, source, "{}"))
    tokenizer = sentencepiece_tokenizer(folder / SPIECE, settings)
    notes = (OTHERWISE.format(file=SPIECE, command=command),)
    if any(name in settings for name in ("do_lower_case", "keep_accents")):
        return tokenizer, (*notes, *case_note(tokenizer))
    n, most = len(unreachable(tokenizer)), SHARE * len(tokenizer)
    for case, said in SPIECE_CASES.items() if n > most else ():
        other = sentencepiece_tokenizer(folder / SPIECE, settings | dict(case))
        if len(unreachable(other)) <= most:
            unstated = UNSTATED.format(n=n, total=len(tokenizer), case=said)
            return other, (*notes, unstated)
    return tokenizer, notes


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which a special token is its text."""
    return {
        name: value.get("content") if isinstance(value, dict) and "content" in value else value
        for name, value in settings.items()
    }


def _wordpieces(
    folder: Path, source: str, command: str
) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    """Return the WordPiece tokenizer of a vocab.txt; where no case is stated, its pieces' own."""
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    settings = read_json(folder / SETTINGS, source, "{}")
    config = read_json(folder / "config.json", source, "{}")
    named = settings.get("tokenizer_class") or config.get("tokenizer_class")
    expected = TOKENIZER_MAPPING_NAMES.get(config.get("model_type"), WORDPIECE[0])
    otherwise = (OTHERWISE.format(file=VOCAB, command=command),)
    notes = () if (named or expected) in WORDPIECE else otherwise
    pieces = file_pieces(folder)
    begins = [piece for piece in pieces if piece.startswith("▁") and piece.strip("▁")]
    if len(begins) > SHARE * len(pieces):
        raise NotAModel(OF_SENTENCEPIECE.format(source=source, piece=begins[0]))
    tokenizer, most = _bert_tokenizer(folder, pieces, {}), SHARE * len(pieces)
    if any(name in settings for name in CASE):
        return tokenizer, (*notes, *case_note(tokenizer))
    n = len(unreachable(tokenizer))
    for case, said in CASES.items() if n > most else ():
        other = _bert_tokenizer(folder, pieces, dict(case))
        if len(unreachable(other)) <= most:
            unstated = UNSTATED.format(n=n, total=len(pieces), case=said)
            return other, (*otherwise, unstated)
    return tokenizer, notes


def _bert_tokenizer(
    folder: Path, pieces: Mapping[str, int], case: Mapping[str, bool]
) -> "PreTrainedTokenizerFast":
    """Return the tokenizer of BERT with these pieces and the folder's other settings."""
    from transformers import BertTokenizer

    if "[PAD]" in pieces and not case and _has_pieces_alone(folder / VOCAB):
        return BertTokenizer.from_pretrained(folder, local_files_only=True)
    settings = _plain(read_json(folder / SETTINGS, str(folder), "{}"))
    settings |= _plain(read_json(folder / SPECIAL, str(folder), "{}"))
    names = (*CASE, "tokenize_chinese_chars")
    known = {
        name: value
        for name, value in settings.items()
        if value is not None and (name in names or name.endswith("_token"))
    }
    added = read_json(folder / ADDED, str(folder), "{}")
    words = {piece: place for piece, place in pieces.items() if piece not in added}
    tokenizer = BertTokenizer(vocab=words, **(known | dict(case)))
    tokenizer.add_tokens(sorted(added, key=added.__getitem__))
    return tokenizer


def _has_pieces_alone(path: Path) -> bool:
    """Return whether a vocab.txt has neither a byte-order mark nor blank lines at its end."""
    return not has_mark(path) and not path.read_bytes().endswith((b"\n\n", b"\n\r\n"))


def file_pieces(folder: Path) -> dict[str, int]:
    """Return the ids of the pieces in a folder's vocabulary file; empty where none is known."""
    if (folder / TOKENIZER).exists():
        values = json.loads((folder / TOKENIZER).read_text("utf-8"))
        vocabulary = values["model"]["vocab"]
        if isinstance(vocabulary, list):
            vocabulary = {entry[0]: place for place, entry in enumerate(vocabulary)}
        return {**vocabulary, **{t["content"]: t["id"] for t in values.get("added_tokens") or ()}}
    if (folder / SPIECE).exists():
        from explorer.models.choice.sentencepieces import read_pieces

        return {p: place for place, (p, _) in enumerate(read_pieces(folder / SPIECE).scores)}
    if (folder / VOCAB).exists():
        # A byte-order mark is no part of the first piece.
        lines = (folder / VOCAB).read_text("utf-8-sig").rstrip("\n").split("\n")
        added = read_json(folder / ADDED, str(folder), "{}")
        return {line: place for place, line in enumerate(lines)} | added
    return {}


def _holds(tokenizer: Any, pieces: Mapping[str, int]) -> bool:  # noqa: ANN401
    known = tokenizer.get_vocab()
    return all(known.get(piece) == place for piece, place in pieces.items())


def check_tokenizer(
    tokenizer: "PreTrainedTokenizerFast",
    rows: int,
    source: str,
    pieces: Mapping[str, int] | None = None,
) -> None:
    """Check a tokenizer against the pieces of its file and the rows of its network.

    Raises:
        NotAModel: it is not fast, has no mask or padding token, knows no word, lacks pieces of its
            file, has special tokens that its file lacks, or more pieces than the network.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise NotAModel(NOT_FAST.format(source=source))
    for token in ("mask", "pad"):
        if getattr(tokenizer, f"{token}_token_id") is None:
            known = tokenizer.get_vocab()
            name = next((name for name in USUAL[token] if name in known), "")
            sentence = UNNAMED if name else NO_TOKEN
            raise NotAModel(sentence.format(source=source, token=token, name=name))
    n = len(tokenizer)
    if n <= len(set(tokenizer.all_special_tokens)):
        raise NotAModel(NO_WORDS.format(source=source, n=n))
    lacking = [t for t in dict.fromkeys(tokenizer.all_special_tokens) if t not in (pieces or (t,))]
    if lacking:
        raise NotAModel(LACKS.format(source=source, tokens=", ".join(lacking)))
    if pieces and not _holds(tokenizer, pieces):
        raise NotAModel(LOST.format(source=source, n=n, wanted=len(pieces), rows=rows))
    if n > rows:
        raise NotAModel(TOO_MANY.format(source=source, n=n, rows=rows))


def lowers_case(tokenizer: "PreTrainedTokenizerFast") -> bool:
    """Return whether a tokenizer lower-cases a text, found by a trial: no file has to state it."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and "A" not in normalizer.normalize_str("A")


def unreachable(tokenizer: "PreTrainedTokenizerFast") -> list[str]:
    """Return the pieces that no text can give, because its letters are changed before."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    if normalizer is None:
        return []
    special = set(tokenizer.all_special_tokens)
    words = (p for p in tokenizer.get_vocab() if p not in special and not UNUSED.fullmatch(p))
    bare = ((piece, _letters(piece.removeprefix("##").lstrip("▁"))) for piece in words)
    return [
        p for p, letters in bare if letters and _letters(_normal(normalizer, letters)) != letters
    ]


def _normal(normalizer: Any, letters: str) -> str:  # noqa: ANN401 - a class of tokenizers
    return str(normalizer.normalize_str(letters))


def _letters(text: str) -> str:
    return "".join(text.split())


def case_note(tokenizer: "PreTrainedTokenizerFast") -> tuple[str, ...]:
    """Return a note on a vocabulary whose pieces a stated lower-casing makes unreachable."""
    if not getattr(tokenizer, "is_fast", False) or not lowers_case(tokenizer):
        return ()
    n, total = len(unreachable(tokenizer)), len(tokenizer)
    return (STATED.format(n=n, total=total),) if n > SHARE * total else ()


def rows_note(tokenizer: "PreTrainedTokenizerFast", rows: int) -> tuple[str, ...]:
    """Return a note on the rows of a network that have no piece; none where each has one."""
    n = len(named(tokenizer.get_vocab().values(), rows))
    rest = "1 row" if rows - n == 1 else f"{rows - n:,} rows"
    return (ROWS.format(rows=rows, n=n, rest=rest),) if n < rows else ()


def _bare_note(tokenizer: "PreTrainedTokenizerFast") -> tuple[str, ...]:
    """Return a note on a tokenizer that adds no tokens to a text; none where it does."""
    cls, sep = tokenizer.cls_token, tokenizer.sep_token
    if cls is None or tokenizer.cls_token_id in tokenizer("a").input_ids:
        return ()
    return (BARE.format(cls=cls, sep=sep),)


def named(ids: Iterable[int], rows: int) -> set[int]:
    """Return the rows of a network that have a piece."""
    return {i for i in ids if i < rows}
