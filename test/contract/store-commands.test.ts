import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { Redis } from 'ioredis';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { answersOf, send, SHOP_FILES, SHOP_WRITES } from '../formats/shop.js';
import { millrace, type CommandResult } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

type Env = Readonly<Record<string, string>>;

const experimentFile = (name: string, offset: number): string => `experiment: ${name}
pipeline: search
unit: user
layer: page
offset: ${offset}%
share: 50%
arms: { control: {}, other: { params: { w: 2 } } }
`;
const STOPPED_FILES = {
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w: 1 }
components:
  - { use: score, with: { value: w } }
`,
  'experiments/prices.yaml': experimentFile('prices', 0),
  'experiments/texts.yaml': experimentFile('texts', 50),
};

describe('millrace store', function () {
  this.timeout(60_000);
  let root = '';
  let folder = '';
  let full: Env = {};
  let answers: unknown[] = [];

  before(async () => {
    root = await writeProject(SHOP_FILES);
    full = embedded(join(root, 'full'));
    answers = await serve(full, async (url) => {
      for (const call of SHOP_WRITES) await send(url, call);
      const rows = [{ product_id: 'deleted' }];
      await send(url, ['/api/v1/features/delete', { view: 'product_stock', rows }]);
      return await answersOf(url);
    });
  });
  after(() => rm(root, { recursive: true, force: true }));
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-store-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const embedded = (dataDir: string): Env => ({ MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: dataDir });
  const run = (env: Env, ...args: string[]): Promise<CommandResult> =>
    millrace(['store', ...args, '--project', root], { env });

  async function serve<T>(env: Env, use: (url: string) => Promise<T>): Promise<T> {
    const app = await createApp(loadSettings({ LOG_LEVEL: 'silent', ...env }, { project: root }));
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    try {
      return await use(`http://127.0.0.1:${server.port}`);
    } finally {
      await server.close(0);
      await app.close();
    }
  }

  /** A copy of the full data folder, to be damaged. */
  async function copied(): Promise<Env> {
    const dataDir = join(folder, 'data');
    await cp(join(root, 'full'), dataDir, { recursive: true });
    return embedded(dataDir);
  }

  /** Changes records of the copy behind the back of its digest. */
  async function tamper(env: Env, change: (key: string, value: Buffer) => Buffer | undefined): Promise<void> {
    const database = new ClassicLevel<string, Buffer>(join(env['MILLRACE_DATA_DIR'] ?? '', 'records'), {
      valueEncoding: 'buffer',
    });
    for (const [key, value] of await database.iterator().all()) {
      const changed = change(key, value);
      if (changed !== undefined) await database.put(key, changed);
    }
    await database.close();
  }

  describe('check', () => {
    it('counts the records of each type and view', async () => {
      const { code, stdout, stderr } = await run(full, 'check');
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      expect(stdout).to.equal(
        [
          '          4  brand entities',
          '          1  deleted rows',
          '          6  layouts',
          '         40  product entities',
          '         40  rows of product_stats',
          '         35  rows of product_stock',
          '          1  rows of season',
          '          8  rows of user_brand',
          '          2  user interactions',
          '',
        ].join('\n'),
      );
    });

    it('names each damaged record, and exits with 1', async () => {
      const env = await copied();
      await tamper(env, (key, value) => {
        if (key === 'millrace:entity:product:p1') return value.subarray(0, 12);
        return key === 'millrace:interactions:user:ada' ? value.subarray(0, -1) : undefined;
      });
      const { code, stdout, stderr } = await run(env, 'check');
      expect(code).to.equal(1);
      expect(stdout).to.contain(
        'damaged: millrace:entity:product:p1: the record is cut short\n' +
          'damaged: millrace:interactions:user:ada: the history is damaged\n',
      );
      const text = stderr.replace(/has \d+ records|its \d+ records/g, 'N records');
      expect(text).to.equal(
        'error: the data folder is damaged: some of N records differ from what was written; 2 damaged records\n' +
          'help: millrace store repair keeps the records that can be read\n',
      );
    });
  });

  describe('backup and restore', () => {
    it('give another data folder the same records', async () => {
      const file = join(folder, 'all.backup');
      expect((await run(full, 'backup', file)).stdout).to.match(
        /^\d+ records of the embedded store written to /,
      );
      const other = embedded(join(folder, 'other'));
      const restored = await run(other, 'restore', file);
      expect(restored.stdout, restored.stderr).to.match(
        /^\d+ records restored into the embedded store, 0 expired/,
      );
      expect(await serve(other, answersOf)).to.deep.equal(answers);
      expect((await run(other, 'check')).stdout).to.equal((await run(full, 'check')).stdout);
    });

    it('refuse a store that has records, unless forced', async () => {
      const file = join(folder, 'all.backup');
      await run(full, 'backup', file);
      const env = await copied();
      const { code, stderr } = await run(env, 'restore', file);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        'error: the embedded store has records under the prefix millrace\n' +
          'help: restore into an empty store, or replace the records with the same keys with --force\n',
      );
      expect((await run(env, 'restore', file, '--force')).code).to.equal(0);
      expect(await serve(env, answersOf)).to.deep.equal(answers);
    });

    it('refuse a file that is cut or changed anywhere, and store nothing', async () => {
      const file = join(folder, 'all.backup');
      await run(full, 'backup', file);
      const whole = await readFile(file);
      const bad = join(folder, 'bad.backup');
      const other = embedded(join(folder, 'other'));
      const changed = (at: number): Buffer => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        return bytes;
      };
      const files = [
        ...[0, 10, 19, 30, 63, 64, 1000, whole.length - 45, whole.length - 1].map((end) =>
          whole.subarray(0, end),
        ),
        ...[3, 17, 21, 500, whole.length - 40, whole.length - 10].map(changed),
        Buffer.concat([whole, Buffer.alloc(1)]),
      ];
      for (const bytes of files) {
        await writeFile(bad, bytes);
        const { code, stderr } = await run(other, 'restore', bad);
        expect(code, `${bytes.length}`).to.equal(1);
        expect(stderr).to.match(
          /^error: .* cannot be restored: it (is|has) .*\nhelp: nothing was stored; use another copy of the backup\n$/,
        );
      }
      expect((await run(other, 'check')).stdout).to.equal('');
    });

    describeWith('redis-server', 'on Redis', () => {
      let server: PrivateRedis | undefined;
      before(async function () {
        server = await startRedisServer();
      });
      after(() => server?.remove());

      it('carry the stops of experiments, from the embedded store to Redis and back', async () => {
        const project = await writeProject(STOPPED_FILES);
        const command = async (env: Env, ...args: string[]): Promise<string> => {
          const { code, stdout, stderr } = await millrace([...args, '--project', project], { env });
          expect(code, stderr).to.equal(0);
          return stdout;
        };
        const stores: Env[] = [
          embedded(join(folder, 'one')),
          { REDIS_URL: server?.url ?? '', MILLRACE_PREFIX: 'stopped' },
          embedded(join(folder, 'two')),
        ];
        try {
          for (const [at, env] of stores.entries()) {
            if (at === 0) await command(env, 'experiments', 'stop', 'prices');
            else
              expect(await command(env, 'store', 'restore', join(folder, `${at - 1}.backup`))).to.match(
                /^1 record/,
              );
            const list = JSON.parse(await command(env, 'experiments', 'list', '--json')) as {
              experiments: readonly { experiment: string; state: string }[];
            };
            expect(list.experiments.map(({ experiment, state }) => `${experiment}: ${state}`)).to.deep.equal([
              'prices: stopped',
              'texts: running',
            ]);
            await command(env, 'store', 'backup', join(folder, `${at}.backup`));
          }
        } finally {
          await rm(project, { recursive: true });
        }
      });

      it('move a data folder to Redis and on to another prefix, with the lifetimes', async () => {
        const at = (prefix: string): Env => ({ REDIS_URL: server?.url ?? '', MILLRACE_PREFIX: prefix });
        const [first, second] = [join(folder, '1.backup'), join(folder, '2.backup')];
        await run(full, 'backup', first);
        const one = await run(at('one'), 'restore', first);
        expect(one.code, one.stderr).to.equal(0);
        await run(at('one'), 'backup', second);
        const two = await run(at('two'), 'restore', second);
        expect(two.code, two.stderr).to.equal(0);
        expect((await run(at('two'), 'check')).stdout).to.equal((await run(full, 'check')).stdout);
        expect(await serve(at('two'), answersOf)).to.deep.equal(answers);
        // The service leaves keys that describe it and its database. They are not data.
        expect((await run(at('two'), 'check')).code).to.equal(0);
        const redis = new Redis(server?.url ?? '');
        try {
          const days = async (key: string): Promise<number> =>
            Math.round((await redis.pttl(key)) / 86_400_000);
          expect(await days('two:interactions:user:ada')).to.equal(366);
          expect(await days('two:features:product:deleted')).to.equal(30);
          expect(await redis.pttl('two:entity:product:p1')).to.equal(-1);
        } finally {
          redis.disconnect();
        }
      });
    });
  });

  describe('a damaged data folder', () => {
    const failures: Readonly<Record<string, (records: string) => Promise<void>>> = {
      'without CURRENT': (records) => rm(join(records, 'CURRENT')),
      'whose CURRENT is empty': (records) => writeFile(join(records, 'CURRENT'), ''),
      'whose manifest is missing': async (records) => {
        for (const name of await readdir(records))
          if (name.startsWith('MANIFEST')) await rm(join(records, name));
      },
      'whose manifest is garbage': async (records) => {
        for (const name of await readdir(records))
          if (name.startsWith('MANIFEST')) await writeFile(join(records, name), 'garbage'.repeat(9));
      },
    };
    for (const [what, damage] of Object.entries(failures)) {
      it(`${what} says so, and a repair loses nothing`, async () => {
        const env = await copied();
        const dataDir = env['MILLRACE_DATA_DIR'] ?? '';
        await damage(join(dataDir, 'records'));
        const { code, stderr } = await run(env, 'check');
        expect(code).to.equal(1);
        expect(stderr).to.match(/^error\[data_folder_damaged\]: .*\nhelp: Run `millrace store repair`/);
        const repair = await run(env, 'repair');
        expect(repair.code, repair.stderr).to.equal(0);
        expect(await serve(env, answersOf)).to.deep.equal(answers);
      });
    }

    it('whose log has a flipped bit says so, also where the rest would be read as empty', async () => {
      // Written by one process and not opened since: everything is in the log.
      const fresh = join(folder, 'fresh');
      await serve(embedded(fresh), async (url) => {
        for (const call of SHOP_WRITES) await send(url, call);
      });
      for (const place of [0.05, 0.3, 0.6, 0.9]) {
        const env = embedded(join(folder, `data-${place}`));
        await cp(fresh, env['MILLRACE_DATA_DIR'] ?? '', { recursive: true });
        const records = join(env['MILLRACE_DATA_DIR'] ?? '', 'records');
        const name = (await readdir(records)).find((file) => file.endsWith('.log')) ?? '';
        const log = await readFile(join(records, name));
        const at = Math.floor(log.length * place);
        log[at] = (log[at] ?? 0) ^ 4;
        await writeFile(join(records, name), log);
        const { code, stderr } = await run(env, 'check');
        expect(code, `at ${place}`).to.equal(1);
        expect(stderr).to.contain(
          `is damaged: the log records/${name} has damaged records. Run millrace store repair`,
        );
        const repair = await run(env, 'repair');
        expect(repair.stdout, repair.stderr).to.match(
          /\d+ records kept, how many were lost is not known; everything /,
        );
        expect((await run(env, 'check')).code).to.equal(0);
      }
    });

    it('keeps the sound records, says how many are lost, and sets everything aside', async () => {
      const env = await copied();
      await tamper(env, (key, value) =>
        key === 'millrace:entity:product:p1' ? value.subarray(0, 12) : undefined,
      );
      const { stdout, stderr } = await run(env, 'repair');
      expect(stderr).to.equal('');
      expect(stdout).to.match(
        /^damaged: millrace:entity:product:p1\n\d+ records kept, 1 lost; everything as it was is in .*records\.damaged-\S+\n$/,
      );
      expect((await run(env, 'check')).code).to.equal(0);
      const dataDir = env['MILLRACE_DATA_DIR'] ?? '';
      expect((await readdir(dataDir)).filter((name) => name.startsWith('records.damaged-'))).to.have.length(
        1,
      );
      expect((await run(env, 'repair')).stdout).to.equal(
        `The data folder ${dataDir} is not damaged; nothing was changed\n`,
      );
    });

    it('of a later format is refused, and not repaired', async () => {
      const env = await copied();
      await tamper(env, (key, value) =>
        key === '\u0000digest' ? Buffer.from([2, ...value.subarray(1)]) : undefined,
      );
      for (const command of ['check', 'repair']) {
        const { code, stderr } = await run(env, command);
        expect(code).to.equal(1);
        expect(stderr).to.match(
          /^error\[data_folder_newer\]: The data folder .* has format 2, which a later version of Millrace wrote; this version reads format 1\nhelp: /,
        );
      }
    });
  });
});
