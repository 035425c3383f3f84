/** The brackets that are open at an offset, innermost last. */
export interface OpenBracket {
  readonly start: number;
  readonly char: '{' | '[';
  /** The offset of the closing bracket in a comment, if the comment hides it. */
  readonly closedInComment: number | undefined;
}

export interface OpenEnds {
  readonly bracket: OpenBracket | undefined;
  /** Start of a quoted string that is still open at the offset. */
  readonly quote: number | undefined;
}

/**
 * Finds the brackets that are open at an offset, as YAML reads them. Brackets in quotes, comments and inside plain
 * values do not count. The result is the place where the closing bracket was probably forgotten.
 */
export function openEndsAt(text: string, end: number): OpenEnds {
  const open: { start: number; char: '{' | '['; closedInComment: number | undefined }[] = [];
  for (let at = 0; at < end; at += 1) {
    const char = text[at] ?? '';
    if (char === '#' && /^$|\s/.test(text[at - 1] ?? '')) {
      const newline = text.indexOf('\n', at);
      const last = open.at(-1);
      const close = last?.char === '[' ? ']' : '}';
      const lineEnd = newline === -1 ? end : newline;
      if (last !== undefined && text.slice(at, lineEnd).includes(close)) last.closedInComment ??= at;
      at = lineEnd;
    } else if ((char === '"' || char === "'") && startsValue(text, at)) {
      const close = closeOfQuote(text, at, end);
      if (close === undefined) return { bracket: open.at(-1), quote: at };
      at = close;
    } else if ((char === '{' || char === '[') && startsValue(text, at)) {
      open.push({ start: at, char, closedInComment: undefined });
    } else if (char === '}' || char === ']') open.pop();
  }
  return { bracket: open.at(-1), quote: undefined };
}

/** True if a value, an item or a key may start here. */
function startsValue(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === ' ' || text[before] === '\t') before -= 1;
  const char = text[before] ?? '\n';
  if ('\r\n{[,'.includes(char)) return true;
  return (char === ':' || char === '-' || char === '?') && before < at - 1;
}

function closeOfQuote(text: string, start: number, end: number): number | undefined {
  const quote = text[start] ?? '';
  for (let at = start + 1; at < end; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return undefined;
}
