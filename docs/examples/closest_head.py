import numpy as np

import explorer

text = "The dog did not eat because it was tired."
attention = explorer.attention(text, "mini")
teacher, student = attention.heads("bert"), attention.heads("distilbert")
wanted = student[2, 5]
mean = (teacher + wanted) / 2
logs = [np.log(np.maximum(p, 1e-12) / np.maximum(mean, 1e-12)) for p in (teacher, wanted)]
pairs = zip((teacher, wanted), logs, strict=True)
distance = sum((p * log).sum(-1).mean(-1) for p, log in pairs) / 2
layer, head = np.unravel_index(distance.argmin(), distance.shape)
