"""A fourth model, added as a contributor would; import it first, before tables are built."""

from explorer.models import specs

KEY = "roberta"
specs.KINDS[KEY] = specs.ROBERTA
specs.MODEL_KEYS[:] = specs.KINDS
