"""A tab at rest: no answer is awaited in it, and nothing in it fades."""

AWAITED = """tab => {
  const panel = document.querySelector(`#tab-${tab}`);
  const asked = document.querySelectorAll('[data-testid=status-tracker]:not(.hide), #standing p:not([hidden])');
  const fading = panel.getAnimations({subtree: true}).map(one => one.effect.target);
  return [...asked, ...panel.querySelectorAll('.pending'), ...fading].map(one => one.outerHTML.slice(0, 200));
}"""
"""Script: what is not at rest yet. Gradio fades what it asks for again."""


def rests(page, tab):
    """Wait until a tab is at rest."""
    page.wait_for_function(f"tab => ({AWAITED})(tab).length === 0", arg=tab)
