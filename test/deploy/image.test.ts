import { expect } from 'chai';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort, startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { describeWith, itWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

/** An instruction of the Dockerfile, with continued lines joined. */
interface Instruction {
  readonly name: string;
  readonly text: string;
}

const INSTRUCTIONS: readonly Instruction[] = readFileSync(repositoryPath('Dockerfile'), 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ name: line.split(' ', 1)[0] ?? '', text: line.slice(line.indexOf(' ') + 1) }));
const STARTS = INSTRUCTIONS.flatMap(({ name }, i) => (name === 'FROM' ? [i] : []));
/** The stages: build, service, jobs, and the default one, which is the service again. */
const [BUILD = [], FINAL = [], JOBS = [], DEFAULT = []] = STARTS.map((start, at) =>
  INSTRUCTIONS.slice(start, STARTS[at + 1]),
);
const one = (name: string): string => FINAL.find((instruction) => instruction.name === name)?.text ?? '';
/** `nobody` of Debian: a user that owns no file. */
const NOBODY = 65534;
const PIPELINE = `pipeline: mine
rank: item
request: { candidates: { price: float } }
components:
  - use: doubles
    as: doubled
  - use: score
    with: { value: doubled:value }
`;

/**
 * There is no container engine in the tests. They copy the files that the Dockerfile copies, and start its command as
 * another user who may not write to them.
 */
describe('the image', () => {
  it('is based on the version of Node on which CI runs the tests over HTTP', () => {
    const tested = /npm run test:node -- ([\d ]+)/.exec(
      readFileSync(repositoryPath('.ci', 'run'), 'utf8'),
    )?.[1];
    for (const [first] of [BUILD, FINAL]) {
      const major = /^node:(\d+)-slim/.exec(first?.text ?? '')?.[1];
      expect(tested?.split(' ')).to.include(major);
    }
  });

  it('is built by default without the Python of the target jobs', () => {
    expect(STARTS).to.have.length(4);
    expect(DEFAULT).to.deep.equal([{ name: 'FROM', text: 'service' }]);
    expect(FINAL[0]?.text).to.match(/ AS service$/);
    expect(JOBS[0]?.text).to.equal('service AS jobs');
    const jobs = (name: string): readonly string[] =>
      JOBS.filter((instruction) => instruction.name === name).map(({ text }) => text);
    expect(jobs('USER')).to.deep.equal(['root', 'node']);
    const [python = ''] = /\/opt\/python\/bin\/python$/.exec(jobs('ENV')[0] ?? '') ?? [];
    expect(jobs('ENV')).to.deep.equal([`MILLRACE_PYTHON=${python}`]);
    expect(jobs('RUN')[0]).to.contain(`python3 -m venv ${dirname(dirname(python))}`);
    expect(jobs('RUN')[0]).to.match(/pip install .*lightgbm xgboost pandas pyarrow$/);
  });

  it('runs as a user without rights, writes to /data alone, and stops on SIGTERM', () => {
    expect(one('USER')).to.equal('node');
    expect(one('STOPSIGNAL')).to.equal('SIGTERM');
    expect(one('RUN')).to.match(/mkdir \/data && chown node:node \/data$/);
    expect(one('ENV')).to.contain('MILLRACE_DATA_DIR=/data').and.to.contain('NODE_ENV=production');
    expect(FINAL.filter(({ name }) => name === 'COPY').map(({ text }) => text)).not.to.match(/--chown/);
  });

  it('gets every file of its COPY lines from .dockerignore', () => {
    const ignore = readFileSync(repositoryPath('.dockerignore'), 'utf8');
    const sources = [...BUILD, ...FINAL]
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
      .flatMap(({ text }) => text.split(' ').slice(0, -1));
    for (const source of sources) {
      expect(existsSync(repositoryPath(source)), source).to.equal(true);
      expect(ignore.split('\n'), source).to.include(`!${source}`);
    }
  });

  describeWith('the user root', 'as a folder', () => {
    let root = '';
    let project = '';
    let redis: PrivateRedis | undefined;

    before(async function () {
      this.timeout(120_000);
      root = await mkdtemp(join(tmpdir(), 'millrace-image-'));
      chmodSync(root, 0o755);
      await buildFolder(root);
      project = await writeProject({
        'pipelines/mine.yaml': PIPELINE,
        'schemas/entities/item.yaml': 'entity: item\n',
        ...pluginFiles(
          'doubles',
          'feature',
          'return { outputs: { value: "number" }, compute(input, output) { const out = output.number("value");' +
            ' for (const row of input.rows) { out.values[row] = 2; out.status[row] = Status.present; } } };',
        ),
      });
      execFileSync('chmod', ['-R', 'a+rX,a-w', root, project]);
    });

    after(async () => {
      await redis?.remove();
      await rm(root, { recursive: true, force: true });
      await rm(project, { recursive: true, force: true });
    });

    itWith('redis-server', 'serves a project with its own plugin, and writes no file', async function () {
      this.timeout(30_000);
      redis = await startRedisServer();
      const port = String(await freePort());
      const env = {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        HOST: '127.0.0.1',
        PORT: port,
        MILLRACE_PROJECT: project,
        REDIS_URL: redis.url,
        MILLRACE_LAME_DUCK_MS: '0',
      };
      const [command = '', ...args] = JSON.parse(one('CMD')) as string[];
      const service = spawn(command, args, { cwd: root, env, uid: NOBODY, gid: NOBODY });
      let output = '';
      service.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const ended = once(service, 'exit');
      const listening = new Promise<void>((resolve) => {
        createInterface(service.stdout).on('line', (line) => {
          output += `${line}\n`;
          if (line.includes('"listening"')) resolve();
        });
      });
      await Promise.race([
        listening,
        ended.then(() => {
          throw new Error(`the service ended:\n${output}`);
        }),
      ]);
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/mine`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ candidates: [{ item_id: 'a' }] }),
      });
      expect(await answer.json()).to.deep.equal({
        ranked_candidates: [{ candidate_id: 'a', ranked_score: 2 }],
      });
      const [check = '', ...rest] = JSON.parse(
        one('HEALTHCHECK').slice(one('HEALTHCHECK').indexOf('[')),
      ) as string[];
      expect(spawnSync(check, rest, { env }).status, 'the health check while it answers').to.equal(0);
      service.kill('SIGTERM');
      expect((await ended)[0]).to.equal(0);
      expect(spawnSync(check, rest, { env }).status, 'the health check afterwards').to.equal(1);
    });

    it('has the commands', () => {
      const link = /ln -s \/app\/(\S+) \/usr\/local\/bin\/millrace/.exec(one('RUN'))?.[1] ?? '';
      const said = spawnSync(process.execPath, [join(root, link), 'validate', '--project', project], {
        uid: NOBODY,
        gid: NOBODY,
        encoding: 'utf8',
      });
      expect(said.status, said.stderr).to.equal(0);
    });
  });
});

/** Follows the COPY lines of both stages, and builds like the first one. */
async function buildFolder(root: string): Promise<void> {
  const stage = await mkdtemp(join(tmpdir(), 'millrace-stage-'));
  try {
    for (const { name, text } of BUILD) {
      if (name === 'COPY') copy(text, repositoryPath(), stage);
      else if (name === 'RUN' && text === 'npm ci')
        symlinkSync(repositoryPath('node_modules'), join(stage, 'node_modules'));
      else if (name === 'RUN' && text === 'node scripts/build.mjs --bundle && npm prune --omit=dev')
        execFileSync(process.execPath, ['scripts/build.mjs', '--bundle'], { cwd: stage });
      else if (name === 'RUN') throw new Error(`this test does not know how to run: ${text}`);
    }
    copyProductionPackages(root);
    for (const { name, text } of FINAL) {
      if (name !== 'COPY' || text.endsWith(' node_modules')) continue;
      if (text.startsWith('--from=build ')) copy(text.replace('--from=build /app/', ''), stage, root);
      else copy(text, repositoryPath(), root);
    }
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** `COPY a b folder/` and `COPY a b`. */
function copy(text: string, from: string, to: string): void {
  const parts = text.split(' ');
  const target = parts.pop() ?? '';
  for (const source of parts) {
    const isFolder = target.endsWith('/');
    const name = isFolder ? (source.split('/').pop() ?? '') : '';
    cpSync(join(from, source), join(to, target, name), { recursive: true });
  }
}

/** What `npm prune --omit=dev` leaves. */
function copyProductionPackages(root: string): void {
  const list = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], {
    cwd: repositoryPath(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for (const folder of list.trim().split('\n').slice(1)) {
    const target = join(root, relative(repositoryPath(), folder));
    mkdirSync(dirname(target), { recursive: true });
    const nested = join(folder, 'node_modules');
    cpSync(folder, target, { recursive: true, filter: (path) => !path.startsWith(nested) });
  }
}
