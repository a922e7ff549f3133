// The style sheet's colours that numeric pictures read, each with a distinct number.
export const COLOURS = {'panel': '#ffffff', 'ink': '#101010', 'ink-soft': '#606060', 'line': '#c0c0c0', 'paper': '#f0f0f0', 'accent': '#0000ff',
  'column-bert': '#804000', 'column-bert-fill': '#ff8000', 'column-albert': '#008040', 'column-albert-fill': '#00ff80'};
