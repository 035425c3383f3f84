import { stat, writeFile } from 'node:fs/promises';
import { NAME_PATTERN } from '../../ground/api/types.js';
import type { FileGuess, GuessTarget } from '../../learn/dataset/import/file-guess.js';
import { guessSource } from '../../learn/dataset/import/guess.js';
import { isReadyMap, READY_MAPS } from '../../project/config/project/ready-maps.js';
import { isReady, type ImportMapping } from '../../project/foreign/mapping.js';
import { styleOf, type Console } from '../../ground/core/console.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { InputError } from '../../project/rows/rows.js';
import type { ForeignFile } from '../../learn/dataset/import/input-files.js';
import { importName, mappingText, readMapping } from '../../learn/dataset/import/mapping-file.js';
import { proposalText } from '../report/proposal-text.js';
import { sampleOf } from '../../learn/dataset/import/read-files.js';

/** The name of the file that a mapping is written to. */
export const MAP_FILE = 'import.yaml';

interface MappingFlags {
  readonly map?: string;
  readonly newProject?: string;
  /** With `yes`, where a guessed mapping is written. */
  readonly mapFile?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/**
 * Returns the mapping that the flags name, or a guess.
 * @param first the first file or folder that is imported
 * @returns undefined if the user should check the proposal first
 */
export async function chooseMapping(
  context: Console,
  flags: MappingFlags,
  first: string,
  files: readonly ForeignFile[],
  target: GuessTarget,
): Promise<ImportMapping | undefined> {
  const named = flags.map;
  if (named !== undefined && isReadyMap(named))
    return {
      import: importName(first),
      sources: [{ files: files.map(({ name }) => name), map: named }],
    };
  if (named !== undefined) {
    if (NAME_PATTERN.test(named) && (await stat(named).catch(() => undefined)) === undefined)
      throw new UsageError(
        `--map ${named}: expected ${READY_MAPS.join(', ')}, or a file; there is no such file`,
      );
    return await readMapping(named, target.candidateType, context.env);
  }
  const guesses: FileGuess[] = [];
  for (const file of files) guesses.push(await guessFile(file, files.length, target));
  const output = flags.json === true ? context.stderr : context.stdout;
  output.write(`proposed mapping:\n${proposalText(guesses, styleOf(context, output).width)}`);
  const sources = guesses.flatMap((guess) => guess.sources);
  if (!sources.some((source) => isReady(source) || source.into === 'rankings'))
    throw new CommandFailure(
      'no file looks like a log of lists that were shown',
      'write a mapping (docs/import.md) and name it with --map',
    );
  const mapping = { import: importName(first), sources };
  if (flags.yes === true && flags.newProject !== undefined) return mapping;
  if (flags.yes === true && flags.mapFile !== undefined) {
    const notes = new Map(guesses.map(({ file, notes: own }) => [file, own]));
    await writeFile(flags.mapFile, mappingText(mapping, notes));
    return mapping;
  }
  const path = await writeProposal(mapping, guesses);
  if (flags.yes === true) {
    output.write(`written to ${path}\n`);
    return mapping;
  }
  const again = `--map ${path}`;
  output.write(
    `written to ${path}; nothing is imported yet. Correct the file if it is wrong, and import with ${again}\n`,
  );
  return undefined;
}

/** @throws InputError if the only file cannot be read. Of several files, the others count. */
async function guessFile(file: ForeignFile, files: number, target: GuessTarget): Promise<FileGuess> {
  try {
    return guessSource(await sampleOf(file), target);
  } catch (error) {
    if (!(error instanceof InputError) || files === 1) throw error;
    return { file: file.name, sources: [], notes: [`The file is not read. ${error.message}`] };
  }
}

/** Writes the proposal into the working directory, under a name that is free. */
async function writeProposal(mapping: ImportMapping, guesses: readonly FileGuess[]): Promise<string> {
  const notes = new Map(guesses.map(({ file, notes: own }) => [file, own]));
  for (let number = 1; ; number++) {
    const path = number === 1 ? MAP_FILE : `import-${number}.yaml`;
    try {
      await writeFile(path, mappingText(mapping, notes), { flag: 'wx' });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number > 99)
        throw new CommandFailure(`cannot write ${path}: ${fileProblem(error)}`);
    }
  }
}
