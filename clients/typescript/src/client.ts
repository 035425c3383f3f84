import { MillraceError, Problem } from './errors.js';
import type {
  AnswerOf,
  AnyProject,
  Comparison,
  ComparisonRequest,
  JudgedQuery,
  JudgingExport,
  JudgingRound,
  JudgingStart,
  KeptTest,
  LoggedRanking,
  Comparisons,
  DeletedRows,
  FeedbackCounts,
  Forgotten,
  Id,
  Invitation,
  Name,
  OnlineFeatures,
  PreviewLink,
  ProjectTypes,
  Pushed,
  RankAnswer,
  Ranked,
  Readiness,
  RequestOf,
  Role,
  Stored,
  Updated,
} from './project.js';
import { send, type Answer, type CallOptions, type Sent, type TransportOptions } from './transport.js';

export interface ClientOptions {
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** The longest time of a call in milliseconds, with all its tries and waits. By default 10,000. */
  readonly timeout?: number;
  /** How often a request is sent again at most. By default 3. */
  readonly retries?: number;
  /** If the service asks for a longer wait, in milliseconds, the client does not wait. By default 30,000. */
  readonly maxWait?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Options of a request to a pipeline. */
export interface RunOptions extends CallOptions {
  /** Becomes the `run_id` of the events. */
  readonly runId?: string;
}

/** Options of an explanation. */
export interface ExplainOptions extends RunOptions {
  readonly contributions?: boolean;
  /** A candidate, and the place from 1 that it should have. */
  readonly lift?: { readonly id: string; readonly to: number };
  /** Whether `test_case` has what the ranking read and answered, for a test. */
  readonly testCase?: boolean;
  /** Other values of params. A service that ranks compiles the pipeline again for them. */
  readonly params?: Readonly<Record<string, number>>;
  /** A preview: as it will be once the drafts of this name are published. It needs the scope `preview`. */
  readonly draft?: string;
  /** A preview: rules are those of this time, ISO 8601 or epoch milliseconds. */
  readonly at?: string | number;
}

/** An answer of a pipeline. */
export interface Run<A> {
  readonly answer: A;
  /** The id to send with the feedback. */
  readonly requestId: string;
  /** Why the answer is worse than the pipeline promises, e.g. `skipped=ltr`. Empty if it is not. */
  readonly degraded: readonly string[];
}

/** One page of a ranking, best first. */
export interface Ranking<A = RankAnswer> extends Run<A> {
  readonly candidates: readonly Ranked[];
  readonly ids: readonly string[];
}

/** What may limit an invitation. */
export interface InviteOptions extends CallOptions {
  readonly pipelines?: readonly string[];
  /** Until when its link opens a session. By default, 7 days from now. */
  readonly expires?: Date;
}

/** Which campaigns are exported, and how. */
export interface ExportOptions extends CallOptions {
  /** As they are once this draft is published. */
  readonly draft?: string;
  /** `german`: as a German spreadsheet opens it. By default `plain`. */
  readonly form?: 'german' | 'plain';
}

/** What a link to a preview shows. */
export interface ShareOptions extends CallOptions {
  /** The time of the rules. By default, that at which the link is opened. */
  readonly at?: Date;
  /** Until when the link opens. By default, 7 days from now. */
  readonly expires?: Date;
}

type Json = Record<string, unknown>;
type AnyRequest<Pipelines, N> = N extends Name<Pipelines> ? RequestOf<Pipelines[N]> : never;

/**
 * A client of one service, with a method for each endpoint. Errors of the service are `Problem`; a service that does not
 * answer is `ConnectionFailed`. A request is sent again if the service answers 429 or 503, after the time in its
 * `Retry-After`, or if the connection fails. A call that runs out of time is not.
 */
export class Millrace<P extends ProjectTypes = AnyProject> {
  readonly #transport: TransportOptions;
  #routes: ReadonlyMap<string, string> | undefined;

  constructor(url = 'http://127.0.0.1:5001', options: ClientOptions = {}) {
    const { apiKey, timeout = 10_000, retries = 3, maxWait = 30_000, headers = {} } = options;
    this.#transport = {
      url: url.replace(/\/+$/, ''),
      timeout,
      retries,
      maxWait,
      headers: { ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }), ...headers },
      // The global function must not be called as a method of another object.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    };
  }

  // Rankings

  /** Ranks candidates with a pipeline. The answer is one page. */
  async rank<N extends Name<P['rank']>>(
    pipeline: N,
    request: RequestOf<P['rank'][N]>,
    options: RunOptions = {},
  ): Promise<Ranking<AnswerOf<P['rank'][N]>>> {
    const run = await this.#run<AnswerOf<P['rank'][N]>>(pipeline, '', request as Json, options);
    const { ranked_candidates: candidates } = run.answer as RankAnswer;
    return { ...run, candidates, ids: candidates.map((one) => one.candidate_id) };
  }

  /** Ranks page after page, until a page is not full. All pages have one request id. */
  async *rankPages<N extends Name<P['rank']>>(
    pipeline: N,
    request: RequestOf<P['rank'][N]>,
    options: RunOptions = {},
  ): AsyncGenerator<Ranking<AnswerOf<P['rank'][N]>>, void> {
    let sent: Json = { ...(request as Json) };
    for (let page = Number(sent['user_page'] ?? 0); ; page++) {
      const ranking = await this.rank(
        pipeline,
        { ...sent, user_page: page } as RequestOf<P['rank'][N]>,
        options,
      );
      if (ranking.candidates.length > 0) yield ranking;
      const size = Number(sent['user_page_size'] ?? ranking.candidates.length);
      if (ranking.candidates.length === 0 || ranking.candidates.length < size) return;
      sent = { ...sent, request_id: sent['request_id'] ?? ranking.requestId };
    }
  }

  /** Scores one entity with a pipeline that has `score:`. */
  score<N extends Name<P['score']>>(
    pipeline: N,
    request: RequestOf<P['score'][N]>,
    options: RunOptions = {},
  ): Promise<Run<AnswerOf<P['score'][N]>>> {
    return this.#run(pipeline, '', request as Json, options);
  }

  /**
   * Why an answer of a pipeline is as it is: every value with its status, and what each step did; with `contributions`, also
   * how each score came to be, and with `lift` which changes of its values lift a candidate to a place. `draft` and `at` make it a preview.
   */
  async explain<N extends Name<P['rank']> | Name<P['score']>>(
    pipeline: N,
    request: AnyRequest<P['rank'], N> | AnyRequest<P['score'], N>,
    {
      contributions = false,
      testCase = false,
      lift,
      draft,
      at,
      params = {},
      ...options
    }: ExplainOptions = {},
  ): Promise<Json> {
    const asked = new URLSearchParams({
      ...(contributions ? { contributions: 'true' } : {}),
      ...(testCase ? { test_case: 'true' } : {}),
      ...(lift === undefined ? {} : { lift: lift.id, to: String(lift.to) }),
      ...(draft === undefined ? {} : { draft }),
      ...(at === undefined ? {} : { at: String(at) }),
    });
    for (const [name, value] of Object.entries(params)) asked.append('param', `${name}=${value}`);
    const suffix = `/explain${asked.size === 0 ? '' : `?${asked.toString()}`}`;
    return (await this.#run<Json>(pipeline, suffix, request as Json, options)).answer;
  }

  // Entities

  /** Stores entities whole, at most 1,000. `entityKey` names the field of the id, if it is not the key of the type. */
  uploadEntities<T extends Name<P['entities']>>(
    entityType: T,
    entities: readonly P['entities'][T][],
    { entityKey, ...options }: CallOptions & { readonly entityKey?: string } = {},
  ): Promise<Stored> {
    const key = entityKey === undefined ? {} : { entity_key: entityKey };
    return this.#post('/api/v1/entities/upload', { entity_type: entityType, entities, ...key }, options);
  }

  /**
   * Replaces the attributes that each entity has, and removes those that are null; the others stay. At most 1,000. `create`
   * creates entities that are not stored.
   */
  updateEntities<T extends Name<P['entities']>>(
    entityType: T,
    entities: readonly P['entities'][T][],
    {
      entityKey,
      create = false,
      ...options
    }: CallOptions & { readonly entityKey?: string; readonly create?: boolean } = {},
  ): Promise<Updated> {
    const key = entityKey === undefined ? {} : { entity_key: entityKey };
    const body = { entity_type: entityType, entities, ...key, ...(create ? { create } : {}) };
    return this.#post('/api/v1/entities/update', body, options);
  }

  /** The entities by id; null for an id that is not stored. */
  async getEntities<T extends Name<P['entities']>>(
    entityType: T,
    ids: readonly Id[],
    options: CallOptions = {},
  ): Promise<Record<string, P['entities'][T] | null>> {
    const body = { entity_type: entityType, entity_ids: ids };
    const { entities } = await this.#post<{ entities: Record<string, P['entities'][T] | null> }>(
      '/api/v1/entities/get',
      body,
      options,
    );
    return entities;
  }

  deleteEntities(
    entityType: Name<P['entities']>,
    ids: readonly Id[],
    options: CallOptions = {},
  ): Promise<Stored> {
    return this.#post('/api/v1/entities/delete', { entity_type: entityType, entity_ids: ids }, options);
  }

  /** All entities of a type, page by page. `limit` is the size of a page. */
  scanEntities<T extends Name<P['entities']>>(
    entityType: T,
    options: CallOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<P['entities'][T], void> {
    return this.#scan('/api/v1/entities/scan', { entity_type: entityType }, 'entities', options);
  }

  // Features

  /**
   * Stores rows of a feature view: keys, features, and perhaps `event_time`. At most 1,000. `increment` adds the numbers of
   * the rows to the stored ones. By default it is tried once, because a second try can add twice.
   */
  pushFeatures<V extends Name<P['rows']>>(
    view: V,
    rows: readonly P['rows'][V][],
    { increment = false, ...options }: CallOptions & { readonly increment?: boolean } = {},
  ): Promise<Pushed> {
    if (!increment) return this.#post('/api/v1/features/push', { view, rows }, options);
    return this.#post('/api/v1/features/push', { view, rows, increment }, { retries: 0, ...options });
  }

  /** Deletes rows of a feature view by their keys. */
  deleteFeatures<V extends Name<P['rows']>>(
    view: V,
    rows: readonly Partial<P['rows'][V]>[],
    options: CallOptions = {},
  ): Promise<DeletedRows> {
    return this.#post('/api/v1/features/delete', { view, rows }, options);
  }

  /** All rows of a feature view, page by page. `limit` is the size of a page. */
  scanFeatures<V extends Name<P['rows']>>(
    view: V,
    options: CallOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<P['rows'][V], void> {
    return this.#scan('/api/v1/features/scan', { view }, 'rows', options);
  }

  /** The values that a ranking reads, e.g. `getOnlineFeatures(['stats:ctr'], { product_id: ['p1'] })`. */
  getOnlineFeatures(
    features: readonly string[],
    entities: Readonly<Record<string, readonly Id[]>>,
    { fullFeatureNames, ...options }: CallOptions & { readonly fullFeatureNames?: boolean } = {},
  ): Promise<OnlineFeatures> {
    const full = fullFeatureNames === undefined ? {} : { full_feature_names: fullFeatureNames };
    return this.#post('/feature/get-online-features', { features, entities, ...full }, options);
  }

  // Feedback and privacy

  /**
   * Tells what users did with what was shown.
   * @param requestId of the ranking; null for events of no ranking, which then have an `event_id` or a `time`
   * @param owners the entities that the events are of, mostly `{ user: { user_id: 'u1' } }`
   */
  sendFeedback(
    requestId: string | null,
    events: readonly P['interaction'][],
    owners: P['owners'],
    options: CallOptions = {},
  ): Promise<FeedbackCounts> {
    const named = requestId === null ? {} : { request_id: requestId };
    return this.#post('/api/v1/feedback', { ...named, events, ...owners }, options);
  }

  /** Forgets entities. It calls the service until all is done, and returns the answers. */
  async forget(
    entityType: Name<P['entities']>,
    ids: readonly Id[],
    options: CallOptions = {},
  ): Promise<Forgotten[]> {
    const answers: Forgotten[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const body = { entity_type: entityType, entity_ids: ids, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await this.#post<Forgotten>('/api/v1/privacy/forget', body, options);
      answers.push(answer);
      ({ cursor } = answer);
    }
    return answers;
  }

  // People

  /** The invitations that were made over HTTP, without their texts. */
  async listInvitations(options: CallOptions = {}): Promise<readonly Invitation[]> {
    const { text } = await this.#get('/api/v1/invitations', options);
    return (JSON.parse(text) as { invitations: readonly Invitation[] }).invitations;
  }

  /**
   * Invites a person. Whoever opens `/session#` and the `invitation` of the answer signs in, once. It is not sent again, since
   * that would make another invitation.
   */
  createInvitation(
    name: string,
    role: Role,
    { pipelines, expires, ...options }: InviteOptions = {},
  ): Promise<Invitation & { readonly invitation: string }> {
    const limits = { ...(pipelines && { pipelines }), ...(expires && { expires: expires.toISOString() }) };
    return this.#post('/api/v1/invitations/create', { name, role, ...limits }, { retries: 0, ...options });
  }

  /** Revokes an invitation, by its id or by the name of the person, and ends the session that it opened. */
  revokeInvitation(invitation: string, options: CallOptions = {}): Promise<Invitation> {
    return this.#post('/api/v1/invitations/revoke', { invitation }, options);
  }

  // Campaigns and their previews

  /** Saves the campaigns of a CSV file in a draft: all of them, or none. It may be as Excel writes it. */
  uploadDraft(list: string, draft: string, sheet: Uint8Array, options: CallOptions = {}): Promise<Json> {
    let text = '';
    for (const byte of sheet) text += String.fromCharCode(byte);
    return this.#post('/api/v1/curation/draft/upload', { list, draft, file: btoa(text) }, options);
  }

  /** The campaigns of a list as a CSV file; with `draft`, as they are once it is published. */
  async exportCampaigns(
    list: string,
    { draft, form = 'plain', ...options }: ExportOptions = {},
  ): Promise<Uint8Array> {
    const body = { list, form, ...(draft === undefined ? {} : { draft }) };
    const { file } = await this.#post<{ file: string }>('/api/v1/curation/export', body, options);
    return Uint8Array.from(atob(file), (one) => one.charCodeAt(0));
  }

  /**
   * Makes a link to a preview. Whoever opens `/workbench/preview#` and the `link` of the answer sees the page without a key. It
   * is not sent again, since that would make another link.
   */
  sharePreview<N extends Name<P['rank']>>(
    draft: string,
    pipeline: N,
    request: AnyRequest<P['rank'], N>,
    { at, expires, ...options }: ShareOptions = {},
  ): Promise<PreviewLink & { readonly link: string }> {
    const times = { ...(at && { at: at.toISOString() }), ...(expires && { expires: expires.toISOString() }) };
    const body = { draft, pipeline, request, ...times };
    return this.#post('/api/v1/previews/share', body, { retries: 0, ...options });
  }

  /** The links to previews that are not over, without their texts. */
  async listPreviewLinks(options: CallOptions = {}): Promise<readonly PreviewLink[]> {
    const { links } = await this.#post<{ links: readonly PreviewLink[] }>(
      '/api/v1/previews/links',
      {},
      options,
    );
    return links;
  }

  /** Revokes a link by its id: it opens nothing any more. */
  revokePreviewLink(link: string, options: CallOptions = {}): Promise<PreviewLink> {
    return this.#post('/api/v1/previews/revoke', { link }, options);
  }

  /** The page that a link shows, with the answer of the route in `answer`. It needs no key. */
  openPreview(link: string, options: CallOptions = {}): Promise<Json> {
    return this.#post('/api/v1/previews/open', { link }, options);
  }

  // Comparisons, which run in the process of the workbench

  /** The comparisons, and the names of pipelines, judgments and experiments that one may use. */
  async listComparisons(options: CallOptions = {}): Promise<Comparisons> {
    return JSON.parse((await this.#get('/api/v1/comparisons', options)).text) as Comparisons;
  }

  /** Starts a comparison. It is not sent again, since that would be another comparison. */
  startComparison(request: ComparisonRequest, options: CallOptions = {}): Promise<Comparison> {
    return this.#post('/api/v1/comparisons/start', request, { retries: 0, ...options });
  }

  /** How far a comparison is, and once it is done, its `report` and its `result`. */
  getComparison(
    comparison: string,
    options: CallOptions = {},
  ): Promise<Comparison & { readonly report: unknown; readonly result: unknown }> {
    return this.#post('/api/v1/comparisons/get', { comparison }, options);
  }

  /** Stops a comparison at its next request. */
  stopComparison(comparison: string, options: CallOptions = {}): Promise<Comparison> {
    return this.#post('/api/v1/comparisons/stop', { comparison }, options);
  }

  /** A request of the ledger, by its id, with the values that it had. */
  getLoggedRanking(
    requestId: string,
    { pipeline, ...options }: CallOptions & { readonly pipeline?: string } = {},
  ): Promise<LoggedRanking> {
    return this.#post(
      '/api/v1/rankings/logged',
      { request_id: requestId, ...(pipeline && { pipeline }) },
      options,
    );
  }

  /** A ranking as a test of the project, which `millrace test` passes. */
  keepRanking(test: string, pipeline: string, request: Json, options: CallOptions = {}): Promise<KeptTest> {
    return this.#post('/api/v1/rankings/keep', { test, pipeline, request }, options);
  }

  // Judging

  /** The rounds of judging, the latest first. */
  async listJudging(options: CallOptions = {}): Promise<readonly JudgingRound[]> {
    const { text } = await this.#get('/api/v1/judging', options);
    return (JSON.parse(text) as { rounds: readonly JudgingRound[] }).rounds;
  }

  startJudging(round: JudgingStart, options: CallOptions = {}): Promise<JudgingRound> {
    return this.#post('/api/v1/judging/start', round, options);
  }

  /** A query of a round, from 1. `judge` only in a service without keys. */
  getJudgedQuery(
    round: string,
    number: number,
    { judge, ...options }: CallOptions & { readonly judge?: string } = {},
  ): Promise<JudgedQuery> {
    return this.#post('/api/v1/judging/query', { round, number, ...(judge && { judge }) }, options);
  }

  /** Stores grades by candidate; null takes one back. */
  gradeCandidates(
    round: string,
    number: number,
    grades: Readonly<Record<string, number | null>>,
    {
      judge,
      skipped,
      ...options
    }: CallOptions & { readonly judge?: string; readonly skipped?: boolean } = {},
  ): Promise<JudgedQuery> {
    const body = {
      ...{ round, number },
      grades: Object.entries(grades).map(([candidate_id, grade]) => ({ candidate_id, grade })),
      ...(judge && { judge }),
      ...(skipped !== undefined && { skipped }),
    };
    return this.#post('/api/v1/judging/grade', body, options);
  }

  /** Adds a candidate to a query of a round, so that judges grade it too. */
  addJudgedCandidate(
    round: string,
    query: string,
    candidateId: string,
    options: CallOptions = {},
  ): Promise<{ readonly round: string; readonly number: number }> {
    return this.#post('/api/v1/judging/add', { round, query, candidate_id: candidateId }, options);
  }

  exportJudging(round: string, options: CallOptions = {}): Promise<JudgingExport> {
    return this.#post('/api/v1/judging/export', { round }, options);
  }

  /** Removes a round and all its grades. */
  removeJudging(round: string, options: CallOptions = {}): Promise<{ readonly removed: string }> {
    return this.#post('/api/v1/judging/remove', { round }, options);
  }

  // The service

  /** The state of all instances: rates, refusals, latency, sources, arms. */
  async listInstances(options: CallOptions = {}): Promise<readonly Record<string, unknown>[]> {
    const { text } = await this.#get('/api/v1/instances', options);
    return (JSON.parse(text) as { instances: readonly Record<string, unknown>[] }).instances;
  }

  /** Whether the process answers. */
  async healthz(options: CallOptions = {}): Promise<boolean> {
    const { status } = JSON.parse((await this.#get('/healthz', options)).text) as { status: string };
    return status === 'OK';
  }

  /** Whether this instance takes traffic, and otherwise why not. */
  async readyz(options: CallOptions = {}): Promise<Readiness> {
    const sent: Sent = { method: 'GET', path: '/readyz', accepted: 503 };
    const { status, text } = await send(this.#transport, sent, { retries: 0, ...options });
    return { ready: status === 200, ...(JSON.parse(text) as Omit<Readiness, 'ready'>) };
  }

  /** The metrics in the text format of Prometheus. */
  async metrics(options: CallOptions = {}): Promise<string> {
    return (await this.#get('/metrics', options)).text;
  }

  /** The OpenAPI document of the pipelines, types and views that are loaded. */
  async openapi(options: CallOptions = {}): Promise<Json> {
    return JSON.parse((await this.#get('/openapi.json', options)).text) as Json;
  }

  /** The API reference, a web page. */
  async redoc(options: CallOptions = {}): Promise<string> {
    return (await this.#get('/redoc', options)).text;
  }

  // How requests are made

  async #run<A>(pipeline: string, suffix: string, request: Json, options: RunOptions): Promise<Run<A>> {
    const { runId, headers, ...call } = options;
    const named = runId === undefined ? headers : { ...headers, 'X-Millrace-Run-Id': runId };
    // A request that is sent again keeps its id, so that it is one request in the ledger.
    const body = { ...request, request_id: request['request_id'] ?? newId() };
    const answer = await this.#toPipeline(pipeline, suffix, body, { ...call, headers: named });
    return {
      answer: JSON.parse(answer.text) as A,
      requestId: answer.headers.get('X-Request-Id') ?? '',
      degraded: (answer.headers.get('Millrace-Degraded') ?? '').split(',').flatMap((one) => one.trim() || []),
    };
  }

  async #toPipeline(pipeline: string, suffix: string, body: Json, options: CallOptions): Promise<Answer> {
    const route = this.#routes?.get(pipeline) ?? `/api/v1/${pipeline}`;
    const to = (path: string): Promise<Answer> =>
      send(this.#transport, { method: 'POST', path: path + suffix, body }, options);
    try {
      return await to(route);
    } catch (error) {
      // A pipeline can have another route, which the OpenAPI document tells.
      if (!(error instanceof Problem) || error.code !== 'unknown_route') throw error;
      // Without a right to read the document, the first error says more.
      const routes = await this.#readRoutes(options).catch(() => undefined);
      const other = routes?.get(pipeline);
      if (other === undefined || other === route) throw error;
      this.#routes = routes;
      return await to(other);
    }
  }

  async #readRoutes(options: CallOptions): Promise<ReadonlyMap<string, string>> {
    const { paths } = (await this.openapi(options)) as {
      paths: Record<string, { post?: { operationId?: string } }>;
    };
    return new Map(
      Object.entries(paths).flatMap(([path, { post }]) => {
        const name = /^(?:rank|score)_(.+)$/.exec(post?.operationId ?? '')?.[1];
        return name === undefined ? [] : [[name, path] as const];
      }),
    );
  }

  async *#scan<T>(
    path: string,
    body: Json,
    list: string,
    { limit, ...options }: CallOptions & { readonly limit?: number },
  ): AsyncGenerator<T, void> {
    const size = limit === undefined ? {} : { limit };
    for (let cursor: unknown; cursor !== null;) {
      const page = await this.#post<Json>(
        path,
        { ...body, ...size, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      const items = page[list];
      if (!Array.isArray(items)) throw new MillraceError(`the answer of ${path} has no ${list}`);
      yield* items as T[];
      cursor = page['cursor'] ?? null;
    }
  }

  async #post<A>(path: string, body: unknown, options: CallOptions): Promise<A> {
    return JSON.parse((await send(this.#transport, { method: 'POST', path, body }, options)).text) as A;
  }

  #get(path: string, options: CallOptions): Promise<Answer> {
    return send(this.#transport, { method: 'GET', path }, options);
  }
}

/** 128 random bits. `crypto.randomUUID` is missing in pages without TLS. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
