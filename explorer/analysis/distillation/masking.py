"""Which words training would hide: 15% chosen, of those 80% masked, 10% swapped, 10% kept."""

from dataclasses import dataclass

import numpy as np

from explorer.models.run import read_only

CHOSEN = 0.15
FATES = (0.8, 0.1, 0.1)
"""Of the chosen tokens: replaced by [MASK], by a random piece, left as they are."""
LEFT, MASKED, SWAPPED, KEPT = range(4)
LABELS = ("not chosen", "masked", "swapped", "kept")


@dataclass(frozen=True, slots=True, eq=False)
class MaskingSimulation:
    """Many rounds of hiding on one text, and the first of them in full."""

    fate: np.ndarray
    """int8 [token], of the first round: one of LEFT, MASKED, SWAPPED, KEPT."""
    swapped_ids: np.ndarray
    """int [token], the random piece of the first round; -1 where the token was not swapped."""
    counts: np.ndarray
    """int [4], tokens of each fate over all rounds."""
    rounds: int
    seed: int

    @property
    def shares(self) -> np.ndarray:
        """float64 [4], shares of all tokens seen: they tend to 85, 12, 1.5 and 1.5%."""
        return self.counts / self.counts.sum()


def masking_simulation(
    n_tokens: int, candidates: np.ndarray, seed: int = 0, rounds: int = 1
) -> MaskingSimulation:
    """Hide words as BERT's training does (Devlin et al. 2019, section 3.1), each token by chance.

    Every round draws anew, as RoBERTa's and DistilBERT's dynamic masking does; DistilBERT's own
    training also favoured rare words, which this leaves out. The same seed gives the same rounds.

    Args:
        n_tokens: Tokens of the text, without [CLS] and [SEP].
        candidates: Ids a swapped token may become.
        seed: Of the random numbers.
        rounds: How often the text is hidden anew; at least 1.

    Raises:
        ValueError: there is no token, or no round.
    """
    if n_tokens < 1 or rounds < 1:
        raise ValueError("Masking needs at least one word and one round.")
    rng = np.random.default_rng(seed)
    fate = _fates(rng.random(n_tokens))
    swapped = np.where(fate == SWAPPED, rng.choice(candidates, n_tokens), -1)
    counts = np.bincount(fate, minlength=4)
    for _ in range(rounds - 1):
        counts = counts + np.bincount(_fates(rng.random(n_tokens)), minlength=4)
    return MaskingSimulation(read_only(fate), read_only(swapped), read_only(counts), rounds, seed)


def _fates(draws: np.ndarray) -> np.ndarray:
    """One uniform draw per token decides everything: the first 15% are chosen, and so on."""
    masked, swapped, _ = np.cumsum(FATES) * CHOSEN
    chosen = np.select([draws < masked, draws < swapped, draws < CHOSEN], [MASKED, SWAPPED, KEPT])
    return chosen.astype(np.int8)
