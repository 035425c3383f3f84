import type { ServerProbe } from './server-probe.js';

/** Optional methods of every component. */
export interface ComponentLife {
  /** For `millrace plan`: what the component decided when it was created, a short line each, such as its data files. */
  readonly notes?: readonly string[];
  /** For `millrace validate` and the log at start: what would make the rankings better, although nothing is wrong. */
  readonly advice?: readonly Advice[];
  /**
   * Set it if the component reads its inputs in `input.rows` alone. With `top:`, what only such steps read is then read and
   * computed for these rows alone, and other cells are absent. A component that compares or counts candidates leaves it out.
   */
  readonly readsRowsOnly?: true;
  /**
   * Set it if the component draws random numbers of its own, so the same request can have another answer. One that draws with
   * `input.random()` leaves it out.
   */
  readonly isRandom?: true;
  /** For `millrace validate --connect`: how to ask the server that the component uses. */
  readonly probe?: ServerProbe;
  /** Called once, before the component serves: run a model once, open a connection. A failure is an error at load. */
  warm?(notices: WarmNotices): void | Promise<void>;
  /** Called once, when no request uses the component any more. */
  close?(): void | Promise<void>;
}

/** Each text is one line without a full stop. */
export interface Advice {
  /** What could be better. */
  readonly message: string;
  /** What to do about it. */
  readonly help: string;
}

/** Takes what a component reports to the operator while it warms up. */
export interface WarmNotices {
  /**
   * Reports, at the step, a problem that does not stop the service: one line without a full stop.
   * @param help what to do about it
   */
  readonly warn: (message: string, help?: string) => void;
}
