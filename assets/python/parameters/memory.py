"""What one pass holds beside its weights: every tensor followed from its birth to its end."""

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from transformers import AutoConfig, AutoModel

CONFIGS = {
    "mini-bert": {
        "model_type": "bert",
        "vocab_size": 8000,
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
}
LENGTH = 128
BATCH = 1
KEEPS = False  # whether every attention and hidden state is handed out


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


columns = ["model", "weight_bytes", "peak_bytes_estimated"]
rows = []
for name, known in CONFIGS.items():
    config = AutoConfig.for_model(**known)
    with torch.device("meta"):  # shapes alone: nothing is computed
        model = AutoModel.from_config(config, attn_implementation="eager").eval()
        ids = torch.zeros(BATCH, LENGTH, dtype=torch.long)
    if not known.get("has_pooler", True):  # the checkpoint lacks it
        model.pooler = None
    tensors = [*model.parameters(), *model.buffers(), ids]
    known = {tensor.untyped_storage()._cdata for tensor in tensors}
    with torch.inference_mode(), Alive(known) as alive:
        model(input_ids=ids, output_attentions=KEEPS, output_hidden_states=KEEPS)
    weights = sum(tensor.numel() * tensor.element_size() for tensor in model.parameters())
    rows.append([name, weights, alive.peak])
FIGURE = ("bars", "", "model", ["weight_bytes", "peak_bytes_estimated"])
