import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import type { InstanceList } from '../../runtime/serve/metrics/live-meter.js';
import type { ComparisonList } from '../../runtime/serve/compare/comparison.js';
import type { PreviewLink, SharedLink } from '../../runtime/serve/access/preview-links.js';
import type { LinkedPreview } from '../../runtime/serve/http/routes/previews.js';
import type { KeptTest, LoggedRanking } from '../../runtime/serve/compare/workshop-answers.js';
import type { JudgingRoute, RoundList } from '../../runtime/serve/judging/round.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';

/** An answer other than 200. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problem: Problem = {},
  ) {
    super(message);
  }
}

/** A problem document of the service (RFC 9457), as far as the page shows it. */
export interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly title?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  /** The wrong cells of a sheet. */
  readonly rows?: readonly {
    readonly line: number;
    readonly column?: string;
    readonly cell?: string;
    readonly detail: string;
    readonly help: string;
  }[];
  /** What others changed, if that is why. */
  readonly conflicts?: readonly {
    readonly campaign: string;
    readonly author?: string | null;
    readonly at?: string;
    readonly yours: unknown;
    readonly theirs: unknown;
  }[];
}

/** The key is kept in this variable alone: a reload of the page forgets it. */
let key = '';
/** The token of the session, if the browser has one. */
let csrf = '';

export function sendKey(text: string): void {
  key = text.trim();
}

/** A request to a route that explains. */
export interface SentRequest {
  readonly path: string;
  readonly body: string;
  /** Parameters of the route: what it is a preview of. */
  readonly preview?: Readonly<Record<string, string>>;
  /** Other values of params. */
  readonly params?: Readonly<Record<string, number>>;
}

/** Who sends the requests of this page. */
export interface Sender {
  readonly name: string;
  /** Only of a session. */
  readonly until?: string;
  readonly csrf?: string;
}

export async function whoAmI(): Promise<Sender> {
  const sender = await send<Sender>('/api/v1/session', {});
  csrf = sender.csrf ?? '';
  return sender;
}

export async function openSession(invitation: string): Promise<void> {
  await post('/api/v1/session/open', JSON.stringify({ invitation }));
}

export async function endSession(): Promise<void> {
  await post('/api/v1/session/end', '{}');
}

export function projectNow(): Promise<WorkbenchProject> {
  return send<WorkbenchProject>('/workbench/project', {});
}

/** The titles that answers had, by the id: what a campaign names may be on no page that is shown. */
const titles = new Map<string, string>();

/** The title of a candidate; its id if no answer had it. */
export const knownTitle = (id: string): string => titles.get(id) ?? id;

/** @param options the parameters of the route, such as `{ contributions: 'true' }` */
export async function explain(
  { path, body, preview = {}, params = {} }: SentRequest,
  options: Readonly<Record<string, string>> = {},
): Promise<Explanation> {
  const parameters = new URLSearchParams({ ...preview, ...options });
  for (const [name, value] of Object.entries(params)) parameters.append('param', `${name}=${value}`);
  const query = parameters.toString();
  const explanation = await post<Explanation>(query === '' ? path : `${path}?${query}`, body);
  const { page, why } = explanation;
  for (const { candidate_id: id, card } of why === undefined ? page : [...page, why])
    if (card?.title !== undefined) titles.set(id, card.title);
  return explanation;
}

/** Calls a route below /api/v1/curation/ of a list. */
export function curation<T>(route: string, body: object): Promise<T> {
  return post<T>(`/api/v1/curation/${route}`, JSON.stringify(body));
}

/** Makes a link to a preview. */
export function sharePreview(body: object): Promise<SharedLink> {
  return post<SharedLink>('/api/v1/previews/share', JSON.stringify(body));
}

/** The links that are not over. */
export async function previewLinks(): Promise<readonly PreviewLink[]> {
  return (await post<{ readonly links: readonly PreviewLink[] }>('/api/v1/previews/links', '{}')).links;
}

export async function revokeLink(link: string): Promise<void> {
  await post('/api/v1/previews/revoke', JSON.stringify({ link }));
}

/** Opens the preview of a link. It needs no key. */
export function openPreview(link: string): Promise<LinkedPreview> {
  return post<LinkedPreview>('/api/v1/previews/open', JSON.stringify({ link }));
}

/** The state of all instances. */
export function instances(): Promise<InstanceList> {
  return send<InstanceList>('/api/v1/instances', {});
}

/** What can be compared here, and what was. */
export function comparisons(): Promise<ComparisonList> {
  return send<ComparisonList>('/api/v1/comparisons', {});
}

/** Calls a route below /api/v1/comparisons/. */
export function comparison<T>(route: 'start' | 'get' | 'stop', body: object): Promise<T> {
  return post<T>(`/api/v1/comparisons/${route}`, JSON.stringify(body));
}

/** The rounds of judging. */
export function rounds(): Promise<RoundList> {
  return send<RoundList>('/api/v1/judging', {});
}

/** Calls a route below /api/v1/judging/. */
export function judging<T>(route: JudgingRoute, body: object): Promise<T> {
  return post<T>(`/api/v1/judging/${route}`, JSON.stringify(body));
}

/** A logged request, with the values that it had. */
export function loggedRanking(id: string): Promise<LoggedRanking> {
  return post<LoggedRanking>('/api/v1/rankings/logged', JSON.stringify({ request_id: id }));
}

/** A ranking as a test of the project. */
export function keepTest(test: string, pipeline: string, request: object): Promise<KeptTest> {
  return post<KeptTest>('/api/v1/rankings/keep', JSON.stringify({ test, pipeline, request }));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function post<T>(path: string, body: string): Promise<T> {
  const token: Record<string, string> = csrf === '' ? {} : { 'X-Millrace-CSRF': csrf };
  return send<T>(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...token } });
}

async function send<T>(
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> },
): Promise<T> {
  const headers = key === '' ? init.headers : { ...init.headers, Authorization: `Bearer ${key}` };
  const answer = await fetch(path, { ...init, ...(headers === undefined ? {} : { headers }) });
  if (answer.ok) return (await answer.json()) as T;
  throw await refusalOf(answer);
}

async function refusalOf(answer: Response): Promise<Refusal> {
  const text = await answer.text();
  try {
    const problem = JSON.parse(text) as Problem;
    const { detail, title, errors = [] } = problem;
    // The detail often ends with what the only error says.
    const lines = errors
      .filter((one) => detail?.endsWith(one.detail) !== true)
      .map((one) => `${one.pointer === '' ? 'the body' : one.pointer}: ${one.detail}`);
    const message = [detail ?? title ?? `status ${answer.status}`, ...lines].join('\n');
    return new Refusal(answer.status, message, problem);
  } catch {
    return new Refusal(answer.status, `status ${answer.status}`);
  }
}
