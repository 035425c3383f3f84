/** Runs the pipeline of docs/context.md on the request of the page. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { repositoryPath } from '../support/repository.js';
import { scoresOf, startProject } from '../support/project.js';

const page = readFileSync(repositoryPath('docs/context.md'), 'utf8');
const block = (tag: string): string => {
  const [, text = ''] = new RegExp(`^\`\`\`${tag}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  if (text === '') throw new Error(`docs/context.md has no block ${tag}`);
  return text;
};

describe('docs/context.md', () => {
  const body = JSON.parse(block('json request')) as Record<string, unknown>;

  it('its pipeline reads every value of its request', async () => {
    const project = await startProject(
      { 'pipelines/search.yaml': block('yaml pipeline=search') },
      // A Saturday.
      { now: () => Date.UTC(2026, 0, 31, 17, 30) },
    );
    try {
      const scores = scoresOf(await project.rank(body));
      // 1 on a phone, 2 from an ad, 4 German, 8 weekend, 30 minutes, 5 pages; then the kilometres.
      const context = 1 + 2 + 4 + 8 + 3 + 0.05;
      expect(context - (scores.near ?? NaN)).to.be.closeTo(0.0246, 0.001);
      expect(context - (scores.far ?? NaN)).to.be.closeTo(0.5077, 0.001);
      const none = scoresOf(await project.rank({ candidates: [{ product_id: 'near' }] }));
      expect(none).to.deep.equal({ near: -0.1 });
    } finally {
      await project.close();
    }
  });

  it('its private fields are in no event', async () => {
    const project = await startProject({ 'pipelines/search.yaml': block('yaml pipeline=search') });
    try {
      const { events } = await project.run({ ...body, include_events: true });
      const text = JSON.stringify(events);
      expect(text).to.contain('"private"');
      for (const secret of ['iPhone', 'google', 'de-AT', '52.52', '13.405'])
        expect(text).not.to.contain(secret);
    } finally {
      await project.close();
    }
  });
});
