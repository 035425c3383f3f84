import { absentKinds } from '../dataset/absent-kinds.js';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import { keepNewest, readAgain } from '../../state/ledger/newest-records.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import type { JudgedQuery } from '../evaluation/judgments.js';
import {
  keyOf,
  loggedPipeline,
  loggedRequest,
  type LoggedRequest,
} from '../../request/pipeline/log/logged-request.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import type { Contestant } from './contestant.js';
import { FoundRequests, LoggedGrades, type FoundRequest } from './found-requests.js';
import type { Ranker } from './rank-judged.js';
import { runWhole } from './run-whole.js';

export const DEFAULT_LAST = 1000;

/**
 * Finds the newest requests to a pipeline in a ledger, and says what their records lack.
 * @param loggedBy the pipeline that logged them; by default the one that ranks them again
 * @throws CommandFailure if there are none
 */
export async function findLoggedRequests(
  context: Console,
  ledger: string,
  last: number,
  { definition, project }: Contestant,
  loggedBy = definition.name,
): Promise<FoundRequests> {
  await checkLedger(context, ledger);
  const others = new Set<string>();
  const report = readReport();
  const requests = new FoundRequests();
  await keepNewest(
    ledger,
    last,
    (record, place): FoundRequest | undefined => {
      context.checkStopped?.();
      const name = loggedPipeline(record);
      if (record.kind === 'ranking' && name !== loggedBy) {
        if (name !== undefined) others.add(name);
        return undefined;
      }
      const request = loggedRequest(record, definition, project.config.entities);
      return request && { ...request, ...place, pipeline: name ?? '', unit: '' };
    },
    report,
    requests,
  );
  tellDamage(context.stderr, report);
  if (requests.length === 0) {
    const [other, ...more] = [...others].sort();
    const found = other === undefined ? 'no rankings' : `rankings of ${[other, ...more].join(', ')}`;
    throw new CommandFailure(
      `${ledger} has no answered request to ${loggedBy}; it has ${found}`,
      other === undefined ? undefined : `name the pipeline whose requests are used: --logged-by ${other}`,
    );
  }
  tellLacks(context.stderr, requests);
  return requests;
}

/**
 * Reads the content of requests, one at a time: that of all could need more memory than there is.
 * @returns each with its index in `found`, in the order of the ledger
 * @throws CommandFailure if the ledger was rewritten in between, as by `forget`
 */
export async function* readLoggedRequests(
  found: FoundRequests,
  { definition, project }: Contestant,
): AsyncGenerator<readonly [at: number, request: LoggedRequest, record: DecodedRecord], void> {
  const changed = (cause?: unknown): CommandFailure =>
    new CommandFailure('the ledger changed while it was read', 'run the command again', { cause });
  let count = 0;
  try {
    for await (const [at, record] of readAgain(found.places)) {
      const request = loggedRequest(record, definition, project.config.entities);
      if (request === undefined || request.requestId !== found.idAt(at)) throw changed();
      count++;
      yield [at, request, record];
    }
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? changed(error) : error;
  }
  if (count < found.length) throw changed();
}

export function tellDamage(stderr: Console['stderr'], { damaged }: ReadReport): void {
  if (damaged > 0)
    stderr.write(`warning: ${damaged} damaged record${damaged === 1 ? ' was' : 's were'} skipped\n`);
}

/** Says which values that the pipeline reads were not logged, so that the ranking lacks them. */
export function tellLacks(stderr: Console['stderr'], requests: FoundRequests): void {
  const lacks = requests.lacks();
  for (const [name, count] of lacks) {
    const what = name === 'candidates' ? 'some candidates' : name;
    stderr.write(`note: the log of ${count} of ${requests.length} requests lacks ${what}\n`);
  }
  if (lacks.size > 0)
    stderr.write(
      'help: `log: { candidates: all, features: all }` logs whole requests, apart from private fields\n',
    );
}

/**
 * Reads the grades of logged requests. Warns about a kind that the ledger does not have.
 * @param label the grade of each kind of feedback
 */
export async function readGrades(
  { stderr, checkStopped }: Console,
  ledger: string,
  requests: FoundRequests,
  label: ReadonlyMap<string, number>,
): Promise<LoggedGrades> {
  const grades = new LoggedGrades(requests);
  const kinds = new Set<string>();
  for await (const record of readRecords(ledger)) {
    checkStopped?.();
    if (record.kind !== 'feedback') continue;
    const kind = String(record.field('event')?.at(0));
    kinds.add(kind);
    const grade = label.get(kind);
    if (grade !== undefined)
      grades.add(String(record.field('request_id')?.at(0)), String(record.field('subject_id')?.at(0)), grade);
  }
  for (const warning of absentKinds(label.keys(), kinds)) stderr.write(`warning: ${warning}\n`);
  return grades;
}

/** Logged requests as judged queries: what was shown and not clicked has grade 0, what was not shown has none. */
export async function* clickedQueries(
  found: FoundRequests,
  grades: LoggedGrades,
  main: Contestant,
): AsyncGenerator<readonly [at: number, query: JudgedQuery], void> {
  for await (const [at, { requestId, body, candidates }] of readLoggedRequests(found, main)) {
    const own = grades.of(requestId);
    const judged = candidates.map(({ id, onPage }) => ({ id, grade: own.get(id) ?? (onPage ? 0 : NaN) }));
    yield [at, { query: requestId, candidates: judged, context: {}, body }];
  }
}

/** Ranks logged requests with a pipeline. */
export function loggedRanker(contestant: Contestant): Ranker {
  const { definition, project } = contestant;
  const key = keyOf(definition.candidateType.value, project.config.entities);
  return {
    label: contestant.label,
    async rank({ body }, candidates, requestId) {
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
