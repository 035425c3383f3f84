import type { JsonObject } from '../../ground/api/types.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { readReport } from '../../state/ledger/frame-splitter.js';
import { newestRecords } from '../../state/ledger/newest-records.js';
import {
  loggedPipeline,
  loggedRequest,
  type LoggedRequest,
} from '../../request/pipeline/log/logged-request.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { tellDamage } from './logged-requests.js';

/**
 * Reads the body of a logged request from a ledger, and prints what it lacks. If several records have the id, the newest
 * counts.
 * @param definition the pipeline that gets the body; it need not be the one that logged the request
 * @throws CommandFailure if the ledger does not have the request
 */
export async function loggedBody(
  context: Console,
  ledger: string,
  requestId: string,
  definition: PipelineDefinition,
  { entities }: Pick<ProjectConfig, 'entities'>,
): Promise<JsonObject> {
  await checkLedger(context, ledger);
  const report = readReport();
  const [found] = await newestRecords(
    ledger,
    1,
    (record) =>
      record.kind === 'ranking' && record.field('request_id')?.at(0) === requestId
        ? {
            time: Number(record.field('time')?.at(0)),
            pipeline: loggedPipeline(record),
            request: loggedRequest(record, definition, entities),
          }
        : undefined,
    report,
  );
  tellDamage(context.stderr, report);
  if (found === undefined)
    throw new CommandFailure(
      `${ledger} has no request with the id ${requestId}`,
      'the answer of a ranking has the id as request_id; only pipelines with log: are logged',
    );
  const { pipeline, request } = found;
  if (request === undefined)
    throw new CommandFailure(
      `the request ${requestId} failed, or its log has no candidates, so it cannot be sent again`,
      `print its record: millrace ledger cat --request ${requestId}`,
    );
  if (pipeline !== undefined && pipeline !== definition.name)
    context.stderr.write(`note: the request was logged by the pipeline ${pipeline}\n`);
  for (const name of request.lacks)
    context.stderr.write(`note: the log lacks ${lackText(name, definition)}\n`);
  return bodyFor(definition, request);
}

/** What is said of a thing that the log of a request lacks. */
export function lackText(name: string, { candidateType }: PipelineDefinition): string {
  if (name === 'candidates') return 'some candidates: the others are ranked without them';
  if (name === candidateType.value) return `the ids of ${name}: hashes are sent in their place`;
  return `${name}: the request is sent without it`;
}

/** A pipeline that scores gets its one entity under the name of the type. */
function bodyFor({ task, candidateType }: PipelineDefinition, { body }: LoggedRequest): JsonObject {
  if (task === 'rank') return body;
  const { candidates, ...others } = body;
  return { ...others, ...(candidates[0] === undefined ? {} : { [candidateType.value]: candidates[0] }) };
}
