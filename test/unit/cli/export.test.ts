import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../../runtime/serve/app/app.js';
import { listen } from '../../../runtime/serve/http/listen.js';
import { sourceOfExport } from '../../../runtime/cli/load/export-rows.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { answersOf, send, SHOP_FILES, SHOP_WRITES } from '../../formats/shop.js';
import { millrace } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { describeWith } from '../../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';

const VIEWS = ['product_stats', 'product_stock', 'user_brand', 'season'];

describe('entities export and features export', () => {
  let root = '';
  beforeEach(async () => {
    root = await writeProject(SHOP_FILES);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function serve<T>(
    env: Readonly<Record<string, string>>,
    use: (url: string) => Promise<T>,
  ): Promise<T> {
    const app = await createApp(loadSettings({ LOG_LEVEL: 'silent', ...env }, { project: root }));
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    try {
      return await use(`http://127.0.0.1:${server.port}`);
    } finally {
      await server.close(0);
      await app.close();
    }
  }

  const fill = async (url: string): Promise<unknown[]> => {
    for (const call of SHOP_WRITES) if (!call[0].endsWith('/feedback')) await send(url, call);
    return await answersOf(url);
  };

  /** Exports everything from one place and loads it into another. */
  async function move(from: Place, to: Place): Promise<void> {
    const run = async (place: Place, ...args: string[]): Promise<void> => {
      const result = await millrace([...args, '--project', root, ...place.flags], { env: place.env });
      expect(result, args.join(' ')).to.include({ code: 0, stderr: '' });
    };
    for (const type of ['product', 'brand']) {
      const file = join(root, `${type}.jsonl`);
      await run(from, 'entities', 'export', type, '--out', file);
      await run(to, 'entities', 'load', type, file);
    }
    for (const view of VIEWS) {
      const file = join(root, `${view}.jsonl`);
      await run(from, 'features', 'export', view, '--out', file);
      await run(to, 'features', 'load', view, file);
    }
  }

  interface Place {
    readonly flags: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  const folder = (name: string): Place => ({
    flags: [],
    env: { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, name) },
  });

  it('move everything from a data folder, and from a running service, to other data folders', async function () {
    this.timeout(30_000);
    const [one, two, three] = [folder('one'), folder('two'), folder('three')];
    const answers = await serve(one.env, async (url) => {
      const found = await fill(url);
      await move({ flags: ['--url', url], env: {} }, three);
      return found;
    });
    await move(one, two);
    expect(await serve(two.env, answersOf)).to.deep.equal(answers);
    expect(await serve(three.env, answersOf)).to.deep.equal(answers);
  });

  describeWith('redis-server', 'on Redis', () => {
    let server: PrivateRedis | undefined;
    before(async function () {
      server = await startRedisServer();
    });
    after(() => server?.remove());

    it('move everything to another prefix', async function () {
      this.timeout(30_000);
      const place = (prefix: string): Place => ({
        flags: [],
        env: { REDIS_URL: server?.url ?? '', MILLRACE_PREFIX: prefix },
      });
      const answers = await serve(place('one').env, fill);
      await move(place('one'), place('two'));
      expect(await serve(place('two').env, answersOf)).to.deep.equal(answers);
    });

    it('refuse to go on after Redis restarted, and say so', async function () {
      this.timeout(30_000);
      const env = { REDIS_URL: server?.url ?? '', MILLRACE_PREFIX: 'three' };
      await serve(env, fill);
      const out = join(root, 'out.jsonl');
      const args = ['entities', 'export', 'product', '--project', root, '--out', out];
      expect((await millrace(args, { env })).code).to.equal(0);
      const cursor = Buffer.from(JSON.stringify([['another'], 0, '7'])).toString('base64url');
      await interrupt(out, args, env, cursor);
      const { code, stderr } = await millrace([...args, '--resume'], { env });
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        'going on after 2 product entities\n' +
          'error: the servers have changed or were restarted since the scan began; start it again\n' +
          'help: export again from the start, without --resume\n',
      );
    });
  });

  /** Leaves the files of an export that was killed after two entities. */
  async function interrupt(
    out: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    cursor: string,
  ): Promise<void> {
    const lines = (await readFile(out, 'utf8')).split('\n').slice(0, 2).join('\n') + '\n';
    const source = sourceOfExport(
      `${args[2] ?? ''} entities`,
      undefined,
      loadSettings(env, { project: root }),
    );
    await writeFile(`${out}.part`, `${lines}{"product_id":"half of a li`);
    const reached = {
      source,
      exported: 2,
      changed: 0,
      unreadable: 0,
      cursor,
      bytes: Buffer.byteLength(lines),
    };
    await writeFile(`${out}.resume`, JSON.stringify(reached));
    await rm(out);
  }

  it('continue an interrupted export with --resume, and give the same file', async () => {
    const { env } = folder('one');
    await serve(env, fill);
    const out = join(root, 'out.jsonl');
    const args = ['entities', 'export', 'product', '--project', root, '--out', out];
    const whole = await millrace([...args, '--json'], { env });
    expect(JSON.parse(whole.stdout)).to.include({ exported: 40, changed: 0, unreadable: 0 });
    const expected = await readFile(out, 'utf8');
    const [, second = ''] = expected.split('\n');
    const { product_id: last } = JSON.parse(second) as { product_id: string };
    await interrupt(out, args, env, `millrace:entity:product:${last}`);
    const { code, stdout, stderr } = await millrace([...args, '--resume'], { env });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.equal('going on after 2 product entities\n');
    expect(stdout).to.match(
      /^40 product entities exported from the embedded store in \d+\.\d s \([\d,]+\/s\), 0 unreadable\n$/,
    );
    expect(await readFile(out, 'utf8')).to.equal(expected);
  });

  it('write to standard output, with the counts on standard error', async () => {
    const { env } = folder('one');
    await serve(env, fill);
    const { stdout, stderr } = await millrace(['features', 'export', 'season', '--project', root], { env });
    expect(stdout).to.equal(`{"warmth":0.25,"event_time":${Date.UTC(2026, 0, 31, 12)}}\n`);
    expect(stderr).to.match(/^1 season rows exported from the embedded store in /);
  });

  it('refuse flags that do not go together', async () => {
    const { env } = folder('one');
    const resumed = await millrace(['features', 'export', 'season', '--resume', '--project', root], { env });
    expect(resumed).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'error: an export to standard output cannot be resumed; name a file with --out\n',
    });
    const unknown = await millrace(['entities', 'export', 'prodct', '--project', root], { env });
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.contain('did you mean "product"?');
  });
});
