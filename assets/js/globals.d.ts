// What the page has before the modules: Gradio's settings, and what waits in line for them.
interface Window {
  gradio_config?: {root?: string};
  explorer: {
    waiting: unknown[][], mount: (...asked: any[]) => unknown,
    told: unknown[][], tell: (...said: any[]) => void,
    question?: (kind: string) => string, placed?: () => {family?: string, tab?: string},
  };
}
