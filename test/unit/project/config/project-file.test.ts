import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { NAME_PATTERN } from '../../../../runtime/ground/api/types.js';
import { renderDiagnostics, diagnosticsJson } from '../../../../runtime/project/config/diagnostics/render.js';
import {
  loadProjectFile,
  type LoadedProjectFile,
} from '../../../../runtime/project/config/project/load-project-file.js';
import { compileSchema } from '../../../../runtime/project/config/project/check-shape.js';
import { checkSettings, readSettings } from '../../../../runtime/project/config/project/read-settings.js';
import { keyOf } from '../../../../runtime/project/settings/setting-row.js';
import { FILE_SETTINGS, SETTINGS, type Settings } from '../../../../runtime/project/settings/settings.js';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import { writeProject } from '../../../support/project.js';
import { repositoryPath } from '../../../support/repository.js';

type Env = Record<string, string>;

/** A setting as a line of millrace.yaml. */
function lineOf(key: string, value: string): string {
  const [section = '', name] = key.split('.');
  return name === undefined ? `${key}: ${value}` : `${section}: { ${name}: ${value} }`;
}

describe('millrace.yaml', () => {
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function load(text: string, env: Env = {}): Promise<LoadedProjectFile> {
    root = await writeProject({ 'millrace.yaml': text });
    return loadProjectFile(root, env);
  }
  async function settingsOf(lines: string, env: Env = {}, flags = {}): Promise<Settings> {
    root = await writeProject({ 'millrace.yaml': `project: shop\n${lines}` });
    return readSettings(env, { project: root, ...flags });
  }
  /** The message of the error of these lines. */
  async function messageOf(lines: string, env: Env = {}, flags = {}): Promise<string> {
    const outcome = await settingsOf(lines, env, flags).catch((error: unknown) => error);
    if (!(outcome instanceof Error)) throw new Error('expected the settings to be rejected');
    return outcome.message;
  }

  describe('the table of settings', () => {
    it('gives each setting a key of its own, and none the key of the name', () => {
      const rows = Object.values(SETTINGS).filter(({ inFile }) => inFile !== false);
      expect(FILE_SETTINGS.size).to.equal(rows.length);
      for (const key of FILE_SETTINGS.keys()) {
        for (const part of key.split('.')) expect(part).to.match(NAME_PATTERN).and.not.to.equal('project');
      }
    });

    it('says of each list that commas separate its items', () => {
      for (const [key, { expected, list }] of FILE_SETTINGS)
        expect(/separated by commas|,host/.test(expected), key).to.equal(list === true);
    });

    it('resolves every path against the folder that it is given', () => {
      const paths = [...FILE_SETTINGS].filter(([, { value }]) => /^(FILE|DIR)S?$/.test(value));
      expect(paths.map(([key]) => key)).to.include.members(['data_dir', 'redis_tls_ca', 'linked_folders']);
      for (const [key, row] of paths)
        expect(JSON.stringify(row.parse('inner', '/srv/shop')), key).to.contain('/srv/shop/inner');
    });

    for (const [key, row] of FILE_SETTINGS)
      if (row.secret !== true && row.default !== '')
        it(`accepts the default of ${key}, and reports the file as its origin`, async () => {
          const name = Object.entries(SETTINGS).find(([, one]) => keyOf(one) === key)?.[0] as keyof Settings;
          const settings = await settingsOf(lineOf(key, row.default));
          const expected = row.parse(row.default, root);
          expect(settings[name]).to.deep.equal(expected);
          expect(settings.sources.origins).to.deep.include({ [name]: { kind: 'file', line: 2 } });
        });
  });

  describe('precedence', () => {
    it('prefers a flag, then the environment, then the file, then the default', async () => {
      expect((await settingsOf('port: 6000', { PORT: '7000' }, { port: '8000' })).port).to.equal(8000);
      expect((await settingsOf('port: 6000', { PORT: '7000' })).port).to.equal(7000);
      expect((await settingsOf('port: 6000')).port).to.equal(6000);
      expect((await settingsOf('')).port).to.equal(5001);
    });

    it('treats an empty variable as not set', async () => {
      expect((await settingsOf('port: 6000', { PORT: '' })).port).to.equal(6000);
    });

    it('can replace a text of the file with an empty flag, where empty is allowed', async () => {
      expect((await settingsOf('store: embedded', {}, { store: 'redis' })).store).to.equal('redis');
      expect(await messageOf('store: embedded', {}, { store: '' })).to.contain('--store is ""');
    });
  });

  it('is found in the folder that --project or MILLRACE_PROJECT names', async () => {
    root = await writeProject({ 'shop/millrace.yaml': 'project: shop\nport: 6000' });
    expect((await readSettings({ MILLRACE_PROJECT: join(root, 'shop') }, {})).port).to.equal(6000);
    expect((await readSettings({ MILLRACE_PROJECT: root }, { project: join(root, 'shop') })).port).to.equal(
      6000,
    );
    expect((await readSettings({ MILLRACE_PROJECT: root }, {})).port).to.equal(5001);
  });

  it('names the project; without the file, the folder does', async () => {
    expect((await settingsOf('')).sources.projectName).to.equal('shop');
    const folder = join(root, 'catalogue');
    await mkdir(folder);
    expect((await readSettings({}, { project: folder })).sources.projectName).to.equal('catalogue');
  });

  it('takes numbers, booleans, texts, lists, durations and sizes', async () => {
    const settings = await settingsOf(
      'store: embedded\nqueue_ms: 2s\ndrain_ms: 250\nresident_bytes: 64MB\nbody_memory: 1.5GB\nsync: True\nredis_tls_verify: "true"\n' +
        'redis_sentinel_username: 0123\nmodel_hosts: [models:8080, triton]\nresident: product,brand\n',
    );
    expect(settings).to.deep.include({
      queueMs: 2000,
      drainMs: 250,
      residentBytes: 64 * 1024 * 1024,
      bodyMemory: 1.5 * 1024 ** 3,
      sync: true,
      redisTlsVerify: true,
      redisSentinelUsername: '0123',
      resident: new Set(['product', 'brand']),
    });
    expect(settings.modelHosts.hosts.map(({ host }) => host)).to.deep.equal(['models', 'triton']);
  });

  it('takes the settings of a section as a mapping, and in no other form', async () => {
    const settings = await settingsOf('ledger:\n  keep: 7d\n  bytes: 1.5GB\n  dir: records\n');
    expect(settings).to.deep.include({ ledgerKeep: 7 * 86_400_000, ledgerBytes: 1.5 * 1024 ** 3 });
    expect(settings.ledgerDir).to.equal(join(root, 'records'));
    expect(settings.sources.origins.ledgerBytes).to.deep.equal({ kind: 'file', line: 4 });
    const helps = async (lines: string): Promise<(string | undefined)[]> =>
      (await load(`project: shop\n${lines}`)).diagnostics.map(({ message, help }) => help ?? message);
    expect(await helps('ledger_keep: 7d')).to.deep.equal([
      'write `keep` below `ledger`: `ledger: { keep: … }`',
    ]);
    expect(await helps('ledger.keep: 7d')).to.deep.equal([
      'write `keep` below `ledger`: `ledger: { keep: … }`',
    ]);
    expect(await helps('ledger: { kep: 7d }')).to.deep.equal(['did you mean `keep`?']);
    expect(await helps('ledger: 7d')).to.deep.equal([
      '`ledger`: expected a mapping with dir, keep, bytes, found the text 7d',
    ]);
    expect(await helps('ledger: { keep: 7 days }')).to.have.length(1);
  });

  it('keeps the ledger in the data folder by default', async () => {
    expect((await settingsOf('data_dir: data\n')).ledgerDir).to.equal(join(root, 'data', 'ledger'));
  });

  it('resolves relative paths from its own folder', async () => {
    const settings = await settingsOf(
      'data_dir: data\nlinked_folders: [../cache, /mnt]\nredis_tls: true\nredis_tls_ca: tls/ca.pem\n',
    );
    expect(settings.dataDir).to.equal(join(root, 'data'));
    expect(settings.redisTlsCa).to.equal(join(root, 'tls', 'ca.pem'));
    expect(settings.linkedFolders.folders).to.deep.equal([join(root, '..', 'cache'), '/mnt']);
  });

  it('takes values from environment variables', async () => {
    const settings = await settingsOf(
      'redis_url: redis://app:${PASSWORD}@${DB:-db}:6379\nport: ${A_PORT}\nqueue_ms: ${WAIT}',
      { PASSWORD: 'correct-horse', A_PORT: '6000', WAIT: '2s' },
    );
    expect(settings).to.include({
      redisUrl: 'redis://app:correct-horse@db:6379',
      port: 6000,
      queueMs: 2000,
    });
  });

  it('says that a variable is set but empty', async () => {
    const { diagnostics } = await load('project: shop\nstore: ${ENGINE}\n', { ENGINE: '' });
    expect(diagnostics.map(({ help }) => help)).to.deep.equal([
      'the variable is set but empty; set it, or give a default: ${ENGINE:-default}',
    ]);
  });

  describe('errors about settings name their origin', () => {
    it('for settings that contradict each other', async () => {
      expect(await messageOf('redis_url: redis://a\nredis_cluster: [b:7000]')).to.equal(
        'redis_url (millrace.yaml:2) and redis_cluster (millrace.yaml:3) are both set; set the one that fits your Redis',
      );
      expect(
        await messageOf('redis_cluster: [b]', { REDIS_SENTINELS: 'c', REDIS_SENTINEL_MASTER: 'm' }),
      ).to.equal(
        'redis_cluster (millrace.yaml:2) and REDIS_SENTINELS are both set; set the one that fits your Redis',
      );
      expect(await messageOf('redis_tls_ca: ca.pem')).to.equal(
        'redis_tls_ca (millrace.yaml:2) and the other TLS settings need TLS: REDIS_URL=rediss://… or REDIS_TLS=true',
      );
    });

    it('for two listeners on one port, and for hashes without a salt', async () => {
      expect(await messageOf('admin_port: 6001', { PORT: '6001' })).to.equal(
        'admin_port (millrace.yaml:2) and PORT are both 6001; the two listeners need different ports',
      );
      expect(await messageOf('hash_ids: [user]')).to.equal(
        'hash_ids (millrace.yaml:2) is set, but MILLRACE_ID_SALT is not; set it to a secret text, e.g. the output of `openssl rand -hex 16`',
      );
    });

    it('for limits that depend on each other', async () => {
      expect(await messageOf('body_memory: 2000000', { MILLRACE_MAX_UPLOAD_BYTES: '3000000' })).to.equal(
        'body_memory (millrace.yaml:2) is 2000000; expected at least MILLRACE_MAX_RANKING_BYTES, which is 2097152',
      );
    });

    it('for a value that the file overrides', async () => {
      expect(await messageOf('port: 6000', { PORT: 'http' })).to.contain(
        'PORT is "http"; expected a port number',
      );
    });
  });

  describe('secrets', () => {
    const CANARY = 'correct-horse';

    it('are refused as literals, also in an address and as the default of a variable', async () => {
      for (const line of [
        `redis_password: ${CANARY}`,
        `redis_password: 12345678`,
        `redis_password: a\${B}`,
        `redis_password: \${B:-${CANARY}}`,
        `redis_url: redis://app:${CANARY}@db`,
        `redis_url: redis://app:\${B}${CANARY}@db`,
        `redis_url: \${B:-redis://:${CANARY}@db}`,
        `redis_url: |-\n  redis://app:${CANARY}@db`,
      ]) {
        const { diagnostics } = await load(`project: shop\n${line}\n`, { B: 'b' });
        expect(
          diagnostics.map(({ code }) => code),
          line,
        ).to.deep.equal(['literal_secret']);
      }
    });

    it('may be an address without a password, and a variable', async () => {
      for (const line of [
        'redis_url: redis://db:6379/1',
        'redis_url: redis://app@db',
        'redis_url: redis://app:${B}@db',
        'redis_url: ${URL:-redis://db}',
        'redis_password: ${B}',
        'redis_password: ${C:-}',
      ])
        expect((await load(`project: shop\n${line}\n`, { B: 'b' })).diagnostics, line).to.deep.equal([]);
    });

    it('appear in no message, whatever is wrong around them', async () => {
      const written = [
        `redis_password: ${CANARY}`,
        `redis_password: "${CANARY}" more`,
        `redis_password: '${CANARY}`,
        `redis_password: !${CANARY}`,
        `redis_password: &${CANARY}`,
        `redis_password: *${CANARY}`,
        `redis_password: [${CANARY}`,
        `redis_password: {a: ${CANARY}}`,
        `redis_password: [${CANARY}]`,
        `redis_password: a #${CANARY} #${CANARY}`,
        `redis_password:${CANARY}`,
        `redis_password : ${CANARY}: x`,
        `"redis_password": ${CANARY}`,
        `redis_password: \${${CANARY}}`,
        `REDIS_PASSWORD: ${CANARY}`,
        `redis-password: ${CANARY}`,
        `redis_pasword: ${CANARY}`,
        `redis_url: redis://app:${CANARY}@db: x`,
        `redis_url: redi://app:${CANARY}@db`,
        `redis_url: "redis://app:${CANARY}@db`,
        `redis_url: app:${CANARY}@db`,
        `redis_urls: redis://app:${CANARY}@db`,
        `model_hosts: http://app:${CANARY}@models`,
        `redis: { password: ${CANARY} }`,
        `password: ${CANARY}`,
        `? redis_password\n: ${CANARY}`,
        `redis_password: >\n  ${CANARY}`,
        `redis_password: ${CANARY}\nredis_password: ${CANARY}`,
      ];
      for (const lines of written) {
        const { diagnostics } = await load(`project: shop\n${lines}\n`);
        const told = renderDiagnostics(diagnostics, { color: false, width: 100 });
        expect(diagnostics, lines).not.to.have.length(0);
        expect(told + JSON.stringify(diagnosticsJson(diagnostics)), lines).not.to.contain(CANARY);
      }
    });
  });

  describe('the file itself', () => {
    const codesOf = ({ diagnostics }: LoadedProjectFile): string[] =>
      diagnostics.map(({ code, message }) => `${code}: ${message}`);

    it('may be missing, also with its folder', async () => {
      root = await writeProject({});
      for (const folder of [root, join(root, 'none')]) {
        const { file, diagnostics } = await loadProjectFile(folder, {});
        expect(diagnostics).to.deep.equal([]);
        expect([file.name, file.settings.size, file.content]).to.deep.equal([undefined, 0, undefined]);
      }
    });

    it('is an error if it is empty or has only comments', async () => {
      expect(codesOf(await load(''))).to.deep.equal(['yaml_syntax: the file is empty']);
      expect(codesOf(await load('# later\n'))).to.deep.equal(['yaml_syntax: the file is empty']);
    });

    it('may start with a byte order mark and have Windows line ends', async () => {
      const { file, diagnostics } = await load('\ufeffproject: shop\r\nport: 6000\r\n');
      expect(diagnostics).to.deep.equal([]);
      expect([file.name, file.settings.get('port')]).to.deep.equal(['shop', { text: '6000', line: 2 }]);
    });

    it('is an error if it is a folder, or a link to nothing, or not UTF-8', async () => {
      root = await writeProject({ 'millrace.yaml/x': '' });
      expect(codesOf(await loadProjectFile(root, {}))).to.deep.equal([
        'missing_file: the file cannot be read: it is a folder',
      ]);
      await rm(join(root, 'millrace.yaml'), { recursive: true });
      await symlink('nowhere', join(root, 'millrace.yaml'));
      expect(codesOf(await loadProjectFile(root, {}))).to.deep.equal([
        'missing_file: the file cannot be read: it is a link whose target does not exist',
      ]);
      await rm(join(root, 'millrace.yaml'));
      await writeFile(join(root, 'millrace.yaml'), Buffer.from('project: caf\xe9', 'latin1'));
      expect(codesOf(await loadProjectFile(root, {}))).to.deep.equal([
        'yaml_syntax: the file is not encoded in UTF-8',
      ]);
    });

    for (const name of ['millrace.yml', 'Millrace.yaml'])
      it(`is not read as ${name}, and that is an error`, async () => {
        root = await writeProject({ [name]: 'project: shop' });
        const { diagnostics } = await loadProjectFile(root, {});
        expect(diagnostics.map(({ code, help }) => [code, help])).to.deep.equal([
          ['file_name', 'rename it to millrace.yaml'],
        ]);
      });

    it('gives the other settings to a check of the whole project if some are wrong', async () => {
      root = await writeProject({
        'millrace.yaml': 'project: shop\nport: 6000\nredis_sentinels: [a]\nredis_sentinel_mastr: main\n',
      });
      const { settings, diagnostics } = await checkSettings({}, { project: root });
      expect(diagnostics).to.have.length(1);
      expect(settings.port).to.equal(6000);
    });
  });

  describe('project.schema.json', () => {
    const schemaOf = async (): Promise<JsonObject> =>
      JSON.parse(await readFile(repositoryPath('schemas', 'project.schema.json'), 'utf8')) as JsonObject;
    const editor = async (): Promise<(text: string) => boolean> => {
      const validate = new Ajv2020({ strict: false }).compile(await schemaOf());
      return (text) => validate(parse(text));
    };

    it('compiles in strict mode and describes every key', async () => {
      const schema = await schemaOf();
      expect(() => compileSchema(schema)).not.to.throw();
      expect(Object.keys(schema.properties as JsonObject)).to.deep.equal([
        'project',
        'events',
        'plugins',
        'services',
        'time_zone',
        ...[...FILE_SETTINGS.keys()].filter((key) => !key.includes('.')),
        'ledger',
      ]);
    });

    it('accepts in an editor what Millrace accepts', async () => {
      const accepts = await editor();
      const sound = repositoryPath('test/unit/project/config/golden/settings-sound/millrace.yaml');
      expect(accepts(await readFile(sound, 'utf8'))).to.equal(true);
      expect(accepts(await readFile(repositoryPath('millrace.yaml'), 'utf8'))).to.equal(true);
      for (const [key, { default: otherwise, secret }] of FILE_SETTINGS)
        if (otherwise !== '' && secret !== true)
          expect(accepts(`project: shop\n${lineOf(key, otherwise)}`), key).to.equal(true);
    });

    it('rejects in an editor what Millrace rejects', async () => {
      const accepts = await editor();
      for (const line of [
        'prot: 1',
        'store: Embedded',
        'port: 70000',
        'queue_ms: 2 s',
        'sync: sometimes',
        'redis_password: literal',
        'prefix: [a]',
        'model_hosts: { a: b }',
      ]) {
        expect(accepts(`project: shop\n${line}`), line).to.equal(false);
        expect((await load(`project: shop\n${line}`)).diagnostics, line).to.have.length(1);
      }
      expect(accepts('store: embedded')).to.equal(false);
    });
  });

  it('is read without errors in this repository', async () => {
    const { file, diagnostics } = await loadProjectFile(repositoryPath(), {});
    expect(diagnostics).to.deep.equal([]);
    expect(file.name).to.equal('shop');
  });
});
