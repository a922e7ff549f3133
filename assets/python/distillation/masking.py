"""What training would hide in a text: 15% chosen; 80% of those masked, 10% swapped."""

import numpy as np

TOKENS = 9  # of the text, without those that the tokenizer adds and those that hide already
SEED = 0
ROUNDS = 1
POOL = 8000  # the pieces that a swapped token may become

names = ["not chosen", "masked", "swapped", "kept"]
random, counts = np.random.default_rng(SEED), np.zeros(4, int)
for round in range(ROUNDS):
    drawn = random.random(TOKENS)
    if not round:
        random.choice(POOL, TOKENS)  # of the first round is shown which pieces were put in
    fate = np.select([drawn < 0.12, drawn < 0.135, drawn < 0.15], [1, 2, 3])
    counts += np.bincount(fate, minlength=4)
limits = [0.85, 0.12, 0.015, 0.015]
columns = ["token", "count", "share_of_all_tokens", "tends_to"]
shares = counts / counts.sum()
rows = [[names[i], int(counts[i]), float(shares[i]), limits[i]] for i in (1, 2, 3, 0)]
FIGURE = ("bars", "", "token", ["share_of_all_tokens"])
