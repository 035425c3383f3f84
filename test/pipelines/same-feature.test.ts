import { expect } from 'chai';
import type { FeastStatus, StatusName } from '../../runtime/ground/api/status.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

/**
 * A feature has one value and one status for every reader: a plugin by column or by identifier, an event, an
 * explanation, get-online-features. Covers all types and statuses; keys of one, two, three and no entities, and of an
 * entity reached by hydration; both engines; reads from the store and from the resident tables.
 */

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T00:00:00Z');

/** For each type: the pushed value, and the default of a second feature of the same type. */
const TYPES = {
  int: { type: 'int', value: -3, default: '7' },
  float: { type: 'float', value: 0.1, default: '1.5' },
  bool: { type: 'bool', value: false, default: 'true' },
  text: { type: 'string', value: 'é "x"', default: '"none"' },
  time: { type: 'timestamp', value: 1_770_000_000_000, default: '1000' },
  vector: { type: 'vector(3)', value: [0.5, -1, 2], default: '[1, 2, 3]' },
  words: { type: 'list(string)', value: ['a', '', 'a,b'], default: '[x]' },
} as const;
const FEATURES = Object.keys(TYPES).flatMap((name) => [name, `${name}_or`]);

/** By prefix of the view names: their entity types, and how the pipeline binds them. */
const KEYS = {
  single: { of: ['product'], path: 'product' },
  reached: { of: ['brand'], path: 'product.brand' },
  pair: { of: ['user', 'brand'], path: 'user, product.brand' },
  triple: { of: ['user', 'brand', 'category'], path: 'user, product.brand, product.category' },
  site: { of: [], path: '' },
} as const;
const POLICIES = ['missing', 'stale', 'fail'] as const;

const VIEWS = Object.entries(KEYS).flatMap(([key, { of, path }]) =>
  POLICIES.map((policy) => ({ name: `${key}_${policy}`, key, of, path, policy })),
);
const NAMES = VIEWS.flatMap(({ name }) => FEATURES.map((feature) => `${name}:${feature}`));

/** The states of a product's rows; also the ids of the product, its brand and its category. */
const STATES = ['full', 'null', 'empty', 'none', 'old', 'lost'] as const;
type State = (typeof STATES)[number];

interface Seen {
  readonly value: unknown;
  readonly status: StatusName;
  readonly cause?: StatusName;
}
/** By feature, then candidate. */
type Sight = Map<string, Map<string, Seen>>;

const probed = globalThis as { probe?: (name: string, id: string, by: string, seen: Seen) => void };

const FILES = {
  'package.json': '{ "type": "module" }',
  ...pluginFiles(
    'probe',
    'feature',
    `const names = ${JSON.stringify(NAMES)};
     const inputs = names.map((name) => build.need(name));
     build.need('product.price');
     return { outputs: { value: 'number' }, compute(step) {
       names.forEach((name, i) => {
         const column = step.column(inputs[i]);
         for (const row of step.rows) {
           const id = step.candidate(row);
           const at = row * column.stride;
           globalThis.probe(name, id.id, 'getFeature', step.getFeature(id, name));
           const value = column.kind === 'texts' ? column.values.slice(column.offsets[at], column.offsets[at + 1])
             : column.kind === 'vector' ? [...column.values.subarray(at * column.size, (at + 1) * column.size)]
             : column.values[at];
           globalThis.probe(name, id.id, 'column', { value, byte: column.status[at] });
         }
       });
     } };`,
  ),
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), category: ref(category), price: float }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/entities/category.yaml': 'entity: category\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  ...Object.fromEntries(
    VIEWS.map(({ name, of, policy }) => [
      `schemas/features/${name}.yaml`,
      `view: ${name}\nof: [${of.join(', ')}]\nttl: 1d\nexpired: ${policy}\nfeatures:\n${Object.entries(TYPES)
        .map(
          ([feature, { type, default: value }]) =>
            `  ${feature}: ${type}\n  ${feature}_or: { type: ${type}, default: ${value} }\n`,
        )
        .join('')}`,
    ]),
  ),
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user) }
limits: { time: 30s }
features:
${VIEWS.map(({ name, path }) => (path === '' || path === 'product' ? `  - ${name}\n` : `  - ${name}: ${name}(${path})\n`)).join('')}components:
  - use: probe
page: { size: 50 }
`,
};

/** The expected status of a candidate's features without a default, which is also the cause of a default. */
function expected(key: string, policy: string, state: State): StatusName {
  const ofSite = key === 'site';
  if (state === 'lost' && key !== 'single' && !ofSite) return 'missing_entity';
  switch (ofSite ? (policy === 'missing' ? 'full' : 'old') : state) {
    case 'full':
      return 'present';
    case 'null':
      return 'null';
    case 'old':
      return policy === 'missing' ? 'expired' : policy === 'stale' ? 'stale' : 'failed';
    default:
      return 'missing_feature';
  }
}

/** The same after all rows have expired: a stale row still reports what it does not hold. */
function later(key: string, policy: string, state: State): StatusName {
  const first = expected(key, policy, state);
  const hasRow = key === 'site' || state === 'full' || state === 'null' || state === 'empty';
  if (!hasRow) return first;
  if (policy === 'stale') return first === 'present' ? 'stale' : first;
  return policy === 'missing' ? 'expired' : 'failed';
}

const ONLINE: Readonly<Partial<Record<StatusName, FeastStatus>>> = {
  present: 'PRESENT',
  null: 'NULL_VALUE',
  expired: 'OUTSIDE_MAX_AGE',
  stale: 'OUTSIDE_MAX_AGE',
  failed: 'INVALID',
};

/** True and 1 are the same value in a column. */
const plain = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : (value ?? null));

for (const engine of ['embedded', 'redis'] as const) {
  describeWith(
    engine === 'redis' ? 'redis-server' : [],
    `a feature read in several ways on the ${engine} store`,
    () => {
      let project: TestProject;
      let redis: PrivateRedis | undefined;
      let now = NOW;

      before(async function () {
        if (engine === 'redis') redis = await startRedisServer();
        project = await startProject(FILES, {
          now: () => now,
          ...(redis === undefined ? {} : { env: { MILLRACE_STORE: 'redis', REDIS_URL: redis.url } }),
        });
        await project.upload(
          'product',
          ...STATES.filter((state) => state !== 'lost').map((state) => ({
            product_id: state,
            brand: state,
            category: state,
          })),
        );
        for (const { name, key, of, policy } of VIEWS) {
          const rows =
            key === 'site' ? [policy === 'missing' ? 'full' : 'old'] : ['full', 'null', 'empty', 'old'];
          await project.push(
            name,
            ...rows.map((state) => ({
              ...Object.fromEntries(of.map((type) => [`${type}_id`, type === 'user' ? 'u' : state])),
              event_time: state === 'old' ? NOW - DAY - 1 : NOW - DAY + 1000,
              ...(state === 'empty'
                ? {}
                : Object.fromEntries(
                    Object.entries(TYPES).flatMap(([feature, { value }]) => [
                      [feature, state === 'null' ? null : value],
                      [`${feature}_or`, state === 'null' ? null : value],
                    ]),
                  )),
            })),
          );
        }
      });
      after(async () => {
        delete probed.probe;
        await project.close();
        await redis?.remove();
      });

      /** Ranks once; returns what each reader saw. */
      async function look(): Promise<Readonly<Record<'getFeature' | 'column' | 'event' | 'explain', Sight>>> {
        const sights = { getFeature: sight(), column: sight(), event: sight(), explain: sight() };
        probed.probe = (name, id, by, seen) =>
          put(by === 'column' ? sights.column : sights.getFeature, name, id, seen);
        const body = {
          user: { user_id: 'u' },
          include_events: true,
          candidates: STATES.map((product_id) => ({ product_id })),
        };
        const { events } = await project.run(body);
        const byKey = new Map<string, Seen>();
        for (const { event_type: type, event_data: data } of events as {
          event_type: string;
          event_data: Record<string, unknown>;
        }[]) {
          if (type !== 'FEATURE') continue;
          byKey.set(`${String(data.feature_name)} ${String(data.feature_identifier)}`, {
            value: data.feature_value,
            status: data.feature_status as StatusName,
            ...(data.feature_status_cause === undefined
              ? {}
              : { cause: data.feature_status_cause as StatusName }),
          });
        }
        probed.probe = () => undefined;
        const [pipeline] = project.app.pipelines;
        const told = await pipeline?.explain(body, { requestId: 'r' });
        for (const { name: view, key, of } of VIEWS) {
          for (const feature of FEATURES) {
            const name = `${view}:${feature}`;
            for (const id of STATES) {
              const lost = id === 'lost' && key !== 'single';
              const ids = of.map((type) => (type === 'user' ? 'u' : lost ? '' : id));
              const event = byKey.get(`${name} ${ids.join(':')}`);
              if (event !== undefined) put(sights.event, name, id, event);
              const candidate = told?.page.find((one) => one.candidate_id === id);
              const cell = key === 'site' ? told?.request[name] : candidate?.values[name];
              if (cell !== undefined) put(sights.explain, name, id, cell);
            }
          }
        }
        return sights;
      }

      async function checkAll(isLater = false): Promise<void> {
        const { getFeature, column, event, explain } = await look();
        const online = await readOnline();
        for (const { name: view, key, policy } of VIEWS) {
          for (const [type, { value, default: otherwise }] of Object.entries(TYPES)) {
            for (const id of STATES) {
              const cause = isLater ? later(key, policy, id) : expected(key, policy, id);
              const isKnown = cause === 'present' || cause === 'stale';
              const stands: unknown =
                type === 'text' ? 'none' : type === 'words' ? ['x'] : (JSON.parse(otherwise) as unknown);
              // A default never replaces a failed read.
              const defaulted: Seen =
                isKnown || cause === 'failed'
                  ? { value: isKnown ? value : undefined, status: cause }
                  : { value: stands, status: 'defaulted', cause };
              const cases: [string, Seen][] = [
                [`${view}:${type}`, { value: isKnown ? value : undefined, status: cause }],
                [`${view}:${type}_or`, defaulted],
              ];
              for (const [name, want] of cases) {
                const place = `${name} of ${id}`;
                const seen = getFeature.get(name)?.get(id);
                expect({ ...seen, value: plain(seen?.value) }, place).to.deep.equal({
                  ...want,
                  value: plain(want.value),
                });
                const inColumn = column.get(name)?.get(id);
                if (want.value !== undefined)
                  expect(plain(inColumn?.value), `${place} in its column`).to.deep.equal(plain(want.value));
                for (const [who, other] of [
                  ['event', event],
                  ['explanation', explain],
                ] as const) {
                  const there = other.get(name)?.get(id);
                  expect({ ...there, value: plain(there?.value) }, `${place} in the ${who}`).to.deep.equal({
                    ...want,
                    value: plain(want.value),
                  });
                }
                if (id === 'lost' && key !== 'single' && key !== 'site') continue; // there is no id to request
                const outside = online.get(name)?.get(id);
                expect(plain(outside?.value), `${place} online`).to.deep.equal(plain(want.value));
                expect(outside?.status, `${place} online`).to.equal(ONLINE[cause] ?? 'NOT_FOUND');
              }
            }
          }
        }
      }

      async function readOnline(): Promise<
        Map<string, Map<string, { value: unknown; status: FeastStatus }>>
      > {
        const seen = new Map<string, Map<string, { value: unknown; status: FeastStatus }>>();
        const read = await project.app.online.read({
          features: NAMES,
          entities: {
            product_id: STATES,
            brand_id: STATES,
            category_id: STATES,
            user_id: STATES.map(() => 'u'),
          },
          full_feature_names: true,
        });
        const answer = read.answer.toJSON();
        answer.metadata.feature_names.forEach((name, i) => {
          const result = answer.results[i];
          const rows = STATES.map(
            (id, row) =>
              [id, { value: result?.values[row], status: result?.statuses[row] ?? 'INVALID' }] as const,
          );
          seen.set(name.replace('__', ':'), new Map(rows));
        });
        return seen;
      }

      it('has one value and status when read from the store', () => checkAll());

      it('has the same value and status when read from the resident tables', async () => {
        const hits = (): number => project.app.resident.states().reduce((sum, one) => sum + one.hits, 0);
        const before = hits();
        await checkAll();
        expect(hits()).to.be.above(before);
      });

      it('expires in the resident tables, to the millisecond', async () => {
        now = NOW + 1000;
        await checkAll();
        now = NOW + 1001;
        await checkAll(true);
      });
    },
  );
}

const sight = (): Sight => new Map();

function put(sight: Sight, name: string, id: string, seen: Seen): void {
  const known = sight.get(name) ?? new Map<string, Seen>();
  known.set(id, seen);
  sight.set(name, known);
}
