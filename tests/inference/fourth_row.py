"""A fourth model as a newcomer adds one: imported first, so that no table is made without it."""

from explorer.models import specs

KEY = "roberta"
specs.KINDS[KEY] = specs.ROBERTA
specs.MODEL_KEYS[:] = specs.KINDS
