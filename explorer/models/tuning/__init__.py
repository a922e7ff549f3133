"""Fine-tuning of classifiers on labelled rows: the networks, and the loop that trains them."""
