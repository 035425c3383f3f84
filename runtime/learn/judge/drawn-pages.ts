import { entityOf } from '../dataset/scan-ledger.js';
import { readReport } from '../../state/ledger/frame-splitter.js';
import { keepNewest } from '../../state/ledger/newest-records.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { loggedPipeline, loggedRequest } from '../../request/pipeline/log/logged-request.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import type { Contestant } from './contestant.js';
import { FoundRequests, type FoundRequest } from './found-requests.js';
import { tellDamage, tellLacks } from './logged-requests.js';

/** The probabilities of a page's draws, by candidate: NaN where the place was not drawn. */
export type Draws = ReadonlyMap<string, { readonly propensity: number; readonly marginal: number }>;

/**
 * Finds the newest pages of a ledger that were logged with propensities.
 * @param loggedBy the pipeline that logged them; needed if there are several
 * @throws CommandFailure if there are none
 */
export async function findDraws(
  context: Console,
  ledger: string,
  last: number,
  loggedBy: string | undefined,
  { definition, project }: Contestant,
): Promise<FoundRequests> {
  await checkLedger(context, ledger);
  const report = readReport();
  let [withoutDraws, incomplete] = [0, 0];
  const pages = new FoundRequests();
  await keepNewest(
    ledger,
    last,
    (record, place): FoundRequest | undefined => {
      if (record.schema.meta.candidate_type !== definition.candidateType.value) return undefined;
      const pipeline = loggedPipeline(record);
      const request = loggedRequest(record, definition, project.config.entities);
      if (pipeline === undefined || request === undefined) return undefined;
      if (loggedBy !== undefined && pipeline !== loggedBy) return undefined;
      if (record.field('propensity') === undefined) {
        withoutDraws += 1;
        return undefined;
      }
      if (request.lacks.includes('candidates')) {
        incomplete += 1;
        return undefined;
      }
      const unit = entityOf(record, 'user') ?? request.requestId;
      return { ...request, ...place, pipeline, unit };
    },
    report,
    pages,
  );
  tellDamage(context.stderr, report);
  if (pages.length === 0) throw noDraws(ledger, withoutDraws, incomplete, loggedBy);
  const names = [...pages.pipelines.counts().keys()].sort();
  if (names.length > 1)
    throw new CommandFailure(
      `${ledger} has propensities of several pipelines: ${names.join(', ')}`,
      `name the one whose pages are reused: --logged-by ${names[0] ?? ''}`,
    );
  tellLacks(context.stderr, pages);
  if (incomplete > 0)
    context.stderr.write(
      `note: ${incomplete} requests without all their candidates are left out; write log: { candidates: all }\n`,
    );
  return pages;
}

function noDraws(
  ledger: string,
  withoutDraws: number,
  incomplete: number,
  loggedBy: string | undefined,
): CommandFailure {
  const of = loggedBy === undefined ? '' : ` of ${loggedBy}`;
  if (incomplete > 0)
    return new CommandFailure(
      `the ${incomplete} requests${of} with propensities lack some of their candidates`,
      'write log: { candidates: all }: the pipeline could show a candidate that was not logged',
    );
  if (withoutDraws > 0)
    return new CommandFailure(
      `the ${withoutDraws} requests${of} in ${ledger} have no propensities: their pages were not drawn`,
      'explore on a share of the traffic, or import a log with map: { propensity: COLUMN }',
    );
  return new CommandFailure(`${ledger} has no answered request${of} that the pipeline could rank`);
}

export function drawsOf(record: DecodedRecord): Draws {
  const [ids, propensities] = [record.field('candidate_id'), record.field('propensity')];
  const marginals = record.field('marginal') ?? propensities;
  const draws = new Map<string, { readonly propensity: number; readonly marginal: number }>();
  for (let row = 0; row < record.rows.candidate; row++) {
    const propensity = propensities?.numberAt(row) ?? NaN;
    draws.set(String(ids?.at(row)), { propensity, marginal: marginals?.numberAt(row) ?? propensity });
  }
  return draws;
}
