import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { serveFiles, until, type ServedProject } from '../support/served-project.js';

const model = (price: number, stock: number): string =>
  JSON.stringify({ weights: { 'item.price': price, 'item.stock': stock } });

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, stock: float }\n',
  'pipelines/ranked.yaml': `pipeline: ranked
rank: item
request: { candidates: {} }
components:
  - { use: linear, as: ltr, with: { model: models/ltr.json } }
  - { use: score, with: { value: 'ltr:score' } }
`,
  'models/ltr.json': model(1, -2),
};
const ITEMS = Array.from({ length: 40 }, (_, n) => ({ item_id: `i${n}`, price: n, stock: (n * 7) % 30 }));
const REQUEST = { candidates: ITEMS.map(({ item_id: id }) => ({ item_id: id })) };

describe('the comparison of a new model with the one before', function () {
  this.timeout(60_000);
  let served: ServedProject;
  afterEach(() => served.close());

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    served = await serveFiles(FILES, undefined, env);
    await served.post('/api/v1/entities/upload', { entity_type: 'item', entities: ITEMS });
  };
  const deploy = async (text: string): Promise<void> => {
    await served.edit('models/ltr.json', text);
    expect((await served.app.reload()).outcome).to.equal('succeeded');
  };
  const valueOf = async (name: string): Promise<number | undefined> => {
    const line = (await served.get('/metrics')).split('\n').find((one) => one.startsWith(name));
    return line === undefined ? undefined : Number(line.split(' ')[1]);
  };
  const agreement = () => valueOf('millrace_model_agreement{pipeline="ranked"}');
  const compared = () => valueOf('millrace_model_comparisons_total{outcome="compared"}');
  /** Ranks until enough requests were compared. */
  const rankUntilKnown = () =>
    until(async () => {
      expect((await served.post('/api/v1/ranked', REQUEST)).status).to.equal(200);
      return (await agreement()) !== undefined;
    });

  it('says 1 for a model that ranks alike, and less for shuffled columns; a rollback compares nothing', async () => {
    await start();
    await served.post('/api/v1/ranked', REQUEST);
    expect(await agreement()).to.equal(undefined);
    await deploy(model(2, -4));
    await rankUntilKnown();
    expect(await agreement()).to.equal(1);
    await deploy(model(-2, 1));
    expect(await agreement()).to.equal(undefined);
    await rankUntilKnown();
    expect(await agreement()).to.be.below(0.3);
    await until(async () => (await served.get('/api/v1/releases')).split('"is_kept":true').length === 4);
    expect((await served.post('/api/v1/releases/rollback', { version: null })).status).to.equal(200);
    const before = await compared();
    await served.post('/api/v1/ranked', REQUEST);
    expect([await agreement(), await compared()]).to.deep.equal([undefined, before]);
  });

  it('is over after its time', async () => {
    await start({ MILLRACE_RELOAD_AGREEMENT_MS: '200' });
    await deploy(model(-2, 1));
    await until(async () => {
      const before = await compared();
      for (let turn = 0; turn < 3; turn++) await served.post('/api/v1/ranked', REQUEST);
      await pause(100);
      return before !== undefined && before > 0 && (await compared()) === before;
    });
    expect(await agreement()).to.equal(undefined);
  });

  it('does not take place if no model changed, or if the setting is 0', async () => {
    await start({ MILLRACE_RELOAD_AGREEMENT_MS: '0' });
    await deploy(model(-2, 1));
    await served.post('/api/v1/ranked', REQUEST);
    expect(await compared()).to.equal(0);
    await served.close();
    await start();
    await served.edit('schemas/entities/item.yaml', `${FILES['schemas/entities/item.yaml']}# changed\n`);
    expect((await served.app.reload()).outcome).to.equal('succeeded');
    await served.post('/api/v1/ranked', REQUEST);
    expect([
      await compared(),
      await valueOf('millrace_model_comparisons_total{outcome="busy"}'),
    ]).to.deep.equal([0, 0]);
  });
});
