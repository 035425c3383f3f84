import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post } from './harness.js';
import { serveProject } from './serve-project.js';

const PROJECT = {
  'schemas/entities/driver.yaml': 'entity: driver\n',
  'schemas/features/driver_stats.yaml': `
view: driver_stats
of: [driver]
ttl: 7d
feast:
  view: DriverStats
  join_keys: { DRIVER: driver }
  fields: { trips: Trips }
  json: [prices, big]
  push: [Driver-Push]
  services: { Driver_Activity: [trips] }
features: { trips: int, seen: timestamp, prices: list(string), big: string }
`,
  'schemas/features/other.yaml':
    'view: other\nof: [driver]\nfeast: { push: [Driver-Push], services: { Driver_Activity: [rate] } }\nfeatures: { rate: { type: float, default: 0 } }\n',
};
const TIME = '2026-01-31T09:30:00.123456';
const DF = {
  DRIVER: [1001, 1002],
  Trips: [7, null],
  seen: [1_769_853_600, '2026-01-31T10:00:00Z'],
  prices: [[1, 2.5], []],
  big: [{ a: [1] }, '9007199254740993'],
  event_timestamp: [TIME, TIME],
  created: [null, null],
};

const serve = (use: (url: string) => Promise<void>): Promise<void> =>
  withFiles(PROJECT, (root) => serveProject(root, use));

const write = (url: string, df: object = DF): ReturnType<typeof post> =>
  post(`${url}/write-to-online-store`, { feature_view_name: 'DriverStats', df, allow_registry_cache: false });

interface Answer {
  readonly metadata: { readonly feature_names: readonly string[] };
  readonly results: readonly {
    readonly values: readonly unknown[];
    readonly statuses: readonly string[];
    readonly event_timestamps: readonly string[];
  }[];
}

const read = async (url: string, body: object): Promise<Answer> =>
  (await post(`${url}/get-online-features`, body)).json as unknown as Answer;

/** The exception that Feast's client makes of an error. */
async function failure(url: string, path: string, body: unknown): Promise<[number, string, string]> {
  const { status, text } = await post(url + path, body);
  const detail = JSON.parse(JSON.parse(text) as string) as { module: string; class: string; message: string };
  expect(detail.module).to.equal('feast.errors');
  return [status, detail.class, detail.message];
}

describe("Feast's endpoints", () => {
  it('answer in the names, units and values of Feast', () =>
    serve(async (url) => {
      const written = await write(url);
      expect([written.status, written.text]).to.deep.equal([200, 'null']);
      const features = ['Trips', 'seen', 'prices', 'big'].map((name) => `DriverStats:${name}`);
      const { metadata, results } = await read(url, { features, entities: { DRIVER: [1001, 1002, 1003] } });
      expect(metadata.feature_names).to.deep.equal(['DRIVER', 'Trips', 'seen', 'prices', 'big']);
      expect(results.map(({ values }) => values)).to.deep.equal([
        [1001, 1002, 1003],
        [7, null, null],
        [1_769_853_600, 1_769_853_600, null],
        [[1, 2.5], [], null],
        [{ a: [1] }, 9007199254740992, null],
      ]);
      expect(results[1]?.statuses).to.deep.equal(['PRESENT', 'NULL_VALUE', 'NOT_FOUND']);
      expect(results[1]?.event_timestamps[0]).to.equal('2026-01-31T09:30:00.123Z');
      const raw = await post(`${url}/get-online-features`, {
        features: ['DriverStats:big'],
        entities: { DRIVER: [1002] },
      });
      expect(raw.text, 'all digits of a 64-bit integer').to.contain('[9007199254740993]');
    }));

  it('answer in the names of Millrace, with its values at its own path', () =>
    serve(async (url) => {
      await write(url);
      const body = {
        features: ['driver_stats:seen', 'driver_stats:prices'],
        entities: { driver_id: [1001] },
      };
      const own = (await post(`${url}/feature/get-online-features`, body)).json as unknown as Answer;
      expect(own.results.map(({ values }) => values)).to.deep.equal([
        [1001],
        [1_769_853_600_000],
        [['1', '2.5']],
      ]);
      const full = { ...body, full_feature_names: true };
      expect((await read(url, full)).metadata.feature_names).to.deep.equal([
        'driver_id',
        'driver_stats__seen',
        'driver_stats__prices',
      ]);
    }));

  it('read a feature service of several views, with defaults as in a ranking', () =>
    serve(async (url) => {
      await write(url);
      const body = { feature_service: 'Driver_Activity', entities: { DRIVER: [1001], driver_id: [1001] } };
      const { metadata, results } = await read(url, { ...body, full_feature_names: true });
      expect(metadata.feature_names.slice(2)).to.have.members(['DriverStats__Trips', 'other__rate']);
      const rate = results[metadata.feature_names.indexOf('other__rate')];
      expect([rate?.values, rate?.statuses]).to.deep.equal([[0], ['NOT_FOUND']]);
    }));

  it('refuse an integer that a JSON number would round, wherever a text holds JSON', () =>
    serve(async (url) => {
      // eslint-disable-next-line no-loss-of-precision
      const rounded = 9007199254740993;
      const expected = 'expected a text, found';
      for (const [column, values, found] of [
        ['big', [rounded, null], `/df/big/0: big: ${expected} the number 9007199254740992`],
        ['big', [{ a: [[-rounded]] }, null], `/df/big/0: big: ${expected} an object`],
        ['prices', [[1], [2, rounded]], `/df/prices/1/1: prices: ${expected} the number 9007199254740992`],
      ] as const) {
        const body = { feature_view_name: 'DriverStats', df: { ...DF, [column]: values } };
        const [status, , message] = await failure(url, '/write-to-online-store', body);
        expect([status, message]).to.deep.equal([422, `The push at ${found}`]);
      }
      const doubles = await write(url, { ...DF, prices: [[1e300, -1e20], [2 ** 53 - 1]] });
      expect(doubles.status, doubles.text).to.equal(200);
    }));

  it('push to all views of a push source, or to none', () =>
    serve(async (url) => {
      const push = (df: object): ReturnType<typeof post> =>
        post(`${url}/push`, { push_source_name: 'Driver-Push', df, to: 'online' });
      const half = await failure(url, '/push', {
        push_source_name: 'Driver-Push',
        df: { ...DF, driver_id: [1, 2] },
      });
      expect(half).to.deep.equal([
        422,
        'FeastError',
        'The body at /df: df has no column rate, a feature of view other',
      ]);
      const nothing = await read(url, { features: ['DriverStats:Trips'], entities: { DRIVER: [1001] } });
      expect(nothing.results[1]?.statuses).to.deep.equal(['NOT_FOUND']);
      const pushed = await push({ ...DF, driver_id: [1001, 1002], rate: [0.5, 1] });
      expect([pushed.status, pushed.text]).to.deep.equal([200, '']);
      const body = {
        features: ['DriverStats:Trips', 'other:rate'],
        entities: { DRIVER: [1001], driver_id: [1001] },
      };
      expect((await read(url, body)).results.slice(2).map(({ values }) => values)).to.deep.equal([
        [7],
        [0.5],
      ]);
    }));

  it('answer more than 1,000 rows', () =>
    serve(async (url) => {
      const ids = Array.from({ length: 2500 }, (_, i) => i);
      const df = {
        DRIVER: ids,
        Trips: ids,
        seen: ids.map(() => null),
        prices: ids.map(() => null),
        big: ids.map(() => null),
        event_timestamp: ids.map(() => TIME),
      };
      expect((await write(url, df)).status).to.equal(200);
      const asked = [...ids, 9999, 7];
      const { results } = await read(url, { features: ['DriverStats:Trips'], entities: { DRIVER: asked } });
      expect(results[1]?.values).to.deep.equal([...ids, null, 7]);
      expect(results[1]?.statuses[2500]).to.equal('NOT_FOUND');
      expect(results[1]?.event_timestamps[2499]).to.equal('2026-01-31T09:30:00.123Z');
    }));

  it("refuse what is wrong as an exception of Feast's client", () =>
    serve(async (url) => {
      const entities = { DRIVER: [1] };
      const get = (body: object): ReturnType<typeof failure> => failure(url, '/get-online-features', body);
      const put = (body: object): ReturnType<typeof failure> => failure(url, '/write-to-online-store', body);
      const view = { feature_view_name: 'DriverStats' };
      const found = [
        await get({ features: ['DriverStat:Trips'], entities }),
        await get({ feature_service: 'driver_activity', entities }),
        await get({ features: ['DriverStats:Tripe'], entities }),
        await get({ features: ['DriverStats:Trips'], entities: { driver: [1] } }),
        await get({ entities }),
        await failure(url, '/push', { push_source_name: 'driver-push', df: {} }),
        await failure(url, '/push', { push_source_name: 'Driver-Push', df: DF, to: 'offline' }),
        await put({ feature_view_name: 7, df: DF }),
        await put({ ...view, df: [] }),
        await put({ ...view, df: { ...DF, Trips: [1] } }),
        await put({ ...view, df: { ...DF, Trips: ['x', 1.5] } }),
        await put({ ...view, df: { ...DF, DRIVER: [1, null] } }),
        await put({ ...view, df: { ...DF, event_timestamp: [1_769_853_600, TIME] } }),
        await put({ ...view, df: { ...DF, event_timestamp: ['yesterday', TIME] } }),
      ];
      const told = `${found.map(([status, name, message]) => `${status} ${name}\n  ${message}`).join('\n')}\n`;
      const golden = repositoryPath('test/http/feast-client.expected.txt');
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, told);
      expect(told).to.equal(readFileSync(golden, 'utf8'));
    }));

  it('have their own names in suggestions, and no GET', () =>
    serve(async (url) => {
      expect((await call(`${url}/get-online-features`)).status).to.equal(405);
      expect((await post(`${url}/get-online-feature`, {})).json?.detail).to.contain('/get-online-features');
    }));
});
