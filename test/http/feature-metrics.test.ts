import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post, type Answer } from './harness.js';

const FILES = {
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: { type: float, default: 0 }, clicks: int }\n',
  'schemas/features/site.yaml': 'view: site\nof: []\nfeatures: { load: float }\n',
  'pipelines/ranking.yaml':
    "pipeline: ranking\nrank: product\nfeatures: [stats, site]\ncomponents:\n  - use: score\n    with: { value: 'stats:ctr + stats:clicks + site:load' }\n",
};
const CANDIDATES = { candidates: [{ product_id: 'a' }, { product_id: 'b' }, { product_id: 'c' }] };
const ASK = { features: ['stats:ctr'], entities: { product_id: ['a', 'b'] } };

/** A store that can be told not to answer. */
class SlowStore extends MemoryStore {
  isStuck = false;

  override read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return this.isStuck ? new Promise(() => undefined) : super.read(keys);
  }
}

async function serve(use: (url: string, store: SlowStore) => Promise<void>): Promise<void> {
  await withFiles(FILES, async (root) => {
    const env = { LOG_LEVEL: 'silent', MILLRACE_ONLINE_FEATURES_MS: '50', MILLRACE_RESIDENT: 'off' };
    const store = new SlowStore();
    const app = await createApp(loadSettings(env, { project: root }), { store });
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    try {
      await use(`http://127.0.0.1:${server.port}`, store);
    } finally {
      await server.close(0);
      await app.close();
    }
  });
}

async function metric(url: string, name: string): Promise<string[]> {
  const { text } = await call(`${url}/metrics`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(name))
    .sort();
}

describe('what is counted of features', () => {
  it('is their values by view and status, of rankings and of get-online-features, not of explanations', () =>
    serve(async (url) => {
      const sent = async (path: string, body: object): Promise<Answer> => {
        const answer = await post(url + path, body);
        expect(answer.status, answer.text).to.equal(200);
        return answer;
      };
      await sent('/api/v1/features/push', { view: 'stats', rows: [{ product_id: 'a', ctr: 1, clicks: 2 }] });
      await sent('/api/v1/ranking', CANDIDATES);
      const ranked = [
        'millrace_feature_values_total{view="site",status="missing_feature",cause=""} 1',
        'millrace_feature_values_total{view="stats",status="defaulted",cause="missing_feature"} 2',
        'millrace_feature_values_total{view="stats",status="missing_feature",cause=""} 2',
        'millrace_feature_values_total{view="stats",status="present",cause=""} 2',
      ];
      expect(await metric(url, 'millrace_feature_values_total')).to.deep.equal(ranked);
      await sent('/api/v1/ranking/explain', CANDIDATES);
      expect(await metric(url, 'millrace_feature_values_total')).to.deep.equal(ranked);
      await sent('/feature/get-online-features', ASK);
      expect(await metric(url, 'millrace_feature_values_total')).to.deep.equal([
        ranked[0],
        'millrace_feature_values_total{view="stats",status="defaulted",cause="missing_feature"} 3',
        ranked[2],
        'millrace_feature_values_total{view="stats",status="present",cause=""} 3',
      ]);
      expect(await metric(url, 'millrace_online_features_')).to.deep.equal([
        'millrace_online_features_keys_read_total 2',
        'millrace_online_features_round_trips_total 1',
      ]);
    }));

  it('get-online-features has a deadline of its own', () =>
    serve(async (url, store) => {
      store.isStuck = true;
      const answer = await post(`${url}/feature/get-online-features`, ASK);
      expect(answer.json).to.include({ code: 'deadline_exceeded' });
      store.isStuck = false;
      expect((await post(`${url}/feature/get-online-features`, ASK)).status).to.equal(200);
    }));

  it('a run is named by its header, or has a name made up', () =>
    serve(async (url) => {
      const runOf = async (headers: Record<string, string>): Promise<unknown> =>
        (await post(`${url}/api/v1/ranking/explain`, CANDIDATES, headers)).json?.run_id;
      expect(await runOf({ 'X-Millrace-Run-Id': 'run 7' })).to.equal('run 7');
      expect(await runOf({ 'X-Wyvern-Run-Id': 'run 8' })).to.equal('run 8');
      expect(await runOf({ 'X-Wyvern-Run-Id': 'run 8', 'X-Millrace-Run-Id': 'run 7' })).to.equal('run 7');
      expect(await runOf({ 'X-Wyvern-Run-Id': 'run 8', 'X-Millrace-Run-Id': ' ' })).to.equal('run 8');
      const made = await runOf({});
      expect(made).to.match(/^[0-9a-f-]{36}$/);
      expect(await runOf({ 'X-Millrace-Run-Id': 'x'.repeat(129) })).not.to.equal('x'.repeat(129));
      expect(await runOf({})).not.to.equal(made);
    }));
});
