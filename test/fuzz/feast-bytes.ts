import { expect } from 'chai';
import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import { isKnown, statusName } from '../../runtime/ground/api/status.js';
import type { ValueType } from '../../runtime/ground/api/types.js';
import { loadProject } from '../../runtime/project/config/project/load-project.js';
import type { FeastSource } from '../../runtime/project/config/model/feast.js';
import { FeastDecoder } from '../../runtime/state/feast/feast-decoder.js';
import type { FeastType } from '../../runtime/state/feast/feast-value.js';
import { importRegistry } from '../../runtime/state/feast/import-registry.js';
import { readRegistry } from '../../runtime/state/feast/registry.js';
import { columnKindOf } from '../../runtime/language/frame/cells.js';
import { looseColumn } from '../../runtime/language/frame/frame.js';
import { featureView } from '../support/entity-types.js';
import { feastTime, feastValue } from '../support/feast-writer.js';
import { writeProject } from '../support/project.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';
import { jsonEdits } from './mutate-json.js';

const NOW = Date.UTC(2026, 0, 31);

/** One value of each kind that a view reads. */
const VALUES: readonly (readonly [ValueType, FeastType, unknown])[] = [
  [{ kind: 'int' }, 'int64_val', 2 ** 40],
  [{ kind: 'int' }, 'int32_val', -5],
  [{ kind: 'float' }, 'double_val', 0.1],
  [{ kind: 'float' }, 'float_val', 0.5],
  [{ kind: 'bool' }, 'bool_val', true],
  [{ kind: 'timestamp' }, 'unix_timestamp_val', 1_769_000_000],
  [{ kind: 'string' }, 'string_val', 'größe'],
  [{ kind: 'list', of: { kind: 'string' } }, 'string_list_val', ['a', 'bc', '']],
  [{ kind: 'vector', size: 3 }, 'float_list_val', [0.5, -1, 2]],
  [{ kind: 'vector', size: 2 }, 'int64_list_val', [1, 2]],
];

const SOURCE: FeastSource = {
  project: 'shop',
  url: undefined,
  keyVersion: 3,
  view: 'Stats',
  joinKeys: [{ name: 'product_id', type: 'string' }],
  fields: new Map(),
};
const VIEW = featureView(
  'stats',
  ['product'],
  Object.fromEntries(VALUES.map(([type], i) => [`f${i}`, type])),
  { ttl: 86_400_000, source: SOURCE },
);
const FIELDS = [feastTime(NOW - 1000.25), ...VALUES.map(([, type, value]) => feastValue(type, value))];
const FEATURES = [...VIEW.features.values()];

/**
 * Damages hashes in Feast's Redis. The damaged field has a status or a value of its type; the other fields keep their
 * values.
 */
export const feastBytes: FuzzTarget = {
  name: 'hashes of Feast',
  quick: 400,
  open: () => {
    const cases = fc
      .tuple(fc.nat(FIELDS.length - 1), fc.nat(2), byteEdits)
      .map(([at, row, { what, apply }]) => ({ at, row, apply, what: `field ${at}, row ${row}: ${what}` }));
    return Promise.resolve({
      run: always(cases, ({ at, row: hurt, apply }) => {
        const decoder = new FeastDecoder(FEATURES.map((feature) => ({ view: VIEW, feature })));
        const columns = FEATURES.map(({ type }) => looseColumn(shapeOf(type), 3));
        for (let row = 0; row < 3; row++) {
          const fields = row === hurt ? FIELDS.map((field, i) => (i === at ? apply(field) : field)) : FIELDS;
          decoder.decode(fields, columns, row, NOW);
          decoder.eventTime(fields, 'stats');
        }
        for (const [i, column] of columns.entries())
          for (let row = 0; row < 3; row++) {
            const status = column.status[row] ?? -1;
            expect(statusName(status)).to.be.a('string');
            if (row !== hurt || (i + 1 !== at && at !== 0))
              expect(statusName(status), `f${i}`).to.equal('present');
            if (isKnown(status) && column.kind === 'number')
              expect(Number.isFinite(column.values[row]), `f${i}`).to.equal(true);
          }
      }),
    });
  },
};

function shapeOf(type: ValueType): Parameters<typeof looseColumn>[0] {
  const kind = columnKindOf(type, false);
  if (kind === undefined) throw new Error('expected a column for the feature');
  return kind === 'vector'
    ? { kind, scope: 'candidate', size: type.kind === 'vector' ? type.size : 0 }
    : { kind, scope: 'candidate' };
}

const view = (spec: object): object => ({ spec: { online: true, ttl: '86400s', ...spec }, meta: {} });
const REGISTRY = {
  project: 'shop',
  entities: [
    { spec: { name: 'driver_id', joinKey: 'driver_id', valueType: 'INT64' } },
    { spec: { name: 'user', joinKey: 'customer', valueType: 'STRING' } },
  ],
  featureViews: [
    view({
      name: 'driver_hourly_stats',
      entities: ['driver_id'],
      entityColumns: [{ name: 'driver_id', valueType: 'INT64' }],
      features: [
        { name: 'Conv-Rate', valueType: 'FLOAT' },
        { name: 'embedding', valueType: 'FLOAT_LIST', vectorLength: 3 },
        { name: 'tags', valueType: 'STRING_LIST' },
      ],
    }),
    view({
      name: 'UserDriver',
      entities: ['user', 'driver_id'],
      features: [{ name: 'n', valueType: 'INT32' }],
    }),
  ],
  onDemandFeatureViews: [{ spec: { name: 'computed' } }],
};

/** Damages dumps of Feast's registry. The files that are generated from a dump can be loaded. */
export const feastRegistries: FuzzTarget = {
  name: 'registries of Feast',
  quick: 40,
  open: () => {
    const cases = jsonEdits.map(({ what, apply }) => ({ what, text: apply(REGISTRY) }));
    return Promise.resolve({
      run: always(cases, async ({ text }) => {
        const registry = readRegistry(parsed(text));
        if (registry === undefined) return;
        const options = {
          project: registry.project ?? 'shop',
          keyVersion: 3 as const,
          urlVariable: undefined,
          exact: new Set<string>(),
          isStored: false,
        };
        const { views, entities, problems } = importRegistry(registry, options);
        for (const problem of problems) expect(problem).not.to.match(/undefined|\[object/);
        const files = {
          ...Object.fromEntries(
            [...views].map(([name, content]) => [`schemas/features/${name}.yaml`, content]),
          ),
          ...Object.fromEntries(
            [...entities].map(([name, content]) => [`schemas/entities/${name}.yaml`, content]),
          ),
          'pipelines/p.yaml': 'pipeline: p\nrank: product\ncomponents: []\n',
        };
        for (const path of Object.keys(files)) expect(path).to.match(/^[a-z_]+(\/[a-z0-9_]+)+\.yaml$/);
        const root = await writeProject(files);
        try {
          const { diagnostics } = await loadProject(root, {});
          const errors = diagnostics.filter(({ severity }) => severity === 'error');
          expect(errors.map(({ at, message }) => `${at.file.path}: ${message}`)).to.deep.equal([]);
        } finally {
          await rm(root, { recursive: true, force: true });
        }
      }),
    });
  },
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
