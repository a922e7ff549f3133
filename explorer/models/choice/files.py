"""Contents of a checkpoint's folder: its tensors, or the files that are there in their place."""

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import safe_open

from explorer.models.choice.refused import (
    CONVERT,
    NotAModel,
    has_mark,
    mistaken_for,
    read_json,
    unreadable,
)
from explorer.models.hub import TOKENIZERS, WEIGHT_PATTERNS, has_weights, weight_files
from explorer.refusal import brief

if TYPE_CHECKING:
    from transformers import PreTrainedModel

OLD_NAMES = {"gamma": "weight", "beta": "bias"}
"""Layer norm parameter names of the first checkpoints, and their names today."""
PREFIX = r"^(?:(?:module|_orig_mod|model|0\.auto_model)\.)+"
"""Prefixes of every tensor where a network was saved inside ``DataParallel``, ``torch.compile``, a
module of Lightning or a ``SentenceTransformer``."""
FLOATS = ("F64", "F32", "F16", "BF16")
Tensors = Mapping[str, tuple[int, ...]]
"""Shape of every tensor of a checkpoint, by name."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
NO_WEIGHTS_OF = {
    "training_args.bin",
    "optimizer.pt",
    "optimizer.bin",
    "scheduler.pt",
    "rng_state.pth",
}
"""Files that a training leaves next to the weights."""
FORMATS = {
    "*.onnx": "an ONNX graph",
    "tf_model.h5": "weights of TensorFlow",
    "*.h5": "weights of TensorFlow",
    "*.ckpt.index": "weights of TensorFlow",
    "*.ckpt.meta": "weights of TensorFlow",
    "flax_model.msgpack": "weights of Flax",
    "*.msgpack": "weights of Flax",
    "openvino_model.xml": "a network of OpenVINO",
    "*.gguf": "a network in GGUF",
}
ADAPTER = "adapter_config.json"
AN_ADAPTER = (
    "{source} is an adapter of {base}, without the model's own weights: merge them by “{command}”."
)
PICKLED = (
    "{source} has its weights in {name}, a pickle, which can run code and is not read: “{command}” "
    "writes them to model.safetensors."
)
OTHER_FORMAT = "{source} holds {what}, {name}, and no model.safetensors."
OTHER_NAME = "{source} holds {name}; the weights are expected in model.safetensors."
NO_WEIGHTS = "{source} has no model.safetensors; pickled weights can run code and are not read."
NO_FILES = "{source} has no {missing}; it holds {held}."
BELOW = "{source} has no config.json; the folder {below} in it has one."
NO_TOKENIZER = "{source} has no tokenizer beside its weights."
ALSO = " {source} also has no tokenizer: a tokenizer.json, vocab.txt or spiece.model."
MISTAKEN = "{source} has, as its {name}, {what}."
TRUNCATED = "{source} has {name} in part: {size:,} of {whole:,} bytes."
NO_PART = "{source} lacks {name}, a part that its list of parts names."
MARKED = (
    "{source} has a byte-order mark at the start of its {name}, which transformers cannot read: "
    "save it as UTF-8 without one."
)
DAMAGED = "a damaged file of weights"
NOT_FLOAT = "{source} has {name} in {dtype}; only weights in floating point are read."
NOT_FINITE = "{source} has {what} in {name}: such a network computes nothing."
OTHERWISE = (
    "transformers reads its {file} otherwise: “{command}” writes a folder that every library reads "
    "as it is read here."
)
TWO_BIASES = (
    "Its file has two output biases that differ: {applied} is applied, as transformers 5 does, and "
    "{saved} is not."
)
DECODER_BIAS = ".decoder.bias"
MAX_HELD = 5


def check_folder(folder: Path, source: str) -> None:
    """Check that a local folder has a config, weights and a tokenizer; name all that is missing.

    Raises:
        NotAModel: one is not there; the sentence names what is there and one command.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    has_tokenizer = any(name in names for name in TOKENIZERS)
    also = "" if has_tokenizer else ALSO.format(source=source)
    if not has_weights(folder) and ADAPTER in names:
        base = read_json(folder / ADAPTER, source).get("base_model_name_or_path")
        command = CONVERT.format(source=source)
        raise NotAModel(AN_ADAPTER.format(source=source, base=brief(base), command=command))
    if not has_weights(folder):
        raise NotAModel(_without_weights(folder, names, source) + also)
    if "config.json" not in names:
        raise NotAModel(_held(folder, names, source, "config.json") + also)
    if not has_tokenizer:
        raise NotAModel(NO_TOKENIZER.format(source=source))
    for name in names:
        if name.endswith(".json") and has_mark(folder / name):
            raise NotAModel(MARKED.format(source=source, name=name))


def _without_weights(folder: Path, names: list[str], source: str) -> str:
    """Return what is in a folder without a model.safetensors."""
    exports = [f"{path.parent.name}/{path.name}" for path in sorted(folder.glob("*/*.onnx"))]
    found = {
        pattern: name
        for pattern in (*PICKLES, *FORMATS, "*.safetensors")
        for name in (*exports, *names)
        if fnmatch(name, pattern) and name not in NO_WEIGHTS_OF
    }
    for pattern, name in found.items():
        if pattern in PICKLES:
            return PICKLED.format(source=source, name=name, command=CONVERT.format(source=source))
        if pattern in FORMATS:
            return OTHER_FORMAT.format(source=source, what=FORMATS[pattern], name=name)
        return OTHER_NAME.format(source=source, name=name)
    missing = "model.safetensors" + ("" if "config.json" in names else " and no config.json")
    return _held(folder, names, source, missing)


def _held(folder: Path, names: list[str], source: str, missing: str) -> str:
    below = sorted([*folder.glob("*/config.json"), *folder.glob("snapshots/*/config.json")])
    if below and "config.json" not in names:
        return BELOW.format(source=source, below=below[0].parent.relative_to(folder))
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
    return {new_name(name): shape for name, shape in shapes.items()}


def _parts(folder: Path, source: str) -> list[Path]:
    """Return the files of the weights, all of which are there."""
    try:
        files = weight_files(folder)
    except Exception as error:
        # The list of parts is JSON of any form.
        index = folder / WEIGHT_PATTERNS[-1]
        if what := mistaken_for(index):
            raise NotAModel(MISTAKEN.format(source=source, name=index.name, what=what)) from error
        raise unreadable(source, DAMAGED, error) from error
    for file in files:
        if not file.exists():
            raise NotAModel(NO_PART.format(source=source, name=brief(file.name, 100)))
    return files


def _damage(file: Path, source: str) -> str:
    """Return what is wrong with a file of weights: something else, or cut off; empty if unknown."""
    if what := mistaken_for(file):
        return MISTAKEN.format(source=source, name=file.name, what=what)
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = 8 + int.from_bytes(opened.read(8), "little")
        head = opened.read(min(start - 8, size))
    if size < start <= 2**32:
        return TRUNCATED.format(source=source, name=file.name, size=size, whole=start)
    try:
        header = json.loads(head)
        whole = start + max(t["data_offsets"][1] for n, t in header.items() if n != "__metadata__")
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
    is_cut = size < whole
    return TRUNCATED.format(source=source, name=file.name, size=size, whole=whole) if is_cut else ""


def new_name(name: str) -> str:
    """Return a tensor's name of today: without a wrapper's prefix, norms by weight and bias."""
    start, _, last = re.sub(PREFIX, "", name).rpartition(".")
    last = OLD_NAMES.get(last, last)
    return f"{start}.{last}" if start else last


def saved_bias(name: str) -> str:
    """Return the name under which transformers 4 saved an output bias; empty for other weights."""
    return f"{name.removesuffix(DECODER_BIAS)}.bias" if name.endswith(DECODER_BIAS) else ""


def two_biases(folder: Path) -> tuple[str, ...]:
    """Return a note on a file with two output biases that differ; none without them."""
    found: dict[str, Any] = {}
    for file in weight_files(folder):
        with safe_open(file, "pt") as opened:
            names = (n for n in opened.keys() if n.endswith(("predictions.bias", DECODER_BIAS)))  # noqa: SIM118
            found |= {new_name(name): opened.get_tensor(name) for name in names}
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
    if has_one_bias or any(re.match(PREFIX, name) for name in names):
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
    """Check that every weight of a network in memory is finite.

    Raises:
        NotAModel: one is not; the sentence names the tensor.
    """
    for name, parameter in network.named_parameters():
        check_finite(parameter.detach(), name, source)


def check_finite(tensor: "object", name: str, source: str) -> None:
    """Refuse a tensor with NaN or infinity, by its name."""
    import torch

    assert isinstance(tensor, torch.Tensor)
    if not tensor.is_floating_point() or bool(torch.isfinite(tensor).all()):
        return
    what = "NaN" if bool(torch.isnan(tensor).any()) else "infinity"
    raise NotAModel(NOT_FINITE.format(source=source, what=what, name=brief(name, 100)))
