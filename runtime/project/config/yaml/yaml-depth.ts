import type { CST } from 'yaml';

/** No project file needs more levels, and recursion is safe up to this depth. */
export const MAX_DEPTH = 64;
export const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep`;

/**
 * Finds the first place that is nested too deeply. It runs before the nodes are composed, because composing is
 * recursive: when the stack overflows, V8 may end the process because it cannot compile a regular expression.
 * @param tokens of the whole text, from the parser
 */
export function startOfTooDeep(tokens: Iterable<CST.Token>): number | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [];
  const visit = (token: CST.Token | null | undefined, depth: number): void => {
    if (token) open.push({ token, depth });
  };
  let first: number | undefined;
  for (const top of tokens) {
    visit(top, 0);
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { token, depth } = next;
      if (depth > MAX_DEPTH) first = Math.min(first ?? Infinity, token.offset);
      else if (token.type === 'document') visit(token.value, depth);
      else if ('items' in token)
        for (const { key, value } of token.items) {
          visit(key, depth + 1);
          visit(value, depth + 1);
        }
    }
  }
  return first;
}
