"""A checkpoint written anew: safetensors with today's names, a config and a fast tokenizer."""

import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile, copytree
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file, save_file

from explorer.models.choice.files import (
    ADAPTER,
    NO_PART,
    new_name,
    pickled_files,
    read_tensors,
    refuse_below,
    refuse_path,
    saved_bias,
    wrapper_of,
)
from explorer.models.choice.labels import NONE, further_heads
from explorer.models.choice.own import SMALL, check_tensors, fetched, has_head, read_config
from explorer.models.choice.reading import (
    SPIECE,
    TOKENIZER,
    VOCAB,
    file_pieces,
    python_class,
    read_tokenizer,
)
from explorer.models.choice.refused import NotAModel, read_json
from explorer.models.convert import pickles
from explorer.models.hub import TOKENIZERS, has_weights, save_tokenizer, weight_files
from explorer.models.specs import KINDS, MORE_KINDS, SAME_NETWORKS, ModelKind
from explorer.refusal import Sentence, brief

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast

logger = logging.getLogger(__name__)
Weights = dict[str, "torch.Tensor"]
PATIENCE_S = 1800
NO_FOLDER = Sentence(
    "no-such-folder", "There is no folder {source} here: give the folder of a checkpoint."
)
SAFE = ["adapter_config.json", "*.safetensors", "*.safetensors.index.json"]
"""Files of weights of a repository that are fetched first."""
PICKLED = ["pytorch_model*.bin", "adapter_model.bin"]
"""Files of weights that are fetched where there are no others."""
PARTS = "pytorch_model.bin.index.json"
NO_FILE = Sentence(
    "no-such-vocabulary", "There is no {path} here: give the file or the folder of a vocabulary."
)
NOT_EMPTY = Sentence(
    "folder-not-empty", "{target} is not empty: give a folder that does not exist yet."
)
RUNS_CODE = Sentence(
    "pickle-of-code",
    "{source} has, in {name}, a pickle that names {what}: opening it could run code, so it was not "
    "opened further.",
)
BROKEN_PICKLE = Sentence(
    "broken-pickle", "{source} has {name}, which torch cannot open as weights."
)
NOTHING = Sentence(
    "nothing-to-convert",
    "{source} holds no weights: no model.safetensors and no pytorch_model.bin.",
)
SEVERAL = Sentence(
    "several-weights-files",
    "{source} has weights in several files, {names}: leave the one that you mean in the folder.",
)
NO_KIND = Sentence(
    "type-not-stated",
    "{source} does not say of which type it is, and its tensors are of none of {known}.",
)
NO_VOCABULARY = Sentence(
    "no-vocabulary",
    "{source} has no tokenizer next to its weights or one folder above: name its file by "
    "--tokenizer.",
)
CLASSES = {
    "bert": "Bert",
    "albert": "Albert",
    "distilbert": "DistilBert",
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "camembert": "Camembert",
}
"""Names of the classes of transformers, without what they are for."""
POOLED = ("bert", "albert")
"""Architectures whose classifier is one linear layer on the pooled state of [CLS]."""
NO_SUCH_HEAD = Sentence(
    "no-such-further-head",
    "{source} has no head {head}; its heads that no config describes are: {known}.",
)
NO_POOLED = Sentence(
    "no-pooled-state",
    "{source} is of another architecture than {known}, whose classifiers read a pooled state.",
)
HEAD_TAKEN = (
    "{head} reads the pooled state of [CLS] here, as in {network}. No file says whether its "
    "authors do so."
)
HEADS_LEFT = "The heads {heads} are left out."
BAD_PATTERN = Sentence("bad-pattern", "“{pattern}” is no regular expression.")
BY_WORDS = (
    "Its tokenizer {name} splits words by a program of its own. The one that is written takes "
    "texts whose words are separated by blanks."
)
IN_CHARACTERS = (
    "Its tokenizer {name} splits words by a program of its own, and then into characters. The one "
    "that is written takes the characters."
)
BY_PATTERN = "Its tokenizer cuts a text by the given expression and drops what it does not match."


def fetched_repository(source: str) -> Path:
    """Return the folder with the files of a repository of the hub, ``REPO[@REVISION]``.

    Its pickled weights are fetched only where it has no safetensors.

    Raises:
        NotAModel: the hub does not answer, or has no such repository.
    """
    repo, _, revision = source.partition("@")
    folder = fetched(repo, revision, [*SMALL, *SAFE])
    if not has_weights(folder) and not [*folder.glob("adapter_model.safetensors")]:
        folder = fetched(repo, revision, [*SMALL, *SAFE, *PICKLED])
    return folder


def convert_folder(  # noqa: PLR0913 - the arguments of ``convert``
    source: Path,
    target: Path,
    *,
    cased: bool = False,
    pattern: str = "",
    tokenizer: str = "",
    head: str = "",
) -> tuple[str, ...]:
    """Write a checkpoint anew, with nothing at ``target`` unless all of it could be written.

    Args:
        source: The folder of the checkpoint, or of an adapter.
        target: The folder to write, which must not exist or be empty.
        cased: Keep the case of texts.
        pattern: A regular expression; its matches are the tokens.
        tokenizer: The file or folder of the vocabulary, where it is not in the folder.
        head: A linear layer of the file that becomes the classifier of texts.

    Returns:
        Sentences on what was changed beyond the form.

    Raises:
        NotAModel: it cannot be read, or would run code.
    """
    _check_places(source, target)
    with tempfile.TemporaryDirectory() as made:
        written = Path(made) / "checkpoint"
        written.mkdir()
        notes: tuple[str, ...] = ()
        origin = source
        if (source / ADAPTER).exists() and not has_weights(source):
            from explorer.models.convert.adapter import merge_adapter

            origin = Path(made) / "merged"
            notes = merge_adapter(source, origin)
        tensors = _weights(origin, str(source), Path(made))
        stated = read_json(origin / "config.json", str(source))
        values, taken = with_head(stated, tensors, head, str(source))
        config = _write_config(values, written, tensors, str(source))
        vocabulary = _vocabulary_folder(source, origin, tokenizer, Path(made))
        fast, more = _tokenizer(vocabulary, int(config["vocab_size"]), source, cased, pattern)
        save_tokenizer(fast, written)
        save_file(tensors, written / "model.safetensors", {"format": "pt"})
        kind = kind_of(config, tensors, str(source))
        shapes = read_tensors(written, str(source))
        check_tensors(read_config(written, kind, str(source)), shapes, str(source))
        copytree(written, target, dirs_exist_ok=True)
    return (*notes, *taken, *more)


def _check_places(source: Path, target: Path) -> None:
    """Refuse a source that is no folder, and a target that holds something."""
    if not source.is_dir():
        refuse_path(source, str(source))
        raise NotAModel(NO_FOLDER.format(source=brief(source)))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NotAModel(NOT_EMPTY.format(target=brief(target)))


def with_head(
    values: Mapping[str, Any], tensors: Weights, head: str, source: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Make a linear layer the classifier on the pooled state of [CLS]; drop the file's others.

    Args:
        values: The config's values.
        tensors: The tensors by name, which are changed.
        head: The layer's name, such as ``cls.species``; empty: nothing is changed.
        source: The folder, for messages.

    Returns:
        The values of a config with this head, and notes on it.

    Raises:
        NotAModel: there is no such layer, or the network has no pooled state.
    """
    if not head:
        return dict(values), ()
    kind = kind_of(values, tensors, source)
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    heads = further_heads(shapes, int(values.get(kind.config["d_model"], 0)))
    if head not in heads:
        known = ", ".join(map(brief, heads)) or NONE
        raise NotAModel(NO_SUCH_HEAD.format(source=source, head=brief(head), known=known))
    if kind.config_type not in POOLED:
        raise NotAModel(NO_POOLED.format(source=source, known=", ".join(POOLED)))
    for part in ("weight", "bias"):
        tensors[f"classifier.{part}"] = tensors[f"{head}.{part}"].clone()
        for name in heads:
            del tensors[f"{name}.{part}"]
    others = [brief(name) for name in heads if name != head]
    left = (HEADS_LEFT.format(heads=", ".join(others)),) if others else ()
    named = {str(place): f"LABEL_{place}" for place in range(heads[head])}
    network = f"{CLASSES[kind.config_type]}ForSequenceClassification"
    own = {"architectures": [network], "id2label": named, "num_labels": heads[head]}
    taken = HEAD_TAKEN.format(head=brief(head), network=network)
    return {**values, "label2id": {label: int(i) for i, label in named.items()}} | own, (
        taken,
        *left,
    )


def _weights(folder: Path, source: str, scratch: Path) -> Weights:
    """Return a checkpoint's tensors by their names of today, from safetensors or a pickle."""
    is_safe = has_weights(folder)
    if is_safe:
        read_tensors(folder, source)  # refuses what is damaged or no weights
    files = weight_files(folder) if is_safe else [_unpickled(folder, source, scratch)]
    tensors: Weights = {}
    for file in files:
        tensors |= load_file(file)
    prefix = wrapper_of(tensors, source)
    kept = {n: t for n, t in tensors.items() if not n.endswith("_ids")}
    return {new_name(name, prefix): tensor.contiguous() for name, tensor in kept.items()}


def _unpickled(folder: Path, source: str, scratch: Path) -> Path:
    """Return a safetensors file of a folder's pickled weights, written by another process.

    Raises:
        NotAModel: there are none, or opening them would run code.
    """
    refuse_below(folder, source)
    found = pickled_files(folder, source)
    parts = [path for path in found if path.name.startswith("pytorch_model")] or found
    if not parts:
        raise NotAModel(NOTHING.format(source=brief(source)))
    if parts is found and len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise NotAModel(SEVERAL.format(source=source, names=brief(names, 100)))
    listed = read_json(folder / PARTS, source, "{}").get("weight_map") or {}
    for name in sorted({*listed.values()} - {path.name for path in parts}):
        raise NotAModel(NO_PART.format(source=source, name=brief(name, 100)))
    target = scratch / "weights.safetensors"
    command = [sys.executable, "-I", pickles.__file__, *map(str, parts), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    name = parts[0].name
    if done.returncode == pickles.RUNS_CODE and (what := _named_in(done.stderr)):
        raise NotAModel(RUNS_CODE.format(source=source, name=name, what=what))
    if done.returncode:
        logger.warning("a pickle is refused: %s", done.stderr[-1000:])
        raise NotAModel(BROKEN_PICKLE.format(source=source, name=name))
    return target


def _named_in(error: str) -> str:
    """Return the class or function that torch refused to import, if its message names one."""
    words = error.replace("`", " ").replace(",", " ").split()
    after = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "GLOBAL"]
    return brief(after[0].rstrip(".")) if after else ""


def _write_config(
    given: Mapping[str, Any], written: Path, tensors: Weights, source: str
) -> dict[str, Any]:
    """Write the config with its type and the class that its tensors are of; return its values."""
    values = dict(given)
    kind = kind_of(values, tensors, source)
    values["model_type"] = kind.config_type
    values.pop("tokenizer_class", None)  # the tokenizer's own file names it
    values.setdefault("architectures", [_class_of(kind, tensors)])
    if not values.get("tie_word_embeddings", True):
        _state_the_applied_bias(tensors)
    (written / "config.json").write_text(json.dumps(values, indent=2) + "\n", "utf-8")
    return values


def _state_the_applied_bias(tensors: Weights) -> None:
    """Add the output bias that transformers 5 applies, where the file has that of 4 alone."""
    for name in [name for name in tensors if name.endswith(".decoder.weight")]:
        applied = f"{name.removesuffix('weight')}bias"
        if applied not in tensors and saved_bias(applied) in tensors:
            tensors[applied] = tensors[saved_bias(applied)].clone()


def kind_of(values: Mapping[str, Any], names: Mapping[str, Any], source: str) -> ModelKind:
    """Return the kind of a checkpoint: what its config says, else what its tensors are called.

    Raises:
        NotAModel: it is of no kind that is known here.
    """
    kinds = [*KINDS.values(), *MORE_KINDS.values(), *SAME_NETWORKS.values()]
    stated = values.get("model_type")
    for kind in kinds:
        starts = any(name.startswith(f"{kind.config_type}.") for name in names)
        if kind.config_type == stated or (stated is None and starts):
            return kind
    known = ", ".join(kind.config_type for kind in kinds)
    raise NotAModel(NO_KIND.format(source=source, known=known))


def _class_of(kind: ModelKind, tensors: Weights) -> str:
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    return CLASSES[kind.config_type] + ("ForMaskedLM" if has_head(shapes) else "Model")


def _vocabulary_folder(source: Path, origin: Path, given: str, made: Path) -> Path:
    """Return the folder with the vocabulary: the given one, the checkpoint's, or the one above.

    A file that is given is taken whatever it is called, and whatever is next to it.
    """
    if given:
        path = Path(given).expanduser()
        if not path.exists():
            raise NotAModel(NO_FILE.format(path=brief(path)))
        return path if path.is_dir() else _with_one_vocabulary(path, made / "vocabulary")
    for folder in (source, origin, source.resolve().parent):
        if any((folder / name).exists() for name in TOKENIZERS):
            return folder
    raise NotAModel(NO_VOCABULARY.format(source=brief(source)))


def _with_one_vocabulary(path: Path, folder: Path) -> Path:
    """Write a folder with one vocabulary file, under its usual name, and its settings."""
    folder.mkdir()
    usual = {".json": TOKENIZER, ".model": SPIECE}.get(path.suffix, VOCAB)
    name = path.name if path.name in TOKENIZERS else usual
    copyfile(path, folder / name)
    names = ("merges.txt",) if name == "vocab.json" else ()
    for other in (*names, "tokenizer_config.json", "special_tokens_map.json"):
        if (path.parent / other).exists():
            copyfile(path.parent / other, folder / other)
    return folder


def _tokenizer(
    folder: Path, rows: int, source: Path, cased: bool, pattern: str
) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    """Return the tokenizer to write, and what it does otherwise than its publisher's."""
    from transformers import BertTokenizer

    pieces = file_pieces(folder)
    # The class may be named in the config of the model alone.
    named = python_class(folder, str(source)) or python_class(source, str(source))
    if pattern:
        return pattern_tokenizer(pieces, pattern), (BY_PATTERN,)
    if named and pieces:
        return words_tokenizer(folder, pieces, named)
    if cased and pieces:
        return BertTokenizer(vocab=pieces, do_lower_case=False), ()
    return read_tokenizer(folder, rows, str(source)).tokenizer, ()


def words_tokenizer(
    folder: Path, pieces: Mapping[str, int], name: str
) -> "tuple[PreTrainedTokenizerFast, tuple[str, ...]]":
    """Return the tokenizer of Japanese pieces for words between blanks, or for characters.

    Both take a text in the form NFKC, as MeCab's does in BertJapaneseTokenizer.
    """
    from tokenizers import Regex, normalizers, pre_tokenizers
    from transformers import BertTokenizer, PreTrainedTokenizerFast

    settings = read_json(folder / "tokenizer_config.json", str(folder), "{}")
    lower = bool(settings.get("do_lower_case", False))
    tokenizer = BertTokenizer(
        vocab=dict(pieces), do_lower_case=lower, strip_accents=False, tokenize_chinese_chars=False
    )
    backend = tokenizer.backend_tokenizer
    backend.normalizer = normalizers.Sequence([normalizers.NFKC(), backend.normalizer])
    note = BY_WORDS
    if settings.get("subword_tokenizer_type") == "character":
        note = IN_CHARACTERS
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
        )
    # transformers would build the normaliser of a BertTokenizer anew, without NFKC.
    special = {n: v for n, v in tokenizer.special_tokens_map.items() if isinstance(v, str)}
    fast = PreTrainedTokenizerFast(tokenizer_object=backend, **special)
    return fast, (note.format(name=name),)


def pattern_tokenizer(pieces: Mapping[str, int], pattern: str) -> "PreTrainedTokenizerFast":
    """Return a tokenizer whose tokens are the matches of a regular expression.

    Raises:
        NotAModel: it is no regular expression.
    """
    from tokenizers import Regex, Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(WordLevel(dict(pieces), unk_token="[UNK]"))
    try:
        backend.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    except Exception as error:
        # tokenizers raises a bare Exception.
        raise NotAModel(BAD_PATTERN.format(pattern=brief(pattern))) from error
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, pieces[name]) for name in ("[CLS]", "[SEP]")],
    )
    roles = ("unk", "sep", "pad", "cls", "mask")
    special = {f"{role}_token": f"[{role.upper()}]" for role in roles}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)
