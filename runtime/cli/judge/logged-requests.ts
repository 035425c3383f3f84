import { absentKinds } from '../../learn/dataset/absent-kinds.js';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import { newestRecords } from '../../state/ledger/newest-records.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import type { JudgedQuery } from '../../learn/evaluation/judgments.js';
import {
  loggedPipeline,
  loggedRequest,
  type LoggedRequest,
} from '../../request/pipeline/log/logged-request.js';
import type { CliContext } from '../context.js';
import { CommandFailure } from '../failure.js';
import { checkLedger } from '../ledger-folder.js';
import type { Contestant } from './contestants.js';
import type { Ranker } from './rank-judged.js';
import { runWhole } from './run-whole.js';

export const DEFAULT_LAST = 1000;

/**
 * Reads the newest requests to a pipeline from a ledger, and says what their records lack.
 * @throws CommandFailure if there are none
 */
export async function readLoggedRequests(
  context: CliContext,
  ledger: string,
  last: number,
  { definition, project }: Contestant,
): Promise<readonly LoggedRequest[]> {
  await checkLedger(context, ledger);
  const others = new Set<string>();
  const report = readReport();
  const requests = await newestRecords(
    ledger,
    last,
    (record) => {
      const name = loggedPipeline(record);
      if (record.kind !== 'ranking' || name === definition.name)
        return loggedRequest(record, definition, project.config.entities);
      if (name !== undefined) others.add(name);
      return undefined;
    },
    report,
  );
  tellDamage(context.stderr, report);
  const [first] = requests;
  if (first === undefined) {
    const found = others.size === 0 ? 'no rankings' : `rankings of ${[...others].sort().join(', ')}`;
    throw new CommandFailure(`${ledger} has no answered request to ${definition.name}; it has ${found}`);
  }
  tellLacks(context.stderr, requests);
  return requests;
}

export function tellDamage(stderr: CliContext['stderr'], { damaged }: ReadReport): void {
  if (damaged > 0)
    stderr.write(`warning: ${damaged} damaged record${damaged === 1 ? ' was' : 's were'} skipped\n`);
}

/** Says which values that the pipeline reads were not logged, so that the ranking lacks them. */
export function tellLacks(stderr: CliContext['stderr'], requests: readonly LoggedRequest[]): void {
  const lacks = new Map<string, number>();
  for (const one of requests) for (const name of one.lacks) lacks.set(name, (lacks.get(name) ?? 0) + 1);
  for (const [name, count] of [...lacks].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const what = name === 'candidates' ? 'some candidates' : name;
    stderr.write(`note: the log of ${count} of ${requests.length} requests lacks ${what}\n`);
  }
  if (lacks.size > 0)
    stderr.write(
      'help: `log: { candidates: all, features: all }` logs whole requests, apart from private fields\n',
    );
}

/**
 * Reads what users did with logged requests: for each request the highest grade of each candidate. Warns about a kind that
 * the ledger does not have.
 * @param label the grade of each kind of feedback
 */
export async function readGrades(
  { stderr }: CliContext,
  ledger: string,
  requests: readonly LoggedRequest[],
  label: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const grades = new Map<string, Map<string, number>>();
  for (const { requestId } of requests) grades.set(requestId, new Map());
  const kinds = new Set<string>();
  for await (const record of readRecords(ledger)) {
    if (record.kind !== 'feedback') continue;
    const kind = String(record.field('event')?.at(0));
    kinds.add(kind);
    const grade = label.get(kind);
    const known = grades.get(String(record.field('request_id')?.at(0)));
    if (grade === undefined || known === undefined) continue;
    const id = String(record.field('subject_id')?.at(0));
    known.set(id, Math.max(grade, known.get(id) ?? 0));
  }
  for (const warning of absentKinds(label.keys(), kinds)) stderr.write(`warning: ${warning}\n`);
  return grades;
}

/** Logged requests as judged queries: what was shown and not clicked has grade 0, what was not shown has none. */
export function clickedQueries(
  requests: readonly LoggedRequest[],
  grades: ReadonlyMap<string, ReadonlyMap<string, number>>,
): ReadonlyMap<JudgedQuery, LoggedRequest['body']> {
  return new Map(
    requests.map(({ requestId, body, candidates }) => {
      const own = grades.get(requestId);
      const judged = candidates.map(({ id, onPage }) => ({ id, grade: own?.get(id) ?? (onPage ? 0 : NaN) }));
      return [{ query: requestId, candidates: judged, context: {} }, body];
    }),
  );
}

/** Ranks logged requests with a pipeline. */
export function loggedRanker(
  contestant: Contestant,
  bodies: ReadonlyMap<JudgedQuery, LoggedRequest['body']>,
): Ranker {
  const { definition, project } = contestant;
  const key = project.config.entities.get(definition.candidateType.value)?.key ?? '';
  return {
    label: contestant.label,
    async rank(query, candidates, requestId) {
      const body = bodies.get(query);
      if (body === undefined) throw new Error('the query is not of the ledger');
      const sent = new Map(body.candidates.map((candidate) => [candidate[key], candidate]));
      const ordered = candidates.flatMap(({ id }) => sent.get(id) ?? []);
      const { ranked, ...rest } = await runWhole(contestant, { ...body, candidates: ordered }, requestId);
      return {
        ...rest,
        ranked: ranked.map(({ candidate_id: id, ranked_score: score }) => ({ id, score })),
      };
    },
  };
}
