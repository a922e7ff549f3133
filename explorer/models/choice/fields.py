"""The fields of a config.json: which ones change a forward pass, and what is done about each.

A field is *implemented* (the network computes with its value), *has no effect here*, or is *refused
unless at* one of the listed values. A field that is in none of the three is named in a note.
"""

from collections.abc import Mapping
from typing import Any

from explorer.models.choice.refused import NotAModel
from explorer.models.specs import ModelKind
from explorer.refusal import Sentence, brief

IMPLEMENTED = "implemented"
NO_EFFECT = "has no effect here"
Values = tuple[object, ...]
"""Values at which a field is accepted."""
_SHAPE = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
    "hidden_act",
    "layer_norm_eps",
    "tie_word_embeddings",
)
_IMPLEMENTED: Mapping[str, tuple[str, ...]] = {
    "bert": _SHAPE,
    "roberta": _SHAPE,
    "xlm-roberta": _SHAPE,
    "camembert": _SHAPE,
    "albert": (*_SHAPE, "embedding_size"),
    "distilbert": (
        "vocab_size",
        "dim",
        "n_layers",
        "n_heads",
        "hidden_dim",
        "max_position_embeddings",
        "activation",
        "tie_word_embeddings",
    ),
}
_ONLY: Mapping[str, Values] = {
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "pruned_heads": ({}, None),
    "quantization_config": (None,),
    "per_layer_config": (None,),
    "directionality": ("bidi",),
}
"""For every kind. transformers keeps the first in the config and computes absolute positions."""
_ONLY_OF: Mapping[str, Mapping[str, Values]] = {
    "albert": {
        "num_hidden_groups": (1,),
        "inner_group_num": (1,),
        "down_scale_factor": (1,),
        "gap_size": (0,),
        "net_structure_type": (0,),
        "num_memory_blocks": (0,),
    },
    **{key: {"pad_token_id": (1,)} for key in ("roberta", "xlm-roberta", "camembert")},
}
"""For one kind. A RoBERTa's positions begin behind its padding token's id."""
_OF_TRAINING = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "classifier_dropout",
    "classifier_dropout_prob",
    "dropout",
    "attention_dropout",
    "qa_dropout",
    "seq_classif_dropout",
    "summary_first_dropout",
    "pooler_dropout",
    "pooler_act",
    "initializer_range",
    "sinusoidal_pos_embds",
    "gradient_checkpointing",
    "finetuning_task",
    "adapters",
    "task_specific_params",
)
"""Dropout is off in a forward pass, and a position table is read from the file."""
_OF_OUTPUT = (
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "return_dict",
    "torchscript",
    "use_cache",
    "use_return_dict",
    "chunk_size_feed_forward",
    "dtype",
    "torch_dtype",
    "use_bfloat16",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "experts_implementation",
)
"""Each call and each load states its own."""
_OF_HEADS = ("id2label", "label2id", "num_labels", "_num_labels", "problem_type")
"""Read where a head for a task is used: see ``own.task_head_of``."""
_NAMES = (
    "_commit_hash",
    "_name_or_path",
    "name_or_path",
    "architectures",
    "model_type",
    "transformers_version",
    "tokenizer_class",
    "language",
    "prefix",
    "pad_token_id",
    "bos_token_id",
    "eos_token_id",
    "eos_token_ids",
    "sep_token_id",
    "cls_token_id",
    "unk_token_id",
    "mask_token_id",
    "decoder_start_token_id",
    "tie_encoder_decoder",
    "cross_attention_hidden_size",
)
_OF_GENERATION = (
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "tf_legacy_loss",
    "top_k",
    "top_p",
    "typical_p",
)
_OF_POOLERS = (
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "tie_weights_",
)
"""In the configs of Google's multilingual BERT, whose published code does not read them either, and
of the published DistilBERTs, where ``tie_word_embeddings`` is read."""
_WITHOUT_EFFECT = (
    *_OF_TRAINING,
    *_OF_OUTPUT,
    *_OF_HEADS,
    *_NAMES,
    *_OF_GENERATION,
    *_OF_POOLERS,
)
ONLY_AT = Sentence(
    "unsupported-field", "{source} has {value} as {name}; only {allowed} is supported for {label}."
)
UNREAD = "Its config.json has {names}, which no network here computes with."
MAX_NAMED = 6


def fields_of(kind: ModelKind) -> dict[str, str | Values]:
    """Return what is done about each known field: ``IMPLEMENTED``, ``NO_EFFECT`` or its values."""
    table: dict[str, str | Values] = dict.fromkeys(_WITHOUT_EFFECT, NO_EFFECT)
    table |= dict.fromkeys(_IMPLEMENTED[kind.config_type], IMPLEMENTED)
    return {**table, **_ONLY, **_ONLY_OF.get(kind.config_type, {})}


def check_fields(values: Mapping[str, Any], kind: ModelKind, source: str) -> None:
    """Check that the fields that are not implemented are at the values that compute the same.

    Raises:
        NotAModel: one is not; the sentence names it.
    """
    for name, allowed in fields_of(kind).items():
        if isinstance(allowed, tuple) and name in values and values[name] not in allowed:
            raise NotAModel(
                ONLY_AT.format(
                    source=source,
                    value=brief(values[name]),
                    name=name,
                    allowed=allowed[0],
                    label=kind.label,
                )
            )


def unread_fields(values: Mapping[str, Any], kind: ModelKind) -> tuple[str, ...]:
    """Return a note on the fields of a config that the table does not know; none without any."""
    known = fields_of(kind)
    names = [name for name in values if name not in known]
    if not names:
        return ()
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    named = ", ".join(brief(name) for name in names[:MAX_NAMED])
    return (UNREAD.format(names=named + more),)
