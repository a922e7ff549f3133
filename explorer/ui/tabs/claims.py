"""Claims tab: which printed claims about the three models are true, and which hold here."""

import gradio as gr

from explorer.page_state import PageState
from explorer.ui import texts_claims as texts
from explorer.ui.canvas import Canvas

ID = "claims"
LABEL = texts.LABEL
QUESTION = texts.QUESTION


def build(state: gr.State) -> list[gr.components.Component]:  # noqa: ARG001 - the checks will read it
    """The finding, the stacked shares and the ledger; tables and checks as folds."""
    return [gr.HTML(), Canvas("claims_shares"), Canvas("claims_ledger")]


def show(state: PageState) -> list[object]:  # noqa: ARG001 - the ledger is the same for every text
    """The headline's values: no model runs, whatever the text is."""
    from explorer.analysis.claims import claims_ledger, verdict_shares
    from explorer.views import claims as views
    from explorer.views.markup import finding

    ledger = claims_ledger()
    shares = verdict_shares(ledger)
    return [
        finding(texts.shares_finding(shares)),
        views.shares_canvas(shares, ledger, texts.SHARES),
        views.ledger_canvas(ledger, texts.MODELS, texts.LEDGER),
    ]
