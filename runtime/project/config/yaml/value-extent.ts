/** Finds where a value starts and ends on its line, as the author meant it, even if YAML reads it differently. */

/** A line of a text; `end` is exclusive, without trailing spaces. */
export interface Line {
  readonly start: number;
  readonly end: number;
  /** Number of spaces before its first character. */
  readonly indent: number;
}

/** Returns the line that contains an offset. */
export function lineAt(text: string, offset: number): Line {
  // An error at a newline belongs to the line before it.
  const start = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const newline = text.indexOf('\n', start);
  const whole = text.slice(start, newline === -1 ? text.length : newline).trimEnd();
  return { start, end: start + whole.length, indent: whole.length - whole.trimStart().length };
}

/** Returns the range of the value that contains or precedes an offset, as the author meant it. */
export function valueBefore(text: string, line: Line, at: number): { start: number; end: number } {
  const before = text.slice(line.start, Math.min(line.end, at + 1));
  let start = line.indent;
  let flow = 0;
  for (const match of before.matchAll(/(?:^\s*|[\s{[,])(?:-|"[^"]*":|'[^']*':|[\w.]+:)\s+(?=\S)/g))
    start = match.index + match[0].length;
  for (const char of text.slice(line.start, line.start + start)) {
    if (char === '{' || char === '[') flow += 1;
    if (char === '}' || char === ']') flow -= 1;
  }
  return {
    start: line.start + start,
    end: line.start + valueEnd(text.slice(line.start, line.end), start, flow > 0),
  };
}

/** Returns where a value ends if quotes and parentheses have the meaning that the author intended. */
export function valueEnd(line: string, start: number, inFlow: boolean): number {
  let depth = 0;
  let quote = '';
  let at = start;
  for (; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '#' && at > start && line[at - 1] === ' ') break;
    else if ('([{'.includes(char)) depth += 1;
    else if (depth > 0 && ')]}'.includes(char)) depth -= 1;
    else if (inFlow && depth === 0 && ',]}'.includes(char)) break;
  }
  return start + line.slice(start, at).trimEnd().length;
}

/** Quotes a text so that YAML reads it unchanged. */
export function quoted(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`;
}
