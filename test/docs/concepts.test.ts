import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startProject, scoresOf, type TestProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

const page = readFileSync(repositoryPath('docs', 'concepts.md'), 'utf8');

/** The code blocks of the page, by the file that they name. */
const files = Object.fromEntries(
  [...page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)].map(([, path = '', text = '']) => [path, text]),
);

describe('docs/concepts.md', () => {
  let project: TestProject;
  before(async () => {
    const { 'products.json': products = '', ...yaml } = files;
    project = await startProject(yaml);
    await project.upload('product', ...(JSON.parse(products) as { product_id: string }[]));
  });
  after(() => project.close());

  const rank = async (name: string) => {
    const pipeline = project.app.pipelines.find((one) => one.name === name);
    if (pipeline === undefined) throw new Error(`the page has no pipeline ${name}`);
    const candidates = ['lamp', 'chair', 'table'].map((id) => ({ product_id: id }));
    return pipeline.run({ candidates }, { requestId: 'r' });
  };

  it('shows the scores of the strict pipeline', async () => {
    const shown = Object.fromEntries(
      [...page.matchAll(/^\| (chair|table|lamp) +\| ([\d.]+) +\|/gm)].map(([, id = '', score]) => [
        id,
        Number(score),
      ]),
    );
    expect(Object.keys(shown)).to.have.length(3);
    const { answer, report } = await rank('strict');
    const scores = scoresOf(answer.ranked_candidates ?? []);
    for (const [id, score] of Object.entries(shown)) expect(scores[id], id).to.be.closeTo(score, 1e-12);
    expect(report.degraded).to.deep.equal([{ cause: 'unscored', value: '1/3' }]);
  });

  it('shows what the lenient pipeline changes', async () => {
    const [, shown] = /`lamp` has the score ([\d.]+)/.exec(page) ?? [];
    const { answer, report } = await rank('lenient');
    expect(scoresOf(answer.ranked_candidates ?? []).lamp).to.be.closeTo(Number(shown), 1e-12);
    expect(report.degraded).to.deep.equal([]);
  });
});
