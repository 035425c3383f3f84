import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { millrace } from '../../support/command-line.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { withFiles } from '../../support/temporary-files.js';

const PRODUCTS = ['product_id,title,price', 'a,red kettle,10', 'b,blue lamp,20', 'c,green chair,30'].join(
  '\n',
);

describe('millrace new counter, and counters rebuild', () => {
  let root = '';
  let shop = '';
  let service: ServiceProcess | undefined;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'millrace-counters-'));
    shop = join(root, 'shop');
    await writeFile(join(root, 'products.csv'), PRODUCTS);
  });
  after(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    await rm(root, { recursive: true, force: true });
  });

  const serve = async (): Promise<ServiceProcess> =>
    (service = await startProcess(['--project', shop, '--port', '0']));
  const stop = async (): Promise<void> => {
    service?.child.kill('SIGTERM');
    expect(await service?.ended).to.equal(0);
  };
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${service?.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
    expect(response.status).to.equal(200);
    return response.json();
  };
  const click = (request: string, id: string): Promise<unknown> =>
    post('feedback', {
      request_id: request,
      user: { user_id: 'u1' },
      events: [
        { type: 'impression', product: { product_id: id }, position: 1 },
        { type: 'click', product: { product_id: id }, position: 1 },
      ],
    });
  /** The clicks of each product, as rankings score them. */
  const scores = async (): Promise<unknown> => {
    const candidates = ['a', 'b', 'c'].map((id) => ({ product_id: id }));
    const { ranked_candidates: ranked } = (await post('search', { candidates })) as {
      ranked_candidates: { candidate_id: string; ranked_score: number }[];
    };
    return Object.fromEntries(ranked.map(({ candidate_id: id, ranked_score: score }) => [id, score]));
  };
  const run = (...words: string[]): ReturnType<typeof millrace> => millrace([...words, '--project', shop]);
  const rebuilt = async (): Promise<unknown> => {
    const { code, stdout, stderr } = await run('counters', 'rebuild', 'live', '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };

  it('count the feedback of a new project, also that from before the counter was made', async () => {
    const made = await millrace(['init', shop, '--from', join(root, 'products.csv')]);
    expect(made.code, made.stderr).to.equal(0);
    await serve();
    await click('r1', 'b');
    await click('r2', 'b');
    await click('r3', 'c');
    const unknown = await run('counters', 'rebuild', 'live');
    expect(unknown).to.deep.include({ code: 1, stdout: '' });
    expect(unknown.stderr).to.contain(
      'there is no counter `live`\nhelp: `millrace new counter NAME` makes one',
    );
    await stop();

    const created = await run('new', 'counter', 'live');
    expect(created).to.deep.include({ code: 0, stderr: '' });
    expect(created.stdout).to.contain('schemas/counters/live.yaml\n');
    const path = join(shop, 'pipelines/search.yaml');
    const pipeline = await readFile(path, 'utf8');
    const log = /^log:.*$/mu.exec(pipeline)?.[0];
    await writeFile(
      path,
      `pipeline: search\nrank: product\nrequest: { candidates: {}, user: optional(user) }\nfeatures: [live]\ncomponents:\n  - use: score\n    with: { value: live:clicks_7d }\n${log ?? ''}\n`,
    );
    expect(await rebuilt()).to.deep.include({ counter: 'live', events: 6 });
    await serve();
    expect(await scores()).to.deep.equal({ a: 0, b: 2, c: 1 });

    // The next ranking sees new events; events that are sent again change nothing.
    await click('r4', 'c');
    await click('r4', 'c');
    expect(await scores()).to.deep.equal({ a: 0, b: 2, c: 2 });
    const used = await run('counters', 'rebuild', 'live');
    expect(used.code).to.equal(1);
    expect(used.stderr).to.contain('uses the embedded store of the project\nhelp: stop it first');
    await stop();

    // A feature that is added later starts with the events of the ledger, and the others keep theirs.
    await appendFile(
      join(shop, 'schemas/counters/live.yaml'),
      '  clicks_30d: { event: click, window: 30d }\n',
    );
    expect(await rebuilt()).to.deep.include({ counter: 'live', events: 8 });
    await writeFile(
      path,
      (await readFile(path, 'utf8')).replace('live:clicks_7d', 'live:clicks_7d + live:clicks_30d'),
    );
    await serve();
    expect(await scores()).to.deep.equal({ a: 0, b: 4, c: 4 });
    await stop();
  }).timeout(60_000);
});

describe('counters rebuild of a ledger with hashed ids', () => {
  const files = {
    'millrace.yaml': 'project: shop\nhash_ids: [user]\n',
    'schemas/counters/live.yaml':
      'counter: live\nof: [product]\nfeatures: { buyers: { event: order, window: 7d, value: distinct(user) } }\n',
    'schemas/counters/orders.yaml':
      'counter: orders\nof: [product]\nfeatures: { orders: { event: order, window: 7d } }\n',
  };
  const rebuild = (root: string, name: string): ReturnType<typeof millrace> =>
    millrace(['counters', 'rebuild', name, '--project', root], {
      env: { MILLRACE_ID_SALT: 'a salt of many letters' },
    });

  it('does not count hashes as users beside the ids of new feedback', () =>
    withFiles(files, async (root) => {
      const { code, stderr } = await rebuild(root, 'live');
      expect(code).to.equal(1);
      expect(stderr).to.contain('the ledger has hashes instead of the ids of user');
      expect((await rebuild(root, 'orders')).stderr).not.to.contain('hashes');
    }));
});
