import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { millrace } from '../../../support/command-line.js';
import { withFiles } from '../../../support/temporary-files.js';

const view = (spec: object): object => ({ spec: { online: true, ttl: '86400s', ...spec }, meta: {} });

const REGISTRY = {
  project: 'shop',
  entities: [
    { spec: { name: 'driver_id', joinKey: 'driver_id', valueType: 'INT64' } },
    { spec: { name: 'user', joinKey: 'customer', valueType: 'STRING' } },
    { spec: { name: 'string', joinKey: 's' } },
    { spec: { name: '__dummy', joinKey: '__dummy_id', valueType: 'STRING' } },
  ],
  featureViews: [
    view({
      name: 'driver_hourly_stats',
      entities: ['driver_id'],
      entityColumns: [{ name: 'driver_id', valueType: 'INT64' }],
      features: [
        { name: 'Conv-Rate', valueType: 'FLOAT' },
        { name: 'trips', valueType: 'INT64' },
        { name: 'embedding', valueType: 'FLOAT_LIST' },
        { name: 'sized', valueType: 'FLOAT_LIST', vectorLength: 3 },
        { name: 'raw', valueType: 'BYTES' },
        { name: 'payload', valueType: 'JSON' },
        { name: 'manual', valueType: 30 },
        { name: 'future', valueType: 99 },
        { name: 'viewed', valueType: 'INT64_LIST' },
        { name: 'brand_id', valueType: 'INT64' },
        { name: 'segment', valueType: 'INT64' },
        { name: 'conv_rate', valueType: 'FLOAT' },
        { name: 'conv.rate', valueType: 'FLOAT' },
        { name: 'event_time', valueType: 'UNIX_TIMESTAMP' },
        { name: '__proto__', valueType: '__proto__' },
      ],
    }),
    view({
      name: 'UserDriver',
      entities: ['user', 'driver_id'],
      ttl: '90.5s',
      features: [{ name: 'n', valueType: 'INT32' }],
      streamSource: { name: 'Pairs', type: 'PUSH_SOURCE' },
    }),
    view({
      name: 'site',
      entities: ['__dummy'],
      ttl: '0s',
      features: [{ name: 'tags', valueType: 'STRING_LIST' }],
    }),
    view({ name: 'typed', entities: ['string'], features: [{ name: 'b', valueType: 'BOOL' }] }),
    view({
      name: 'offline',
      online: false,
      entities: ['user'],
      features: [{ name: 'b', valueType: 'BOOL' }],
    }),
    view({ name: '../../evil', entities: ['nobody'], features: [{ name: 'b', valueType: 'BOOL' }] }),
    view({
      name: 'user_stats',
      entities: ['user'],
      features: ['clicks_19588', 'clicks_39480'].map((name) => ({ name, valueType: 'INT64' })),
    }),
  ],
  featureServices: [
    {
      spec: {
        name: 'home',
        features: [
          {
            featureViewName: 'driver_hourly_stats',
            featureColumns: [{ name: 'trips' }, { name: 'Conv-Rate' }],
          },
          { featureViewName: 'typed', featureViewNameAlias: 'other', featureColumns: [{ name: 'b' }] },
        ],
      },
    },
  ],
  onDemandFeatureViews: [{ spec: { name: 'computed' } }],
};

const EXPECTED = `view: driver_hourly_stats
of:
  - driver
ttl: 1d
source:
  feast:
    project: shop
    url: \${FEAST_REDIS_URL}
    join_keys:
      driver_id:
        entity: driver
        type: int64
    fields:
      conv_rate_feature: Conv-Rate
      event_time_feature: event_time
feast:
  json:
    - viewed
    - brand_id
    - segment
  services:
    home:
      - trips
      - conv_rate_feature
features:
  conv_rate_feature: float
  trips: int
  embedding: list(float)
  sized: vector(3)
  raw: string
  payload: string
  manual: string
  viewed: list(string)
  brand_id: string
  segment: string
  conv_rate: float
  event_time_feature: timestamp
`;

const withRegistry = (use: (root: string, file: string) => Promise<void>): Promise<void> =>
  withFiles({ 'registry.json': JSON.stringify(REGISTRY) }, (root) => use(root, join(root, 'registry.json')));

describe('features import-feast', () => {
  it('writes views that load, and reports what it cannot map', () =>
    withRegistry(async (root, file) => {
      const argv = ['features', 'import-feast', file, '--project', root, '--url-from', 'FEAST_REDIS_URL'];
      argv.push('--exact', 'driver_hourly_stats:segment', 'driver_hourly_stats:viewed');
      const { code, stdout, stderr } = await millrace(argv);
      expect(code).to.equal(0);
      expect(stdout.trim().split('\n').sort()).to.deep.equal([
        'schemas/entities/driver.yaml  written',
        'schemas/entities/string_entity.yaml  written',
        'schemas/features/driver_hourly_stats.yaml  written',
        'schemas/features/site.yaml  written',
        'schemas/features/typed.yaml  written',
        'schemas/features/user_driver.yaml  written',
        'schemas/features/user_stats.yaml  written',
      ]);
      for (const part of [
        'computed: an on-demand view',
        'driver_hourly_stats:future: features of the type 99 are not supported; it is left out',
        'home: the feature service reads typed under another name or join key, which is not supported',
        "ttl of driver_hourly_stats, user_driver, typed, user_stats: Feast's own server returns rows of any age",
        'driver_hourly_stats:conv.rate: its name is not a valid feature name or is already used',
        'driver_hourly_stats:__proto__: features of the type __proto__ are not supported',
        'typed: s has no type in the registry',
        'offline: the view is not online',
        '../../evil: the view uses the entity nobody',
        'user_stats:clicks_39480 and user_stats:clicks_19588 share one field',
        'INT64 as text, with all digits, because they are ids or labels: driver_hourly_stats:brand_id, driver_hourly_stats:segment\n',
        'INT64 as int: driver_hourly_stats:trips, user_stats:clicks_19588, user_stats:clicks_39480; values beyond ±(2^53 - 1) are INVALID. If some are ids or labels, import again with --exact and their names, e.g. --exact driver_hourly_stats:trips\n',
        'numbers: driver_hourly_stats:Conv-Rate, driver_hourly_stats:embedding, driver_hourly_stats:sized, driver_hourly_stats:conv_rate; infinities are INVALID, and NaN is null or, in a list, INVALID\n',
        '--exact driver_hourly_stats:viewed: the registry has no such INT64 feature\n',
        '5 feature views with 17 features in the registry; 7 files written',
      ])
        expect(stderr).to.contain(part);
      expect(await readFile(join(root, 'schemas/features/driver_hourly_stats.yaml'), 'utf8')).to.equal(
        EXPECTED,
      );

      const { diagnostics, config } = await loadProject(root, { FEAST_REDIS_URL: 'redis://h:1' });
      const errors = diagnostics.filter(
        ({ severity, at }) => severity === 'error' && at.file.path.startsWith('schemas'),
      );
      expect(errors.map(({ code: one }) => one)).to.deep.equal(['feature_collision']);
      expect(config).to.equal(undefined);
    }));

  it('writes views that Millrace stores, with the names of Feast', () =>
    withRegistry(async (root, file) => {
      const argv = ['features', 'import-feast', file, '--project', root, '--stored'];
      expect((await millrace(argv)).code).to.equal(0);
      expect(await readFile(join(root, 'schemas/features/user_driver.yaml'), 'utf8')).to.equal(
        'view: user_driver\nof:\n  - user\n  - driver\nttl: 90500ms\nfeast:\n  view: UserDriver\n  join_keys:\n' +
          '    customer: user\n  push:\n    - Pairs\nfeatures:\n  n: int\n',
      );
      const { config } = await loadProject(root, {});
      expect(config?.views.get('driver_hourly_stats')?.feast?.fields.get('conv_rate_feature')).to.equal(
        'Conv-Rate',
      );
      const both = await millrace([...argv, '--url-from', 'X']);
      expect([both.code, both.stderr.split('\n')[0]]).to.deep.equal([
        2,
        'error: --stored and --url-from: a view that Millrace stores does not read the Redis of Feast',
      ]);
    }));

  it('prints the files and the problems as JSON', () =>
    withRegistry(async (root, file) => {
      const argv = ['features', 'import-feast', file, '--project', root, '--json'];
      const { stdout, stderr } = await millrace(argv);
      const told = JSON.parse(stdout) as Record<string, unknown>;
      expect(told).to.include({ views: 5, features: 17 });
      expect(told.files).to.deep.include({ path: 'schemas/features/site.yaml', outcome: 'written' });
      expect((told.problems as string[]).join()).to.contain('computed: an on-demand view');
      expect(stderr).to.equal('');
    }));

  it('keeps existing files unless --force is given', () =>
    withRegistry(async (root, file) => {
      const argv = ['features', 'import-feast', file, '--project', root];
      await millrace(argv);
      const again = await millrace(argv);
      expect(again.stdout).to.contain('schemas/features/site.yaml  unchanged');
      expect(again.stderr).to.contain('0 files written');
      const other = [...argv, '--feast-project', 'other', '--key-version', '2'];
      expect((await millrace(other)).stdout).to.contain('site.yaml  kept; --force replaces it');
      const forced = await millrace([...other, '--force']);
      expect(forced.stdout).to.contain('schemas/features/site.yaml  replaced');
      expect(forced.stdout).to.contain('schemas/entities/driver.yaml  unchanged');
      expect(await readFile(join(root, 'schemas/features/site.yaml'), 'utf8')).to.contain(
        'project: other\n    key_version: 2',
      );
    }));

  it('rejects a file that is not a registry dump', () =>
    withFiles({ 'a.json': '[]', 'b.json': '{', 'c.json': '{"entities":[]}' }, async (root) => {
      for (const [name, part] of [
        ['a.json', 'is not the dump of a Feast registry'],
        ['b.json', 'is not JSON'],
        ['c.json', 'does not name its project'],
        ['none.json', 'cannot be read (ENOENT)'],
      ] as const) {
        const { code, stderr } = await millrace([
          'features',
          'import-feast',
          join(root, name),
          '--project',
          root,
        ]);
        expect(code, name).to.equal(1);
        expect(stderr, name).to.contain(part);
      }
      const wrong = ['features', 'import-feast', join(root, 'a.json'), '--url-from', 'A-B'];
      expect((await millrace(wrong)).code).to.equal(2);
    }));
});
