import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { READY_MAPS, type ReadyMap } from '../../../runtime/project/config/project/ready-maps.js';
import { createApp } from '../../../runtime/serve/app/app.js';
import { listen } from '../../../runtime/serve/http/listen.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { millrace } from '../../support/command-line.js';
import { BIN } from '../../support/repository.js';
import { until } from '../../support/served-project.js';
import { describeWith } from '../../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { withFiles } from '../../support/temporary-files.js';

const DAY = 86_400_000;

const PROJECT = {
  'shop/millrace.yaml': 'project: shop\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'shop/schemas/entities/product.yaml': 'entity: product\nattributes: { brand: ref(brand) }\n',
  'shop/schemas/entities/brand.yaml': 'entity: brand\n',
  'shop/schemas/counters/brand_live.yaml': `counter: brand_live
of: [brand]
by: [product.brand]
features:
  clicks: { event: click, window: 7d }
  all_clicks: { event: click, window: 60d }
  shown: { event: impression, window: 60d }
  revenue: { event: order, window: 60d, value: sum(revenue) }
`,
  'shop/pipelines/search.yaml': `pipeline: search
rank: product
request: { user: optional(user) }
features: [now: brand_live(product.brand)]
components:
  - use: interaction
    as: own
    with: { of: user, with: product.brand, outputs: { clicks: { event: click, window: 60d } } }
  - use: score
    with: { value: 10000 * now:all_clicks + 1000 * now:clicks + 100 * now:shown + now:revenue + 0.1 * own:clicks }
log: { candidates: all }
`,
};

/** p1 changes its brand from b1 to b2 after its first click; p2 is always of b2. */
function logOf(now: number): string {
  const at = (days: number): string => String(now - days * DAY);
  const item = (id: string, days: number, item: string, brand: string): object => ({
    ...{ event: 'item', id, timestamp: at(days), item, fields: [{ name: 'brand', value: brand }] },
  });
  const list = (id: string, days: number): object => ({
    ...{ event: 'ranking', id, timestamp: at(days), user: 'u1', session: 's1', fields: [] },
    items: [{ id: 'p1' }, { id: 'p2' }],
  });
  const act = (id: string, days: number, ranking: string, type: string, item: string): object => ({
    ...{ event: 'interaction', id, timestamp: at(days), ranking, user: 'u1', session: 's1', type, item },
    fields: type === 'purchase' ? [{ name: 'revenue', value: 7 }] : [],
  });
  return [
    act('e5', 1, 'r2', 'purchase', 'p1'),
    ...[item('e1', 50, 'p1', 'b1'), item('e2', 50, 'p2', 'b2'), item('e3', 30, 'p1', 'b2')],
    ...[list('r1', 40), act('e4', 39, 'r1', 'click', 'p1')],
    ...[list('r2', 2), act('e6', 1.5, 'r2', 'click', 'p1'), act('e7', 1.5, 'r2', 'wish', 'p1')],
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');
}

/** b1: 1 click, none in 7 days, 1 shown, 1 click of u1; b2: 1 click in 7 days, 3 shown, 7 of revenue, 1 click of u1. */
const SCORES = [
  ['p2', 11307.1],
  ['p3', 10100.1],
] as const;

/** How a command finds the store. */
interface Target {
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Loads the log, and checks what is then served. @returns what the load printed */
async function loadAndRank(
  root: string,
  { flags, env = {} }: Target,
  more: readonly string[] = [],
  scores: readonly (readonly [string, number])[] = SCORES,
): Promise<string> {
  const project = ['--project', join(root, 'shop'), ...flags];
  const loaded = await millrace(
    [
      ...['feedback', 'load', join(root, 'log.jsonl'), '--map', 'metarank', ...project, ...more],
      ...['--rejected', join(root, 'rejected.jsonl'), '--data-dir', join(root, 'data')],
    ],
    { env },
  );
  expect(loaded.code, loaded.stderr).to.equal(0);
  const request = join(root, 'request.json');
  const ranked = await millrace(
    ['rank', 'search', request, ...project, '--data-dir', join(root, 'data'), '--json'],
    { env },
  );
  expect(ranked.code, ranked.stderr).to.equal(0);
  const { ranked_candidates: answer } = JSON.parse(ranked.stdout) as {
    readonly ranked_candidates: readonly { readonly candidate_id: string; readonly ranked_score: number }[];
  };
  expect(answer.map((one) => [one.candidate_id, Math.round(one.ranked_score * 1e6) / 1e6])).to.deep.equal(
    scores,
  );
  return loaded.stdout.replaceAll(/\s+/g, ' ');
}

async function withLog(use: (root: string) => Promise<void>): Promise<void> {
  const files = {
    ...PROJECT,
    'log.jsonl': logOf(Date.now()),
    'request.json': '{"user":{"user_id":"u1"},"candidates":[{"product_id":"p2"},{"product_id":"p3"}]}',
    'items.jsonl':
      '{"product_id":"p2","brand":"b2"}\n{"product_id":"p3","brand":"b1"}\n{"product_id":"p1","brand":"b2"}\n',
  };
  await withFiles(files, use);
}

async function loadItems(root: string, { flags, env = {} }: Target): Promise<void> {
  const { code, stderr } = await millrace(
    [
      ...[
        'entities',
        'load',
        'product',
        join(root, 'items.jsonl'),
        '--project',
        join(root, 'shop'),
        ...flags,
      ],
      ...['--data-dir', join(root, 'data')],
    ],
    { env },
  );
  expect(code, stderr).to.equal(0);
}

/** A project with histories and a counter, for logs that tell nothing of products. */
const PLAIN = {
  'shop/millrace.yaml': 'project: shop\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'shop/schemas/entities/product.yaml': 'entity: product\n',
  'shop/schemas/counters/live.yaml': `counter: live
of: [product]
features: { revenue: { event: order, window: 7d, value: sum(revenue) } }
`,
  'shop/pipelines/search.yaml': `pipeline: search
rank: product
request: { user: optional(user) }
features: [live]
components:
  - use: interaction
    as: own
    with: { of: user, with: product, outputs: { shown: { event: impression, window: 7d }, clicks: { event: click, window: 7d } } }
  - use: score
    with: { value: 100 * live:revenue + 10 * own:clicks + own:shown }
log: { candidates: all }
`,
};

/** A list of a and b for u, then a click on b and an order of it for 6. */
const LOGS: Readonly<Record<ReadyMap, (at: number) => readonly object[]>> = {
  metarank: (at) => {
    const act = (id: string, type: string, fields: readonly object[]): object => ({
      ...{ event: 'interaction', id, timestamp: String(at + 1000), ranking: 'r', user: 'u', session: 's' },
      ...{ type, item: 'b', fields },
    });
    return [
      {
        ...{ event: 'ranking', id: 'r', timestamp: String(at), user: 'u', session: 's', fields: [] },
        items: [{ id: 'a' }, { id: 'b' }],
      },
      act('c', 'click', []),
      act('o', 'purchase', [{ name: 'revenue', value: 6 }]),
    ];
  },
  ga4: (at) => {
    const row = (name: string, time: number, items: readonly object[]): object => ({
      ...{ event_name: name, event_timestamp: time * 1000, user_pseudo_id: 'u', items },
    });
    return [
      row('view_item_list', at, [
        { item_id: 'a', item_list_index: 1 },
        { item_id: 'b', item_list_index: 2 },
      ]),
      row('select_item', at + 1000, [{ item_id: 'b' }]),
      row('purchase', at + 2000, [{ item_id: 'b', quantity: 1, item_revenue: 6 }]),
    ];
  },
  segment: (at) => {
    const call = (event: string, time: number, properties: object): object => ({
      ...{ type: 'track', messageId: event, event, userId: 'u', properties },
      timestamp: new Date(time).toISOString(),
    });
    return [
      call('Product List Viewed', at, { products: [{ product_id: 'a' }, { product_id: 'b' }] }),
      call('Product Clicked', at + 1000, { product_id: 'b' }),
      call('Order Completed', at + 2000, { products: [{ product_id: 'b', price: 6, quantity: 1 }] }),
    ];
  },
  snowplow: (at) => {
    const action = (type: string, time: number, products: readonly object[]): object => ({
      ...{ event_id: type, collector_tstamp: new Date(time).toISOString(), user_id: 'u' },
      unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1: { type },
      contexts_com_snowplowanalytics_snowplow_ecommerce_product_1: products,
    });
    return [
      action('list_view', at, [{ id: 'a' }, { id: 'b' }]),
      action('list_click', at + 1000, [{ id: 'b' }]),
      action('transaction', at + 2000, [{ id: 'b', price: 6, quantity: 1 }]),
    ];
  },
};

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Accepts feedback. After some bodies it reads them but never answers. */
class FeedbackService {
  /** The ids of the events of each answered body. */
  readonly answered: string[][] = [];
  unanswered = 0;
  readonly #server: Server;

  constructor(answers: number) {
    this.#server = createServer((req, res) => {
      void json(req).then((body) => {
        if (this.answered.length === answers) {
          this.unanswered++;
          return;
        }
        const { events } = body as { readonly events: readonly { readonly event_id: string }[] };
        this.answered.push(events.map(({ event_id: id }) => id));
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify({ stored: events.length, duplicates: 0 }));
      });
    });
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

describe('feedback load', function () {
  this.timeout(60_000);

  it('counts every event once, for what its product was then, however often it is loaded', async () => {
    await withLog(async (root) => {
      const target = { flags: ['--store', 'embedded'] };
      await loadItems(root, target);
      const first = await loadAndRank(root, target);
      expect(first)
        .to.contain('4 impression, 2 click, 1 order')
        .and.contain('1 of 2 click: brand_live counts the last 7 d');
      expect(first).to.contain('unused 1 wish: millrace.yaml does not declare this kind');
      expect(await loadAndRank(root, target))
        .to.contain('stored 0 events')
        .and.contain('known already');
      expect(await loadAndRank(root, target, ['--resume'])).to.contain('stored 0 events');
    });
  });

  for (const order of ['before', 'after'])
    it(`counts for the brand of the time if an import of the log comes ${order} it in the ledger`, async () => {
      await withLog(async (root) => {
        const target = { flags: ['--store', 'embedded'] };
        await loadItems(root, target);
        const { code, stderr } = await millrace([
          ...['ledger', 'import', join(root, 'log.jsonl'), '--map', 'metarank', ...target.flags],
          ...['--project', join(root, 'shop'), '--data-dir', join(root, 'data')],
          ...['--rejected', join(root, 'rejected.jsonl')],
        ]);
        expect(code, stderr).to.equal(0);
        // Segments are read in the order of their paths.
        const ledger = join(root, 'data/ledger');
        const [day = '', ...others] = await readdir(ledger);
        expect(others).to.deep.equal([]);
        await rename(join(ledger, day), join(ledger, order === 'before' ? '2000-01-01' : '2999-01-01'));
        await loadAndRank(root, target);
      });
    });

  for (const map of READY_MAPS)
    it(`reads a list, a click and an order of ${map}`, async () => {
      const files = {
        ...PLAIN,
        'log.jsonl': linesOf(LOGS[map](Date.now() - DAY)),
        'request.json': '{"user":{"user_id":"u"},"candidates":[{"product_id":"a"},{"product_id":"b"}]}',
      };
      const scores = [
        ['b', 611],
        ['a', 1],
      ] as const;
      await withFiles(files, async (root) => {
        const target = { flags: ['--store', 'embedded'] };
        const loaded = await loadAndRank(root, target, ['--map', map], scores);
        expect(loaded).to.contain('2 impression, 1 click, 1 order');
        expect(loaded).to.contain('live: 1 event of the ledger in 1 key');
      });
    });

  it('continues after the last batch that was stored whole, if it was killed', async () => {
    const clicks = Array.from({ length: 2500 }, (_, i) => ({
      ...{ event: 'interaction', id: `c${i}`, timestamp: String(Date.now() - DAY + i), item: 'a' },
      ...{ type: 'click', user: `u${i % 5}`, session: 's', fields: [] },
    }));
    const pipeline = PLAIN['shop/pipelines/search.yaml']
      .replace('features: [live]\n', '')
      .replace('100 * live:revenue + ', '');
    const files = {
      'shop/millrace.yaml': PLAIN['shop/millrace.yaml'],
      'shop/schemas/entities/product.yaml': PLAIN['shop/schemas/entities/product.yaml'],
      'shop/pipelines/search.yaml': pipeline,
      'log.jsonl': linesOf(clicks),
    };
    await withFiles(files, async (root) => {
      // A batch of 1,000 events is a body for each user. The second batch is cut.
      const first = new FeedbackService(8);
      const port = await first.listen();
      const argv = [
        ...[
          'feedback',
          'load',
          join(root, 'log.jsonl'),
          '--map',
          'metarank',
          '--project',
          join(root, 'shop'),
        ],
        ...['--url', `http://127.0.0.1:${port}`, '--data-dir', join(root, 'data')],
      ];
      const child = spawn(process.execPath, [BIN, ...argv], { stdio: 'ignore' });
      await until(() => first.answered.length === 8 && first.unanswered > 0);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await first.close();
      const second = new FeedbackService(Infinity);
      await second.listen(port);
      try {
        const { code, stderr } = await millrace([...argv, '--resume']);
        expect(code, stderr).to.equal(0);
        expect(stderr).to.equal('continuing after event 1,000\n');
        const ids = second.answered.flat();
        expect(ids).to.have.length(1500);
        expect(new Set([...first.answered.flat(), ...ids])).to.deep.equal(
          new Set(clicks.map(({ id }) => id)),
        );
        expect((await millrace([...argv, '--resume'])).stderr).to.contain('there is no interrupted load');
      } finally {
        await second.close();
      }
    });
  });

  it('says what it lacks', async () => {
    await withLog(async (root) => {
      const load = async (...more: readonly string[]): Promise<string> => {
        const { code, stderr } = await millrace([
          ...[
            'feedback',
            'load',
            join(root, 'log.jsonl'),
            '--project',
            join(root, 'shop'),
            '--store',
            'embedded',
          ],
          ...['--data-dir', join(root, 'data'), ...more],
        ]);
        expect(code).to.not.equal(0);
        return stderr;
      };
      expect(await load()).to.contain("required option '--map <MAP>' not specified");
      expect(await load('--map', 'metarnk')).to.contain('expected metarank, ga4, segment');
      expect(await load('--map', 'metarank', '--about', 'prodct')).to.contain(
        'the project has no such entity type',
      );
      expect(await load('--map', 'no-such.yaml')).to.contain('cannot read no-such.yaml: no such file');
      expect(await load('--map', 'metarank', '--url', 'http://127.0.0.1:1')).to.contain(
        'no service answers at http://127.0.0.1:1',
      );
      const write = (text: string): Promise<void> => writeFile(join(root, 'log.jsonl'), text);
      await write('{"event":"item","id":"e1","timestamp":"1769850000000","item":"p1"}\n');
      expect(await load('--map', 'metarank')).to.contain('--map metarank reads no row as feedback');
      await write(
        '{"event":"interaction","id":"e1","timestamp":"1769850000000","item":"p1","type":"wish","user":"u"}\n',
      );
      expect(await load('--map', 'metarank')).to.contain('declare wish under `events:` in millrace.yaml');
      await write('');
      expect(await load('--map', 'metarank')).to.contain('the files have no rows');
      await rm(join(root, 'log.jsonl'));
      expect(await load('--map', 'metarank')).to.contain(`there is nothing at ${join(root, 'log.jsonl')}`);
    });
  });

  it('leaves the records of an earlier load if the files are loaded with another map by mistake', async () => {
    await withLog(async (root) => {
      const target = { flags: ['--store', 'embedded'] };
      await loadItems(root, target);
      await loadAndRank(root, target);
      const before = await readdir(join(root, 'data/ledger'), { recursive: true });
      const { code, stderr } = await millrace([
        ...['feedback', 'load', join(root, 'log.jsonl'), '--map', 'ga4', ...target.flags],
        ...['--project', join(root, 'shop'), '--data-dir', join(root, 'data')],
        ...['--rejected', join(root, 'rejected.jsonl')],
      ]);
      expect(code, stderr).to.equal(1);
      expect(stderr).to.contain(`look at the reasons in ${join(root, 'rejected.jsonl')}`);
      expect(await readFile(join(root, 'rejected.jsonl'), 'utf8')).to.contain('event_name is null');
      expect(await readdir(join(root, 'data/ledger'), { recursive: true })).to.deep.equal(before);
    });
  });

  it('fills the histories, counters and ledger of a running service', async () => {
    await withLog(async (root) => {
      const settings = loadSettings(
        { LOG_LEVEL: 'silent', MILLRACE_WARM_UP_MS: '0' },
        { project: join(root, 'shop'), store: 'embedded', dataDir: join(root, 'of-service') },
      );
      const app = await createApp({ ...settings, resident: new Set<string>() }, { records: true });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      try {
        const target = { flags: ['--url', `http://127.0.0.1:${server.port}`] };
        await loadItems(root, target);
        expect(await loadAndRank(root, target)).to.contain(
          'brand_live: counted again from the ledger of the service',
        );
      } finally {
        await server.close(0);
        await app.close();
      }
    });
  });

  describeWith(['redis-server'], 'with Redis', () => {
    let redis: PrivateRedis;
    before(async () => {
      redis = await startRedisServer();
    });
    after(() => redis.remove());

    it('counts every event once', async () => {
      await withLog(async (root) => {
        const target = { flags: ['--store', 'redis'], env: { REDIS_URL: redis.url } };
        await loadItems(root, target);
        await loadAndRank(root, target);
        expect(await loadAndRank(root, target)).to.contain('stored 0 events');
      });
    });
  });
});
