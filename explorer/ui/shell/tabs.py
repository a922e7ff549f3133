"""The tabs in the order they are shown; each module has ID, LABEL, build and show."""

from typing import Any

from explorer.ui.tabs import attention, claims, distillation, latency, parameters, predictions

TABS: tuple[Any, ...] = (predictions, attention, distillation, parameters, latency, claims)
