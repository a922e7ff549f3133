"""How a predicted word depends on every attention weight: one backward pass."""

import numpy as np
import torch

from explorer.models.forward import apply_head, inputs_of
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.tokens import Tokens


def attention_gradients(
    loaded: LoadedModel, tokens: Tokens, position: int, token_id: int
) -> np.ndarray:
    """The slope of one word's logit at one position in every attention weight.

    Returns ``dy/da`` as float32 [layer, head, query, key], the weights taken after softmax.
    """
    inputs = inputs_of(loaded, tokens)
    with loaded.lock, torch.enable_grad():
        embedded = loaded.network.get_input_embeddings()(inputs.pop("input_ids"))
        # The weights are frozen: gradients start at the embeddings instead.
        out = loaded.network.base_model(
            inputs_embeds=embedded.detach().requires_grad_(), output_attentions=True, **inputs
        )
        logit = apply_head(loaded, out.last_hidden_state[0, position])[token_id]
        gradients = torch.autograd.grad(logit, out.attentions)
    return read_only(torch.cat(gradients).float().cpu().numpy())
