import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pluginFiles } from '../support/project.js';
import { serveFiles, until, type ServedProject } from '../support/served-project.js';

const ERROR = 50;

const pipeline = (name: string, value: string, more = ''): string =>
  `pipeline: ${name}\nrank: item\nrequest: { candidates: {} }\n${more}components:\n  - use: score\n    with: { value: ${value} }\n`;

const model = (weight: number): string => JSON.stringify({ weights: { 'item.price': weight } });

const MODEL_PIPELINE = `pipeline: ranked
rank: item
request: { candidates: {} }
components:
  - use: linear
    as: ltr
    with: { model: models/ltr.json }
  - use: score
    with: { value: 'ltr:score' }
`;

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, weight: float }\n',
  'pipelines/ranked.yaml': MODEL_PIPELINE,
  'models/ltr.json': model(2),
};

const CANDIDATES = { candidates: [{ item_id: 'a' }] };

describe('reloading a project while it serves', () => {
  let served: ServedProject;
  afterEach(() => served.close());

  const start = async (files: Readonly<Record<string, string>> = FILES): Promise<void> => {
    served = await serveFiles(files);
    await served.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: [{ item_id: 'a', price: 10, weight: 3 }],
    });
  };
  const score = async (route = '/api/v1/ranked'): Promise<unknown> => {
    const { json } = await served.post(route, CANDIDATES);
    return (json.ranked_candidates as { ranked_score: number }[] | undefined)?.[0]?.ranked_score;
  };
  const rows = (): number => served.app.resident.states().reduce((sum, state) => sum + state.rows, 0);
  const metric = async (start: string): Promise<string> => {
    const lines = (await served.get('/metrics')).split('\n');
    return lines.filter((line) => line.startsWith(start)).join('\n');
  };
  const reload = async (): Promise<string> => (await served.app.reload()).outcome;

  it('swaps a model, keeps what is resident, and tells versions in events, metrics and readiness', async () => {
    await start();
    const versions = async (): Promise<unknown[]> => {
      const { json } = await served.post('/api/v1/ranked', { ...CANDIDATES, include_events: true });
      const events = json.events as { event_type: string; event_data: Record<string, unknown> }[];
      const told = events.find(({ event_type }) => event_type === 'MODEL')?.event_data.model_version;
      return [told, await metric('millrace_model_info')];
    };
    expect(await score()).to.equal(20);
    const info = (version: string): string =>
      `millrace_model_info{pipeline="ranked",step="ltr",version="${version}"} 1`;
    const [before] = served.app.files.values();
    expect(before).to.match(/^[0-9a-f]{12}$/);
    expect(await versions()).to.deep.equal([before, info(before ?? '')]);
    const ready = await served.get('/readyz');
    const kept = rows();
    expect(kept).to.equal(1);

    await served.edit('models/ltr.json', model(3));
    expect(await score()).to.equal(20);
    const { resident } = served.app;
    expect(await reload()).to.equal('succeeded');
    expect(served.app.resident).to.equal(resident);
    expect(rows()).to.equal(kept);
    expect(await score()).to.equal(30);
    const [after] = served.app.files.values();
    expect(after).not.to.equal(before);
    expect(await versions()).to.deep.equal([after, info(after ?? '')]);
    expect(await metric('millrace_reloads_total{outcome="succeeded"}')).to.match(/ 1$/);
    expect(await served.get('/readyz')).not.to.equal(ready);
    expect(await metric('millrace_resident_hits_total')).to.match(/ [1-9]\d*$/);
  });

  it('keeps serving what it has while the files are wrong, and tells where', async () => {
    await start();
    await served.edit('pipelines/ranked.yaml', MODEL_PIPELINE.replace('ltr:score', 'lrt:score'));
    await served.edit('models/ltr.json', model(3));
    expect(await reload()).to.equal('failed');
    expect(await score()).to.equal(20);
    const [told] = served.log.filter(({ level }) => level === ERROR);
    expect(told).to.deep.include({ file: 'pipelines/ranked.yaml', line: 9 });
    expect(told?.msg).to.contain('lrt');
    expect(await metric('millrace_reloads_total{outcome="failed"}')).to.match(/ 1$/);
    expect(await metric('millrace_last_reload_successful')).to.match(/ 0$/);

    await served.edit('pipelines/ranked.yaml', MODEL_PIPELINE);
    expect(await reload()).to.equal('succeeded');
    expect(await score()).to.equal(30);
    expect(await metric('millrace_last_reload_successful')).to.match(/ 1$/);
  });

  for (const [what, content] of [
    ['cut short', model(3).slice(0, -4)],
    ['empty', ''],
    ['of an input that is not there', JSON.stringify({ weights: { 'item.colour': 1 } })],
  ] as const)
    it(`does not take a model file that is ${what}`, async () => {
      await start();
      await served.edit('models/ltr.json', content);
      expect(await reload()).to.equal('failed');
      expect(await score()).to.equal(20);
      expect(served.log.find(({ level }) => level === ERROR)).to.deep.include({
        file: 'pipelines/ranked.yaml',
      });
    });

  it('keeps ranking while all pipelines are gone: a mount may be lost for a moment', async () => {
    await start();
    await rm(join(served.root, 'pipelines'), { recursive: true });
    expect(await reload()).to.equal('failed');
    expect(await score()).to.equal(20);
    expect(served.log.filter(({ level }) => level === ERROR)[0]?.msg).to.contain('has no pipeline any more');
  });

  it('is all or nothing: a good pipeline does not change beside a wrong one', async () => {
    await start({ ...FILES, 'pipelines/plain.yaml': pipeline('plain', '1') });
    await served.edit('pipelines/plain.yaml', pipeline('plain', '2'));
    await served.edit('models/ltr.json', '{');
    expect(await reload()).to.equal('failed');
    expect(await score('/api/v1/plain')).to.equal(1);
  });

  it('has routes and the reference follow the pipelines', async () => {
    await start({ ...FILES, 'pipelines/plain.yaml': pipeline('plain', '1') });
    const routes = async (): Promise<string[]> => {
      const { paths } = JSON.parse(await served.get('/openapi.json')) as { paths: object };
      return Object.keys(paths).filter((path) => /\/(plain|other)$/.test(path));
    };
    expect(await routes()).to.deep.equal(['/api/v1/plain']);
    await served.edit('pipelines/plain.yaml', pipeline('plain', '2', 'route: /api/v1/other\n'));
    expect(await reload()).to.equal('succeeded');
    expect(await routes()).to.deep.equal(['/api/v1/other']);
    expect((await served.post('/api/v1/plain', CANDIDATES)).status).to.equal(404);
    expect(await score('/api/v1/other')).to.equal(2);
  });

  it('refuses routes that two pipelines have, and serves on', async () => {
    await start({ ...FILES, 'pipelines/plain.yaml': pipeline('plain', '1') });
    await served.edit('pipelines/plain.yaml', pipeline('plain', '2', 'route: /api/v1/ranked\n'));
    expect(await reload()).to.equal('failed');
    expect(await score()).to.equal(20);
    expect(await score('/api/v1/plain')).to.equal(1);
  });

  it('reads by a changed schema at once, from records that were stored before', async () => {
    await start({
      ...FILES,
      'pipelines/ranked.yaml': pipeline('ranked', 'item.price'),
    });
    await served.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: [{ item_id: 'a', price: 10, colour: 'red' }],
    });
    expect(await score()).to.equal(10);
    await served.edit(
      'schemas/entities/item.yaml',
      'entity: item\nattributes: { price: float, colour: string }\n',
    );
    await served.edit('pipelines/ranked.yaml', pipeline('ranked', `"if(item.colour == 'red', 7, 1)"`));
    const { resident } = served.app;
    expect(await reload()).to.equal('succeeded');
    expect(served.app.resident).not.to.equal(resident);
    expect(await score()).to.equal(7);
    const refused = await served.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: [{ item_id: 'b', colour: 5 }],
    });
    expect(refused.status).to.equal(422);
  });

  it('keeps what is resident while a pipeline reads less, and drops it once one reads more', async () => {
    await start({ ...FILES, 'pipelines/plain.yaml': pipeline('plain', 'item.price + item.weight') });
    expect(await score('/api/v1/plain')).to.equal(13);
    await served.edit('pipelines/plain.yaml', pipeline('plain', 'item.weight'));
    expect(await reload()).to.equal('succeeded');
    expect(rows()).to.equal(1);
    const before = served.app.resident.states()[0]?.hits ?? NaN;
    expect(await score('/api/v1/plain')).to.equal(3);
    expect(served.app.resident.states()[0]?.hits).to.equal(before + 1);

    await served.edit(
      'schemas/entities/item.yaml',
      'entity: item\nattributes: { price: int, weight: float }\n',
    );
    expect(await reload()).to.equal('succeeded');
    expect(rows()).to.equal(0);
    expect(await score()).to.equal(20);
  });

  it('shows at once what an upload stores that was begun before the reload', async () => {
    await start();
    const old = served.app.entities;
    await served.edit('pipelines/ranked.yaml', pipeline('ranked', 'item.price + item.weight'));
    expect(await reload()).to.equal('succeeded');
    expect(await score()).to.equal(13);
    await old.upload({ entity_type: 'item', entities: [{ item_id: 'a', price: 20, weight: 3 }] });
    expect(await score()).to.equal(23);
  });

  describe('and its components', () => {
    const LIFE = `
      const life = globalThis.componentLife;
      return {
        warm() { life.events.push('warm'); if (life.fails) throw new Error('no model server'); },
        close() { life.events.push('close'); },
        async run() { life.events.push('run'); await life.gate; life.events.push('ran'); },
      };`;
    const life = { events: [] as string[], fails: false, gate: Promise.resolve() };
    const WITH_EFFECT = `${pipeline('plain', '1')}  - use: lively\n`;

    beforeEach(async () => {
      Object.assign(globalThis, { componentLife: life });
      life.fails = false;
      await start({
        ...FILES,
        ...pluginFiles('lively', 'effect', LIFE),
        'package.json': '{ "type": "module" }',
        'pipelines/plain.yaml': WITH_EFFECT,
      });
      life.events.length = 0;
    });

    it('are warmed before they serve, and closed once nothing uses them, an effect included', async () => {
      let open = (): void => undefined;
      life.gate = new Promise<void>((resolve) => (open = resolve));
      expect(await score('/api/v1/plain')).to.equal(1);
      await served.edit('pipelines/plain.yaml', WITH_EFFECT.replace('value: 1', 'value: 2'));
      expect(await reload()).to.equal('succeeded');
      expect(await score('/api/v1/plain')).to.equal(2);
      expect(life.events).to.deep.equal(['run', 'warm', 'run']);
      open();
      await until(() => life.events.includes('close'));
      expect(life.events).to.deep.equal(['run', 'warm', 'run', 'ran', 'ran', 'close']);
    });

    it('that do not warm up are an error at their step', async () => {
      life.fails = true;
      await served.edit('pipelines/plain.yaml', WITH_EFFECT.replace('value: 1', 'value: 2'));
      expect(await reload()).to.equal('failed');
      expect(await score('/api/v1/plain')).to.equal(1);
      const told = served.log.find(({ level }) => level === ERROR);
      expect(told).to.deep.include({ file: 'pipelines/plain.yaml', line: 7, code: 'component_failed' });
      expect(told?.msg).to.contain('no model server');
      expect(life.events.slice(0, 3)).to.deep.equal(['warm', 'close', 'run']);
    });
  });

  it('answers requests in flight by what they began with', async () => {
    await start({
      ...FILES,
      ...pluginFiles(
        'slow',
        'feature',
        `const gate = globalThis.slowGate; return { outputs: { value: 'number' }, async compute(input, output) { gate.entered(); await gate.opened; for (const row of input.rows) { output.number('value').values[row] = 5; output.number('value').status[row] = Status.present; } } };`,
      ),
      'package.json': '{ "type": "module" }',
      'pipelines/plain.yaml': pipeline('plain', '1'),
    });
    const gate = { entered: (): void => undefined, opened: Promise.resolve() };
    Object.assign(globalThis, { slowGate: gate });
    const slow = `pipeline: slow\nrank: item\nlimits: { time: 10s }\nrequest: { candidates: {} }\ncomponents:\n  - use: slow\n  - use: score\n    with: { value: 'slow:value' }\n`;
    await served.edit('pipelines/slow.yaml', slow);
    expect(await reload()).to.equal('succeeded');
    let open = (): void => undefined;
    gate.opened = new Promise<void>((resolve) => (open = resolve));
    const inside = new Promise<void>((resolve) => (gate.entered = resolve));
    const answer = score('/api/v1/slow');
    await inside;
    await served.edit('pipelines/slow.yaml', slow.replace("'slow:value'", "'slow:value + 1'"));
    await served.edit('schemas/entities/item.yaml', 'entity: item\nattributes: { price: int }\n');
    expect(await reload()).to.equal('succeeded');
    open();
    expect(await answer).to.equal(5);
    expect(await score('/api/v1/slow')).to.equal(6);
  });

  it('takes up the latest files when reloads are asked for at once', async () => {
    await start();
    const first = served.app.reload();
    await served.edit('models/ltr.json', model(4));
    const others = [served.app.reload(), served.app.reload(), served.app.reload()];
    await Promise.all([first, ...others]);
    expect(await score()).to.equal(40);
    expect(await metric('millrace_reloads_total{outcome="succeeded"}')).to.match(/ 2$/);
  });
});
