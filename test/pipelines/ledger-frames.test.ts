import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { IdHasher } from '../../runtime/ground/core/id-hasher.js';
import { cellValue } from '../../runtime/ground/core/cell-value.js';
import { actsOf } from '../../runtime/project/foreign/listed-feedback.js';
import { ImportedRecords } from '../../runtime/learn/dataset/import/imported-records.js';
import { JudgedRecords } from '../../runtime/learn/dataset/judged-records.js';
import type { ForeignRanking } from '../../runtime/project/foreign/foreign-event.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { openTunable, type OpenTunable } from '../../runtime/serve/app/project/open-tunable.js';
import type { Ledger } from '../../runtime/state/ledger/ledger.js';
import { frameText } from '../support/frame-text.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { pluginFiles, startProject, writeProject, type TestProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

const GOLDEN = repositoryPath('test/pipelines/ledger-frames.txt');
const NOW = Date.parse('2026-03-01T12:00:00Z');
const SALT = 'a salt of sixteen characters';
const ENV = { MILLRACE_ID_SALT: SALT, MILLRACE_EXPLORE_SALT: SALT };
/** They depend on the clock of the process, or on chance. */
const VARYING = new Set(['run_id', 'ms', 'received', 'stored']);

const COMPONENTS = `  - { use: filter, with: { keep: product.price < 90 and product.price >= least * 0 } }
  - { use: notes }
  - { use: score, with: { value: product.text * weight } }
  - { use: explore, with: { method: swap, probability: 0.5, top: 6 } }
  - { use: boost, with: { where: product.price < 20, multiply: 2 } }
  - { use: pin, with: { positions: { 2: p1 } } }
  - { use: broken, when: "request.fail == true" }
`;

const files = (log: string, components = COMPONENTS): Record<string, string> => ({
  ...pluginFiles(
    'notes',
    'feature',
    `return { outputs: { n: 'number' }, compute(input, out) {
      input.emit({ data: { note: 'asked' } });
      input.emit({ row: 0, data: { note: 'seen' } });
      const column = out.number('n');
      for (const row of input.rows) { column.values[row] = row; column.status[row] = Status.present; }
    } };`,
  ),
  ...pluginFiles('broken', 'filter', "return { select() { throw new Error('oh') } }"),
  'millrace.yaml': 'events: { click: {}, order: { revenue: float, gift: bool, note: string } }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, title: string, tags: list(string) }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nhistory: true\nfeatures: { sales: int, seen: timestamp, tags: list(string) }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { text: float }, fail: optional(bool), query: optional(query), user: optional(user) }
params: { weight: 1, least: 0 }
features: [stats]
components:
${components}page: { size: 3 }
${log}`,
});

const PRODUCTS = Array.from({ length: 10 }, (_, n) => ({
  product_id: `p${n}`,
  title: `shoe ${n}`,
  price: 10 * n,
  tags: n % 2 === 0 ? ['a', 'b'] : [],
}));

const body = (more: object = {}): object => ({
  request_id: 'r1',
  query: { query: 'shoe' },
  user: { user_id: 'u1' },
  candidates: PRODUCTS.map(({ product_id }, n) => ({ product_id, text: n / 10 })),
  ...more,
});

const HASHED = 'log: { unit: user, candidates: page, sample: 3, features: all, hash: [user, product] }\n';
const ALL = 'log: { unit: user, candidates: all, features: all }\n';

/** One request for a page, one without a user and past its candidates, and one that fails. */
async function serve(project: TestProject): Promise<void> {
  await project.upload('product', ...PRODUCTS.slice(0, 9));
  await project.run(body());
  await project.run(
    body({ request_id: 'r2', user: null, user_page: 1, candidates: [{ product_id: 'p3', text: 1 }] }),
  );
  await project.run(body({ request_id: 'r3', fail: true })).catch(() => undefined);
}

const FOREIGN: ForeignRanking = {
  is: 'ranking',
  request: 'f1',
  time: NOW - 1000,
  owners: { user: 'u1' },
  sent: {},
  candidates: [
    {
      id: 'p1',
      position: 2,
      score: 0.25,
      propensity: 0.5,
      carried: { text: 0.1 },
      acts: [{ event: 'click', time: NOW, quantity: 1 }],
    },
    { id: 'p2', position: undefined, carried: {}, acts: [] },
  ],
};

async function withTunable(log: string, use: (opened: OpenTunable) => Promise<void>): Promise<void> {
  const root = await writeProject(files(log));
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded', ...ENV },
    { project: root },
  );
  const opened = await openTunable(settings, 'search', { clock: () => NOW });
  try {
    await opened.entities.upload({ entity_type: 'product', entities: PRODUCTS });
    await use(opened);
  } finally {
    await opened.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** By name: what leaves records in a ledger. */
const WRITERS: Readonly<Record<string, (ledger: Ledger) => Promise<void>>> = {
  'a ranking with changes, draws and a custom event': async (ledger) => {
    const project = await startProject(files(ALL), { now: () => NOW, ledger, env: ENV, experiments: true });
    await serve(project);
    await project.close();
  },
  'a ranking with hashed ids and a sample': async (ledger) => {
    const project = await startProject(files(HASHED), { now: () => NOW, ledger, env: ENV });
    await serve(project);
    await project.close();
  },
  'a ranking with experiments and teams': async (ledger) => {
    const components = COMPONENTS.replace(/.*use: explore.*\n/, '');
    const experiments = {
      'experiments/popularity.yaml': `experiment: popularity
pipeline: search
mode: interleave
unit: user
layer: page
arms: { control: {}, other: { params: { weight: -1 } } }
`,
      'experiments/colour.yaml': `experiment: colour
pipeline: search
unit: user
layer: other
arms: { control: {}, same: { params: { least: 1 } } }
`,
    };
    const project = await startProject(
      { ...files(ALL, components), ...experiments },
      { now: () => NOW, ledger, env: ENV, experiments: true },
    );
    await serve(project);
    await project.close();
  },
  'feedback and a history': async (ledger) => {
    const project = await startProject(files(HASHED), { now: () => NOW, ledger, env: ENV });
    await project.upload('product', ...PRODUCTS);
    const time = new Date(NOW - 2000).toISOString();
    await project.app.feedback.record({
      request_id: 'r1',
      user: { user_id: 'u1' },
      events: [
        { type: 'click', product: { product_id: 'p1' }, time, position: 3, event_id: 'e1' },
        {
          type: 'order',
          product: { product_id: 'p2' },
          time,
          quantity: 2,
          revenue: 9.5,
          gift: true,
          note: 'blue',
        },
      ],
    });
    await project.app.feedback.recording.idle(10_000);
    await project.push('stats', { product_id: 'p1', sales: 3, seen: time, tags: ['x'], event_time: time });
    await project.close();
  },
  'an import': (ledger) =>
    withTunable(ALL, async ({ plan, services, version }) => {
      const records = new ImportedRecords({
        plan,
        services,
        ledger,
        hasher: new IdHasher(SALT, new Set(['user'])),
        projectVersion: version,
        convert: cellValue,
        known: { types: new Set(), views: new Set() },
      });
      const undrawn = FOREIGN.candidates.map(({ id, position, carried, acts }) => ({
        id,
        position,
        carried,
        acts,
      }));
      for (const ranking of [
        FOREIGN,
        { ...FOREIGN, owners: {}, candidates: undrawn },
        { ...FOREIGN, pooled: true },
      ]) {
        expect(await records.addRanking(ranking)).to.equal(undefined);
        for (const act of actsOf(ranking)) records.addFeedback(act);
      }
      records.close();
    }),
  'judged queries': (ledger) =>
    withTunable(ALL, async ({ plan, services, version }) => {
      const records = new JudgedRecords(plan, services, ledger, version);
      await records.add('q1', { body: body() as never, grades: new Map([['p1', 2]]) });
    }),
};

describe('frames of the ledger', () => {
  it('have the bytes of the golden file, whoever writes them', async function () {
    this.timeout(60_000);
    const sections: string[] = [];
    for (const [name, write] of Object.entries(WRITERS)) {
      const { ledger, records } = memoryLedger();
      await write(ledger);
      const frames = (await records()).map((record) => frameText(record, VARYING));
      expect(frames, name).not.to.have.lengthOf(0);
      sections.push(`# ${name}\n\n${frames.join('\n\n')}\n`);
    }
    const text = sections.join('\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
    expect(text).to.equal(readFileSync(GOLDEN, 'utf8'));
  });
});
