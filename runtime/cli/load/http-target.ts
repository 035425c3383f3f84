import { ERROR_CODES, type ErrorCode } from '../../api/error-codes.js';
import { MillraceError, type Violation } from '../../api/errors.js';
import { explainPath } from '../../http/paths.js';
import type { Explanation } from '../../pipeline/explanation.js';
import type { PipelineAnswer } from '../../pipeline/types.js';
import { CommandFailure } from '../failure.js';
import type { InputRow } from '../input/rows.js';
import { unknownPipeline, type DataTarget } from './target.js';

/** The ids of pipelines' operations in /openapi.json. */
const PIPELINE_OPERATION = /^(?:rank|score)_(.+)$/;
/** A service that has not answered by then is taken for dead. */
const ANSWER_WITHIN_MS = 60_000;

/** Talks to a running service. */
export class HttpTarget implements DataTarget {
  readonly name: string;
  readonly #base: string;

  constructor(url: string) {
    this.#base = url.replace(/\/+$/, '');
    this.name = this.#base;
  }

  async upload(entityType: string, entityKey: string | undefined, rows: readonly InputRow[]): Promise<void> {
    const key = entityKey === undefined ? '' : `,"entity_key":${JSON.stringify(entityKey)}`;
    const body = `{"entity_type":${JSON.stringify(entityType)}${key},"entities":${list(rows)}}`;
    await this.#call('POST', '/api/v1/entities/upload', body);
  }

  async push(view: string, rows: readonly InputRow[]): Promise<{ readonly older: number }> {
    const body = `{"view":${JSON.stringify(view)},"rows":${list(rows)}}`;
    const answer = (await this.#call('POST', '/api/v1/features/push', body)) as { older?: unknown };
    return { older: typeof answer.older === 'number' ? answer.older : 0 };
  }

  async run(pipeline: string, body: unknown): Promise<PipelineAnswer> {
    const route = await this.#routeOf(pipeline);
    return (await this.#call('POST', route, JSON.stringify(body))) as PipelineAnswer;
  }

  async explain(pipeline: string, body: unknown): Promise<Explanation> {
    const route = await this.#routeOf(pipeline);
    return (await this.#call('POST', explainPath(route), JSON.stringify(body))) as Explanation;
  }

  async close(): Promise<void> {
    // fetch keeps its own sockets and lets the process end.
  }

  /** The service says itself where its pipelines answer. */
  async #routeOf(pipeline: string): Promise<string> {
    const document = (await this.#call('GET', '/openapi.json')) as {
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

  async #call(method: string, path: string, body?: string): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#base + path, {
        method,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      });
      text = await response.text();
    } catch (error) {
      throw unreachable(this.#base, error);
    }
    const answer = parse(text);
    if (response.ok && answer !== undefined) return answer;
    throw refused(this.#base + path, response.status, answer);
  }
}

function list(rows: readonly InputRow[]): string {
  return `[${rows.map((row) => row.json ?? JSON.stringify(row.value)).join(',')}]`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function unreachable(base: string, error: unknown): CommandFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  const reason =
    error instanceof Error && error.name === 'TimeoutError'
      ? `no answer within ${String(ANSWER_WITHIN_MS / 1000)} s`
      : (code ?? (cause instanceof Error ? cause.message : String(cause)));
  return new CommandFailure(
    `no service answers at ${base} (${reason})`,
    'start one with millrace serve, or leave out --url to write to the store of the settings',
    { cause: error },
  );
}

/** The service's problem document as the error it was there. */
function refused(url: string, status: number, answer: unknown): Error {
  const problem = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    readonly code?: unknown;
    readonly detail?: unknown;
    readonly errors?: unknown;
  };
  if (typeof problem.code !== 'string' || !Object.hasOwn(ERROR_CODES, problem.code))
    return new CommandFailure(
      `${url} answered ${String(status)}, and not as a Millrace service does`,
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
