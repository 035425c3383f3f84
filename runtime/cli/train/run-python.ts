import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { delimiter, join, resolve } from 'node:path';
import { COMPILED } from '../../ground/core/locations.js';
import type { JsonObject } from '../../ground/api/types.js';
import { CommandFailure } from '../failure.js';

/** The Python code of training: the package `clients/python`. */
const PYTHON_CODE = join(COMPILED, 'assets', 'python');

/** What `millrace.job` reads; see clients/python/src/millrace/job.py. */
export interface TrainingJob {
  readonly data: string;
  readonly lib: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'number' | 'text';
    readonly feature?: string;
    /** Files with the values of a computed column: float64 numbers, little-endian, or a JSON list of texts. */
    readonly values?: Readonly<Record<string, string>>;
  }[];
  readonly rounds: number;
  readonly early_stopping: number;
  readonly seed: number;
  readonly params: JsonObject;
  readonly debias: string;
  readonly propensities: readonly number[] | null;
  readonly clip: number;
  readonly threads: number | null;
  /** Whether the scores are those after the objective. */
  readonly transformed: boolean;
  /** Iterations that the step uses; null for all. */
  readonly iterations: number | null;
  /** Which rows to score with the library. */
  readonly scored: string;
  /** Where the model goes. */
  readonly model: string;
  /** Where the scores go: float64, little-endian. */
  readonly scores: string;
  /** Where the result goes. */
  readonly result: string;
}

type Result =
  | { readonly card: JsonObject }
  | { readonly missing: string; readonly packages: readonly string[]; readonly python: string }
  | { readonly error: string; readonly help: string | null };

/**
 * Trains a model with the user's Python.
 * @param onRound called after each round
 * @returns the card of the model
 * @throws CommandFailure if Python or a package is missing, or if training failed
 */
export async function runPython(
  python: string,
  job: TrainingJob,
  specPath: string,
  env: Readonly<Record<string, string | undefined>>,
  onRound: (round: number) => void,
): Promise<JsonObject> {
  const path = [PYTHON_CODE, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(delimiter);
  const child = spawn(python.includes('/') ? resolve(python) : python, ['-m', 'millrace.job', specPath], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Python imports modules of its working directory first. It must not find those of a project.
    cwd: PYTHON_CODE,
    env: { ...env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' },
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-4000)));
  createInterface(child.stdout).on('line', (line) => {
    const [, round] = /^\{"round": (\d+)/.exec(line) ?? [];
    if (round !== undefined) onRound(Number(round));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(noPython(python, error)));
    child.once('close', () => resolve());
  });
  const text = await readFile(job.result, 'utf8').catch(() => undefined);
  if (text === undefined) {
    const lines = complaints.trim().split('\n');
    throw new CommandFailure(
      `${python} did not train the model: ${lines.at(-1) ?? ''}`,
      lines.slice(0, -1).join('\n'),
    );
  }
  const result = JSON.parse(text) as Result;
  if ('card' in result) return result.card;
  if ('missing' in result)
    throw new CommandFailure(
      result.missing.replace(/: pip install.*/, ` for ${result.python}`),
      `run: ${result.python} -m pip install ${result.packages.join(' ')}`,
    );
  throw new CommandFailure(result.error, result.help ?? undefined);
}

function noPython(python: string, error: NodeJS.ErrnoException): CommandFailure {
  return error.code === 'ENOENT'
    ? new CommandFailure(
        `there is no program ${python}`,
        'install Python 3.10 or later, or name it with --python or MILLRACE_PYTHON',
        { cause: error },
      )
    : new CommandFailure(`${python} cannot be started: ${error.message}`, undefined, { cause: error });
}
