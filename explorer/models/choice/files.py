"""Contents of a checkpoint's folder: its tensors, or the files that are there in their place."""

import json
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from explorer.models.choice.refused import (
    CONVERT,
    NotAModel,
    has_mark,
    mistaken,
    mistaken_for,
    read_json,
    unreadable,
)
from explorer.models.hub import TOKENIZERS, WEIGHT_PATTERNS, has_weights, weight_files
from explorer.refusal import Sentence, brief, joined

if TYPE_CHECKING:
    from transformers import PreTrainedModel

OLD_NAMES = {"gamma": "weight", "beta": "bias"}
"""Layer norm parameter names of the first checkpoints, and their names today."""
OWN_PREFIXES = ("bert", "distilbert", "albert", "roberta")
"""First parts of the encoders' names in the networks that are shown here."""
EMBEDDINGS = re.compile(
    rf"((?:[^.]+\.)*?)(?:(?:{'|'.join(OWN_PREFIXES)})\.)?embeddings\.word_embeddings\.weight"
)
"""Name of the word embeddings; the group is the prefix of a module in which a network was saved."""
FLOATS = ("F64", "F32", "F16", "BF16")
Tensors = Mapping[str, tuple[int, ...]]
"""Shape of every tensor of a checkpoint, by name."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
NO_WEIGHTS_OF = (
    "training_args.bin",
    "optimizer*.pt",
    "optimizer*.bin",
    "scheduler.pt",
    "scaler.pt",
    "rng_state*.pth",
)
"""Files that a training leaves next to the weights."""
FORMATS = {
    "*.onnx": Sentence("onnx-graph", "an ONNX graph"),
    "tf_model.h5": Sentence("tensorflow-weights", "weights of TensorFlow"),
    "*.h5": Sentence("tensorflow-weights", "weights of TensorFlow"),
    "*.ckpt.index": Sentence("tensorflow-weights", "weights of TensorFlow"),
    "*.ckpt.meta": Sentence("tensorflow-weights", "weights of TensorFlow"),
    "flax_model.msgpack": Sentence("flax-weights", "weights of Flax"),
    "*.msgpack": Sentence("flax-weights", "weights of Flax"),
    "*.xml": Sentence("openvino", "a network of OpenVINO"),
    "*.gguf": Sentence("gguf", "a network in GGUF"),
    "*.ot": Sentence("rust-weights", "weights of rust-bert"),
    "*.tflite": Sentence("tensorflow-lite", "a network of TensorFlow Lite"),
    "*.mlmodel": Sentence("core-ml", "a network of Core ML"),
}
IN_PARTS = {
    "zero_to_fp32.py": "“python zero_to_fp32.py . OUTPUT --safe_serialization” in that folder",
    "*/*.distcp": "“accelerate merge-weights {folder} OUTPUT” in that folder",
}
"""Files that only a training on several processes writes, and the command that joins its parts."""
A_PICKLE = Sentence("renamed-pickle", "a pickle, as torch.save writes it")
PICKLED_AS = (b"PK\x03\x04", b"\x80")
"""First bytes of what ``torch.save`` writes, today and before version 1.6."""
ADAPTER = "adapter_config.json"
AN_ADAPTER = Sentence(
    "unmerged-adapter",
    "{source} is an adapter of {base}, without the model's own weights: merge them by “{command}”.",
)
PICKLED = Sentence(
    "pickled-weights",
    "{source} has its weights in {name}, a pickle, which can run code and is not read: “{command}” "
    "writes them to model.safetensors.",
)
OTHER_FORMAT = "{source} holds {what}, {name}, and no model.safetensors."
PARTS_OF_TRAINING = Sentence(
    "parts-of-training",
    "{source} holds the parts of a training on several processes, {name}: {command} joins them.",
)
OTHER_NAME = Sentence(
    "weights-of-other-name", "{source} holds {name}; the weights are expected in model.safetensors."
)
NO_WEIGHTS = Sentence(
    "no-weights",
    "{source} has no model.safetensors; pickled weights can run code and are not read.",
)
NO_FILES = Sentence("incomplete-folder", "{source} has no {missing}; it holds {held}.")
BELOW = Sentence(
    "checkpoint-below", "{source} has no config.json; the folder {below} in it has one."
)
NO_TOKENIZER = Sentence("no-tokenizer", "{source} has no tokenizer next to its weights.")
TOKENIZER_ABOVE = Sentence(
    "tokenizer-above",
    "{source} has no tokenizer next to its weights; the folder above it has one: “{command}” "
    "writes them together.",
)
ALSO = "{source} also has no tokenizer: a tokenizer.json, vocab.txt or spiece.model."
TRUNCATED = Sentence("truncated-file", "{source} has {name} in part: {size:,} of {whole:,} bytes.")
NO_PART = Sentence("missing-part", "{source} lacks {name}, a part that its list of parts names.")
MARKED = Sentence(
    "byte-order-mark",
    "{source} has a byte-order mark at the start of its {name}, which transformers cannot read: "
    "save it as UTF-8 without one.",
)
DAMAGED = Sentence("damaged-weights", "a damaged file of weights")
TWO_NETWORKS = Sentence(
    "several-networks",
    "{source} holds the weights of several networks, {names}: save the one that you mean.",
)
NOT_FLOAT = Sentence(
    "not-floating-point", "{source} has {name} in {dtype}; only weights in floating point are read."
)
NOT_FINITE = Sentence(
    "not-finite-weights", "{source} has {what} in {name}: such a network computes nothing."
)
OTHERWISE = (
    "transformers reads its {file} otherwise: “{command}” writes a folder that every library reads "
    "as it is read here."
)
TWO_BIASES = (
    "Its file has two output biases that differ: {applied} is applied, as transformers 5 does, and "
    "{saved} is not."
)
DECODER_BIAS = ".decoder.bias"
A_FILE = Sentence("is-a-file", "{source} is a file: give the folder that holds it.")
AN_EXPORT = Sentence(
    "is-an-export",
    "{source} holds {what}: give the folder of the checkpoint that it was made from.",
)
AN_ARCHIVE = Sentence("is-an-archive", "{source} is an archive: unpack it, and give the folder.")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".whl")
WITH_OWNER = Sentence(
    "without-owner",
    "{source!r} is no folder here, and a repository of the hub is named with its owner: {repo}.",
)
OWNERS = {
    "bert-": "google-bert",
    "distilbert-": "distilbert",
    "albert-": "albert",
    "roberta-": "FacebookAI",
    "xlm-roberta-": "FacebookAI",
    "camembert-": "almanach",
}
"""Owners of the repositories that had none in their names at first, by the start of the name."""
AN_ADDRESS = Sentence(
    "is-an-address", "{source} is an address: a repository is given as OWNER/NAME, here {repo}."
)
ADDRESS = re.compile(r"(?:\w+://(?:\w[\w-]*\.[^/]+/)?|git@[^:]+:)(\w[\w.-]*/[\w.-]+)")
QUANTISED = ("torch.ao.nn.quantized", "torchao.quantization")
"""Modules of torch whose layers keep their weights as whole numbers."""
MAX_HELD = 5


def refuse_path(path: Path, source: str) -> None:
    """Refuse a file, an archive or an address in place of a folder or a repository."""
    if path.is_file():
        sentence = AN_ARCHIVE if path.suffix in ARCHIVES else A_FILE
        export = next((what for name, what in FORMATS.items() if fnmatch(path.name, name)), "")
        sentence = AN_EXPORT if export else sentence
        raise NotAModel(sentence.format(source=source, what=export))
    if address := ADDRESS.match(source):
        repo = address[1].removesuffix(".git")
        raise NotAModel(AN_ADDRESS.format(source=brief(source, 200), repo=repo))
    for start, owner in OWNERS.items():
        if source.startswith(start) and "/" not in source:
            raise NotAModel(WITH_OWNER.format(source=source, repo=f"{owner}/{brief(source)}"))


def check_folder(folder: Path, source: str) -> None:
    """Check that a local folder has a config, weights and a tokenizer; name all that is missing.

    Raises:
        NotAModel: one is not there; the sentence names what is there and one command.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    has_tokenizer = any(name in names for name in TOKENIZERS)
    also = [] if has_tokenizer else [ALSO.format(source=source)]
    if not has_weights(folder) and ADAPTER in names:
        base = read_json(folder / ADAPTER, source).get("base_model_name_or_path")
        command = CONVERT.format(source=source)
        raise NotAModel(AN_ADAPTER.format(source=source, base=brief(base), command=command))
    if not has_weights(folder):
        refuse_below(folder, source)
        raise NotAModel(joined([_without_weights(folder, names, source), *also]))
    if "config.json" not in names:
        raise NotAModel(joined([_held(names, source, "config.json"), *also]))
    if not has_tokenizer:
        has_above = any((folder.resolve().parent / name).exists() for name in TOKENIZERS)
        sentence = TOKENIZER_ABOVE if has_above else NO_TOKENIZER
        raise NotAModel(sentence.format(source=source, command=CONVERT.format(source=source)))
    for name in names:
        if name.endswith(".json") and has_mark(folder / name):
            raise NotAModel(MARKED.format(source=source, name=name))


def _without_weights(folder: Path, names: list[str], source: str) -> Sentence:
    """Return what is in a folder without a model.safetensors."""
    exports = [f"{path.parent.name}/{path.name}" for path in sorted(folder.glob("*/*.onnx"))]
    if pickled := pickled_files(folder, source):
        command = CONVERT.format(source=source)
        return PICKLED.format(source=source, name=pickled[0].name, command=command)
    for pattern, command in IN_PARTS.items():
        for path in sorted(folder.glob(pattern)):
            name = str(path.relative_to(folder))
            joins = command.format(folder=path.parent.name)
            return PARTS_OF_TRAINING.format(source=source, name=name, command=joins)
    for pattern, what in {**FORMATS, "*.safetensors": None}.items():
        for name in (name for name in (*exports, *names) if fnmatch(name, pattern)):
            sentence = Sentence(what.code, OTHER_FORMAT) if what else OTHER_NAME
            return sentence.format(source=source, what=what, name=name)
    missing = "model.safetensors" + ("" if "config.json" in names else " and no config.json")
    return _held(names, source, missing)


def pickled_files(folder: Path, source: str) -> list[Path]:
    """Return the files of a folder that are pickled weights, whatever else is called ``.bin``.

    Raises:
        NotAModel: one is a pointer, a page or empty.
    """
    found = []
    for path in sorted(folder.iterdir()):
        is_named = path.is_file() and any(fnmatch(path.name, pattern) for pattern in PICKLES)
        if not is_named or any(fnmatch(path.name, pattern) for pattern in NO_WEIGHTS_OF):
            continue
        if what := mistaken_for(path):
            raise NotAModel(mistaken(source, path.name, what))
        with path.open("rb") as file:
            is_pickle = file.read(4).startswith(PICKLED_AS)
        if is_pickle or path.name.startswith("pytorch_model"):
            found.append(path)
    return found


def refuse_below(folder: Path, source: str) -> None:
    """Refuse a folder whose checkpoint is one folder further down, by the newest one's name."""
    below = [*folder.glob("*/config.json"), *folder.glob("snapshots/*/config.json")]
    below = [path.parent for path in below if has_weights(path.parent) or _is_pickled(path.parent)]
    if below and not (folder / "config.json").exists():
        newest = max(below, key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)])
        raise NotAModel(BELOW.format(source=source, below=newest.relative_to(folder)))


def _is_pickled(folder: Path) -> bool:
    return any(folder.glob("pytorch_model*.bin"))


def _held(names: list[str], source: str, missing: str) -> Sentence:
    held = ", ".join(names[:MAX_HELD]) + (" and more" if len(names) > MAX_HELD else "")
    return NO_FILES.format(source=source, missing=missing, held=held or "no file")


def read_tensors(folder: Path, source: str) -> Tensors:
    """Return the tensors' shapes, by their names of today; only the file headers are read.

    Raises:
        NotAModel: there are none, a file is damaged or something else, or a tensor is no float.
    """
    if not has_weights(folder):
        raise NotAModel(NO_WEIGHTS.format(source=source))
    shapes: dict[str, tuple[int, ...]] = {}
    for file in _parts(folder, source):
        try:
            with safe_open(file, "pt") as opened:
                slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
                shapes |= {name: tuple(part.get_shape()) for name, part in slices.items()}
                dtypes = {name: str(part.get_dtype()) for name, part in slices.items()}
        except Exception as error:
            # safetensors raises its own errors for each kind of damage.
            if why := _damage(file, source):
                raise NotAModel(why) from error
            raise unreadable(source, DAMAGED, error) from error
        for name, dtype in dtypes.items():
            if dtype not in FLOATS and not name.endswith("_ids"):
                named = brief(name, 100)
                raise NotAModel(NOT_FLOAT.format(source=source, name=named, dtype=dtype))
    prefix = wrapper_of(shapes, source)
    return {new_name(name, prefix): shape for name, shape in shapes.items()}


def _parts(folder: Path, source: str) -> list[Path]:
    """Return the files of the weights, all of which are there."""
    try:
        files = weight_files(folder)
    except Exception as error:
        # The list of parts is JSON of any form.
        index = folder / WEIGHT_PATTERNS[-1]
        if what := mistaken_for(index):
            raise NotAModel(mistaken(source, index.name, what)) from error
        raise unreadable(source, DAMAGED, error) from error
    for file in files:
        if not file.exists():
            raise NotAModel(NO_PART.format(source=source, name=brief(file.name, 100)))
    return files


def _damage(file: Path, source: str) -> Sentence | None:
    """Return what is wrong with a file of weights: something else, or cut off; None if unknown."""
    if what := mistaken_for(file):
        return mistaken(source, file.name, what)
    size = file.stat().st_size
    with file.open("rb") as opened:
        first = opened.read(8)
        if first.startswith(PICKLED_AS):
            return mistaken(source, file.name, A_PICKLE)
        start = 8 + int.from_bytes(first, "little")
        head = opened.read(min(start - 8, size))
    if size < start <= 2**32:
        return TRUNCATED.format(source=source, name=file.name, size=size, whole=start)
    try:
        header = json.loads(head)
        whole = start + max(t["data_offsets"][1] for n, t in header.items() if n != "__metadata__")
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    if size >= whole:
        return None
    return TRUNCATED.format(source=source, name=file.name, size=size, whole=whole)


def wrapper_of(names: Iterable[str], source: str) -> str:
    """Return the prefix of the module that a network was saved in, by its word embeddings.

    ``module.`` is that of ``DataParallel``, ``_orig_mod.`` of ``torch.compile``, ``model.`` of
    Lightning, ``base_model.model.`` of peft. Empty where there is none, and where the prefix is the
    name of another architecture: ``electra.``.

    Raises:
        NotAModel: there are the word embeddings of several networks, and all have a prefix.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    others = {*CONFIG_MAPPING_NAMES} - {*OWN_PREFIXES}
    matches = (match for name in names if (match := EMBEDDINGS.fullmatch(name)))
    found = {match[1] for match in matches if not others & {*match[1].split(".")}}
    if len(found) > 1 and "" not in found:
        named = " and ".join(sorted(prefix.rstrip(".") for prefix in found))
        raise NotAModel(TWO_NETWORKS.format(source=source, names=named))
    return "" if "" in found else next(iter(found), "")


def wrapper_in(folder: Path, source: str) -> str:
    """Return the prefix in a folder's file of weights: see ``wrapper_of``."""
    names = set[str]()
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            names |= set(opened.keys())
    return wrapper_of(names, source)


def new_name(name: str, prefix: str = "") -> str:
    """Return a tensor's name of today: without a wrapper's prefix, norms by weight and bias."""
    start, _, last = name.removeprefix(prefix).rpartition(".")
    last = OLD_NAMES.get(last, last)
    return f"{start}.{last}" if start else last


def saved_bias(name: str) -> str:
    """Return the name under which transformers 4 saved an output bias; empty for other weights."""
    return f"{name.removesuffix(DECODER_BIAS)}.bias" if name.endswith(DECODER_BIAS) else ""


def two_biases(folder: Path) -> tuple[str, ...]:
    """Return a note on a file with two output biases that differ; none without them."""
    found: dict[str, Any] = {}
    prefix = wrapper_in(folder, str(folder))
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            names = (n for n in opened.keys() if n.endswith(("predictions.bias", DECODER_BIAS)))  # noqa: SIM118
            found |= {new_name(name, prefix): opened.get_tensor(name) for name in names}
    for name, bias in found.items():
        saved = saved_bias(name)
        if saved in found and not bool((found[saved] == bias).all()):
            return (TWO_BIASES.format(applied=name, saved=saved),)
    return ()


def read_otherwise(folder: Path, ties_words: bool, source: str) -> tuple[str, ...]:
    """Return a note on files that plain transformers reads in another way, or not at all."""
    command = CONVERT.format(source=source)
    notes = []
    if "model_type" not in read_json(folder / "config.json", source):
        notes.append(OTHERWISE.format(file="config.json without a model_type", command=command))
    names = set[str]()
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            names |= set(opened.keys())
    has_one_bias = not ties_words and any(
        name.endswith(".decoder.weight") and f"{name.removesuffix('weight')}bias" not in names
        for name in names
    )
    # transformers finds a network whose prefix is the encoder's own: bert.bert.encoder.
    is_wrapped = wrapper_of(names, source) not in ("", *(f"{name}." for name in OWN_PREFIXES))
    if has_one_bias or is_wrapped:
        notes.append(OTHERWISE.format(file="model.safetensors", command=command))
    return tuple(notes)


def check_values(folder: Path, source: str) -> None:
    """Check that every number of the weights is finite; the whole file is read.

    Raises:
        NotAModel: one is not; the sentence names the tensor.
    """
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            for name in opened.keys():  # noqa: SIM118
                check_finite(opened.get_tensor(name), name, source)


def check_network(network: "PreTrainedModel", source: str) -> None:
    """Check that every weight of a network in memory is a finite number in floating point.

    Raises:
        NotAModel: one is not; the sentence names the tensor.
    """
    for name, module in network.named_modules():
        if type(module).__module__.startswith(QUANTISED):
            raise NotAModel(NOT_FLOAT.format(source=source, name=name, dtype="qint8"))
    for name, parameter in network.named_parameters():
        if not parameter.is_floating_point():
            dtype = str(parameter.dtype).removeprefix("torch.")
            raise NotAModel(NOT_FLOAT.format(source=source, name=name, dtype=dtype))
        check_finite(parameter.detach(), name, source)


def check_finite(tensor: "object", name: str, source: str) -> None:
    """Refuse a tensor with NaN or infinity, by its name."""
    import torch

    assert isinstance(tensor, torch.Tensor)
    if not tensor.is_floating_point() or bool(torch.isfinite(tensor).all()):
        return
    what = "NaN" if bool(torch.isnan(tensor).any()) else "infinity"
    raise NotAModel(NOT_FINITE.format(source=source, what=what, name=brief(name, 100)))
