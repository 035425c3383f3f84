/** A request on a page of the docs, and its answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly answer: unknown;
}

/** Returns every request of a page that is followed by a block with its answer. */
export function exchangesOf(page: string): Exchange[] {
  const blocks = /^```http\n(\w+) (\S+)\n\n([^]*?)^```\n+```json\n([^]*?)^```$/gm;
  return [...page.matchAll(blocks)].map(([, method = '', path = '', body = '', answer = '']) => ({
    method,
    path,
    body,
    answer: JSON.parse(answer) as unknown,
  }));
}
