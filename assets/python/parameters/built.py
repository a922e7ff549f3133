"""What a shape stores, what one pass over a batch applies, its operations and its memory."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import AutoConfig, AutoModel

SHAPE = {
    "n_layers": 12,
    "d_model": 768,
    "n_heads": 12,
    "d_ffn": 3072,
    "d_vocab": 30522,
    "d_embedding": 768,
    "n_positions": 512,
    "n_segments": 2,
    "has_pooler": True,
    "has_projection": False,
    "sharing": "none",
}
CONFIG = {
    "model_type": "bert",
    "vocab_size": 2,
    "hidden_size": 768,
    "num_hidden_layers": 2,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}  # the shape with two layers, whose memory is followed: each is freed before the next is made
LENGTH = 128
BATCH = 1


def parts(sharing):
    h, e, f, n = (SHAPE[name] for name in ("d_model", "d_embedding", "d_ffn", "n_layers"))
    attentions = 1 if sharing in ("attention", "all") else n
    ffns = 1 if sharing in ("ffn", "all") else n
    return {
        "word_embeddings": SHAPE["d_vocab"] * e,
        "position_embeddings": SHAPE["n_positions"] * e,
        "token_type_embeddings": SHAPE["n_segments"] * e,
        "embedding_projection": (e * h + h) * SHAPE["has_projection"],
        "attention": (4 * h * h + 4 * h) * attentions,
        "ffn": (2 * h * f + f + h) * ffns,
        "layer_norm": 2 * e + 2 * h * (attentions + ffns),
        "pooler": (h * h + h) * SHAPE["has_pooler"],
    }


class Alive(TorchDispatchMode):
    """The bytes that a pass has made and not yet freed, and the most there ever were."""

    def __init__(self, known):
        super().__init__()
        self.known, self.alive, self.peak = known, {}, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.alive = {k: one for k, one in self.alive.items() if not one[0].expired()}
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor):
                storage = leaf.untyped_storage()
                if storage._cdata not in self.known | self.alive.keys():
                    self.alive[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        self.peak = max(self.peak, sum(size for _, size in self.alive.values()))
        return out


h, e, f, tokens = SHAPE["d_model"], SHAPE["d_embedding"], SHAPE["d_ffn"], LENGTH * BATCH
flops = SHAPE["n_layers"] * (2 * tokens * (4 * h * h + 2 * h * f) + 4 * tokens * LENGTH * h)
flops += 2 * tokens * e * h * SHAPE["has_projection"] + 2 * BATCH * h * h * SHAPE["has_pooler"]
with torch.device("meta"):  # shapes alone: nothing is computed
    config = AutoConfig.for_model(**CONFIG)
    model = AutoModel.from_config(config, attn_implementation="eager").eval()
    ids = torch.zeros(BATCH, LENGTH, dtype=torch.long)
tensors = [*model.parameters(), *model.buffers(), ids]
with torch.inference_mode(), Alive({t.untyped_storage()._cdata for t in tensors}) as alive:
    model(input_ids=ids)

columns = ["part", "count", "share"]
stored = parts(SHAPE["sharing"])
total = sum(stored.values())
rows = [[name, count, count / total] for name, count in stored.items() if count]
whole = {"total": total, "fp32_bytes": 4 * total, "fp16_bytes": 2 * total, "int8_bytes": total}
whole |= {"applied": sum(parts("none").values()), "flops": flops}
whole |= {"activation_bytes_fp32": alive.peak}
rows += [[name, count, None] for name, count in whole.items()]
FIGURE = ("bars", "", "part", ["count"])
