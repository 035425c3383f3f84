import { cellsOf, type Cell } from '../../../ground/core/display-width.js';
import type { Span } from '../yaml/source.js';

export interface Excerpt {
  readonly line: number;
  /** The line, or the part of it around the span, at most `width` columns wide. */
  readonly text: string;
  /** Spaces and carets for the line below it. */
  readonly underline: string;
}

const CUT = '…';

/** Returns the line that a span starts on, with its underline. Returns undefined if there is nothing to show. */
export function excerptOf(span: Span, width: number): Excerpt | undefined {
  const { shown: text } = span.file;
  const { line, column } = span.file.position(span.start);
  const lineStart = span.start - (column - 1);
  const newline = text.indexOf('\n', lineStart);
  let lineEnd = newline === -1 ? text.length : newline;
  if (text[lineEnd - 1] === '\r' && lineEnd > lineStart) lineEnd -= 1;
  if (lineStart === lineEnd) return undefined;
  // A character is at least a quarter of a column wide on average. Text that cannot fit is not measured.
  const from = beforePair(text, Math.max(lineStart, span.start - 4 * width));
  const to = beforePair(text, Math.min(lineEnd, span.start + 4 * width));
  const cells = cellsOf(text.slice(from, to));
  const start = span.start - from;
  const end = Math.min(Math.max(span.end, span.start + 1), lineEnd) - from;
  return { line, ...fit(cells, { start, end }, width, { before: from > lineStart, after: to < lineEnd }) };
}

function beforePair(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset - 1 : offset;
}

function fit(
  cells: readonly Cell[],
  { start, end }: { readonly start: number; readonly end: number },
  width: number,
  cut: { readonly before: boolean; readonly after: boolean },
): { text: string; underline: string } {
  let first = cells.findIndex(
    (cell, i) => (cells[i + 1]?.offset ?? Infinity) > start && cell.offset <= start,
  );
  if (first === -1) first = cells.length;
  let last = first;
  while (last < cells.length && (cells[last]?.offset ?? 0) < end) last += 1;
  // The window [left, right) grows from the span's start, alternately to both sides.
  let left = first;
  let right = first;
  const room = width - 2 * CUT.length;
  let used = 0;
  const widthAt = (i: number): number => cells[i]?.width ?? 0;
  const grow = (toRight: boolean): boolean => {
    const next = toRight ? right : left - 1;
    if (next < 0 || next >= cells.length || used + widthAt(next) > room) return false;
    used += widthAt(next);
    if (toRight) right += 1;
    else left -= 1;
    return true;
  };
  while (right < last && grow(true));
  for (let more = true; more;) {
    const grewLeft = grow(false);
    more = grow(true) || grewLeft;
  }
  const before = cut.before || left > 0 ? CUT : '';
  const after = cut.after || right < cells.length ? CUT : '';
  const shown = (from: number, to: number): Cell[] => cells.slice(from, to);
  const sum = (some: readonly Cell[]): number => some.reduce((total, cell) => total + cell.width, 0);
  const carets = Math.max(1, sum(shown(first, Math.min(last, right))));
  return {
    text:
      before +
      shown(left, right)
        .map((cell) => cell.text)
        .join('') +
      after,
    underline: ' '.repeat(before.length + sum(shown(left, first))) + '^'.repeat(carets),
  };
}
