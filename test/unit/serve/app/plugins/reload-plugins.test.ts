import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProject, type TestProject } from '../../../../support/project.js';

const NAME = 'millrace-geo';
const FOLDER = `node_modules/${NAME}`;
const PIPELINE = 'pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n';
const RULE = `{ name: 'near', kind: 'rule', summary: 'A test.', options: { type: 'object', additionalProperties: false },
  create: () => ({ apply(input, ranking) { ranking.scores.fill(SCORE); return { applied: input.count, skipped: 0 }; } }) }`;

describe('a reload', () => {
  let project: TestProject;
  afterEach(() => project.close());

  const score = async (): Promise<number | undefined> => {
    const [first] = await project.rank({ candidates: [{ product_id: 'p1' }] });
    return first?.ranked_score;
  };
  const write = (path: string, text: string): Promise<void> => writeFile(join(project.root, path), text);
  const reload = async (): Promise<string> => (await project.app.reload()).outcome;

  it('loads the changed code of a package, and of the files that it imports', async () => {
    project = await startProject({
      'millrace.yaml': `project: shop\nplugins: [${NAME}]\n`,
      'pipelines/ranking.yaml': PIPELINE,
      [`${FOLDER}/package.json`]: `{ "version": "1.0.0", "type": "module", "millrace": { "api": "^1.0", "plugins": "./index.js" } }`,
      [`${FOLDER}/index.js`]: `import { SCORE } from './score.js';\nexport const plugins = [${RULE}];\n`,
      [`${FOLDER}/score.js`]: 'export const SCORE = 1;\n',
    });
    const { version } = project.app;
    expect(await score()).to.equal(1);
    await write(`${FOLDER}/score.js`, 'export const SCORE = 2;\n');
    expect(await reload()).to.equal('succeeded');
    expect(await score()).to.equal(2);
    expect(project.app.version).not.to.equal(version);
    expect([...project.app.files.keys()]).to.include(`${FOLDER}/score.js`);
    await write(`${FOLDER}/score.js`, 'export const SCORE = ;\n');
    expect(await reload()).to.equal('failed');
    expect(await score()).to.equal(2);
    await write(`${FOLDER}/score.js`, 'export const SCORE = 1;\n');
    expect(await reload()).to.equal('succeeded');
    expect(await score()).to.equal(1);
  });

  it("loads the changed code of the project's own plugins, ES modules and CommonJS", async () => {
    for (const [type, text] of [
      ['module', `export const plugin = ${RULE};`],
      ['commonjs', `exports.plugin = ${RULE};`],
    ] as const) {
      project = await startProject({
        'package.json': `{ "type": "${type}" }`,
        'pipelines/ranking.yaml': PIPELINE,
        'plugins/near/index.js': text.replace('SCORE', '1'),
      });
      expect(await score(), type).to.equal(1);
      await write('plugins/near/index.js', text.replace('SCORE', '2'));
      expect(await reload()).to.equal('succeeded');
      expect(await score(), type).to.equal(2);
      if (type === 'module') await project.close();
    }
  });

  it('loads a package that millrace.yaml lists now, and drops one that it no longer lists', async () => {
    project = await startProject({
      'millrace.yaml': 'project: shop\n',
      'pipelines/ranking.yaml': PIPELINE.replace('near', 'score\n    with: { value: 3 }'),
      [`${FOLDER}/package.json`]: `{ "version": "1.0.0", "type": "module", "millrace": { "api": "^1.0", "plugins": "./index.js" } }`,
      [`${FOLDER}/index.js`]: `const SCORE = 1;\nexport const plugins = [${RULE}];\n`,
    });
    expect(await score()).to.equal(3);
    await write('millrace.yaml', `project: shop\nplugins: [${NAME}]\n`);
    await write('pipelines/ranking.yaml', PIPELINE);
    expect(await reload()).to.equal('succeeded');
    expect(await score()).to.equal(1);
    await write('millrace.yaml', 'project: shop\n');
    expect(await reload(), 'the pipeline uses a plugin that is gone').to.equal('failed');
  });
});
