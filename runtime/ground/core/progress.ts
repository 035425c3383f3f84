import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';

/** A stream that may be a terminal. */
export type TerminalStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Takes the share that is done, from 0 to 1, where somebody else shows it. */
  readonly progress?: (share: number) => void;
};

/** Receives the progress of a long operation. */
export interface Progress {
  /** `done` has the unit of the bar's total; `rows` is the number of rows, or other items, that the user sees. */
  update(done: number, rows: number, note?: string): void;
  stop(): void;
}

const SILENT: Progress = { update: () => undefined, stop: () => undefined };

/** The time between two lines of progress in a log. */
const LINE_EVERY_MS = 10_000;

/**
 * Shows a progress bar on a terminal and nothing elsewhere. Without a total it shows only the rows.
 * @param unit what `rows` counts
 * @param isLogged whether to write a line now and then where there is no terminal
 */
export function startProgress(
  stream: TerminalStream,
  label: string,
  total: number | undefined,
  unit = 'rows',
  isLogged = false,
): Progress {
  const { progress: tell } = stream;
  if (tell !== undefined)
    return {
      update: (done) => (total === undefined ? undefined : tell(done / total)),
      stop: () => undefined,
    };
  if (stream.isTTY !== true) return isLogged ? lines(stream, label, total, unit) : SILENT;
  const bar = total === undefined || total === 0 ? '' : ' {bar} {percentage}%';
  const single = new SingleBar({
    stream,
    format: `${label}${bar}  {rows} ${unit}  {rate}/s  {note}`,
    barsize: Math.max(10, Math.min(30, (stream.columns ?? 80) - label.length - unit.length - 30)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stopOnComplete: false,
    clearOnComplete: false,
    hideCursor: false,
    // Terminal modes and signals are left alone, so an interrupted load simply ends.
    linewrap: true,
    gracefulExit: false,
  });
  const start = performance.now();
  single.start(total ?? 1, 0, { rows: '0', rate: '0', note: '' });
  return {
    update(done, rows, note = '') {
      const rate = rows / Math.max(0.001, (performance.now() - start) / 1000);
      single.update(done, {
        rows: rows.toLocaleString('en'),
        rate: Math.round(rate).toLocaleString('en'),
        note,
      });
    },
    stop: () => single.stop(),
  };
}

function lines(stream: TerminalStream, label: string, total: number | undefined, unit: string): Progress {
  let last = performance.now();
  return {
    update(done, rows, note = '') {
      if (performance.now() - last < LINE_EVERY_MS) return;
      last = performance.now();
      const share = total === undefined ? '' : ` ${Math.floor((100 * done) / total)} %,`;
      stream.write(
        `${label}:${share} ${rows.toLocaleString('en')} ${unit}${note === '' ? '' : `, ${note}`}\n`,
      );
    },
    stop: () => undefined,
  };
}

/** Shows how many items `run` has handled, on a terminal. */
export async function withCount<T>(
  stream: TerminalStream,
  label: string,
  unit: string,
  run: (tell: (count: number) => void) => Promise<T>,
): Promise<T> {
  const progress = startProgress(stream, label, undefined, unit);
  try {
    return await run((count) => {
      progress.update(0, count);
    });
  } finally {
    progress.stop();
  }
}
