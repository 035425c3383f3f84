import { counted, count as number } from '../../ground/core/count.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import type { Rejects } from '../../learn/dataset/import/rejects.js';
import { spanText } from '../../learn/dataset/span-text.js';
import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { LogCounts } from '../feedback-load/log-counts.js';
import { rejectLines } from './import-text.js';

/** What a load of a log did. */
export interface LoadedLog {
  readonly rows: number;
  readonly files: number;
  /** The name of the store or of the service. */
  readonly target: string;
  readonly counts: LogCounts;
  /** Events of the ledger that were counted, and records that hold them. */
  readonly counters: readonly {
    readonly counter: string;
    readonly events?: number;
    readonly keys?: number;
  }[];
  readonly definitions: ReadonlyMap<string, CounterDefinition>;
  readonly rejected: Rejects;
  readonly rejectedFile: string;
  readonly seconds: number;
}

/** What a counter still counts of a log. */
interface Kept {
  readonly event: string;
  readonly window_ms: number;
  readonly kept: number;
  readonly of: number;
  readonly counters: readonly string[];
}

const DAY = 86_400_000;
const INDENT = 4;

/** @param width of the terminal */
export function loadedText(report: LoadedLog, width: number, now = Date.now()): string {
  const { rows, files, seconds, target, counts, counters } = report;
  const kinds = Array.from(counts.kinds(), ([kind, events]) => `${number(events)} ${kind}`);
  const lines = [
    `read      ${counted(rows, 'row')} of ${counted(files, 'file')} in ${seconds.toFixed(1)} s`,
    `feedback  ${kinds.length === 0 ? 'none' : `${kinds.join(', ')}; ${spanOf(counts)}`}`,
    `stored    ${number(counts.stored)} events in histories of ${target}, ${number(counts.duplicates)} known already`,
    ...counters.map(({ counter, events, keys }) =>
      events === undefined || keys === undefined
        ? `counter   ${counter}: counted again from the ledger of the service`
        : `counter   ${counter}: ${counted(events, 'event')} of the ledger in ${counted(keys, 'key')}`,
    ),
    ...keptOf(report, now).map(
      ({ event, window_ms: window, kept, of, counters: names }) =>
        `kept      ${number(kept)} of ${number(of)} ${event}: ${names.join(', ')} ${names.length === 1 ? 'counts' : 'count'} the last ${spanText(window)}`,
    ),
    ...Array.from(
      counts.undeclared,
      ([kind, events]) => `unused    ${number(events)} ${kind}: millrace.yaml does not declare this kind`,
    ),
    ...rejectLines(report),
  ];
  return lines
    .flatMap((line) => wrapAfter('', printable(line), INDENT, width))
    .map((line) => `${line}\n`)
    .join('');
}

export function loadedJson(report: LoadedLog, now = Date.now()): object {
  const { rows, files, seconds, target, counts, counters, rejected } = report;
  return {
    ...{ rows, files, target, seconds },
    events: Object.fromEntries(counts.kinds()),
    from: isoOf(counts.from),
    to: isoOf(counts.to),
    stored: counts.stored,
    duplicates: counts.duplicates,
    undeclared: Object.fromEntries(counts.undeclared),
    counters,
    kept: keptOf(report, now),
    rejected: Object.fromEntries(rejected.counts),
  };
}

/** The windows of counters that are shorter than the log. */
function keptOf({ counts, definitions }: LoadedLog, now: number): readonly Kept[] {
  const windows = new Map<string, { event: string; window: number; counters: Set<string> }>();
  for (const { name, features } of definitions.values())
    for (const { event, over, window } of features.values())
      for (const kind of over === undefined ? [event] : [event, over]) {
        if (window === undefined || now - window <= counts.from) continue;
        const key = `${kind} ${window}`;
        const known = windows.get(key) ?? { event: kind, window, counters: new Set<string>() };
        known.counters.add(name);
        windows.set(key, known);
      }
  return [...windows.values()].flatMap(({ event, window, counters }) => {
    const of = counts.since(event, -Infinity);
    const kept = counts.since(event, now - window);
    return of === 0 ? [] : [{ event, window_ms: window, kept, of, counters: [...counters] }];
  });
}

function spanOf({ from, to }: LogCounts): string {
  const days = Math.ceil((to - from) / DAY);
  return `${isoOf(from)?.slice(0, 10) ?? ''} to ${isoOf(to)?.slice(0, 10) ?? ''}, ${counted(days, 'day')}`;
}

function isoOf(time: number): string | null {
  return Number.isFinite(time) ? new Date(time).toISOString() : null;
}
