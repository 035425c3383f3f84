import { isReady, type ImportSource, type Path } from '../../dataset/import/mapping.js';
import type { FileGuess } from '../../dataset/import/guess.js';
import { printable } from '../../core/display-width.js';
import { wrapAfter } from '../../core/wrap.js';

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
    for (const name of Object.keys(source.send ?? {}))
      parts.push(`request.${name} = ${source.send?.[name] ?? ''}`);
    for (const name of Object.keys(source.carry ?? {}))
      parts.push(`candidate.${name} = ${source.carry?.[name] ?? ''}`);
    if (source.pool !== undefined) parts.push(`lists of ${source.pool}`);
    if (source.positions_from === 0) parts.push('positions from 0');
  }
  if (source.into === 'feedback')
    parts.push(
      typeof source.event === 'string'
        ? `event ${source.event}`
        : Object.entries(source.event)
            .flatMap(([value, event]) => (event === null ? [] : [`${value} is ${event}`]))
            .join(', '),
    );
  const where = source.into === 'entities' ? undefined : source.where;
  const only = Object.entries(where ?? {}).map(
    ([path, values]) => ` where ${path} is ${values.join(' or ')}`,
  );
  return `${source.into}${only.join(' and')}: ${parts.join(', ')}`;
}

function pathText(path: Path | readonly Path[]): string {
  return typeof path === 'string' ? path : path.join(' + ');
}
