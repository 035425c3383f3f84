import { isReady, type ImportSource, type Path } from '../../project/foreign/mapping.js';
import type { FileGuess } from '../../learn/dataset/import/file-guess.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';

const INDENT = 4;

/** What is proposed for the files, for people. */
export function proposalText(guesses: readonly FileGuess[], width: number): string {
  return guesses
    .map(({ file, sources, notes }) =>
      [
        printable(file),
        ...sources.flatMap((source) => wrapAfter('  ', printable(sourceText(source)), INDENT, width)),
        ...notes.flatMap((note) => wrapAfter('  ', printable(`# ${note}`), INDENT, width)),
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
    .join('');
}

function sourceText(source: ImportSource): string {
  if (isReady(source)) return `map: ${source.map}`;
  const parts = Object.entries(source.map).map(([name, path]) => `${name} = ${pathText(path)}`);
  if (source.into === 'rankings') {
    for (const [event, path] of Object.entries(source.feedback ?? {})) parts.push(`${event} = ${path}`);
    for (const [event, path] of Object.entries(source.feedback_at ?? {})) parts.push(`${event} at ${path}`);
    parts.push(...fieldTexts('request', source.send), ...fieldTexts('candidate', source.carry));
    if (source.pool !== undefined) parts.push(`lists of ${source.pool}`);
  }
  if (source.into === 'feedback')
    parts.push(
      typeof source.event === 'string'
        ? `event ${source.event}`
        : Object.entries(source.event)
            .flatMap(([value, event]) => (event === null ? [] : [`${value} is ${event}`]))
            .join(', '),
    );
  if (source.into !== 'entities' && source.positions_from === 0) parts.push('positions from 0');
  if (source.decimal_comma !== undefined) parts.push(`decimal comma in ${source.decimal_comma.join(', ')}`);
  const where = source.into === 'entities' ? undefined : source.where;
  const only = Object.entries(where ?? {}).map(
    ([path, values]) => ` where ${path} is ${values.join(' or ')}`,
  );
  return `${source.into}${only.join(' and')}: ${parts.join(', ')}`;
}

function pathText(path: Path | readonly Path[]): string {
  return typeof path === 'string' ? path : path.join(' + ');
}

const MOST_FIELDS = 6;

/** The fields of a request or a candidate; of very many, only the first. */
function fieldTexts(owner: string, fields: Readonly<Record<string, Path>> | undefined): string[] {
  const all = Object.entries(fields ?? {}).map(([name, path]) => `${owner}.${name} = ${path}`);
  const more = all.length - MOST_FIELDS;
  return more > 1 ? [...all.slice(0, MOST_FIELDS), `and ${more} more ${owner} fields`] : all;
}
