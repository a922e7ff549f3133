"""Networks that a caller holds in memory: described as one more size of a column, never copied."""

from dataclasses import replace
from typing import Any

from transformers import AutoTokenizer, PreTrainedModel

from explorer.models.choice.files import HEADS, NotAModel, check_numbers, lowers_case, shape_of
from explorer.models.choice.own import add_spec
from explorer.models.loading import DTYPES, LoadedModel, vocabulary_of
from explorer.models.specs import KINDS, MORE_KINDS, ModelSpec
from explorer.refusal import brief

NO_NETWORK = "{source} is no model of transformers: give the model object, or it and its tokenizer."
NO_TOKENIZER = (
    "The model given as {key} comes without a tokenizer, and none is beside its files: give both, "
    "as (model, tokenizer)."
)
NO_DTYPE = "The model given as {key} has weights in {dtype}; {known} can be used."


def given_model(key: str, network: Any, tokenizer: Any = None) -> LoadedModel:  # noqa: ANN401
    """Describe a network in memory and its tokenizer as a model of a column; nothing is copied.

    Raises:
        NotAModel: it cannot be used in this column; the message is one sentence.
    """
    if not isinstance(network, PreTrainedModel):
        raise NotAModel(NO_NETWORK.format(source=brief(type(network).__name__)))
    source = f"The model given as {key}"
    kind, config = KINDS.get(key) or MORE_KINDS[key], network.config
    check_numbers(config.to_dict(), kind, source)
    tokenizer = tokenizer or _tokenizer_of(network, key)
    device = str(network.device).removesuffix(":0")
    dtype = str(network.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise NotAModel(NO_DTYPE.format(key=key, dtype=dtype, known=", ".join(DTYPES)))
    names = [name for name, _ in network.named_parameters()]
    shape = shape_of(config, kind, source)
    spec = ModelSpec(
        key,
        str(config._name_or_path or "given"),
        replace(shape, has_pooler=any("pooler" in name for name in names)),
        is_own=True,
        has_head=any(part in name for name in names for part in HEADS),
        lower_case=lowers_case(tokenizer, config, source),
    )
    wanted = (kind.pair.weights, "pooler") if kind.pair else ()
    missing = tuple(part for part in wanted if not any(part in name for name in names))
    pieces = vocabulary_of(network, tokenizer)
    return LoadedModel(add_spec(spec), network, tokenizer, device, dtype, missing, pieces)


def _tokenizer_of(network: PreTrainedModel, key: str) -> Any:  # noqa: ANN401
    """Return the tokenizer beside a network's files; nothing is downloaded for it."""
    try:
        return AutoTokenizer.from_pretrained(network.config._name_or_path, local_files_only=True)
    except Exception as error:
        # transformers, the hub's client and json raise their own errors.
        raise NotAModel(NO_TOKENIZER.format(key=key)) from error
