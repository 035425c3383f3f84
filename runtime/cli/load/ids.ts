import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { idProblem } from '../../ground/core/ids.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';

export interface IdFlags {
  readonly file?: string;
}

/** Adds what names entities: their type, and their ids on the command line or in a file. */
export function addIdFlags(command: Command): Command {
  return command
    .argument('<TYPE>', 'entity type, e.g. user')
    .argument('[ID...]', 'ids of the entities')
    .option('--file <FILE>', 'file with one id a line; - for standard input');
}

/** The ids that the command line names. @throws UsageError if there are none, or one is invalid */
export async function idsOf(
  { stdin }: CliContext,
  given: readonly string[],
  { file }: IdFlags,
): Promise<readonly string[]> {
  if (file === undefined && given.length === 0)
    throw new UsageError('choose the entities with their ids, or with --file');
  if (file !== undefined && given.length > 0) throw new UsageError('use ids or --file, not both');
  const ids = file === undefined ? given : await readIds(file, stdin);
  const wrong = ids.findIndex((id) => idProblem(id) !== undefined);
  if (wrong >= 0) throw new UsageError(`id ${wrong + 1} is not valid: ${idProblem(ids[wrong]) ?? ''}`);
  return ids;
}

/** Reads one id a line; empty lines are skipped. */
async function readIds(file: string, stdin: Readable): Promise<string[]> {
  const input = file === '-' ? stdin : createReadStream(file);
  const ids: string[] = [];
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) if (line !== '') ids.push(line);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} cannot be read: ${reason}`);
  }
  return ids;
}
