"""Integrated gradients of ln P(answer) at a mask, from a text of masks to the text."""

from torch import Tensor

from explorer.models.forward import apply_head, inputs_of
from explorer.models.gradients import Slopes, embedding_path, integrated
from explorer.models.loading import LoadedModel
from explorer.models.tokens import Tokens


def answer_slopes(loaded: LoadedModel, tokens: Tokens, position: int, target: int) -> Slopes:
    """Compute integrated gradients of ln P(target) at a position, for the word embeddings.

    The tokens that the tokenizer added, positions and segments are the same along the path.
    """
    segments = inputs_of(loaded, tokens).get("token_type_ids")

    def log_probability(embedded: Tensor) -> Tensor:
        inputs = {"inputs_embeds": embedded}
        if segments is not None:
            inputs["token_type_ids"] = segments.expand(len(embedded), -1)
        hidden = loaded.network.base_model(**inputs).last_hidden_state[:, position]
        return apply_head(loaded, hidden).float().log_softmax(-1)[:, target]

    embed = loaded.network.get_input_embeddings()
    path = embedding_path(embed, tokens, int(loaded.tokenizer.mask_token_id))
    return integrated(path, log_probability, loaded.lock)
