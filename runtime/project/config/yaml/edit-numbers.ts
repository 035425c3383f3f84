import { isScalar, parseDocument } from 'yaml';

/** A number to write at a place of a YAML file. */
export interface NumberEdit {
  /** The keys that lead to the number. */
  readonly path: readonly string[];
  readonly value: number;
}

/**
 * Replaces numbers in the text of a YAML file. Every other character stays: comments, quotes, blank lines.
 * @throws Error if there is no number at a path
 */
export function editNumbers(text: string, edits: readonly NumberEdit[]): string {
  const document = parseDocument(text);
  const places = edits.map(({ path, value }) => {
    const node = document.getIn(path, true);
    if (!isScalar(node) || typeof node.value !== 'number' || node.range == null)
      throw new Error(`the file has no number at ${path.join('.')}`);
    return { start: node.range[0], end: node.range[1], value };
  });
  let edited = text;
  for (const { start, end, value } of places.sort((a, b) => b.start - a.start))
    edited = edited.slice(0, start) + String(value) + edited.slice(end);
  return edited;
}

/** The lines that differ between two texts with the same number of lines: `-` before, `+` after. */
export function changedLines(before: string, after: string): string[] {
  const later = after.split(/\r?\n/);
  return before.split(/\r?\n/).flatMap((line, at) => {
    const changed = later[at] ?? '';
    return line === changed ? [] : [`-${line}`, `+${changed}`];
  });
}
