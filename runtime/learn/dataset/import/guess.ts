import type { JsonObject } from '../../../ground/api/types.js';
import { READY_MAPS } from '../../../project/config/project/ready-maps.js';
import type { FileGuess, FileSample, GuessTarget } from './file-guess.js';
import { FileGuesser } from './file-guesser.js';
import { isReady, type ImportSource } from '../../../project/foreign/mapping.js';
import { READY_LOGS } from '../../../project/foreign/ready-logs.js';
import { rowShaper, shapeOf, type RowShape } from '../../../project/foreign/row-shape.js';

/** Proposes how a file is read, from the names of its columns and from what the columns hold. */
export function guessSource({ file, rows }: FileSample, target: GuessTarget): FileGuess {
  if (rows.length === 0) return { file, sources: [], notes: ['The file has no rows that can be read.'] };
  const ready = READY_MAPS.find((map) => share(rows, READY_LOGS[map].is) > 0.5);
  if (ready !== undefined)
    return {
      file,
      sources: [{ files: [file], map: ready }],
      notes: [`The rows are events of ${READY_LOGS[ready].title}.`],
    };
  const shape = shapeOf(rows);
  const notes: string[] = [];
  const guesser = new FileGuesser({ file, rows: rows.map(rowShaper(shape)) }, target, notes);
  return { file, sources: guesser.sources().map((source) => withShape(source, shape)), notes };
}

function withShape(source: ImportSource, { decimal_comma, places }: RowShape): ImportSource {
  if (isReady(source)) return source;
  return {
    ...source,
    ...(decimal_comma === undefined ? {} : { decimal_comma }),
    ...(places === undefined || source.into !== 'rankings' ? {} : { places }),
  };
}

function share(rows: readonly JsonObject[], is: (row: JsonObject) => boolean): number {
  return rows.filter(is).length / rows.length;
}
