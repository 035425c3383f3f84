import { PIPELINE } from './project.js';

/** How the loop learns from the data set `data` and from `propensities.json`. */
export interface Learning {
  readonly verb: string;
  /** How many searches are logged and learned from. */
  readonly searches: number;
  /** The pipeline of the project `desk` before it learns. */
  readonly pipeline: string;
  /** The command that learns and writes the result into `desk`. */
  readonly command: readonly string[];
  /** The files of `desk` that are deployed, the pipeline last. */
  readonly deployed: readonly string[];
}

/** Looks for better params. */
export const TUNING: Learning = {
  verb: 'tune',
  searches: 1200,
  pipeline: PIPELINE,
  command: [
    ...['tune', 'shop', '--data', 'data', '--propensities', 'propensities.json'],
    ...['--gain', 'linear', '--restarts', '1', '--project', 'desk', '--write'],
  ],
  deployed: ['pipelines/shop.yaml'],
};
