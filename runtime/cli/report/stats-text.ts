import { count as number } from '../../ground/core/count.js';
import type { LedgerStats } from '../../learn/dataset/stats/ledger-stats.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { renderTable } from './table.js';

const MOST_DAYS = 31;
const MOST_SHIFTS = 40;

/** What a ledger holds, for people. */
export function statsText(stats: LedgerStats, width: number): string {
  const parts = [
    countsTable(stats),
    ...missingLines(stats, width),
    statusTable(stats),
    shiftTable(stats, width),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function countsTable({ counts }: LedgerStats): string {
  const rows: string[][] = [];
  for (const [kind, byName] of Object.entries(counts))
    for (const [name, byDay] of byName) {
      const days = [...byDay].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [day, count] of days.slice(-MOST_DAYS))
        rows.push([kind, printable(name), day, number(count)]);
      const older = days.slice(0, -MOST_DAYS);
      if (older.length > 0)
        rows.push([
          kind,
          printable(name),
          'before',
          number(older.reduce((sum, [, count]) => sum + count, 0)),
        ]);
    }
  if (rows.length === 0) return 'the ledger has no records\n';
  return renderTable({ kind: 'left', of: 30, day: 'left', records: 'right' }, rows);
}

function missingLines(
  { sequences, failed, degraded, imported, report }: LedgerStats,
  width: number,
): string[] {
  const lines: string[] = [];
  const missing = sequences.filter((one) => one.missing > 0);
  if (missing.length === 0)
    lines.push('no record is missing between the first and the last of each instance');
  for (const { instance, kind, missing: gap, first, last } of missing)
    lines.push(
      `${number(gap)} ${kind} records of ${instance} are missing between ${number(first)} and ${number(last)}`,
    );
  const repeated = sequences.reduce((sum, one) => sum + one.repeated, 0);
  if (repeated > 0) lines.push(`${number(repeated)} records came more than once`);
  for (const [pipeline, codes] of failed)
    lines.push(
      `failed rankings of ${pipeline}: ${Array.from(codes, ([code, count]) => `${number(count)} ${code}`).join(', ')}`,
    );
  for (const [pipeline, count] of degraded) lines.push(`degraded rankings of ${pipeline}: ${number(count)}`);
  if (imported > 0) lines.push(`${number(imported)} records were imported`);
  if (report.torn + report.damaged > 0)
    lines.push(
      `warning: ${number(report.torn)} segments end in a torn record, ${number(report.damaged)} records are damaged`,
    );
  if (report.skipped > 0)
    lines.push(`warning: ${number(report.skipped)} records are of a newer version and are skipped`);
  return [
    lines
      .flatMap((line) => wrapAfter('', printable(line), 2, width))
      .map((line) => `${line}\n`)
      .join(''),
  ];
}

function statusTable({ statuses }: LedgerStats): string {
  const rows: string[][] = [];
  for (const [pipeline, columns] of statuses)
    for (const [name, counts] of columns) {
      const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const parts = Object.entries(counts)
        .sort(([, a], [, b]) => b - a)
        .map(([status, count]) => `${percent(count / total)} ${status}`);
      rows.push([printable(pipeline), printable(name), parts.join(', ')]);
    }
  if (rows.length === 0) return '';
  return renderTable({ pipeline: 20, value: 28, statuses: 26 }, rows);
}

function shiftTable({ shifts }: LedgerStats, width: number): string {
  if (shifts.length === 0) return '';
  const table = renderTable(
    {
      value: 30,
      PSI: 'right',
      'by chance': 'right',
      missing: 'right',
      'in the data set': 'right',
      '': 'left',
    },
    shifts
      .slice(0, MOST_SHIFTS)
      .map(({ feature, psi, noise95, missing: [now, before], moved }) => [
        printable(feature),
        psi.toFixed(4),
        `≤ ${noise95.toFixed(4)}`,
        percent(now),
        percent(before),
        moved ? 'moved' : '',
      ]),
  );
  const note =
    'By chance: what 95 of 100 values stay below if nothing has moved (docs/import.md#what-has-moved).';
  return `${table}${wrapAfter('', note, 0, width).join('\n')}\n`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share > 0 && share < 0.001 ? 2 : 1)} %`;
}
