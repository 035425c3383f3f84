import { Parser, type CST } from 'yaml';

/** More levels than any project file needs, and few enough for recursion. */
export const MAX_DEPTH = 64;

/**
 * Where a text first goes deeper than any project file needs. Asked before its nodes are composed, which recurses, and
 * where the stack runs out V8 may end the process: it cannot compile a regular expression then.
 */
export function startOfTooDeep(text: string): number | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [];
  const visit = (token: CST.Token | null | undefined, depth: number): void => {
    if (token) open.push({ token, depth });
  };
  let first: number | undefined;
  for (const top of new Parser().parse(text)) {
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
