"""The tabs in the order they are shown; each module has ID, LABEL, build and show."""

from typing import Any

from explorer.ui.attention import tab as attention
from explorer.ui.claims import tab as claims
from explorer.ui.distillation import tab as distillation
from explorer.ui.latency import tab as latency
from explorer.ui.parameters import tab as parameters
from explorer.ui.predictions import tab as predictions

TABS: tuple[Any, ...] = (predictions, attention, distillation, parameters, latency, claims)
