"""Attention between words: put in front of a recipe that averages over the tokens of a word."""

import torch


def between_words(attention, groups):
    """Attention received is summed over a word's tokens, attention given is averaged over them."""
    members = torch.zeros(len(groups), attention.shape[-1], dtype=attention.dtype)
    for word, tokens in enumerate(groups):
        members[word, tokens] = 1
    return (members / members.sum(1, keepdim=True).clamp(min=1)) @ attention @ members.T
