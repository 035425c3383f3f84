import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';

/** A stream that may be a terminal. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Told how far a long piece of work has come. */
export interface Progress {
  /** `done` is measured as the bar's total is; `rows` is what the user counts. */
  update(done: number, rows: number): void;
  stop(): void;
}

const SILENT: Progress = { update: () => undefined, stop: () => undefined };

/** A bar on a terminal, nothing elsewhere. Without a total only the rows are shown. */
export function startProgress(stream: TerminalStream, label: string, total: number | undefined): Progress {
  if (stream.isTTY !== true) return SILENT;
  const bar = total === undefined || total === 0 ? '' : ' {bar} {percentage}%';
  const single = new SingleBar({
    stream,
    format: `${label}${bar}  {rows} rows  {rate}/s`,
    barsize: Math.max(10, Math.min(30, (stream.columns ?? 80) - label.length - 34)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stopOnComplete: false,
    clearOnComplete: false,
    hideCursor: false,
    // Whatever it would change in the terminal or catch of signals is left alone: an interrupted load just ends.
    linewrap: true,
    gracefulExit: false,
  });
  const start = performance.now();
  single.start(total ?? 1, 0, { rows: '0', rate: '0' });
  return {
    update(done, rows) {
      const rate = rows / Math.max(0.001, (performance.now() - start) / 1000);
      single.update(done, { rows: rows.toLocaleString('en'), rate: Math.round(rate).toLocaleString('en') });
    },
    stop: () => single.stop(),
  };
}
