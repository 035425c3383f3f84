import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Learning } from '../../../runtime/cli/demo/loop/learning.js';
import { pipelineWith } from '../../../runtime/cli/demo/loop/project.js';
import { PYTHON } from '../../../runtime/project/settings/settings.js';
import { repositoryPath } from '../../support/repository.js';

const INPUTS = ['title:overlap', 'product.popularity', 'product.rating', 'product.discount', 'favourite'];
/** More of these never makes a product worse: 1 for each such input. Popularity is left open. */
const MONOTONE = [1, 0, 1, 1, 1];

/**
 * Trains a model of LightGBM. It has no formula to start from, so it needs more clicks than params do.
 * @throws Error if no Python has LightGBM
 */
export function trainingWithLightGbm(): Learning {
  return {
    verb: 'train',
    searches: 6000,
    pipeline: pipelineWith(
      '',
      `  - use: lightgbm
    as: relevance
    with: { model: models/relevance.txt, inputs: ${JSON.stringify(INPUTS)} }
`,
    ),
    command: [
      ...['train', 'shop:relevance', '--data', 'data', '--propensities', 'propensities.json'],
      ...['--param', 'num_leaves=15', '--param', 'min_data_in_leaf=50'],
      ...['--param', `monotone_constraints=${JSON.stringify(MONOTONE)}`, '--threads', '1'],
      ...['--project', 'desk', '--out', 'desk/models/relevance.txt', '--python', pythonWithLightGbm()],
    ],
    deployed: ['models/relevance.txt', 'pipelines/shop.yaml'],
  };
}

/** The Python of the environment variable, or the one that `npm run test:python` makes. */
function pythonWithLightGbm(): string {
  const made = repositoryPath('.build', 'python-client', 'bin', 'python');
  const python = process.env[PYTHON] ?? (existsSync(made) ? made : 'python3');
  try {
    execFileSync(python, ['-c', 'import lightgbm, pandas, pyarrow'], { stdio: 'ignore' });
  } catch (error) {
    throw new Error(`${python} has no LightGBM: run \`npm run test:python\` once, or set ${PYTHON}`, {
      cause: error,
    });
  }
  return python;
}
