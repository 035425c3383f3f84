import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { startRedisServer } from '../../support/redis-server.js';
import { ServiceFailed, startProcess, type ServiceProcess } from '../../support/service-process.js';
import { itWith } from '../../support/needs.js';
import { until } from '../../support/until.js';
import { MAIN } from '../../support/repository.js';

const PIPELINE = 'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n';
const CHANGED = 'millrace.yaml has changed: restart the service to apply the changed keys';
const BROKEN = 'millrace.yaml has errors: the service could not start again';

interface PrintedSettings {
  readonly project: string;
  readonly folder: string;
  readonly file: string | null;
  readonly settings: readonly { readonly key: string }[];
}

describe('settings from millrace.yaml', () => {
  let root = '';
  let service: ServiceProcess | undefined;
  afterEach(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    service = undefined;
    await rm(root, { recursive: true, force: true });
  });

  async function project(...lines: string[]): Promise<void> {
    root = await writeProject({ 'pipelines/plain.yaml': PIPELINE });
    await write(...lines);
  }
  const write = (...lines: string[]): Promise<void> =>
    writeFile(join(root, 'millrace.yaml'), ['project: shop', ...lines, ''].join('\n'));
  const run = (argv: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> =>
    millrace([...argv, '--project', root], { env });

  describe('millrace settings', () => {
    it('prints each setting with its value and its origin', async () => {
      await project(
        'store: embedded',
        'port: 6000',
        'queue_ms: 2s',
        'data_dir: data',
        'redis_password: ${PASS}',
      );
      const env = {
        LOG_LEVEL: 'warn',
        PASS: 'correct-horse',
        REDIS_URL: 'redis://app:correct-horse@db:6379',
      };
      const { code, stdout, stderr } = await run(['settings', '--port', '7000'], env);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      const lines = stdout.split('\n').map((line) => line.replace(/ +/g, ' '));
      expect(lines[0]).to.equal(`project shop in ${root}, with millrace.yaml`);
      expect(lines).to.include.members([
        'store millrace.yaml:2 embedded',
        'port --port 7000',
        'log_level LOG_LEVEL warn',
        'queue_ms millrace.yaml:4 2000',
        `data_dir millrace.yaml:5 ${join(root, 'data')}`,
        'redis_password millrace.yaml:6 ***',
        'redis_url REDIS_URL redis://app:***@db:6379',
        'workers default 1',
      ]);
      expect(stdout).not.to.contain('correct-horse');
    });

    it('prints them as JSON', async () => {
      await project('sync: true', 'model_hosts: [a, b]', 'redis_password: ${PASS}');
      const { stdout } = await run(['settings', '--json', '--store', 'embedded'], { PASS: 'correct-horse' });
      const printed = JSON.parse(stdout) as PrintedSettings;
      expect(printed).to.include({ project: 'shop', folder: root, file: 'millrace.yaml' });
      expect(printed.settings).to.deep.include.members([
        { key: 'store', variable: 'MILLRACE_STORE', flag: '--store', value: 'embedded', from: 'flag' },
        { key: 'sync', variable: 'MILLRACE_SYNC', value: true, from: 'file', line: 2 },
        { key: 'model_hosts', variable: 'MILLRACE_MODEL_HOSTS', value: 'a,b', from: 'file', line: 3 },
        { key: 'redis_password', variable: 'REDIS_PASSWORD', value: '***', from: 'file', line: 4 },
        { key: 'redis_database', variable: 'REDIS_DATABASE', value: 0, from: 'default' },
      ]);
    });

    it('works without the file', async () => {
      root = await writeProject({});
      expect((await run(['settings'])).stdout).to.match(/, without millrace\.yaml\n/);
      const { file } = JSON.parse((await run(['settings', '--json'])).stdout) as PrintedSettings;
      expect(file).to.equal(null);
    });
  });

  it('are read by the other commands, whose own flags and variables win', async () => {
    await project('store: embedded', 'data_dir: data');
    const check = await run(['store', 'check', '--json']);
    expect(check.stderr).to.equal('');
    expect(JSON.parse(check.stdout)).to.include({ ok: true });
    const redis = await run(['store', 'repair'], { MILLRACE_STORE: 'redis' });
    expect(redis.stderr).to.contain('only a data folder can be repaired');
    const repair = await run(['store', 'repair']);
    expect(repair.stdout).to.contain(join(root, 'data'));
  });

  it('stop every command with exit code 2 if one is wrong, and show the place', async () => {
    await project('stor: embedded');
    for (const argv of [['plan', 'plain'], ['store', 'check'], ['settings'], ['serve']]) {
      const { code, stdout, stderr } = await run(argv);
      expect(stderr, argv[0]).to.equal(
        [
          'millrace.yaml:2:1: error[unknown_key]: `stor` is not allowed here',
          ' 2 | stor: embedded',
          '   | ^^^^',
          '   help: did you mean `store`?',
          '',
          '1 error',
          '',
        ].join('\n'),
      );
      expect([code, stdout], argv[0]).to.deep.equal([2, '']);
    }
  });

  it('are checked by validate together with the rest of the project', async () => {
    await project('queue_ms: 2 days', 'redis_url: redis://app:correct-horse@db');
    await writeFile(
      join(root, 'pipelines', 'plain.yaml'),
      PIPELINE.replace('value: 1', 'value: prodct.price'),
    );
    const { code, stdout } = await run(['validate', '--json']);
    expect(code).to.equal(1);
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { file: string; code: string; line: number }[];
    };
    expect(diagnostics.map(({ file, code: one, line }) => [file, one, line])).to.deep.equal([
      ['millrace.yaml', 'wrong_type', 2],
      ['millrace.yaml', 'literal_secret', 3],
      ['pipelines/plain.yaml', 'unknown_name', 5],
    ]);
    const text = await run(['validate']);
    expect(text.stdout).to.contain('3 errors').and.not.to.contain('correct-horse');
    for (const line of text.stdout.split('\n')) expect(line.length).to.be.at.most(80);
  });

  it('are checked by validate against the entity types of the project', async () => {
    await project('resident: [product, brnad]');
    const { code, stderr } = await run(['validate']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('resident (millrace.yaml:2): no entity type is called "brnad"');
  });

  describe('of a running service', function () {
    this.timeout(120_000);
    const told = (msg: string): Record<string, unknown>[] =>
      service?.lines.filter((line) => line.msg === msg) ?? [];

    it('are used by the container’s entry too, and the log names where settings come from', async () => {
      await project('store: embedded', 'port: 0', 'lame_duck_ms: 0', 'host: 127.0.0.1');
      service = await startProcess([], { MILLRACE_PROJECT: root, HOST: 'localhost' }, MAIN);
      const [settings] = told('settings');
      expect(settings).to.deep.include({
        project: 'shop',
        from_flags: [],
        // `startProcess` sets the last.
        from_environment: ['project', 'host', 'warm_up_ms'],
        from_file: ['store', 'port', 'lame_duck_ms'],
      });
      expect((await fetch(`${service.url}/readyz`)).status).to.equal(200);
      service.child.kill('SIGTERM');
      expect(await service.ended).to.equal(0);
    });

    it('end it at the start if one is wrong', async () => {
      await project('store: embedded', 'port: 70000');
      const failed = await startProcess(['--project', root]).catch(
        (error: unknown) => error as ServiceFailed,
      );
      expect(failed).to.be.instanceOf(ServiceFailed);
      expect((failed as ServiceFailed).code).to.equal(2);
      expect((failed as ServiceFailed).stderr).to.contain(
        'millrace.yaml:3:7: error[wrong_type]: `port`: expected',
      );
    });

    for (const [how, flags, notice] of [
      ['with --watch', ['--watch'], () => pause(300)],
      [
        'at SIGHUP',
        [],
        async () => {
          service?.child.kill('SIGHUP');
          await pause(300);
        },
      ],
    ] as const)
      it(`stay as they are after a change, and the log says so once, ${how}`, async () => {
        await project('store: embedded', 'redis_password: ${PASS}', 'queue_ms: 100');
        service = await startProcess(['--project', root, '--port', '0', ...flags], {
          MILLRACE_RELOAD_POLL_MS: '20',
          PASS: 'correct-horse',
          OTHER: 'battery-staple',
        });
        await notice();
        expect(told(CHANGED)).to.have.length(0);
        await write(
          'store: embedded',
          'redis_password: ${OTHER}',
          'drain_ms: 1s',
          'queue_ms: 100 # a comment',
        );
        await until('a warning', async () => {
          await notice();
          return told(CHANGED).length > 0;
        });
        await notice();
        expect(told(CHANGED).map(({ level, keys }) => [level, keys])).to.deep.equal([
          [40, ['redis_password', 'drain_ms']],
        ]);
        await write('store: embeded', 'redis_password: battery-staple');
        await until('errors', async () => {
          await notice();
          return told(BROKEN).length > 0;
        });
        await notice();
        expect(told(BROKEN)).to.have.length(1);
        const places = service.lines.filter(
          ({ file, line }) => file === 'millrace.yaml' && line !== undefined,
        );
        expect(places.map(({ code, line }) => [code, line])).to.deep.equal([
          ['wrong_type', 2],
          ['literal_secret', 3],
        ]);
        // The same settings as at the start: there is nothing to apply.
        await write('store: embedded', 'redis_password: ${PASS}', 'queue_ms: 100');
        await notice();
        expect(told(CHANGED)).to.have.length(1);
        expect(JSON.stringify(service.lines)).not.to.match(/correct-horse|battery-staple/);
        if (how === 'with --watch') expect(told('the project was reloaded')).to.have.length(0);
      });

    itWith(
      'redis-server',
      'are the same in a worker that replaces another after a change',
      async function () {
        const redis = await startRedisServer();
        try {
          await project('redis_url: ${ADDRESS}', 'workers: 2', 'port: 0', 'lame_duck_ms: 0');
          service = await startProcess(['--project', root], { ADDRESS: redis.url });
          await write('redis_url: redis://127.0.0.1:1', 'workers: no');
          const first = service.lines.find(({ worker }) => worker === 1)?.pid ?? 0;
          process.kill(first, 'SIGKILL');
          const { url } = service;
          await until('the end of the worker', () => told('a worker ended; another is started').length > 0);
          await until('a worker in its place', async () => {
            const answer = await fetch(`${url}/metrics`, {
              headers: { connection: 'close' },
              signal: AbortSignal.timeout(10_000),
            });
            const text = await answer.text();
            return (
              /^millrace_worker_restarts_total 1$/m.test(text) && /^millrace_workers_ready 2$/m.test(text)
            );
          });
          expect(service.stderr()).to.equal('');
          service.child.kill('SIGTERM');
          expect(await service.ended).to.equal(0);
        } finally {
          await redis.remove();
        }
      },
    );
  });
});
