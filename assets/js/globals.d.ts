// What the page has before the modules: Gradio's settings, and what waits in line for them.
interface Window {
  gradio_config?: {root?: string};
  explorer: {
    /** Every module that is there, by its path below assets/js. */
    modules?: Record<string, any>;
    keptTheme?: () => string;
    /** Whether the page has another theme than the reader's for a while: on paper, or in an image. */
    isOtherTheme?: boolean;
    waiting: any[][];
    mount: (...args: any[]) => unknown;
    told: any[][];
    tell: (...message: any[]) => void;
    /** Whether Gradio's client or a module has asked the server something. */
    hasAsked?: boolean;
    /** What was written into the box; what Gradio puts there itself may come after the answer. */
    typed?: string;
    /** What a page has with it that was taken away as a file. */
    taken?: {
      link: string;
      params: Record<string, string>;
      config: any;
      provenance: any;
      recipes: Record<string, string>;
      values: string[];
      dark: boolean;
    };
    charts?: {Plotly: any; templates: {light: any; dark: any}};
    question?: (kind: string) => string;
    placed?: () => {preset?: string | null; sizes?: Record<string, string>; tab?: string};
    form?: typeof import('./page/forms.js').formNow;
    filled?: typeof import('./page/forms.js').filled;
  };
}
