"""Scripts that note who asks a page for animation frames: a page at rest asks for none."""

FRAMES = """(() => {
  const next = window.requestAnimationFrame.bind(window);
  Object.assign(window, {frames: [], next});
  window.requestAnimationFrame = callback => { window.frames.push(String(callback)); return next(callback); };
})()"""
"""Script for a page's start: notes the source of every callback."""
ASKED = """async () => {
  const before = frames.length;
  for (let n = 0; n < 20; n += 1) await new Promise(window.next);
  return frames.slice(before);
}"""
"""Function that returns the sources of the callbacks that are noted while twenty frames pass."""
