import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { startService } from '../../../../runtime/serve/app/serve.js';
import { readSettings } from '../../../../runtime/project/config/project/read-settings.js';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';

const FILES = {
  'millrace.yaml': 'project: shop\nstore: embedded\n',
  'pipelines/search.yaml': `
pipeline: search
rank: product
request: { candidates: { price: float }, user: optional(user) }
params: { w_pop: 0.3 }
components:
  - { use: score, with: { value: w_pop * product.price } }
log: { unit: user }
`,
  'experiments/popularity.yaml': `
experiment: popularity
pipeline: search
unit: user
arms: { control: {}, popular: { params: { w_pop: -0.3 } } }
metrics: { primary: { event: click, value: any, within: 1ms }, guard: [latency_p99, failed] }
`,
};

const USERS = 40;

describe('the report of an experiment that a service ran', () => {
  it('has the arms, the units and the clicks of its ledger', async () => {
    const root = await writeProject(FILES);
    try {
      const dataDir = join(root, 'data');
      const settings = await readSettings({}, { project: root, store: 'embedded', dataDir, port: '0' });
      const service = await startService(settings, { logger: pino({ level: 'silent' }) });
      const post = async (path: string, body: object): Promise<void> => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(service.url + path, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        expect(answer.status, await answer.text()).to.equal(200);
      };
      const candidates = [1, 2, 3].map((price) => ({ product_id: `p${price}`, price }));
      for (let user = 0; user < USERS; user++)
        await post('/api/v1/search', { request_id: `r${user}`, user: { user_id: `u${user}` }, candidates });
      await post('/api/v1/search', { request_id: 'nobody', candidates });
      await post('/api/v1/feedback', {
        request_id: 'r0',
        user: { user_id: 'u0' },
        events: [{ type: 'click', product: { product_id: 'p1' } }],
      });
      await service.close();
      const flags = ['--project', root, '--data-dir', dataDir, '--json'];
      const { code, stdout, stderr } = await millrace(['experiments', 'report', 'popularity', ...flags]);
      expect([code, stderr]).to.deep.equal([0, '']);
      const report = JSON.parse(stdout) as {
        arms: { arm: string; units: number; guards?: { guard: string; control: number }[] }[];
        excluded: object;
        feedback: { byRequest: number };
      };
      expect(report.arms.map(({ arm }) => arm)).to.deep.equal(['control', 'popular']);
      expect(report.arms.reduce((sum, { units }) => sum + units, 0)).to.equal(USERS);
      for (const { units } of report.arms) expect(units).to.be.above(0);
      expect(report.excluded).to.deep.equal({ no_unit: 1 });
      expect(report.feedback.byRequest).to.equal(1);
      const guards = report.arms[1]?.guards ?? [];
      expect(guards.map(({ guard }) => guard)).to.deep.equal(['latency_p99', 'failed']);
      expect(guards[0]?.control).to.be.above(0);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
