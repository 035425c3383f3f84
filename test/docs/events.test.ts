import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventsOfRecord } from '../../runtime/state/ledger/events.js';
import { post } from '../http/harness.js';
import { serveProject } from '../http/serve-project.js';
import { exchangesOf } from '../support/exchanges.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { pluginFiles, startProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

describe('docs/events.md', () => {
  const page = readFileSync(repositoryPath('docs', 'events.md'), 'utf8');

  it('is a valid project, and its requests give the documented answers in this order', () => {
    const blocks = page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm);
    const files = Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]));
    expect(Object.keys(files)).to.have.length(3);
    return withFiles(files, (root) =>
      serveProject(root, async (url) => {
        const exchanges = exchangesOf(page);
        expect(exchanges).to.have.length(2);
        for (const { path, body, answer } of exchanges)
          expect((await post(url + path, body, { 'x-millrace-run-id': 'run-1' })).json, path).to.deep.equal(
            answer,
          );
      }),
    );
  });

  it('shows the event of an experiment that sinks get, also of a failed request and of a hashed unit', async () => {
    const example = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)]
      .map(([, text = '']) => JSON.parse(text) as ExperimentEvent)
      .find(({ event_type: type }) => type === 'EXPERIMENTATION');
    if (example === undefined) throw new Error('the page has an example');
    const first = await experimentEvents('', false);
    expect(first).to.deep.equal([example]);
    const [failed] = await experimentEvents('', true);
    expect(failed?.event_data).to.deep.equal({
      ...example.event_data,
      metadata: { unit: 'user', mode: 'split', excluded: null, status: 'component_failed' },
      has_error: true,
    });
    const [hashed] = await experimentEvents(', hash: [user]', false);
    expect(hashed?.event_data).to.have.property('entity_id').that.matches(/^h_/);
  });
});

interface ExperimentEvent {
  readonly event_type: string;
  readonly event_data: Readonly<Record<string, unknown>>;
}

/** The events of experiments of one request of the user u1. */
async function experimentEvents(log: string, fails: boolean): Promise<readonly ExperimentEvent[]> {
  const { ledger, records } = memoryLedger();
  const project = await startProject(
    {
      ...pluginFiles('fault', 'filter', `return { select() { throw new Error('broken on purpose'); } };`),
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w_pop: 0 }
components:
  - { use: score, with: { value: w_pop } }
${fails ? '  - use: fault\n' : ''}log: { unit: user${log} }
`,
      'experiments/popularity.yaml': `experiment: popularity
pipeline: search
unit: user
arms: { control: {}, popular: { weight: 1000, params: { w_pop: 1 } } }
`,
    },
    {
      ...{ experiments: true, ledger, now: () => Date.parse('2026-12-01T12:00:00Z') },
      env: { MILLRACE_ID_SALT: 'a secret that nobody guesses' },
    },
  );
  try {
    const body = { request_id: 'r-1', user: { user_id: 'u1' }, candidates: [{ product_id: 'p1' }] };
    const run = project.app.pipelines[0]?.run(body, { requestId: '', runId: 'run-1' });
    await run?.catch(() => undefined);
    return (await records())
      .flatMap((record) => [...eventsOfRecord(record)])
      .map((text) => JSON.parse(text) as ExperimentEvent)
      .filter(({ event_type: type }) => type === 'EXPERIMENTATION');
  } finally {
    await project.close();
  }
}
