"""Settings of a latency measurement: the eight controls as one value."""

from collections.abc import Sequence
from dataclasses import dataclass

import gradio as gr

from explorer.inference.runs import devices
from explorer.models.choice.family import family_specs
from explorer.models.specs import LARGER, ModelSpec
from explorer.models.zerogpu import is_lent
from explorer.timing.workload import DTYPE_NAMES, EVERY, BadWorkload, Workload, clock_on
from explorer.ui.latency import strings

LENGTHS = [16, 32, 64, 128, 256, 512]
BATCHES = [1, 2, 4, 8, 16, 32]
OWN = "own"
"""Value of the sizes in a link for the page's own family, which another field names."""
SHAPE, LENGTH, DEVICE = 0, 1, 5
"""Indices of the controls whose choices depend on the models, the text and the machine."""


@dataclass(frozen=True, slots=True)
class MeasurementSettings:
    """Settings of a measurement, one field per control in their order."""

    shapes: str = "base"
    length: int = 32
    batch: int = 1
    part: str = "encoder"
    clock: str = "wait"
    device: str = "cpu"
    dtype: str = "float32"
    longest_s: int = 20
    """Seconds after which a measurement ends, however wide its intervals are."""

    @property
    def specs(self) -> tuple[ModelSpec, ...]:
        """The models to time."""
        return tuple(LARGER.values()) if self.shapes == "larger" else family_specs(self.shapes)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices to compare, CPU first; empty unless all devices were chosen."""
        return devices() if self.device == EVERY else ()

    @property
    def is_lent(self) -> bool:
        """Return whether the device is a GPU that the host lends for one call."""
        return self.device == "cuda" and is_lent()

    @property
    def workload(self) -> Workload:
        """The forward pass to time; with several devices, that of the CPU."""
        device = "cpu" if self.device == EVERY else self.device
        clock = clock_on(device, self.clock)
        head = self.part == "head"
        length = int(self.length) if str(self.length).isdecimal() else self.length
        return Workload(length, self.batch, device, self.dtype, head, clock=clock)

    def on_one_device(self) -> "MeasurementSettings":
        """Return these settings, or refuse them if they are not for one device.

        Raises:
            BadWorkload: every device was chosen, or one that is lent for the main result alone.
        """
        if self.device == EVERY:
            raise BadWorkload(strings.ONE_DEVICE)
        if self.is_lent:
            raise BadWorkload(strings.LENT_ONLY)
        return self


def choice_in(timed: str, family: str) -> MeasurementSettings:
    """Return the settings in a link's field ``timed``; links hold no device."""
    if not timed:
        return MeasurementSettings()
    shapes, length, batch, part, clock, dtype, longest_s = timed.split("-")
    return MeasurementSettings(
        family if shapes == OWN else shapes,
        int(length),
        int(batch),
        part,
        clock,
        dtype=dtype,
        longest_s=int(longest_s),
    )


def tell_js() -> str:
    """Return the browser's function that writes the controls' values into the link too."""
    known = [value for _, value in strings.SHAPES]
    return (
        "(...values) => { const [shapes, length, batch, part, clock, , dtype, longest] = values; "
        f"window.explorer.tell('choose', {{timed: [{known}.includes(shapes) ? shapes : '{OWN}', "
        "length, batch, part, clock, dtype, longest].join('-')}); return values; }"
    )


def build_longest() -> gr.Dropdown:
    """Build the dropdown of the time limit, beside the button."""
    return limit_dropdown(strings.LONGEST, MeasurementSettings().longest_s, "measure-longest")


def limit_dropdown(choices: Sequence[tuple[str, int]], value: int, elem_id: str) -> gr.Dropdown:
    """Build the dropdown of a time limit in seconds, without its label."""
    return gr.Dropdown(
        choices,
        value=value,
        label=strings.LONGEST_LABEL,
        elem_id=elem_id,
        show_label=False,
        container=False,
        scale=0,
        min_width=300,
    )


def build_controls() -> list[gr.Dropdown]:
    """Build the first seven controls, in the order of ``MeasurementSettings``."""
    plain = MeasurementSettings()
    with gr.Row(elem_classes="lt-controls"):
        return [
            gr.Dropdown(strings.SHAPES, value=plain.shapes, label=strings.SHAPES_LABEL),
            gr.Dropdown(
                LENGTHS, value=plain.length, label=strings.LENGTH_LABEL, allow_custom_value=True
            ),
            gr.Dropdown(BATCHES, value=plain.batch, label=strings.BATCH_LABEL),
            gr.Dropdown(strings.PARTS, value=plain.part, label=strings.PART_LABEL),
            gr.Dropdown(strings.CLOCKS, value=plain.clock, label=strings.CLOCK_LABEL),
            gr.Dropdown([plain.device], value=plain.device, label=strings.DEVICE_LABEL),
            gr.Dropdown(list(DTYPE_NAMES), value=plain.dtype, label=strings.DTYPE_LABEL),
        ]


def shape_choices(family: str) -> list[tuple[str, str]]:
    """Return the sizes to choose from, the page's own models among them."""
    known = {shapes for _, shapes in strings.SHAPES}
    own = [] if family in known else [(strings.MIXED, family)]
    return [*strings.SHAPES, *own]


def device_choices() -> list[tuple[str, str]]:
    """Return the machine's devices, with "all devices" or a lent GPU where they apply."""
    choices = [(device, device) for device in devices()]
    if is_lent():
        return [*choices, (strings.LENT_DEVICE, "cuda")]
    return [*choices, (strings.EVERY_DEVICE, EVERY)] if len(choices) > 1 else choices


def length_choices(n_tokens: int) -> list[tuple[str, int]]:
    """Return the lengths to choose from, the reader's text first; others can be typed."""
    own = [(strings.OWN_TEXT.format(n=n_tokens), n_tokens)] if n_tokens else []
    return [*own, *((str(n), n) for n in LENGTHS)]
