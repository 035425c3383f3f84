import { cellsOf, printable } from './display-width.js';

/** Breaks a text at spaces and indents every line. An empty text stays empty. Control characters are replaced. */
export function wrap(text: string, indent: number, width: number): string {
  if (text === '') return '';
  const margin = ' '.repeat(indent);
  return wrapAfter(margin, text.replace(/\s+/g, ' '), indent, width)
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * Breaks a text at spaces, after a prefix that is never broken. A word that is wider than a line gets its own line.
 * Control characters are replaced.
 * @param indent of every line except the first
 * @param painted the coloured form of the prefix, if there is one
 */
export function wrapAfter(
  start: string,
  text: string,
  indent: number,
  width: number,
  painted = start,
): string[] {
  const margin = ' '.repeat(indent);
  const lines: string[] = [];
  let line = painted;
  let used = widthOf(start);
  let isEmpty = start.trim() === '';
  for (const word of printable(text).split(' ')) {
    const wide = widthOf(word);
    if (!isEmpty && used + 1 + wide > width) {
      lines.push(line);
      line = margin + word;
      used = indent + wide;
    } else {
      line += (isEmpty ? '' : ' ') + word;
      used += (isEmpty ? 0 : 1) + wide;
    }
    isEmpty = false;
  }
  return [...lines, line];
}

function widthOf(text: string): number {
  return cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);
}
