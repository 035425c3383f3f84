import { expect } from 'chai';
import { readSettings } from '../../runtime/project/config/project/read-settings.js';
import { serveFiles, until, type ServedProject } from '../support/served-project.js';
import { withFiles } from '../support/temporary-files.js';

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
const LOGS = { 'pipelines/ranked.yaml': `${FILES['pipelines/ranked.yaml']}log: { candidates: all }\n` };
const ITEMS = Array.from({ length: 40 }, (_, n) => ({ item_id: `i${n}`, price: n, stock: (n * 7) % 30 }));
const REQUEST = { candidates: ITEMS.map(({ item_id: id }) => ({ item_id: id })) };
const GUARD = { MILLRACE_RELOAD_REQUIRE: 'overlap@10 >= 0.5 and failed == 0' };

describe('a reload with a condition', function () {
  this.timeout(30_000);
  let served: ServedProject | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const start = async (files: Readonly<Record<string, string>>): Promise<ServedProject> => {
    served = await serveFiles(files, undefined, GUARD);
    await served.post('/api/v1/entities/upload', { entity_type: 'item', entities: ITEMS });
    for (let turn = 0; turn < 5; turn++) await served.post('/api/v1/ranked', REQUEST);
    return served;
  };
  const metrics = async (service: ServedProject): Promise<string> => service.get('/metrics');

  for (const [where, files] of [
    ['requests in memory', FILES],
    ['the requests of the ledger', { ...FILES, ...LOGS }],
  ] as const)
    it(`refuses a project that fails it over ${where}, says so, and takes it by force`, async () => {
      const service = await start(files);
      const { version } = service.app;
      await service.edit('models/ltr.json', model(-2, 1));
      // A record is in the ledger, and a request in memory, a little after its answer.
      let problem = '';
      await until(async () => {
        const reload = await service.app.reload();
        problem = reload.problem?.detail ?? '';
        if (reload.outcome === 'succeeded') await service.edit('models/ltr.json', model(1, -2));
        if (reload.outcome === 'succeeded') await service.app.reload();
        if (reload.outcome === 'succeeded') await service.edit('models/ltr.json', model(-2, 1));
        return reload.outcome === 'failed';
      });
      expect(problem).to.match(
        /`overlap@10 >= 0.5` does not hold for the pipeline ranked: 0.* over \d+ requests/,
      );
      expect(service.app.version).to.equal(version);
      expect(service.log.some(({ code }) => code === 'reload_refused')).to.equal(true);
      expect(await metrics(service)).to.match(/millrace_reloads_total\{outcome="refused"\} [1-9]/);
      expect(await metrics(service)).to.include('millrace_last_reload_successful 0');
      expect(await service.get('/readyz')).to.include('"code":"reload_refused"');

      const refused = await service.post('/api/v1/reload', {});
      expect([refused.status, refused.json.code]).to.deep.equal([409, 'reload_refused']);
      expect(refused.json.detail).to.equal(
        problem.replace(/over \d+/, /over \d+/.exec(String(refused.json.detail))?.[0] ?? ''),
      );
      const forced = await service.post('/api/v1/reload', { force: true });
      expect([forced.status, forced.json.version]).to.deep.equal([200, service.app.version]);
      expect(service.app.version).to.not.equal(version);
      expect(await service.get('/readyz')).to.not.include('reload_refused');
    });

  it('takes a project that meets it, and one of which there are no requests', async () => {
    const service = await start(FILES);
    await service.edit('models/ltr.json', model(2, -4));
    expect((await service.post('/api/v1/reload', {})).status).to.equal(200);
    await service.edit('schemas/entities/item.yaml', 'entity: items\n');
    const wrong = await service.post('/api/v1/reload', {});
    expect([wrong.status, wrong.json.code]).to.deep.equal([500, 'project_invalid']);
    await service.close();
    served = await serveFiles(FILES, undefined, GUARD);
    await served.edit('models/ltr.json', model(-2, 1));
    expect((await served.app.reload()).outcome).to.equal('succeeded');
  });

  it('stands in millrace.yaml below `reload`, beside the word for when', async () => {
    const read = (text: string) =>
      withFiles({ 'millrace.yaml': `project: shop\n${text}\n` }, (root) =>
        readSettings({}, { project: root }),
      );
    expect(await read("reload: { when: watch, require: 'failed == 0' }")).to.include({
      reload: 'watch',
      reloadRequire: 'failed == 0',
    });
    expect(await read('reload: watch')).to.include({ reload: 'watch', reloadRequire: '' });
    for (const wrong of [
      'reload: { requier: x }',
      'reload: { when: never }',
      'reload: [watch]',
      'reload: sometimes',
    ])
      expect(await read(wrong).then(() => '', String), wrong).to.include('millrace.yaml:2');
  });
});
