import type { Inspected } from '../runtime/serve/http/routes/inspect.js';
import type { Explanation } from '../runtime/request/pipeline/explain/explanation.js';

/** An answer other than 200. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A problem document of the service (RFC 9457), as far as the page shows it. */
interface Problem {
  readonly detail?: string;
  readonly title?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** The key is kept in this variable alone: a reload of the page forgets it. */
let key = '';

export function useKey(text: string): void {
  key = text.trim();
}

export function inspected(): Promise<Inspected> {
  return send<Inspected>('/inspect/project', {});
}

export function explain(path: string, body: string): Promise<Explanation> {
  return send<Explanation>(path, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json' },
  });
}

async function send<T>(
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> },
): Promise<T> {
  const headers = key === '' ? init.headers : { ...init.headers, Authorization: `Bearer ${key}` };
  const answer = await fetch(path, { ...init, ...(headers === undefined ? {} : { headers }) });
  if (answer.ok) return (await answer.json()) as T;
  throw new Refusal(answer.status, await problemText(answer));
}

async function problemText(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const { detail, title, errors = [] } = JSON.parse(text) as Problem;
    const lines = errors.map((one) => `${one.pointer === '' ? 'the body' : one.pointer}: ${one.detail}`);
    return [detail ?? title ?? `status ${answer.status}`, ...lines].join('\n');
  } catch {
    return `status ${answer.status}`;
  }
}
