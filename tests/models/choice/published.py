"""Contents of the seven published checkpoints: tensor names, configs, tokenizer settings; frozen.

Written by hand, since the hub is not accessed, and independent of any library whose names could
change. The library that saved a file decides whether it also stores the decoder, which is tied
to the word embeddings.
"""

from itertools import product

LINEAR, NORM, OLD_NORM = ("weight", "bias"), ("weight", "bias"), ("gamma", "beta")
EMBEDDINGS = ("word_embeddings", "position_embeddings")
DECODER = {
    "bert": "cls.predictions.decoder.weight",
    "distilbert": "vocab_projector.weight",
    "albert": "predictions.decoder.weight",
}


def _each(start, modules, endings):
    return [f"{start}{module}.{ending}" for module, ending in product(modules, endings)]


def _bert(n_layers):
    names = _each("bert.embeddings.", (*EMBEDDINGS, "token_type_embeddings"), ("weight",))
    names += _each("bert.embeddings.", ("LayerNorm",), OLD_NORM)
    for n in range(n_layers):
        start = f"bert.encoder.layer.{n}."
        attention = [f"attention.self.{part}" for part in ("query", "key", "value")]
        dense = (*attention, "attention.output.dense", "intermediate.dense", "output.dense")
        names += _each(start, dense, LINEAR)
        names += _each(start, ("attention.output.LayerNorm", "output.LayerNorm"), OLD_NORM)
    heads = ("bert.pooler.dense", "cls.predictions.transform.dense", "cls.seq_relationship")
    names += _each("", heads, LINEAR)
    return [
        *names,
        *_each("cls.predictions.transform.", ("LayerNorm",), OLD_NORM),
        "cls.predictions.bias",
    ]


def _distilbert(n_layers):
    names = _each("distilbert.embeddings.", EMBEDDINGS, ("weight",))
    names += _each("distilbert.embeddings.", ("LayerNorm",), NORM)
    for n in range(n_layers):
        start = f"distilbert.transformer.layer.{n}."
        attention = [f"attention.{part}_lin" for part in ("q", "k", "v", "out")]
        names += _each(start, (*attention, "ffn.lin1", "ffn.lin2"), LINEAR)
        names += _each(start, ("sa_layer_norm", "output_layer_norm"), NORM)
    return [
        *names,
        *_each("", ("vocab_transform", "vocab_layer_norm"), NORM),
        "vocab_projector.bias",
    ]


def _albert(_n_layers):
    names = _each("albert.embeddings.", (*EMBEDDINGS, "token_type_embeddings"), ("weight",))
    names += _each("albert.embeddings.", ("LayerNorm",), NORM)
    parts = [f"attention.{part}" for part in ("query", "key", "value", "dense", "LayerNorm")]
    parts += ["ffn", "ffn_output", "full_layer_layer_norm"]
    names += _each("albert.encoder.albert_layer_groups.0.albert_layers.0.", parts, LINEAR)
    whole = ("albert.encoder.embedding_hidden_mapping_in", "albert.pooler", "predictions.dense")
    names += _each("", (*whole, "predictions.LayerNorm"), LINEAR)
    return [*names, "predictions.bias", "predictions.decoder.bias"]


NAMES = {"bert": _bert, "distilbert": _distilbert, "albert": _albert}
ABSENT = {
    "bert": (),
    "distilbert": (),
    "albert": ("sop_classifier.classifier.bias", "sop_classifier.classifier.weight"),
}
"""Tensors of the network that the file lacks: ALBERT's sentence-order head."""
CONFIGS = {
    "bert": {
        "architectures": ["BertForMaskedLM"],
        "attention_probs_dropout_prob": 0.1,
        "gradient_checkpointing": False,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "layer_norm_eps": 1e-12,
        "model_type": "bert",
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "transformers_version": "4.6.0.dev0",
        "type_vocab_size": 2,
        "use_cache": True,
    },
    "distilbert": {
        "activation": "gelu",
        "architectures": ["DistilBertForMaskedLM"],
        "attention_dropout": 0.1,
        "dropout": 0.1,
        "initializer_range": 0.02,
        "model_type": "distilbert",
        "pad_token_id": 0,
        "qa_dropout": 0.1,
        "seq_classif_dropout": 0.2,
        "sinusoidal_pos_embds": False,
        "tie_weights_": True,
        "transformers_version": "4.10.0.dev0",
    },
    "albert": {
        "architectures": ["AlbertForMaskedLM"],
        "attention_probs_dropout_prob": 0,
        "bos_token_id": 2,
        "classifier_dropout_prob": 0.1,
        "down_scale_factor": 1,
        "eos_token_id": 3,
        "gap_size": 0,
        "hidden_act": "gelu_new",
        "hidden_dropout_prob": 0,
        "initializer_range": 0.02,
        "inner_group_num": 1,
        "layer_norm_eps": 1e-12,
        "model_type": "albert",
        "net_structure_type": 0,
        "num_hidden_groups": 1,
        "num_memory_blocks": 0,
        "pad_token_id": 0,
        "type_vocab_size": 2,
    },
}
"""Configs without the shape, which the tests' narrow checkpoints set themselves."""
TOKENIZER = {
    "bert": {"do_lower_case": True, "model_max_length": 512},
    "distilbert": {"do_lower_case": True, "model_max_length": 512},
    "albert": {"model_max_length": 512},
}
