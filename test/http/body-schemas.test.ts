import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { request } from 'undici';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { timestampOf } from '../../runtime/ground/core/timestamp.js';
import { listen, type HttpServer } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { fitting, type Overrides, type Schema } from '../support/schema-values.js';
import { withFiles } from '../support/temporary-files.js';
import { call } from './harness.js';
import { draws } from '../support/draws.js';

/** Each kind of attribute and feature, a composite view, and a request with each kind of field. */
const PROJECT = {
  'schemas/counters/clicked.yaml':
    'counter: clicked\nof: [product]\nfeatures: { n: { event: click, window: 7d } }\n',
  'millrace.yaml':
    'project: shop\nevents: { click: {}, order: { revenue: float, gift: bool, note: string }, refund: { revenue: float, items: int } }\n',
  'schemas/entities/product.yaml': `
entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  on_sale: bool
  added: timestamp
  brand: ref(brand)
  related: list(ref(product))
  tags: list(string)
  shape: vector(2)
  maker: { record: { name: string, brand: ref(brand), since: timestamp } }
  variants: { list: { sku: string, price: float, seller: ref(brand) } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, founded: timestamp }\n',
  'schemas/features/product_stats.yaml': `
view: product_stats
of: [product]
feast: { view: Stats, join_keys: { PRODUCT: product }, fields: { ctr: CTR }, push: [Stats-Push] }
features: { ctr: float, orders: int, seen: timestamp, label: string, hot: bool, labels: list(string), place: vector(2) }
`,
  'schemas/features/product_brand.yaml':
    'view: product_brand\nof: [product, brand]\nfeatures: { rate: float }\n',
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
  'experiments/popularity.yaml':
    'experiment: popularity\npipeline: search\nunit: user\narms: { control: { weight: 1 }, dear: { weight: 1, params: { w: 2 } } }\n',
  'pipelines/search.yaml': `
pipeline: search
rank: product
params: { w: 1 }
request:
  candidates: { upstream: float, shown: timestamp }
  user: optional(user)
  device: optional(string)
  depth: int
  since: optional(timestamp)
  shop: optional(ref(brand))
components:
  - use: score
    with: { value: w * product.price }
`,
  'pipelines/quality.yaml': `
pipeline: quality
score: product
components:
  - use: score
    with: { value: product.price }
`,
};

const NOW = Date.parse('2026-01-31T12:00:00Z');

/** Event times that are neither too old nor in the future, which no schema can say. */
const PAST = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: NOW }) },
  {
    weight: 20,
    arbitrary: fc.constantFrom('2026-01-31', '2025-12-31 23:59', '2026-01-31t09:30:00,5+02:00'),
  },
  { weight: 1, arbitrary: fc.constantFrom('20000101', 'yesterday', '') },
);

/** In the place of a value of a body. None of them is a time in the future. */
const NOISE: Arbitrary<unknown> = fc.constantFrom<unknown[]>(
  ...[null, true, 0, 1, 1.5, -1, 70_000, 2 ** 53, 4e38, 1e300],
  ...[
    '',
    'x',
    'x'.repeat(1025),
    '\ud800',
    '2026-01-31',
    '2026-13-01',
    '2026-01-31T24:00Z',
    '2026-01-31T09:30z',
  ],
  ...[[], [1], ['x'], [null], [{}], {}, { a: 1 }],
);
const SCALARS = NOISE.filter((value) => typeof value !== 'object' || value === null);

interface Case {
  readonly path: string;
  /** Members whose rules a schema cannot state. */
  readonly overrides?: Overrides;
  readonly noise?: Arbitrary<unknown>;
  /** Members are removed from objects, and added to them. */
  readonly changesMembers?: false;
}

const paging: Overrides = { candidate_page: undefined, candidate_page_size: undefined };
/** A text is a cursor only if the store gave it. */
const SCAN = {
  overrides: { cursor: fc.constant(null) },
  noise: NOISE.filter((value) => typeof value !== 'string'),
};
// Each view that is named needs the ids of its entities, and all lists have one length.
const ONLINE = {
  overrides: {
    entities: fc
      .array(fc.tuple(fc.constantFrom('a', 7, ''), fc.constantFrom('b', -3)), {
        minLength: 1,
        maxLength: 3,
      })
      .map((rows) => ({ product_id: rows.map(([id]) => id), brand_id: rows.map(([, id]) => id) })),
  },
  noise: SCALARS,
  changesMembers: false,
} as const;
/** The columns of all views, with as many values each. */
const DF = fc
  .array(
    fc.record({
      PRODUCT: fc.constantFrom('a', 7),
      product_id: fc.constantFrom('a', 7),
      brand_id: fc.constantFrom('b', -3),
      CTR: fc.constantFrom(0.5, null),
      orders: fc.constantFrom(3, null),
      seen: fc.constantFrom(1_769_853_600, '2026-01-31T09:30:00', null),
      label: fc.constantFrom('x', null),
      hot: fc.constantFrom(true, null),
      labels: fc.constantFrom(['x'], [], null),
      place: fc.constantFrom([1, 2], null),
      rate: fc.constantFrom(0.25, null),
      event_timestamp: fc.constantFrom('2026-01-31T09:30:00.5', '2026-01-30'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((rows) =>
    Object.fromEntries(
      Object.keys(rows[0] ?? {}).map((name) => [name, rows.map((row) => row[name as keyof typeof row])]),
    ),
  );
/** A sheet of campaigns. */
const SHEET = Buffer.from(
  'campaign;from;until;category;action;target;value\r\nfriday;27.11.2026;30.11.2026;tv;pin;p42;1\r\n',
).toString('base64');

const CASES: readonly Case[] = [
  { path: '/api/v1/search', overrides: paging },
  { path: '/api/v1/search/explain', overrides: paging },
  { path: '/api/v1/quality' },
  {
    path: '/api/v1/entities/upload',
    // The field that another `entity_key` names holds the id.
    overrides: { entity_key: fc.constant(null) },
    noise: NOISE.filter((value) => typeof value !== 'string'),
  },
  {
    path: '/api/v1/entities/update',
    overrides: { entity_key: fc.constant(null) },
    noise: NOISE.filter((value) => typeof value !== 'string'),
  },
  { path: '/api/v1/entities/get' },
  { path: '/api/v1/entities/delete' },
  { path: '/api/entity/v1/entities/delete' },
  { path: '/api/v1/entities/scan', ...SCAN },
  { path: '/api/v1/features/scan', ...SCAN },
  // With `increment`, all features of a row are numbers.
  { path: '/api/v1/features/push', overrides: { event_time: PAST, increment: undefined } },
  { path: '/api/v1/features/delete', overrides: { event_time: PAST } },
  { path: '/feature/get-online-features', ...ONLINE },
  { path: '/get-online-features', ...ONLINE },
  { path: '/write-to-online-store', overrides: { df: DF }, noise: SCALARS, changesMembers: false },
  { path: '/push', overrides: { df: DF }, noise: SCALARS, changesMembers: false },
  { path: '/api/v1/feedback', overrides: { time: PAST } },
  { path: '/api/v1/privacy/forget', ...SCAN },
  // Whether rules fit together is more than a schema can say.
  {
    path: '/api/v1/curation/put',
    overrides: { rules: fc.constant([]) },
    noise: SCALARS,
    changesMembers: false,
  },
  { path: '/api/v1/curation/get' },
  {
    path: '/api/v1/curation/draft/put',
    overrides: { campaigns: fc.constant({}), draft: fc.constantFrom('one', 'two'), version: undefined },
    noise: SCALARS,
    changesMembers: false,
  },
  { path: '/api/v1/curation/draft/get', overrides: { draft: undefined } },
  { path: '/api/v1/curation/draft/discard' },
  { path: '/api/v1/curation/publish', overrides: { version: undefined } },
  { path: '/api/v1/curation/history' },
  { path: '/api/v1/curation/undo' },
  {
    path: '/api/v1/curation/draft/upload',
    overrides: { file: fc.constant(SHEET), draft: fc.constantFrom('one', 'two'), version: undefined },
    noise: SCALARS,
    changesMembers: false,
  },
  { path: '/api/v1/curation/export', overrides: { draft: undefined } },
  // Times must be in the future, and what a request may have depends on the pipeline.
  {
    path: '/api/v1/previews/share',
    overrides: { request: fc.constant({}), at: undefined, expires: undefined },
    noise: SCALARS,
  },
  { path: '/api/v1/previews/links' },
  { path: '/api/v1/previews/revoke' },
  { path: '/api/v1/previews/open' },
  { path: '/api/v1/counters/rebuild' },
  { path: '/api/v1/experiments/stop' },
  { path: '/api/v1/experiments/resume' },
  { path: '/api/v1/reload' },
  { path: '/api/v1/releases/rollback' },
  { path: '/api/v1/releases/end' },
  { path: '/api/v1/session/open' },
  { path: '/api/v1/session/end' },
  // A time must be in the future, and not too far.
  { path: '/api/v1/invitations/create', overrides: { expires: undefined } },
  { path: '/api/v1/invitations/revoke' },
];

describe('the schema of a body says what the service accepts:', () => {
  let app: App;
  let server: HttpServer;
  let url: string;
  let document: Schema;
  let ajv: Ajv2020;
  let close: () => void;
  let closed: Promise<void>;
  before(async () => {
    await new Promise<void>((resolve, reject) => {
      closed = withFiles(PROJECT, async (root) => {
        // A busy machine refuses nothing.
        const patient = { MILLRACE_QUEUE_MS: '10000', MILLRACE_OLDEST_EVENT_TIME: '0001-01-01' };
        const env = { LOG_LEVEL: 'silent', ...patient };
        app = await createApp(loadSettings(env, { project: root }), {
          store: new MemoryStore(),
          clock: () => NOW,
          records: true,
        });
        server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
        const done = new Promise<void>((stop) => (close = stop));
        resolve();
        await done;
        await server.close(0);
        await app.close();
      });
      closed.catch(reject);
    });
    url = `http://127.0.0.1:${server.port}`;
    document = (await call(`${url}/openapi.json`)).json as Schema;
    ajv = new Ajv2020({ strict: false, ownProperties: true });
    ajv.addSchema(document, 'api');
  });
  after(async () => {
    close();
    await closed;
  });

  it('no schema has a shape that generators of clients write code for that does not compile', () => {
    const at = (schema: Schema): Schema =>
      typeof schema.$ref === 'string'
        ? at(
            schema.$ref
              .split('/')
              .slice(1)
              .reduce<Schema>((part, name) => part[name] as Schema, document),
          )
        : schema;
    const has = (schema: Schema, type: string): boolean => [at(schema).type].flat().includes(type);
    const found: string[] = [];
    const visit = (schema: Schema, place: string): void => {
      const { anyOf, oneOf, uniqueItems, items, type } = schema;
      const choices = [anyOf, oneOf].flat().filter((one) => one !== undefined) as Schema[];
      const values = choices.filter((one) => at(one).type !== 'null');
      if (values.length > 1 && values.some((one) => has(one, 'array')))
        found.push(`a list or another value: ${place}`);
      if (uniqueItems === true && (items as Schema).enum !== undefined)
        found.push(`a set of unnamed values: ${place}`);
      if (type === 'null' && !/\/(?:anyOf|oneOf|not)\b[^/]*(?:\/\d+)?$/.test(place))
        found.push(`only null: ${place}`);
      for (const [name, inner] of Object.entries(schema))
        if (typeof inner === 'object' && inner !== null) visit(inner as Schema, `${place}/${name}`);
    };
    visit({ paths: document.paths, schemas: (document.components as Schema).schemas }, '');
    expect(found).to.deep.equal([]);
    const wrong = {
      a: { anyOf: [{ type: 'array' }, { type: 'object' }] },
      b: { uniqueItems: true, items: { enum: ['x'] } },
    };
    visit({ ...wrong, c: { type: 'null' } }, '');
    expect(found).to.have.length(3);
  });

  it('every route with a body is in this suite', () => {
    // This service runs no comparisons: it refuses all of them. Those of judging need a round, and have a test of their own.
    const isLeftOut = (path: string): boolean =>
      path === '/api/v1/quality/explain' || /^\/api\/v1\/(?:comparisons|rankings|judging)\//.test(path);
    const posts = Object.entries(document.paths as Record<string, Schema>).flatMap(([path, methods]) =>
      methods.post === undefined || isLeftOut(path) ? [] : [path],
    );
    expect(CASES.map(({ path }) => path)).to.have.members(posts);
  });

  for (const { path, overrides = {}, noise = NOISE, changesMembers = true } of CASES) {
    it(path, async () => {
      const place = `#/paths/${path.replaceAll('/', '~1')}/post/requestBody/content/application~1json/schema`;
      const schema: Schema = { $ref: place };
      const validate: ValidateFunction = ajv.compile({ $ref: `api${place}` });
      const change = fc.record({
        at: fc.nat(),
        how: fc.constantFrom(...(changesMembers ? ['replace', 'remove', 'add'] : ['replace'])),
        value: noise,
      });
      const body = fc
        .tuple(fitting(schema, document, overrides), fc.option(change, { freq: 2 }))
        .map(([value, changed]) => repair(changed === null ? value : mutate(value, changed)));
      const seen = { accepted: 0, refused: 0 };
      const property = fc.asyncProperty(body, async (sent) => {
        const text = JSON.stringify(sent);
        const { statusCode: status, body: answer } = await request(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: text,
        });
        const answered = await answer.text();
        const fits = validate(JSON.parse(text));
        const told = `${text} ${answered} ${JSON.stringify(validate.errors)}`;
        expect(status, told).to.be.oneOf([200, 403, 404, 409, 422]);
        // A schema cannot say whether the text of `where` is an expression. It is checked before the rest.
        if (answered.includes('"invalid_expression"')) return;
        // Nor what a file has.
        if (answered.includes('"csv_syntax"')) return;
        // Nor which request a pipeline takes, where a random draft exists.
        if (answered.includes('"pointer":"/request/')) return;
        // Nor which rules are stored.
        if (answered.includes('"curation_changed"')) return;
        // Nor which invitations, drafts, links, publishes and releases there are.
        const isAccepted =
          status === 200 ||
          /"(?:invitation_invalid|preview_link_invalid|unknown_(?:invitation|draft|publish|release|preview_link))"/.test(
            answered,
          );
        expect(fits, told).to.equal(isAccepted);
        seen[fits ? 'accepted' : 'refused']++;
      });
      // Few bodies of some routes are accepted, or refused: they are drawn until there are enough.
      for (let times = 0; times < 4 && Math.min(seen.accepted, seen.refused) <= 20; times++)
        await fc.assert(property, { numRuns: draws(150) });
      expect(seen.accepted, 'accepted').to.be.above(20);
      expect(seen.refused, 'refused').to.be.above(20);
    });
  }
});

/** A copy with one value replaced, or one member removed or added. */
function mutate(
  body: unknown,
  { at, how, value }: { readonly at: number; readonly how: string; readonly value: unknown },
): unknown {
  const root: Record<string, unknown> = { body: structuredClone(body) };
  const places: [Record<string, unknown>, string][] = [];
  const walk = (holder: Record<string, unknown>): void => {
    for (const [name, inner] of Object.entries(holder)) {
      places.push([holder, name]);
      if (typeof inner === 'object' && inner !== null) walk(inner as Record<string, unknown>);
    }
  };
  walk(root);
  const [holder, name] = places[at % places.length] ?? [root, 'body'];
  if (how === 'replace' || Array.isArray(holder) || holder === root) holder[name] = value;
  else if (how === 'remove') Reflect.deleteProperty(holder, name);
  else holder['surprise'] = value;
  return root.body;
}

/** Without what no schema can state: two spellings of one reference that differ, and days that no calendar has. */
function repair(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(repair);
  const members = Object.entries(value).filter(([name]) => {
    const other = name.endsWith('_id') ? name.slice(0, -'_id'.length) : undefined;
    return other === undefined || !Object.hasOwn(value, other);
  });
  return Object.fromEntries(
    members.map(([name, inner]) => [
      name,
      typeof inner === 'string' &&
      /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/.test(inner) &&
      Number.isNaN(timestampOf(inner))
        ? '2026-01-31'
        : repair(inner),
    ]),
  );
}
