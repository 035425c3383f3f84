import { MillraceError } from '../../ground/api/errors.js';

/** Paths of routes: literal, or with parameters, as in `/api/v1/pipelines/:name/stats`. */

const PARAMETER = /^:([a-z][a-z0-9_]*)$/;

/** The names of the parameters, in order. */
export function parametersIn(path: string): readonly string[] {
  return path.split('/').flatMap((segment) => PARAMETER.exec(segment)?.[1] ?? []);
}

/** The path as OpenAPI writes it: `/api/v1/pipelines/{name}/stats`. */
export function openApiPath(path: string): string {
  return path.replaceAll(/\/:([a-z][a-z0-9_]*)(?=\/|$)/g, '/{$1}');
}

/**
 * The decoded parameters of a path that matches; undefined if the route has none.
 * @throws MillraceError unknown_route if one cannot be decoded
 */
export function parametersOf(path: string, asked: string): Readonly<Record<string, string>> | undefined {
  if (!path.includes('/:')) return undefined;
  const segments = asked.split('/');
  const values = path
    .split('/')
    .map((segment, at) => [PARAMETER.exec(segment)?.[1], segments[at] ?? ''] as const);
  try {
    return Object.fromEntries(
      values.flatMap(([name, value]) => (name === undefined ? [] : [[name, decodeURIComponent(value)]])),
    );
  } catch {
    const detail = 'nothing answers at this path: it has a % that is no escape such as %20';
    throw new MillraceError('unknown_route', detail);
  }
}

/** What no pipeline may use: the path, or the folder of the first parameter, which ends with a slash. */
export function reservedBy(path: string): string {
  const at = path.indexOf('/:');
  return at < 0 ? path : path.slice(0, at + 1);
}

/** The path with the parameters that a request has there, to find what a misspelt path means. */
export function filledFrom(path: string, asked: string): string {
  const segments = asked.split('/');
  return path
    .split('/')
    .map((segment, at) => (PARAMETER.test(segment) ? (segments[at] ?? segment) : segment))
    .join('/');
}

/** What belongs to each path of a list of routes. */
export class RouteTable<T> {
  readonly #literal = new Map<string, T>();
  readonly #patterns: { readonly path: string; readonly segments: readonly string[]; readonly value: T }[] =
    [];

  /** @throws Error if two paths match the same requests, and neither is literal */
  add(path: string, value: T): void {
    if (parametersIn(path).length === 0) {
      this.#literal.set(path, value);
      return;
    }
    const segments = path.split('/');
    const rival = this.#patterns.find(({ segments: others }) => overlap(segments, others));
    if (rival !== undefined)
      throw new Error(`the routes ${path} and ${rival.path} match the same requests: change one of them`);
    this.#patterns.push({ path, segments, value });
  }

  /** A literal path wins over one with parameters. */
  find(path: string): T | undefined {
    const found = this.#literal.get(path);
    if (found !== undefined || this.#patterns.length === 0) return found;
    const asked = path.split('/');
    return this.#patterns.find(({ segments }) => matches(segments, asked))?.value;
  }
}

function matches(segments: readonly string[], asked: readonly string[]): boolean {
  return (
    segments.length === asked.length &&
    segments.every((segment, at) => (PARAMETER.test(segment) ? asked[at] !== '' : segment === asked[at]))
  );
}

/** Whether paths, as their segments, match the same requests. */
export function overlap(a: readonly string[], b: readonly string[]): boolean {
  return (
    a.length === b.length &&
    a.every((segment, at) => segment === b[at] || PARAMETER.test(segment) || PARAMETER.test(b[at] ?? ''))
  );
}
