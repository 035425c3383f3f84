import { expect } from 'chai';
import pino from 'pino';
import { HeldLog } from '../../runtime/serve/app/project/held-log.js';
import { pluginFiles, startProject } from '../support/project.js';

const KINDS: Readonly<Record<string, string>> = {
  feature: `return { outputs: { value: 'number' }, compute() { hold(); } };`,
  filter: `return { select() { hold(); return { removed: [], reason: '', undecided: 0 }; } };`,
  rule: `return { scoring: 'changes', apply() { hold(); return { applied: 0, skipped: 0 }; } };`,
  effect: `return { run() { hold(); } };`,
};
/** It moves the clock, as computing for four seconds would do. */
const HOLD = `const real = performance.now.bind(performance);
const hold = () => { performance.now = () => real() + 4000; };`;

describe('a step that holds the event loop', () => {
  const real = performance.now.bind(performance);
  afterEach(() => {
    performance.now = real;
  });

  for (const [kind, create] of Object.entries(KINDS))
    it(`is told in the log, also if the request fails: ${kind}`, async () => {
      const lines: Record<string, unknown>[] = [];
      const logger = pino(
        { level: 'warn' },
        { write: (text) => void lines.push(JSON.parse(text) as Record<string, unknown>) },
      );
      const uses = kind === 'feature' ? '\n  - { use: score, with: { value: busy:value } }' : '';
      const project = await startProject(
        {
          ...pluginFiles('busy', kind, HOLD + create),
          'pipelines/p.yaml': `pipeline: p
rank: product
components:
  - { use: busy }${uses}
limits: { time: 1s }
`,
        },
        { logger },
      );
      try {
        const failed = await project.app.pipelines[0]
          ?.run({ candidates: [{ product_id: 'a' }] }, { requestId: 'r' })
          .then(
            () => undefined,
            (error: unknown) => (error as { code?: string }).code,
          );
        if (kind !== 'effect') expect(failed).to.equal('deadline_exceeded');
      } finally {
        performance.now = real;
        await project.close();
      }
      const told = lines.filter(({ msg }) => String(msg).startsWith('a step held the event loop'));
      expect(told).to.have.length(1);
      expect(told[0]).to.include({ pipeline: 'p', step: 'busy', use: 'busy' });
      expect(told[0]?.['held_ms']).to.be.within(4000, 6000);
    });

  it('writes at most one line a minute', () => {
    const lines: object[] = [];
    let now = 0;
    const log = new HeldLog({ warn: (fields) => lines.push(fields) }, () => now);
    const step = { as: 'a', use: 'busy' };
    for (let second = 0; second < 90; second++) {
      now = second * 1000;
      log.report('p', step, 250);
    }
    log.report('p', { as: 'b', use: 'busy' }, 101.4);
    const common = { pipeline: 'p', use: 'busy' };
    expect(lines).to.deep.equal([
      { ...common, step: 'a', held_ms: 250 },
      { ...common, step: 'a', held_ms: 250, left_out_before: 59 },
      { ...common, step: 'b', held_ms: 101 },
    ]);
  });
});
