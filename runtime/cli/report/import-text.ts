import { counted, count as number } from '../../ground/core/count.js';
import type { CollectCounts } from '../../learn/dataset/import/collect.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import type { Rejects } from '../../learn/dataset/import/rejects.js';

/** What was written into the ledger and the store. */
export interface WrittenRecords {
  readonly pipeline: string;
  /** Stored entities by type; 0 for a type that the project does not declare. */
  readonly entities: ReadonlyMap<string, number>;
  readonly rankings: number;
  /** Rankings whose candidates were not shown together. */
  readonly pooled: number;
  readonly candidates: number;
  /** Candidates that are not in the store. */
  readonly unknownCandidates: number;
  /** By kind. */
  readonly feedback: ReadonlyMap<string, number>;
  readonly counts: CollectCounts;
  /** The names of the values that depend on what is known only today. */
  readonly today: readonly string[];
  /** The time of the first and of the last ranking, epoch milliseconds; not finite if there is none. */
  readonly from: number;
  readonly to: number;
  readonly out: string;
}

/** What an import did. */
export interface ImportReport extends WrittenRecords {
  readonly files: number;
  readonly rows: number;
  readonly newProject: string | undefined;
  readonly rejected: Rejects;
  readonly rejectedFile: string;
  readonly seconds: number;
}

const INDENT = 4;

/** What an import did, for people. */
export function importText(report: ImportReport, width: number): string {
  const lines = [...countLines(report), ...warnings(report), ...rejectLines(report)];
  if (report.newProject !== undefined)
    lines.push(
      `project   ${report.newProject}: the pipeline ${report.pipeline}, its entity types and the mapping`,
    );
  return lines
    .flatMap((line) => wrapAfter('', printable(line), INDENT, width))
    .map((line) => `${line}\n`)
    .join('');
}

/** What an import did, for programs. */
export function importJson(report: ImportReport): object {
  const { counts, rejected, entities, feedback, from, to, ...rest } = report;
  return {
    ...rest,
    from: Number.isFinite(from) ? new Date(from).toISOString() : null,
    to: Number.isFinite(to) ? new Date(to).toISOString() : null,
    entities: Object.fromEntries(entities),
    feedback: Object.fromEntries(feedback),
    ...counts,
    rejected: Object.fromEntries(rejected.counts),
  };
}

function countLines({
  rows,
  files,
  seconds,
  entities,
  rankings,
  pooled,
  candidates,
  feedback,
  counts,
  out,
  from,
  to,
  ...report
}: ImportReport): string[] {
  const lines = [`read      ${counted(rows, 'row')} of ${counted(files, 'file')} in ${seconds.toFixed(1)} s`];
  for (const [type, stored] of entities)
    lines.push(
      stored === 0
        ? `entities  ${type}: none stored, since the project does not declare this type`
        : `entities  ${number(stored)} ${type} stored`,
    );
  if (rankings > 0) {
    const mean = (candidates / rankings).toFixed(1);
    const pools = pooled === 0 ? '' : `, ${number(pooled)} of them pooled`;
    lines.push(
      `rankings  ${number(rankings)} of ${mean} candidates on average${pools}, ${day(from)} to ${day(to)}`,
    );
  }
  const kinds = Array.from(feedback, ([kind, count]) => `${number(count)} ${kind}`);
  lines.push(`feedback  ${kinds.length === 0 ? 'none' : kinds.join(', ')}`);
  if (counts.joined > 0)
    lines.push(
      `joined    ${number(counts.joined)} acts without a request id with the last list that held the item`,
    );
  if (counts.withoutRequest > 0)
    lines.push(`loose     ${number(counts.withoutRequest)} acts belong to no list`);
  if (counts.repeatedCandidates > 0)
    lines.push(`repeated  ${number(counts.repeatedCandidates)} rows name a candidate of a request again`);
  lines.push(`ledger    ${out} (${report.pipeline})`);
  return lines;
}

function warnings({ today, unknownCandidates, candidates, feedback, pooled }: ImportReport): string[] {
  const lines: string[] = [];
  if (today.length > 0)
    lines.push(
      `warning: ${counted(today.length, 'value')} of today: ${today.join(', ')}. Nothing tells what they were at the time of ` +
        'a request. A value that changes with what users do later, such as a number of sales, would leak the answer. ' +
        'So `dataset build` leaves them out, unless --today names them.',
    );
  if (unknownCandidates > 0)
    lines.push(
      `warning: ${number(unknownCandidates)} of ${number(candidates)} candidates are not in the store, so their attributes are missing`,
    );
  if (feedback.size === 0) lines.push('warning: without feedback a data set has no labels');
  if (pooled > 0)
    lines.push(
      'warning: pooled lists compare candidates that different users saw (docs/import.md#pooled-lists)',
    );
  return lines;
}

/** How many rows were rejected, with an example of each reason. */
export function rejectLines({
  rejected,
  rejectedFile,
}: Pick<ImportReport, 'rejected' | 'rejectedFile'>): string[] {
  if (rejected.total === 0) return ['rejected  0'];
  return [
    `rejected  ${number(rejected.total)}; samples are in ${rejectedFile}`,
    ...rejected.firsts().map(({ file, line, reason, detail }) => {
      const place = file === '' ? '' : `${file}:${line}: `;
      return `  ${number(rejected.counts.get(reason) ?? 0)} ${reason}, e.g. ${place}${detail}`;
    }),
  ];
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
