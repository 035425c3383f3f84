import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import { ERROR_CODES, type ErrorCode } from '../../ground/api/error-codes.js';
import { MillraceError, type Violation } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { COERCED_HEADER } from '../../serve/http/handle-body.js';
import { explainPath, explainQuery } from '../../serve/http/explain-path.js';
import { deleteEntities } from '../../serve/http/routes/delete-entities.js';
import { draftPath } from '../../serve/http/routes/drafts.js';
import { getEntities } from '../../serve/http/routes/get-entities.js';
import { getOnlineFeatures } from '../../serve/http/routes/get-online-features.js';
import { deleteFeatures } from '../../serve/http/routes/delete-features.js';
import { feedback } from '../../serve/http/routes/feedback.js';
import { forget } from '../../serve/http/routes/forget.js';
import { createInvitation, listInvitations, revokeInvitation } from '../../serve/http/routes/invitations.js';
import { listExperiments } from '../../serve/http/routes/list-experiments.js';
import { openapi } from '../../serve/http/routes/openapi.js';
import { pushFeatures } from '../../serve/http/routes/push-features.js';
import { scanEntities } from '../../serve/http/routes/scan-entities.js';
import { scanFeatures } from '../../serve/http/routes/scan-features.js';
import { rebuildCounter } from '../../serve/http/routes/rebuild-counter.js';
import { reload, type Reloaded } from '../../serve/http/routes/reload.js';
import { endRollback, listReleases, rollBack, SLOW_MS } from '../../serve/http/routes/releases.js';
import { resumeExperiment, stopExperiment } from '../../serve/http/routes/stop-experiment.js';
import { updateEntities } from '../../serve/http/routes/update-entities.js';
import { uploadEntities } from '../../serve/http/routes/upload-entities.js';
import type { InvitationAnswer, InvitedAnswer } from '../../serve/access/invitations.js';
import type { ExperimentState } from '../../request/experiments/experiment-states.js';
import type { DraftAnswer, SheetAnswer } from '../../state/curation/draft-answers.js';
import type { EntitiesAnswer } from '../../state/index/entity-index.js';
import type { OnlineAnswer } from '../../state/index/online-answer.js';
import type { Explanation } from '../../request/pipeline/explain/explanation.js';
import type { ExplainOptions } from '../../request/pipeline/types.js';
import type { PipelineAnswer } from '../../request/pipeline/answer-types.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { RebuildState } from '../../serve/feedback/counter-rebuilds.js';
import { FOLLOW_EVERY } from '../../state/counters/generation-record.js';
import type { ReleaseList, RollbackEnd, RolledBack } from '../../state/releases/release-answers.js';
import type { ForgetAnswer } from '../../state/privacy/forget.js';
import type { SourceTarget } from '../../serve/sources/intake.js';
import type { InputRow } from '../../project/rows/rows.js';
import { MAX_ROWS, type BatchShape } from './batches.js';
import type { Sent } from '../../state/index/send-batch.js';
import { pageOf, type RunAnswer, type DataTarget, type ScannedPage } from './target.js';

/** The operation ids of pipelines in /openapi.json. */
const PIPELINE_OPERATION = /^(?:rank|score)_(.+)$/;
/** A service that does not answer within this time counts as down, milliseconds. */
const ANSWER_WITHIN_MS = 60_000;

/** How often a rebuild of a counter is asked for. */
const REBUILD_POLL_MS = 500;

/** The maximum number of redirects of one call, e.g. from http: to https:. */
const MOST_REDIRECTIONS = 5;

/** Calls a running service. The built-in `fetch` needs about three times as long to send a body. */
export class HttpTarget implements DataTarget {
  readonly name: string;
  readonly batches: BatchShape = {
    rows: MAX_ROWS,
    keep: (row) => (row.json === undefined ? row : new TextRow(row, row.json)),
  };
  coerced = 0;
  readonly #base: string;
  readonly #connections = new Agent();

  readonly #authorization: Readonly<Record<string, string>>;

  readonly #canDoWithout: boolean;

  /**
   * @param key the API key to send; a redirect to another host does not get it
   * @param canDoWithout whether the command works on the store of the settings if nobody names a service
   */
  constructor(url: string, key?: string, canDoWithout = true) {
    this.#canDoWithout = canDoWithout;
    this.#authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    this.#base = url.replace(/\/+$/, '');
    this.name = this.#base;
  }

  async upload(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
  ): ReturnType<DataTarget['upload']> {
    const head = entitiesHead(entityType, entityKey);
    const answer = await this.#call('POST', uploadEntities.path, bodyOf(head, rows));
    const { entity_ids: ids, duplicates } = answer as { entity_ids?: unknown; duplicates?: unknown };
    return { entity_ids: textsOf(ids), duplicates: typeof duplicates === 'number' ? duplicates : 0 };
  }

  async update(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
    create: boolean,
  ): ReturnType<DataTarget['update']> {
    const head = entitiesHead(entityType, entityKey, create ? ',"create":true' : '');
    const answer = await this.#call('POST', updateEntities.path, bodyOf(head, rows));
    const { entity_ids: ids, unknown_ids: unknown } = answer as {
      entity_ids?: unknown;
      unknown_ids?: unknown;
    };
    return { entity_ids: textsOf(ids), unknown_ids: textsOf(unknown) };
  }

  async push(view: string, rows: readonly InputRow[]): Promise<Sent> {
    return await this.#sendRows(pushFeatures.path, view, rows);
  }

  async deleteRows(view: string, rows: readonly InputRow[]): Promise<Sent> {
    return await this.#sendRows(deleteFeatures.path, view, rows);
  }

  /** Stores what users did. @throws MillraceError */
  async feedback(body: JsonObject): ReturnType<SourceTarget['feedback']> {
    const answer = (await this.#call('POST', feedback.path, JSON.stringify(body))) as Readonly<
      Record<string, unknown>
    >;
    const countOf = (name: string): number => (typeof answer[name] === 'number' ? answer[name] : 0);
    return {
      stored: countOf('stored'),
      duplicates: countOf('duplicates'),
      too_old: countOf('too_old'),
      unused: countOf('unused'),
      uncounted: countOf('uncounted'),
    };
  }

  async #sendRows(path: string, view: string, rows: readonly InputRow[]): Promise<Sent> {
    const body = bodyOf(`{"view":${JSON.stringify(view)},"rows":`, rows);
    const answer = (await this.#call('POST', path, body)) as { older?: unknown; expired?: unknown };
    const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
    return { older: countOf(answer.older), expired: countOf(answer.expired) };
  }

  async getEntities(entityType: string, ids: readonly string[]): ReturnType<DataTarget['getEntities']> {
    const { entities } = (await this.#callIds(getEntities.path, entityType, ids)) as EntitiesAnswer;
    return entities;
  }

  async deleteEntities(entityType: string, ids: readonly string[]): Promise<void> {
    await this.#callIds(deleteEntities.path, entityType, ids);
  }

  async onlineFeatures(body: object): Promise<OnlineAnswer> {
    return (await this.#call('POST', getOnlineFeatures.path, JSON.stringify(body))) as OnlineAnswer;
  }

  #callIds(path: string, entityType: string, ids: readonly string[]): Promise<unknown> {
    return this.#call('POST', path, JSON.stringify({ entity_type: entityType, entity_ids: ids }));
  }

  async scanEntities(entityType: string, cursor: string | undefined): Promise<ScannedPage> {
    return await this.#scan(scanEntities.path, { ...pageOf(cursor), entity_type: entityType }, 'entities');
  }

  async scanFeatures(view: string, cursor: string | undefined): Promise<ScannedPage> {
    return await this.#scan(scanFeatures.path, { ...pageOf(cursor), view }, 'rows');
  }

  async #scan(path: string, body: object, list: 'entities' | 'rows'): Promise<ScannedPage> {
    const answer = (await this.#call('POST', path, JSON.stringify(body))) as Readonly<
      Record<string, unknown>
    >;
    const { [list]: records, unreadable, changed, cursor } = answer;
    if (!Array.isArray(records))
      throw new CommandFailure(`${this.#base}${path} answered without ${list}`, 'check the address');
    return {
      records: records as JsonObject[],
      unreadable: Array.isArray(unreadable) ? unreadable.map(String) : [],
      changed: typeof changed === 'number' ? changed : 0,
      cursor: typeof cursor === 'string' ? cursor : undefined,
    };
  }

  async forget(entityType: string, ids: readonly string[], cursor: string | null): Promise<ForgetAnswer> {
    const body = JSON.stringify({ entity_type: entityType, entity_ids: ids, cursor });
    return (await this.#call('POST', forget.path, body)) as ForgetAnswer;
  }

  /** Rebuilds a counter from the ledger of the service, and waits until the new counts serve. @throws CommandFailure */
  async rebuildCounter(counter: string): Promise<void> {
    let after: number | undefined;
    for (;;) {
      const body = JSON.stringify({ counter, ...(after === undefined ? {} : { after }) });
      const { state, generation, detail } = (await this.#call(
        'POST',
        rebuildCounter.path,
        body,
      )) as RebuildState;
      after ??= generation;
      // Every process of the service looks for new generations once in this time.
      if (state === 'done') {
        await setTimeout(FOLLOW_EVERY);
        return;
      }
      if (state === 'failed')
        throw new CommandFailure(
          `${this.#base} could not rebuild the counter ${counter}: ${detail ?? ''}`,
          'when the cause is gone, run the command again with --resume: it stores nothing twice, and counts again',
        );
      await setTimeout(REBUILD_POLL_MS);
    }
  }

  async experiments(): Promise<{ readonly experiments: readonly ExperimentState[] }> {
    return (await this.#call('GET', listExperiments.path)) as {
      readonly experiments: readonly ExperimentState[];
    };
  }

  async changeExperiment(verb: 'stop' | 'resume', name: string): Promise<ExperimentState> {
    const { path } = verb === 'stop' ? stopExperiment : resumeExperiment;
    return (await this.#call('POST', path, JSON.stringify({ experiment: name }))) as ExperimentState;
  }

  /** Loads the files of the project again. @throws MillraceError why they are not served */
  async reload(force: boolean): Promise<Reloaded> {
    return (await this.#call('POST', reload.path, JSON.stringify({ force }), undefined, SLOW_MS)) as Reloaded;
  }

  /** The last projects that the service served. @throws MillraceError */
  async releases(): Promise<ReleaseList> {
    return (await this.#call('GET', listReleases.path)) as ReleaseList;
  }

  /** Serves an earlier release. @param version by default the one before @throws MillraceError */
  async rollBack(version: string | undefined): Promise<RolledBack> {
    const body = JSON.stringify({ version: version ?? null });
    return (await this.#call('POST', rollBack.path, body, undefined, SLOW_MS)) as RolledBack;
  }

  /** Serves the files of the project again. @throws MillraceError */
  async endRollback(): Promise<RollbackEnd> {
    return (await this.#call('POST', endRollback.path, '{}', undefined, SLOW_MS)) as RollbackEnd;
  }

  async invitations(): Promise<readonly InvitationAnswer[]> {
    const { invitations } = (await this.#call('GET', listInvitations.path)) as {
      readonly invitations: readonly InvitationAnswer[];
    };
    return invitations;
  }

  async invite(body: object): Promise<InvitedAnswer> {
    return (await this.#call('POST', createInvitation.path, JSON.stringify(body))) as InvitedAnswer;
  }

  async revokeInvitation(which: string): Promise<InvitationAnswer> {
    const body = JSON.stringify({ invitation: which });
    return (await this.#call('POST', revokeInvitation.path, body)) as InvitationAnswer;
  }

  /** Saves the campaigns of a sheet in a draft. @throws MillraceError with the place of each wrong cell */
  async uploadSheet(list: string, draft: string, sheet: Buffer): Promise<DraftAnswer> {
    const body = JSON.stringify({ list, draft, file: sheet.toString('base64') });
    return (await this.#call('POST', draftPath('upload'), body)) as DraftAnswer;
  }

  async exportSheet(body: object): Promise<SheetAnswer> {
    return (await this.#call('POST', draftPath('export'), JSON.stringify(body))) as SheetAnswer;
  }

  async run(pipeline: string, body: unknown): Promise<RunAnswer> {
    const route = await this.#routeOf(pipeline);
    let misspelt = '';
    const answer = (await this.#call('POST', route, JSON.stringify(body), (headers) => {
      misspelt = String(headers['millrace-unknown-fields'] ?? '');
    })) as PipelineAnswer;
    return { answer, misspelt };
  }

  async explain(pipeline: string, body: unknown, options: ExplainOptions = {}): Promise<Explanation> {
    const route = await this.#routeOf(pipeline);
    return (await this.#call(
      'POST',
      explainPath(route) + explainQuery(options),
      JSON.stringify(body),
    )) as Explanation;
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }

  /** Asks the service for the routes of its pipelines. */
  async #routeOf(pipeline: string): Promise<string> {
    const document = (await this.#call('GET', openapi.path)) as {
      readonly paths?: Readonly<Record<string, { readonly post?: { readonly operationId?: string } }>>;
    };
    const routes = new Map<string, string>();
    for (const [route, { post }] of Object.entries(document.paths ?? {})) {
      const [, name] = PIPELINE_OPERATION.exec(post?.operationId ?? '') ?? [];
      if (name !== undefined) routes.set(name, route);
    }
    const route = routes.get(pipeline);
    if (route !== undefined) return route;
    throw unknownPipeline(pipeline, routes.keys(), this.#base);
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    body?: string | Buffer,
    onHeaders?: (headers: IncomingHttpHeaders) => void,
    withinMs = ANSWER_WITHIN_MS,
  ): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const response = await request(this.#base + path, {
        dispatcher: this.#connections,
        method,
        maxRedirections: MOST_REDIRECTIONS,
        signal: AbortSignal.timeout(withinMs),
        ...(body === undefined
          ? { headers: this.#authorization }
          : { body, headers: { 'content-type': 'application/json', ...this.#authorization } }),
      });
      status = response.statusCode;
      onHeaders?.(response.headers);
      this.coerced += Number(response.headers[COERCED_HEADER.toLowerCase()] ?? 0);
      text = await response.body.text();
    } catch (error) {
      throw unreachable(this.#base, error, withinMs, this.#canDoWithout);
    }
    const answer = parse(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer;
    throw refused(this.#base + path, status, answer);
  }
}

/**
 * Holds a row only as text, which is sent unchanged. A waiting row therefore has no parsed value that the garbage
 * collector must scan.
 */
class TextRow implements InputRow {
  readonly line: number;
  readonly json: string;
  readonly bytes: number;

  constructor({ line, bytes }: InputRow, json: string) {
    this.line = line;
    this.json = json;
    this.bytes = bytes;
  }

  get value(): JsonObject {
    return JSON.parse(this.json) as JsonObject;
  }
}

/** A body of entities up to its list. @param more further fields, as JSON */
function entitiesHead(entityType: string, entityKey: string | undefined, more = ''): string {
  const key = entityKey === undefined ? '' : `,"entity_key":${JSON.stringify(entityKey)}`;
  return `{"entity_type":${JSON.stringify(entityType)}${key}${more},"entities":`;
}

const textsOf = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : []);

/**
 * Joins `head`, the list of rows and the end of the object. They are joined as bytes; as strings they would be copied
 * three times.
 */
function bodyOf(head: string, rows: readonly InputRow[]): Buffer {
  const texts = rows.map(({ json, value }) => json ?? JSON.stringify(value));
  let size = Buffer.byteLength(head) + texts.length + '[]}'.length;
  for (const text of texts) size += Buffer.byteLength(text);
  const body = Buffer.allocUnsafe(size);
  let at = body.write(`${head}[`);
  texts.forEach((text, i) => {
    if (i > 0) at += body.write(',', at);
    at += body.write(text, at);
  });
  at += body.write(']}', at);
  return body.subarray(0, at);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function unreachable(base: string, error: unknown, withinMs: number, canDoWithout: boolean): CommandFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  const reason =
    error instanceof Error && error.name === 'TimeoutError'
      ? `no answer within ${String(withinMs / 1000)} s`
      : (code ?? (cause instanceof Error ? cause.message : String(cause)));
  return new CommandFailure(
    `no service answers at ${base} (${reason})`,
    canDoWithout
      ? 'start a service with millrace serve, or remove --url to use the store of the settings'
      : 'start a service with millrace serve, or correct the address',
    { cause: error },
  );
}

/** Converts the service's problem document back to an error. */
function refused(url: string, status: number, answer: unknown): Error {
  const problem = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    readonly code?: unknown;
    readonly detail?: unknown;
    readonly errors?: unknown;
  };
  if (typeof problem.code !== 'string' || !Object.hasOwn(ERROR_CODES, problem.code))
    return new CommandFailure(
      `${url} answered ${String(status)}, but not like a Millrace service`,
      'check the address',
    );
  const detail = typeof problem.detail === 'string' ? problem.detail : `answered ${String(status)}`;
  return new MillraceError(problem.code as ErrorCode, detail, { violations: violations(problem.errors) });
}

function violations(errors: unknown): readonly Violation[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(
    (item): item is Violation =>
      typeof item === 'object' &&
      item !== null &&
      typeof (item as Violation).pointer === 'string' &&
      typeof (item as Violation).detail === 'string',
  );
}
