// What the page has before the modules: Gradio's settings, and the pictures that wait in line.
interface Window {
  gradio_config?: {root?: string};
  explorer: {waiting: unknown[][], mount: (...asked: any[]) => unknown};
}
