import { MillraceError } from '../../ground/api/errors.js';
import { DEFAULTED, isKnown, statusName, defaultedCause } from '../../ground/api/status.js';
import { lackText } from '../../learn/judge/logged-body.js';
import type { ExplainedValue } from '../../request/pipeline/explain/explanation.js';
import { loggedPipeline, loggedRequest } from '../../request/pipeline/log/logged-request.js';
import type { WorkshopWork } from '../../serve/compare/comparisons.js';
import type { LoggedRanking } from '../../serve/compare/workshop-answers.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { newestRecords } from '../../state/ledger/newest-records.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { consoleOf } from './job-console.js';

/** The most candidates of which the values are answered. */
const MOST = 200;

/**
 * Reads a request of the ledger. If several records have the id, the newest counts.
 * @param wanted the pipeline that gets the body; by default the one that logged it
 * @throws MillraceError unknown_logged_request, unknown_pipeline; CommandFailure
 */
export async function loggedRanking(
  { project: { settings, config }, signal }: WorkshopWork,
  requestId: string,
  wanted: string | undefined,
): Promise<LoggedRanking> {
  // A ledger without segments lacks the request, and a segment may begin meanwhile: neither needs a warning.
  const unheard = { signal, note: () => undefined, progress: () => undefined };
  await checkLedger(consoleOf(unheard), settings.ledgerDir);
  const seen = { failed: false };
  const [found] = await newestRecords(settings.ledgerDir, 1, (record) => {
    signal.throwIfAborted();
    if (record.kind !== 'ranking' || record.field('request_id')?.at(0) !== requestId) return undefined;
    const logged = loggedPipeline(record);
    const name = wanted ?? logged;
    const definition = config.pipelines.find((one) => one.name === name && one.task === 'rank');
    if (definition === undefined)
      throw new MillraceError(
        'unknown_pipeline',
        `the pipeline ${name ?? ''} logged the request, and the project has none`,
      );
    const request = loggedRequest(record, definition, config.entities);
    if (request === undefined) {
      seen.failed = true;
      return undefined;
    }
    const candidates = candidatesOf(record);
    return {
      time: request.time,
      answer: {
        request_id: requestId,
        pipeline: definition.name,
        at: new Date(request.time).toISOString(),
        body: request.body,
        candidates: candidates.slice(0, MOST),
        notes: [
          ...(logged === definition.name ? [] : [`the pipeline ${logged ?? ''} logged the request`]),
          ...request.lacks.map((one) => `the log lacks ${lackText(one, definition)}`),
          ...(candidates.length > MOST ? [`${candidates.length - MOST} candidates are left out`] : []),
        ],
      } satisfies LoggedRanking,
    };
  });
  if (found !== undefined) return found.answer;
  throw new MillraceError(
    'unknown_logged_request',
    seen.failed
      ? `the request ${requestId.slice(0, 100)} failed, or its log has no candidates`
      : `the ledger has no request ${requestId.slice(0, 100)}`,
  );
}

function candidatesOf(record: DecodedRecord): LoggedRanking['candidates'] {
  const columns = record.schema.columns.filter(({ is, rows }) => is === 'value' && rows === 'candidate');
  const all = Array.from({ length: record.rows.candidate }, (_, row) => {
    const [place, score] = [numberAt(record, 'place', row), numberAt(record, 'score', row)];
    return {
      candidate_id: String(record.field('candidate_id')?.at(row)),
      place: place === null || place < 1 ? null : place,
      score,
      values: Object.fromEntries(columns.map(({ name }) => [name, valueAt(record, name, row)])),
    };
  });
  return all.sort((a, b) => (a.place ?? Infinity) - (b.place ?? Infinity));
}

function numberAt(record: DecodedRecord, field: string, row: number): number | null {
  const value = record.field(field)?.numberAt(row);
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** As an explanation has it. */
function valueAt(record: DecodedRecord, name: string, row: number): ExplainedValue {
  const cells = record.value(name);
  const status = cells?.statusAt(row) ?? 0;
  const cause = (status & DEFAULTED) === 0 ? undefined : defaultedCause(status);
  const more = cause === undefined ? {} : { cause };
  const value = cells?.at(row);
  if (!isKnown(status) || value === undefined) return { value: null, status: statusName(status), ...more };
  return { value: typeof value === 'boolean' ? Number(value) : value, status: statusName(status), ...more };
}
