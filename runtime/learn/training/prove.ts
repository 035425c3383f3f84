import { readFile } from 'node:fs/promises';
import { OptionError } from '../../ground/api/option-error.js';
import type { StepTools } from '../../request/compile/step-tools.js';
import { openDataScorer } from './data-scorer.js';
import type { LearnedStep } from './learned-step.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readRequests, type DataFolder, type Split } from './data-files.js';
import type { PreparedColumns } from './prepare-columns.js';

/** The comparison of the scores of the service with those of the library. */
export interface Proof {
  /** Which rows were scored. */
  readonly rows_of: Split;
  readonly rows: number;
  /** Rows whose scores differ. */
  readonly different: number;
  /** The largest difference. */
  readonly difference: number;
  /** The version of the model, as the service tells it. */
  readonly version: string;
}

/** What the library made. */
export interface TrainedModel {
  /** The rows that it scored. */
  readonly split: Split;
  /** The model file. */
  readonly content: Buffer;
  /** The file of its scores: float64, little-endian, one a row. */
  readonly scores: string;
}

/**
 * Scores rows of a data set with the component that serves the model, and compares with the scores of the library. */
export async function prove(
  step: LearnedStep,
  { columns, inputs, frame }: PreparedColumns,
  data: DataFolder,
  { split, content, scores: scoresFile }: TrainedModel,
  services: StepTools['services'],
): Promise<Proof> {
  const expected = await readFile(scoresFile);
  const scorer = await openDataScorer(step, columns, inputs, content, services).catch((error: unknown) => {
    if (error instanceof OptionError)
      throw new CommandFailure(`the service cannot use the model: ${error.message}`, error.help, {
        cause: error,
      });
    throw error;
  });
  let rows = 0;
  let different = 0;
  let difference = 0;
  try {
    for await (const request of readRequests(data, split)) {
      const scores = scorer.score(frame.fill(request.rows, request.time));
      for (let row = 0; row < request.rows.length; row++, rows++) {
        const wanted = rows * 8 < expected.length ? expected.readDoubleLE(rows * 8) : NaN;
        const found = scores[row] ?? NaN;
        if (Object.is(wanted + 0, found + 0)) continue;
        different += 1;
        difference = Math.max(difference, Math.abs(wanted - found) || 0);
      }
    }
  } finally {
    await scorer.close();
  }
  if (rows * 8 !== expected.length) different = Math.max(different, Math.abs(rows - expected.length / 8));
  return { rows_of: split, rows, different, difference, version: scorer.version };
}
