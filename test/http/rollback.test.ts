import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { releasePartKey, releasesKey } from '../../runtime/state/store/keys.js';
import { millrace } from '../support/command-line.js';
import { pluginFiles } from '../support/project.js';
import { serveFiles, until, type ServedProject } from '../support/served-project.js';

const pipeline = (value: string): string =>
  `pipeline: ranked\nrank: item\nrequest: { candidates: {} }\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, weight: float }\n',
  'pipelines/ranked.yaml': pipeline('item.price'),
};

interface Listed {
  readonly serving: string;
  readonly rollback: { readonly version: string } | null;
  readonly releases: readonly {
    readonly version: string;
    readonly is_kept: boolean;
    readonly detail: string | null;
    readonly code: readonly string[];
  }[];
}

describe('the releases of a service', () => {
  let served: ServedProject;
  afterEach(() => served.close());

  const list = async (): Promise<Listed> => JSON.parse(await served.get('/api/v1/releases')) as Listed;
  const names = async (): Promise<string[]> => (await list()).releases.map(({ version }) => version);
  const start = async (
    files: Readonly<Record<string, string>> = FILES,
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    served = await serveFiles(files, undefined, env);
    await until(async () => (await names()).length === 1);
    await served.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: [{ item_id: 'a', price: 10, weight: 3 }],
    });
    return served.app.version;
  };
  const deploy = async (value: string): Promise<string> => {
    await served.edit('pipelines/ranked.yaml', pipeline(value));
    expect((await served.app.reload()).outcome).to.equal('succeeded');
    const { version } = served.app;
    await until(async () => (await names())[0] === version);
    return version;
  };
  const score = async (): Promise<unknown> => {
    const { json } = await served.post('/api/v1/ranked', { candidates: [{ item_id: 'a' }] });
    return (json.ranked_candidates as { ranked_score: number }[])[0]?.ranked_score;
  };
  const rollBack = (body: object = { version: null }) => served.post('/api/v1/releases/rollback', body);
  const end = () => served.post('/api/v1/releases/end', {});

  it('keeps the last three, goes one back at each rollback, and ends at the newest', async () => {
    const first = await start();
    const second = await deploy('item.weight');
    const third = await deploy('item.weight + 1');
    const fourth = await deploy('item.weight + 2');
    expect(await names()).to.deep.equal([fourth, third, second]);
    const store = served.app.store;
    expect(await store.read([releasePartKey('millrace', first, 0)])).to.deep.equal([null]);

    expect((await rollBack()).json.version).to.equal(third);
    expect(await score()).to.equal(4);
    expect((await rollBack()).json.version).to.equal(second);
    expect(await score()).to.equal(3);
    expect((await list()).rollback?.version).to.equal(second);
    const { status, json } = await rollBack();
    expect([status, json.code]).to.deep.equal([404, 'unknown_release']);
    expect(json.detail).to.include(`known are ${[fourth, third, second].join(', ')}`);
    expect((await end()).json).to.deep.equal({ version: fourth, version_before: second });
    expect(await score()).to.equal(5);
    expect((await end()).json).to.include({ version_before: null });
  });

  it('refuses an unknown version and names the known ones, and what is no version', async () => {
    const only = await start();
    const { status, json } = await rollBack({ version: '../../etc/passwd' });
    expect([status, json.code]).to.deep.equal([404, 'unknown_release']);
    expect(json.detail).to.equal(`there is no release ../../etc/passwd; known are ${only}`);
    expect((await rollBack({ version: 7 })).status).to.equal(422);
    expect((await rollBack({ versoin: only })).status).to.equal(422);
    expect((await rollBack()).json.detail).to.include('no release was served before');
    expect((await list()).rollback).to.equal(null);
  });

  it('tells that the files of a release are too large to be kept, and does not roll back to it', async () => {
    const large = await start(FILES, { MILLRACE_RELEASE_BYTES: '100' });
    await deploy('item.weight');
    const [, listed] = (await list()).releases;
    expect(listed).to.include({ version: large, is_kept: false });
    expect(listed?.detail).to.match(/packed, and MILLRACE_RELEASE_BYTES allows/);
    const { status, json } = await rollBack();
    expect([status, json.code]).to.deep.equal([409, 'release_not_kept']);
    expect(await score()).to.equal(3);
    expect(served.log.some(({ msg }) => msg.includes('is not kept'))).to.equal(true);
  });

  it('serves no release whose stored files are missing or changed', async () => {
    const first = await start();
    await deploy('item.weight');
    const key = releasePartKey('millrace', first, 0);
    const [part] = await served.app.store.read([key]);
    const changed = Buffer.from(part ?? []);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    for (const damage of [
      () => served.app.store.write([{ key, value: changed }]),
      () => served.app.store.remove([key]),
    ]) {
      await damage();
      const { status, json } = await rollBack({ version: first });
      expect([status, json.code]).to.deep.equal([409, 'release_unusable']);
      expect(await score()).to.equal(3);
      expect((await list()).rollback).to.equal(null);
    }
    await served.app.store.write([{ key: releasesKey('millrace'), value: Buffer.from('nonsense') }]);
    expect((await rollBack({ version: first })).json.code).to.equal('release_unusable');
    expect(JSON.parse(await served.get('/readyz'))).to.include({ status: 'OK' });
  });

  it('names the code that a release does not hold, and whether it has changed', async () => {
    const own = pluginFiles('shift', 'feature', 'return { run: () => undefined };');
    await start({ ...FILES, ...own });
    const before = served.app.version;
    await deploy('item.weight');
    expect((await list()).releases.map(({ code }) => code)).to.deep.equal([
      ['plugins/shift'],
      ['plugins/shift'],
    ]);
    expect((await rollBack({ version: before })).json.not_carried).to.deep.equal([
      { name: 'plugins/shift', is_same: true },
    ]);
    await end();
    await served.edit('plugins/shift/index.js', `${own['plugins/shift/index.js'] ?? ''}\n// changed`);
    expect((await served.app.reload()).outcome).to.equal('succeeded');
    expect((await rollBack({ version: before })).json.not_carried).to.deep.equal([
      { name: 'plugins/shift', is_same: false },
    ]);
  });

  it('holds reloads, keeps the lists of curation, and leaves no temporary files', async () => {
    const before = await start({ ...FILES, 'curation/offers.yaml': 'curation: offers\nrules: []\n' });
    await deploy('item.weight');
    await rollBack();
    const held = await served.app.reload();
    expect(held.outcome).to.equal('failed');
    expect(served.log.some(({ code }) => code === 'reload_held')).to.equal(true);
    const metrics = await served.get('/metrics');
    expect(metrics).to.include('millrace_reloads_total{outcome="held"} 1');
    expect(metrics).to.include('millrace_last_reload_successful 1');
    expect(served.app.version).to.equal(before);
    const { root } = served.app.config;
    expect(root).to.not.equal(served.root);
    expect((await readdir(join(root, 'curation'))).length).to.equal(1);
    await served.post('/api/v1/releases/end', {});
    await until(() => !existsSync(root));
    expect(root.startsWith(tmpdir())).to.equal(true);
  });

  it('is there as commands', async () => {
    const first = await start();
    const second = await deploy('item.weight');
    const run = (...argv: string[]) => millrace([...argv, '--url', served.url]);
    const listed = await run('rollback', '--list');
    expect(listed.stdout).to.match(new RegExp(`${second} \\(serving\\) .* MB .*\\n.*${first} `));
    const back = await run('rollback');
    expect(back).to.include({ code: 0, stderr: '' });
    expect(back.stdout).to.match(new RegExp(`^rolled back to ${first}; before it ${second}\\n`));
    expect((await run('rollback', '--list')).stdout).to.include('reloads wait until --end');
    const unknown = await run('rollback', '000000000000');
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include(`known are ${second}, ${first}`);
    const held = await run('reload');
    expect([held.code, held.stderr.includes(`a rollback to ${first} holds reloads`)]).to.deep.equal([
      1,
      true,
    ]);
    const { stdout } = await run('rollback', '--end', '--json');
    expect(JSON.parse(stdout)).to.deep.equal({ version: second, version_before: first });
    expect((await run('rollback', '--end')).stdout).to.include('was not rolled back');
    expect((await run('reload', '--force')).stdout).to.equal(`${served.url} serves ${second}\n`);
    expect((await run('rollback', second, '--end')).code).to.equal(2);
    expect((await millrace(['rollback'])).stderr).to.include('--url');
  });

  it('ends a rollback although the newest files have errors', async () => {
    await start();
    await deploy('item.weight');
    await rollBack();
    await rm(join(served.root, 'pipelines/ranked.yaml'));
    const { code, stdout, stderr } = await millrace(['rollback', '--end', '--url', served.url]);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/error\[project_invalid\]: the rollback has ended, but the newest .*no pipeline/);
    expect(await score()).to.equal(10);
    expect((await list()).rollback).to.equal(null);
  });

  it('tells as an error that the newest files are refused, and goes on with the release', async () => {
    const first = await start(FILES, { MILLRACE_RELOAD_REQUIRE: 'requests >= 1000' });
    expect(await score()).to.equal(10);
    await served.edit('pipelines/ranked.yaml', pipeline('item.weight'));
    expect((await served.post('/api/v1/reload', { force: true })).status).to.equal(200);
    await until(async () => (await names()).length === 2);
    await rollBack();
    const { status, json } = await end();
    expect([status, json.code]).to.deep.equal([409, 'reload_refused']);
    expect(json.detail).to.include(
      `the rollback has ended, but the newest files cannot be served, and ${first} goes`,
    );
    expect(json.detail).to.include('`requests >= 1000` does not hold');
    expect(await score()).to.equal(10);
    expect((await list()).rollback).to.equal(null);
  });
});
