"""Pseudo-log-likelihoods of a sentence: put in front of a recipe that scores whole sentences."""

import torch


def likelihoods(tokenizer, model, text):
    """Tokens of a sentence, [UNK] among them, PLL (Salazar 2020), PLL-word-l2r (Kauf 2023)."""
    encoding, _ = token_spans(tokenizer, text)
    ids, segments = encoding["input_ids"], torch.tensor([encoding["token_type_ids"]])
    of = list(
        zip(encoding.sequence_ids(), encoding.word_ids(), strict=True)
    )  # the tokenizer's words
    scored = [i for i, (sentence, _) in enumerate(of) if sentence is not None]

    def nats(i, hidden):
        """Log-probability of a token while some tokens are masked."""
        masked = [tokenizer.mask_token_id if j in hidden else one for j, one in enumerate(ids)]
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([masked]), token_type_ids=segments)
        return out.logits[0, i].double().log_softmax(-1)[ids[i]].item()

    alone = sum(nats(i, {i}) for i in scored)
    within = sum(nats(i, {j for j in scored if j >= i and of[j] == of[i]}) for i in scored)
    return len(scored), sum(ids[i] == tokenizer.unk_token_id for i in scored), alone, within
