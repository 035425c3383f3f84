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

/** Escapes the pattern characters of a path, so that Express matches all but the parameters literally. */
export function expressPath(path: string): string {
  return path
    .split('/')
    .map((segment) => (PARAMETER.test(segment) ? segment : segment.replace(/[{}()[\]+?!:*\\]/g, '\\$&')))
    .join('/');
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

function overlap(a: readonly string[], b: readonly string[]): boolean {
  return (
    a.length === b.length &&
    a.every((segment, at) => segment === b[at] || PARAMETER.test(segment) || PARAMETER.test(b[at] ?? ''))
  );
}
