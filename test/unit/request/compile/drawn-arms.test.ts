import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { pluginFiles, writeProject } from '../../../support/project.js';

const FILES = {
  ...pluginFiles(
    'shuffle',
    'rule',
    `return { scoring: 'keeps', explores: { top: 3, draw: { method: 'swap', probability: 0.2 } }, apply(step, ranking) {
      ranking.explore(this.explores);
      return { applied: 3, skipped: 0 };
    } };`,
  ),
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { worth: float }, user: optional(user) }
params: { w: 1 }
components:
  - { use: score, with: { value: w * product.worth } }
`,
};
const drawing = (name: string, step: string): Record<string, string> => ({
  [`pipelines/${name}.yaml`]: `pipeline: ${name}
rank: product
request: { candidates: { worth: float }, user: optional(user) }
params: { w: 1 }
components:
  - { use: score, with: { value: w * product.worth } }
  - ${step}
`,
});
const experiment = (pipeline: string, arm: string, mode = 'interleave'): Record<string, string> => ({
  'experiments/mixed.yaml': `experiment: mixed
pipeline: ${pipeline}
mode: ${mode}
unit: user
arms: { control: {}, other: ${arm} }
`,
});

async function problems(...files: Record<string, string>[]): Promise<string[]> {
  const root = await writeProject(Object.assign({}, FILES, ...files) as Record<string, string>);
  try {
    const project = await compileProject(root);
    await project.close();
    return project.diagnostics.map(({ severity, code, message, help = '' }) =>
      [severity, code, message, help].join(' | '),
    );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const found = (pipeline: string, use: string, as = use): string =>
  [
    'error',
    'invalid_arm',
    `\`mixed\`: the pipeline \`${pipeline}\` draws places with \`${use}\`, and a page cannot be both drawn and interleaved`,
    `write \`mode: split\`, or take the step \`${as}\` out`,
  ].join(' | ');

describe('an interleaving of pipelines that draw places', () => {
  const drawn = drawing(
    'drawn',
    '{ use: explore, as: draw, with: { method: swap, probability: 0.2, top: 5 } }',
  );
  const shuffled = drawing('shuffled', 'use: shuffle');

  it('is an error, whatever the plugin is called', async () => {
    for (const [files, pipeline, use, as] of [
      [drawn, 'drawn', 'explore', 'draw'],
      [shuffled, 'shuffled', 'shuffle', 'shuffle'],
    ] as const) {
      const arm = experiment('search', `{ pipeline: ${pipeline} }`);
      expect(await problems(files, arm)).to.deep.equal([found(pipeline, use, as)]);
      const params = experiment(pipeline, '{ params: { w: 2 } }');
      expect(await problems(files, params)).to.deep.equal([found(pipeline, use, as)]);
    }
  });

  it('is none in another mode, or if no pipeline draws', async () => {
    expect(await problems(shuffled, experiment('search', '{ pipeline: shuffled }', 'split'))).to.deep.equal(
      [],
    );
    expect(await problems(shuffled, experiment('search', '{ params: { w: 2 } }'))).to.deep.equal([]);
  });
});
