import { editNumbers } from '../yaml/edit-numbers.js';
import type { PipelineDefinition } from '../model/pipelines.js';
import type { PipelineParams } from './param-values.js';

/** The unchanged lines around a change. */
const CONTEXT = 3;

/**
 * The change of a pipeline's file that gives params other values, as `git apply` and `patch -p1` take it.
 * Format: "Detailed Description of Unified Format", GNU diffutils manual.
 * @returns an empty text if no value differs, or if a value is not written as a number in the file
 */
export function paramsDiff({ file, params }: PipelineDefinition, values: PipelineParams): string {
  // Secrets of the file are stars here.
  const { path, shown: text } = file;
  const changed = [...values].filter(([name, value]) => params.get(name)?.value !== value);
  try {
    const edited = changed.reduce((all, [name, value]) => withNumber(all, name, value), text);
    return edited === text ? '' : unified(path, text.split('\n'), edited.split('\n'));
  } catch {
    // A value that is an alias of another number has no place of its own.
    return '';
  }
}

/** A param is a number, or a mapping with one. */
function withNumber(text: string, name: string, value: number): string {
  try {
    return editNumbers(text, [{ path: ['params', name, 'value'], value }]);
  } catch {
    return editNumbers(text, [{ path: ['params', name], value }]);
  }
}

/** The diff of two texts whose lines differ one by one. */
function unified(path: string, before: readonly string[], after: readonly string[]): string {
  const changed = before.flatMap((line, at) => (line === after[at] ? [] : [at]));
  const parts = [`--- a/${path}\n+++ b/${path}\n`];
  // After the last line break nothing follows that could be a line.
  const endsWithBreak = before.at(-1) === '';
  const count = before.length - Number(endsWithBreak);
  for (let first = 0; first < changed.length;) {
    let last = first;
    while ((changed[last + 1] ?? Infinity) - (changed[last] ?? 0) <= 2 * CONTEXT) last++;
    const start = Math.max(0, (changed[first] ?? 0) - CONTEXT);
    const end = Math.min(count, (changed[last] ?? 0) + 1 + CONTEXT);
    parts.push(`@@ -${start + 1},${end - start} +${start + 1},${end - start} @@\n`);
    for (let at = start; at < end;) {
      let until = at;
      while (until < end && before[until] !== after[until]) until++;
      if (until === at) parts.push(lineOf(' ', before, at++, count, endsWithBreak));
      else {
        for (let i = at; i < until; i++) parts.push(lineOf('-', before, i, count, endsWithBreak));
        for (let i = at; i < until; i++) parts.push(lineOf('+', after, i, count, endsWithBreak));
        at = until;
      }
    }
    first = last + 1;
  }
  return parts.join('');
}

function lineOf(
  sign: string,
  lines: readonly string[],
  at: number,
  count: number,
  endsWithBreak: boolean,
): string {
  const end = at === count - 1 && !endsWithBreak ? '\n\\ No newline at end of file\n' : '\n';
  return `${sign}${lines[at] ?? ''}${end}`;
}
