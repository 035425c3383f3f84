import type { Log } from 'sarif';
import { expect } from 'chai';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DIAGNOSTIC_CODES } from '../../../runtime/project/config/diagnostics/diagnostic-codes.js';
import { startInferenceServer, type InferenceServer } from '../../support/inference-server.js';
import { millrace } from '../../support/command-line.js';
import { startProject, writeProject } from '../../support/project.js';
import { freePort, startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { describeWith } from '../../support/needs.js';
import { repositoryPath } from '../../support/repository.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nattributes: { price: float, rating: float, brand: string }\n',
  'pipelines/search.yaml':
    'pipeline: search\nrank: product\ncomponents:\n  - { use: score, with: { value: product.price } }\n',
};

interface Row {
  readonly of: string;
  readonly state: string;
  readonly detail: string;
  readonly help?: string;
}

describe('millrace validate', () => {
  let project: string;

  afterEach(() => rm(project, { recursive: true, force: true }));

  const validate = (argv: readonly string[], env: Record<string, string> = {}) =>
    millrace(['validate', '--project', project, ...argv], { env });

  for (const [what, text] of [
    ['rules with an error', 'curation: campaigns\nrules:\n  - { query: tv, pin: { 1: p1, 0: p2 } }\n'],
    ['no YAML', 'curation: [campaigns\n'],
  ] as const)
    it(`does not call a list missing whose file has ${what}`, async () => {
      project = await writeProject({
        ...FILES,
        'curation/campaigns.yaml': text,
        'pipelines/search.yaml':
          'pipeline: search\nrank: product\nrequest: { query: optional(query) }\ncomponents:\n  - { use: score, with: { value: 1 } }\n  - { use: curation, with: { list: campaigns } }\n',
      });
      const { code, stdout, stderr } = await validate([]);
      expect(code).to.equal(1);
      expect(stdout + stderr)
        .to.contain('curation/campaigns.yaml:')
        .and.not.contain('there is no list');
    });

  describe('with a step that could rank better', () => {
    const search = (options: string): Record<string, string> => ({
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: query }
components:
  - { use: text_match, as: text, with: { query: query.query, field: product.brand${options} } }
  - { use: score, with: { value: text:bm25 } }
`,
    });
    const ADVICE = {
      pipeline: 'search',
      step: 'text',
      message:
        'the candidates of each request say how rare words are; counts of the whole catalogue rank better',
      help: 'run `millrace text-stats search:text --from-index`, or write `statistics: candidates`',
    };

    it('advises, and warns of nothing', async () => {
      project = await writeProject({ ...FILES, ...search('') });
      const { code, stdout } = await validate(['--json']);
      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.include({ ok: true, warnings: 0, advice: [ADVICE] });
      const text = (await validate([])).stdout;
      expect(text).to.match(/^ok: .*\n\nadvice: search:text: the candidates of/);
      expect(text.replace(/\s+/g, ' ')).to.include(`help: ${ADVICE.help}`);
      for (const line of text.split('\n').slice(1)) expect(line.length).to.be.at.most(80);
    });

    it('has no advice for a step that chose its candidates, or has the language of the request', async () => {
      for (const options of [', statistics: candidates', ', language_from: query.query']) {
        project = await writeProject({ ...FILES, ...search(options) });
        const { stdout } = await validate(['--json']);
        expect(JSON.parse(stdout)).to.deep.include({ ok: true, advice: [] });
        await rm(project, { recursive: true });
      }
    });
  });

  describe('--sarif', () => {
    it('writes each diagnostic as a result with its place, and its code as a rule', async () => {
      project = await writeProject({
        ...FILES,
        'pipelines/search.yaml':
          'pipeline: search\nrank: product\ncomponents:\n  - { use: score, with: { value: product.pirce } }\n  - { use: bury, with: { where: hour(now()) > 30 } }\n  - { use: boost, with: {} }\n',
      });
      const file = join(project, 'out', 'millrace.sarif');
      const { code } = await validate(['--sarif', file]);
      expect(code).to.equal(1);
      const log = JSON.parse(await readFile(file, 'utf8')) as Log;
      const [run] = log.runs;
      expect(log.version).to.equal('2.1.0');
      const rules = run?.tool.driver.rules ?? [];
      expect(run?.results?.map(({ ruleId, level }) => [ruleId, level])).to.deep.include([
        'unknown_attribute',
        'error',
      ]);
      for (const { ruleId = '', ruleIndex = -1, locations, message } of run?.results ?? []) {
        expect(DIAGNOSTIC_CODES).to.have.property(ruleId);
        expect(rules[ruleIndex]?.id).to.equal(ruleId);
        expect(message.text).to.match(/\.$/);
        const place = locations?.[0]?.physicalLocation;
        expect(place?.artifactLocation?.uri).to.match(/^file:.*pipelines\/search\.yaml$/);
        expect(place?.region?.startLine).to.be.within(4, 6);
        expect(place?.region?.endColumn).to.be.above(place?.region?.startColumn ?? Infinity);
      }
      expect(run?.results?.[0]?.message.text).to.contain('Help: did you mean `product.price`?');
    });

    it('names files relative to the working directory, for code hosts', async () => {
      project = await writeProject({});
      const inside = repositoryPath('test/unit/project/config/golden/misnamed-folders');
      const { stdout } = await millrace(['validate', '--project', inside, '--sarif', '-']);
      const uris = (JSON.parse(stdout) as Log).runs[0]?.results?.map(
        ({ locations }) => locations?.[0]?.physicalLocation?.artifactLocation?.uri,
      );
      expect(uris).to.include('test/unit/project/config/golden/misnamed-folders/sink');
    });

    it('refuses two documents on standard output', async () => {
      project = await writeProject(FILES);
      const { code, stderr } = await validate(['--sarif', '-', '--json']);
      expect(code).to.equal(2);
      expect(stderr).to.contain('both write to standard output');
    });
  });

  it('--connect warns of a name where the index has ids, in every comparison, with the attribute that has it', async () => {
    const schema = (attributes: string) => `attributes: { ${attributes} }\n`;
    project = await writeProject({
      'schemas/entities/product.yaml': `entity: product\n${schema('brand: ref(brand), others: list(ref(brand))')}`,
      'schemas/entities/brand.yaml': `entity: brand\n${schema('name: string')}`,
      'schemas/entities/shop.yaml': `entity: shop\n${schema('name: string')}`,
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, shop: optional(shop) }
define:
  lumen: product.brand == "Lumen"
components:
  - { use: score, with: { value: 'if(lumen, 1, 0)' } }
  - { use: boost, when: shop == "none", with: { where: 'product.brand in ("b3", "Alpen")', add: 1 } }
  - { use: bury, with: { where: '"Lumen" in product.others' } }
`,
      'pipelines/price.yaml':
        'pipeline: price\nscore: product\nanswer: { other: product.brand != "Nord" }\ncomponents: []\n',
      'brands.jsonl': '{"brand_id":"b3","name":"Lumen"}\n{"brand_id":"b4","name":"Nord"}\n',
    });
    const env = { MILLRACE_STORE: 'embedded' };
    expect((await validate([], env)).stdout).to.match(/^ok: /);
    const file = join(project, 'brands.jsonl');
    const loaded = await millrace(['entities', 'load', 'brand', file, '--project', project], { env });
    expect(loaded.code, loaded.stderr).to.equal(0);
    const { code, stdout } = await validate(['--connect'], env);
    expect(code).to.equal(0);
    expect(stdout.slice(0, stdout.indexOf('ok: '))).to
      .equal(`pipelines/price.yaml:3:35: warning[unknown_id]: \`product.brand\` is compared by
    id, and the index holds no brand \`Nord\`
 3 | answer: { other: product.brand != "Nord" }
   |                                   ^^^^^^
   help: \`brand.name\` has this value: compare \`product.brand.name\`, or the id
         \`b4\`

pipelines/search.yaml:5:27: warning[unknown_id]: \`product.brand\` is compared by
    id, and the index holds no brand \`Lumen\`
 5 |   lumen: product.brand == "Lumen"
   |                           ^^^^^^^
   help: \`brand.name\` has this value: compare \`product.brand.name\`, or the id
         \`b3\`

pipelines/search.yaml:8:81: warning[unknown_id]: \`product.brand\` is compared by
    id, and the index holds no brand \`Alpen\`
 8 | … == "none", with: { where: 'product.brand in ("b3", "Alpen")', add: 1 } }
   |                                                      ^^^^^^^
   help: load the brand, or correct the id

pipelines/search.yaml:9:34: warning[unknown_id]: \`product.others\` is compared by
    id, and the index holds no brand \`Lumen\`
 9 |   - { use: bury, with: { where: '"Lumen" in product.others' } }
   |                                  ^^^^^^^
   help: \`brand.name\` has this value: compare \`product.others.name\`, or the id
         \`b3\`

4 warnings

`);
    const json = JSON.parse((await validate(['--connect', '--json'], env)).stdout) as { warnings: number };
    expect(json.warnings).to.equal(4);
  });

  describeWith('redis-server', '--connect', () => {
    let redis!: PrivateRedis;
    let model!: InferenceServer;

    before(async function () {
      redis = await startRedisServer();
      model = await startInferenceServer();
    });

    after(async () => {
      await redis.remove();
      await model.close();
    });

    async function rows(env: Record<string, string> = {}): Promise<{ code: number; rows: readonly Row[] }> {
      const { code, stdout } = await validate(['--connect', '--json', '--timeout', '4s'], {
        REDIS_URL: redis.url,
        MILLRACE_MODEL_HOSTS: new URL(model.url).host,
        ...env,
      });
      return { code, rows: (JSON.parse(stdout) as { connections: Row[] }).connections };
    }

    const withModel = (): Record<string, string> => ({
      ...FILES,
      'pipelines/search.yaml': `pipeline: search
rank: product
components:
  - use: open_inference
    as: deep
    with: { url: '${model.url}', model: sum, inputs: { features: [product.price, product.rating] }, outputs: { score: sum } }
  - { use: score, with: { value: deep:score } }
`,
    });

    it('warns of ids in rules of curation that the index does not hold', async () => {
      const env = { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_PREFIX: 'curated_ids' };
      const service = await startProject(FILES, { env });
      await service.upload('product', { product_id: 'p1', price: 1 });
      await service.close();
      project = await writeProject({
        ...FILES,
        'curation/campaigns.yaml':
          'curation: campaigns\nrules:\n  - { query: tv, pin: { 1: p1, 2: p7 }, hide: [p9] }\n',
        'curation/unused.yaml': 'curation: unused\nrules:\n  - { hide: [p8] }\n',
        'pipelines/search.yaml':
          'pipeline: search\nrank: product\nrequest: { query: optional(query) }\ncomponents:\n  - { use: score, with: { value: 1 } }\n  - { use: curation, with: { list: campaigns } }\n',
      });
      const found = await rows({ MILLRACE_PREFIX: 'curated_ids' });
      expect(found.code).to.equal(0);
      expect(found.rows[0]).to.deep.include({
        state: 'warning',
        help: 'load these entities, or correct the ids of the rules',
      });
      expect(found.rows[0]?.detail).to.contain(
        'curation/campaigns.yaml names ids that the index does not hold: `p7`, `p9`',
      );
    });

    it('asks the store, the model server and the sinks', async () => {
      const port = await freePort();
      project = await writeProject({
        ...withModel(),
        'sinks/archive.yaml': 'sink: archive\nuse: file\ntake: [ranking]\n',
        'sinks/stream.yaml': `sink: stream\nuse: redis_stream\ntake: [ranking]\nwith: { url: '${redis.url}', stream: rankings }\n`,
        'sinks/topic.yaml': `sink: topic\nuse: kafka\ntake: [ranking]\nwith: { brokers: ['127.0.0.1:${port}'], topic: rankings }\n`,
      });
      const found = await rows();
      expect(found.code).to.equal(1);
      expect(Object.fromEntries(found.rows.map(({ of, state }) => [of, state]))).to.deep.equal({
        store: 'ok',
        'search: deep': 'ok',
        archive: 'ok',
        stream: 'ok',
        topic: 'failed',
      });
      expect(found.rows.find(({ of }) => of === 'store')?.detail).to.match(/^(Redis|Valkey) \d.*no entities/);
      expect(found.rows.find(({ of }) => of === 'search: deep')?.detail).to.equal('the model sum is ready');
      expect(found.rows.find(({ of }) => of === 'topic')?.detail).to.contain('ECONNREFUSED');
    });

    it('says what is wrong with a store that cannot be reached, and gives 1', async () => {
      project = await writeProject(FILES);
      const port = await freePort();
      const found = await rows({ REDIS_URL: `redis://user:secret@127.0.0.1:${port}` });
      expect(found.code).to.equal(1);
      expect(found.rows[0]?.state).to.equal('failed');
      expect(found.rows[0]?.detail)
        .to.contain('connection refused')
        .and.contain('`store: embedded` in millrace.yaml');
      expect(JSON.stringify(found.rows)).not.to.contain('secret');
    });

    it('warns of entities that another project has stored', async () => {
      project = await writeProject({
        ...FILES,
        'schemas/entities/product.yaml': 'entity: product\nattributes: { price: string }\n',
        'pipelines/search.yaml':
          'pipeline: search\nrank: product\ncomponents:\n  - { use: score, with: { value: length(product.price) } }\n',
      });
      const loaded = await millrace(['entities', 'load', 'product', '-', '--project', project], {
        env: { REDIS_URL: redis.url, MILLRACE_PREFIX: 'fit' },
        stdin: '{"product_id":"p1","price":"cheap"}\n',
      });
      expect(loaded.code, loaded.stderr).to.equal(0);
      await rm(project, { recursive: true, force: true });
      project = await writeProject(FILES);
      const found = await rows({ MILLRACE_PREFIX: 'fit' });
      expect(found.rows[0]?.state).to.equal('warning');
      expect(found.rows[0]?.detail).to.contain('product.price is float in the schema');
      expect(found.code).to.equal(0);
    });

    it('fails for a model server that does not run', async () => {
      const port = await freePort();
      project = await writeProject({
        ...withModel(),
        'pipelines/search.yaml': (withModel()['pipelines/search.yaml'] ?? '').replace(
          model.url,
          `http://127.0.0.1:${port}`,
        ),
      });
      const found = await rows({ MILLRACE_MODEL_HOSTS: `127.0.0.1:${port}` });
      expect(found.code).to.equal(1);
      expect(found.rows.find(({ of }) => of === 'search: deep')?.state).to.equal('failed');
    });
  });
});
