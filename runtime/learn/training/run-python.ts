import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { delimiter, join, resolve } from 'node:path';
import { COMPILED } from '../../ground/core/locations.js';
import type { JsonObject } from '../../ground/api/types.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

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
  /** null for what the package chooses. */
  readonly rounds: number | null;
  readonly early_stopping: number;
  readonly seed: number;
  readonly params: JsonObject;
  readonly debias: string;
  readonly propensities: readonly number[] | null;
  readonly clip: number;
  readonly threads: number | null;
  readonly folds: number | null;
  /** Seconds in which parameters are searched; null for no search. */
  readonly budget: number | null;
  /** By column: 1 if the score must not fall while its value rises, -1 if it must not rise. */
  readonly monotone: Readonly<Record<string, 1 | -1>>;
  /** Whether the card has a learning curve. */
  readonly curve: boolean;
  /** Whether the card has more than the gain of each column. */
  readonly importance: boolean;
  /** Whether the scores are those after the objective. */
  readonly transformed: boolean;
  /** Iterations that the step uses; null for all. */
  readonly iterations: number | null;
  /** Which rows to score with the library. */
  readonly scored: string;
  /** Whether the model will be logged to MLflow, which must be installed then. */
  readonly mlflow: boolean;
  /** Where the model goes. */
  readonly model: string;
  /** Where the scores go: float64, little-endian. */
  readonly scores: string;
  /** Where the result goes. */
  readonly result: string;
}

/** What logs a model that is written to MLflow. */
export interface LoggingJob {
  /** The file of the model. */
  readonly logged: string;
  /** Of the run. */
  readonly name: string;
  /** Where relative paths of MLflow begin. */
  readonly folder: string;
  /** Where the result goes. */
  readonly result: string;
}

type Result =
  | { readonly card: JsonObject }
  | { readonly missing: string; readonly packages: readonly string[]; readonly python: string }
  | { readonly error: string; readonly help: string | null };

/** What the job prints while it works. */
export type TrainingNews =
  | { readonly round: number }
  | {
      /** Of the search: the points that were measured, the share of the budget, and the best mean so far. */
      readonly points: number;
      readonly share: number;
      readonly best: number;
    };

/**
 * Trains or logs a model with the user's Python.
 * @param onNews called with each line that it prints
 * @param stop ends a search, with the best so far
 * @returns the card of the model, or the run of MLflow
 * @throws CommandFailure if Python or a package is missing, or if training failed
 */
export async function runPython(
  python: string,
  job: TrainingJob | LoggingJob,
  env: Readonly<Record<string, string | undefined>>,
  onNews: (news: TrainingNews) => void = () => undefined,
  stop?: AbortSignal,
): Promise<JsonObject> {
  const specPath = `${job.result}.job`;
  await writeFile(specPath, JSON.stringify(job));
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
    const news = newsOf(line);
    if (news !== undefined) onNews(news);
  });
  stop?.addEventListener('abort', () => child.kill('SIGINT'));
  await new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(noPython(python, error)));
    child.once('close', () => resolve());
  });
  const text = await readFile(job.result, 'utf8').catch(() => undefined);
  if (text === undefined) {
    const lines = complaints.trim().split('\n');
    throw new CommandFailure(
      `${python} did not ${'logged' in job ? 'log' : 'train'} the model: ${lines.at(-1) ?? ''}`,
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

/** Undefined for what a package prints, and for a line that an interrupt cut. */
function newsOf(line: string): TrainingNews | undefined {
  if (!/^\{"(round|points)": /.test(line)) return undefined;
  try {
    return JSON.parse(line) as TrainingNews;
  } catch {
    return undefined;
  }
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
