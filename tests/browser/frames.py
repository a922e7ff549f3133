"""Scripts that note who asks a page for animation frames: a page at rest asks for none."""

FRAMES = """(() => {
  const next = window.requestAnimationFrame.bind(window);
  Object.assign(window, {frames: [], next});
  window.requestAnimationFrame = callback => { window.frames.push(String(callback)); return next(callback); };
})()"""
"""Script for a page's start: notes the source of every callback."""
FRAMES_PASS = "async () => { for (let n = 0; n < 20; n += 1) await new Promise(window.next); }"
"""Function that ends after some frames, and is not noted."""
AT_REST = f"async () => {{ const n = frames.length; await ({FRAMES_PASS})(); return frames.length === n; }}"
"""Function that returns whether nobody asked meanwhile."""
