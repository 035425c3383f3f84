import { counted } from '../../ground/core/count.js';
import { renderTable } from './table.js';
import type { ArmReport } from '../../learn/shadow/tally.js';

/** What was found, for programs. */
export interface ShadowReport {
  readonly pipeline: string;
  /** The name of the experiment whose arms ran. */
  readonly experiment?: string;
  readonly ledger: string;
  readonly share: number;
  /** Requests that were served, in the share. */
  readonly requests: number;
  readonly depth: number;
  readonly arms: readonly ArmReport[];
}

export function shadowText({ pipeline, experiment, share, requests, depth, arms }: ShadowReport): string {
  const subject = experiment === undefined ? pipeline : `${experiment}, an experiment on ${pipeline}`;
  const percent = Number((share * 100).toFixed(6));
  const head = `${subject}: ${counted(requests, 'request')} (${percent}% of those logged)\n\n`;
  const table = renderTable(
    {
      arm: 22,
      ranked: 'right',
      same: 'right',
      [`overlap@${depth}`]: 'right',
      tau: 'right',
      drift: 'right',
      'p50 ms': 'right',
      'p99 ms': 'right',
    },
    arms.map(({ arm, ranked, same, overlap, tau, drift, ms }) => [
      arm,
      ranked,
      same,
      shown(overlap, 3),
      shown(tau, 3),
      shown(drift?.mean ?? null, 3),
      shown(ms?.p50 ?? null, 1),
      shown(ms?.p99 ?? null, 1),
    ]),
  );
  return head + table + arms.flatMap(troublesOf).join('');
}

function troublesOf(one: ShadowReport['arms'][number]): string[] {
  const parts = [
    ...Object.entries(one.failed).map(([code, count]) => `${count} ${WORDS[code] ?? code}`),
    ...(one.degraded > 0 ? [`${one.degraded} degraded`] : []),
    ...(one.not_finite > 0 ? [`${one.not_finite} scores not finite`] : []),
    ...(one.dropped > 0 ? [`${one.dropped} dropped`] : []),
    ...(one.restarts > 0 ? [`restarted ${counted(one.restarts, 'time')}`] : []),
  ];
  return parts.length === 0 ? [] : [`${one.arm}: ${parts.join(', ')}\n`];
}

const WORDS: Readonly<Record<string, string>> = {
  timeout: 'timed out',
  error: 'failed',
  not_loaded: 'not started',
};

function shown(value: number | null, digits: number): string {
  return value === null ? '-' : value.toFixed(digits);
}
