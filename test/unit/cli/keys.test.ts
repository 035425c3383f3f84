import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashOfKey, keyTextProblem } from '../../../runtime/serve/access/key-text.js';
import { ROLES } from '../../../runtime/serve/access/scopes.js';
import { readKeys } from '../../../runtime/serve/access/keys-file.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { withFiles } from '../../support/temporary-files.js';

type Run = (...argv: readonly string[]) => Promise<CommandResult>;

/** Runs commands with a keys file of their own. */
function withKeysFile(
  use: (run: Run, file: string) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  return withFiles(files, async (root) => {
    const file = join(root, 'keys.json');
    const run: Run = (verb = '', ...argv) => {
      const project = verb === 'create' ? ['--project', root] : [];
      return millrace(['keys', verb, ...argv, ...project], { env: { MILLRACE_KEYS: file } });
    };
    await use(run, file);
  });
}

describe('millrace keys', () => {
  it('creates a key, prints it once and stores its hash alone', () =>
    withKeysFile(async (run, file) => {
      const { code, stdout, stderr } = await run('create', 'web', '--scope', 'rank,explain');
      const text = stdout.trimEnd();
      expect([code, stdout, keyTextProblem(text)]).to.deep.equal([0, `${text}\n`, undefined]);
      expect(stderr).to.contain(text.slice(3, 11)).and.contain(file).and.not.contain(text.slice(12));
      expect(await readFile(file, 'utf8')).not.to.contain(text.slice(12));
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      const [key] = await readKeys(file);
      expect(key).to.deep.include({ name: 'web', scopes: ['rank', 'explain'] });
      expect(Object.keys(key ?? {})).to.have.members(['id', 'name', 'hash', 'scopes', 'created']);
    }));

  it('stores what a key may do, and prints it as JSON', () =>
    withKeysFile(async (run, file) => {
      const limits = ['--pipeline', 'search', '--pipeline', 'related,similar', '--entity-type', 'product'];
      const { stdout } = await run(
        ...['create', 'shop.web', '--scope', 'rank', '--scope', 'entities:read', ...limits],
        ...['--rate', '600/m', '--expires', '30d', '--json'],
      );
      const { key, ...shown } = JSON.parse(stdout) as Record<string, unknown> & {
        key: string;
        expires: string;
      };
      expect(keyTextProblem(key)).to.equal(undefined);
      expect(shown).to.deep.include({
        id: key.slice(3, 11),
        name: 'shop.web',
        scopes: ['rank', 'entities:read'],
        pipelines: ['search', 'related', 'similar'],
        entity_types: ['product'],
        rate: '600/m',
      });
      expect(Date.parse(shown.expires) - Date.now()).to.be.closeTo(30 * 86_400_000, 60_000);
      const [stored] = await readKeys(file);
      expect(stored?.rate).to.deep.equal({ requests: 600, seconds: 60 });
      expect(stdout).not.to.contain('hash');
    }));

  it('lists keys with their states, within 80 columns', () =>
    withKeysFile(async (run) => {
      await run(
        'create',
        'web',
        '--scope',
        'rank',
        '--pipeline',
        'search',
        '--rate',
        '100/s',
        '--expires',
        '2100-01-31',
      );
      await run(
        'create',
        'catalogue-import-of-the-northern-warehouses',
        '--scope',
        'entities:write,entities:read,features,feedback,metrics',
      );
      await run('revoke', 'web');
      const { code, stdout } = await run('list');
      expect(code).to.equal(0);
      for (const line of stdout.split('\n')) expect(Array.from(line).length, line).to.be.at.most(80);
      expect(stdout).to.match(/^\w{8} {2}web +revoked \d{4}-\d\d-\d\d {2}rank; pipelines: search; 100\/s$/m);
      expect(stdout).to.match(/catalogue-import-… {2}valid /);
      expect(stdout.replace(/\s+/g, ' ')).to.contain('feedback,');
      const json = JSON.parse((await run('list', '--json')).stdout) as { name: string; state: string }[];
      expect(json.map(({ state }) => state)).to.deep.equal(['revoked', 'valid']);
    }));

  it('invites a person: prints a link, stores the hash of its fragment, and lists the invitation', () =>
    withKeysFile(async (run, file) => {
      const where = ['--address', 'https://rank.example/'];
      const { code, stdout, stderr } = await run('invite', 'anna', '--role', 'merchandiser', ...where);
      const [, text = ''] = /^https:\/\/rank\.example\/session#(mr_\w+)\n$/.exec(stdout) ?? [];
      expect([code, keyTextProblem(text)]).to.deep.equal([0, undefined]);
      expect(stderr).to.match(/^invitation \w{8} of anna written to .*; its link works once, until .*Z\n$/);
      const [key] = await readKeys(file);
      expect(key).to.deep.include({
        name: 'anna',
        scopes: ROLES.merchandiser,
        invites: true,
      });
      expect(key?.hash.equals(hashOfKey(text))).to.equal(true);
      expect((key?.expires ?? 0) - Date.now()).to.be.closeTo(7 * 86_400_000, 60_000);
      expect((await run('list')).stdout).to.match(/anna +invited to \d{4}-\d\d-\d\d +explain/);
      const here = await run('invite', 'ben', '--role', 'operator', '--json');
      expect(JSON.parse(here.stdout)).to.deep.include({ name: 'ben', invites: true, scopes: ROLES.operator });
      expect(here.stdout).to.match(/"link": ?"http:\/\/127\.0\.0\.1:5001\/session#mr_/);
      expect((await run('invite', 'ben', '--role', 'boss')).stderr).to.contain(
        'merchandiser, scientist, judge, operator',
      );
    }));

  it('rotates: two keys of one name, of which one is revoked by its id', () =>
    withKeysFile(async (run, file) => {
      const old = (await run('create', 'web', '--scope', 'rank')).stdout.slice(3, 11);
      await run('create', 'web', '--scope', 'rank');
      const ambiguous = await run('revoke', 'web');
      expect(ambiguous.code).to.equal(1);
      expect(ambiguous.stderr).to.contain('web has 2 keys').and.contain(old);
      expect((await run('revoke', old)).stdout).to.equal(`key ${old} of web is revoked\n`);
      expect((await readKeys(file)).map(({ revoked }) => revoked !== undefined)).to.deep.equal([true, false]);
      expect((await run('revoke', old)).stderr).to.contain('is revoked already');
      const last = JSON.parse((await run('revoke', 'web', '--json')).stdout) as Record<string, unknown>;
      expect(last).to.include({ name: 'web', state: 'revoked' });
    }));

  it('suggests the key, the scope and the project’s names that are meant', () =>
    withKeysFile(
      async (run) => {
        await run('create', 'storefront', '--scope', 'rank');
        expect((await run('revoke', 'storefrnot')).stderr).to.contain('did you mean storefront?');
        const wrong = await run('create', 'web', '--scope', 'rnak');
        expect([wrong.code, wrong.stderr.includes('Did you mean rank?')]).to.deep.equal([2, true]);
        const warned = await run(
          'create',
          'web',
          '--scope',
          'rank',
          '--pipeline',
          'plian',
          '--entity-type',
          'prodct',
        );
        expect(warned.code).to.equal(0);
        expect(warned.stderr).to.contain('warning: the project has no pipeline plian; did you mean plain?');
        expect(warned.stderr).to.contain(
          'warning: the project has no entity type prodct; did you mean product?',
        );
      },
      {
        'pipelines/plain.yaml':
          'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
      },
    ));

  for (const argv of [
    ['web'],
    ['web', '--scope', ''],
    ['web;rm', '--scope', 'rank'],
    ['web', '--scope', 'rank', '--rate', 'fast'],
    ['web', '--scope', 'rank', '--expires', '1999-01-01'],
    ['web', '--scope', 'rank', '--expires', 'soon'],
    ['web', '--scope', 'rank', '--pipeline', 'Not A Name'],
  ])
    it(`refuses create ${argv.join(' ')}`, () =>
      withKeysFile(async (run, file) => {
        expect((await run('create', ...argv)).code).to.equal(2);
        expect(await readKeys(file).catch(() => 'none')).to.equal('none');
      }));

  it('says what to set if no file is named, and what is wrong with a damaged one', () =>
    withKeysFile(async (run, file) => {
      const unset = await millrace(['keys', 'list']);
      expect([unset.code, unset.stderr]).to.deep.equal([
        2,
        'error: no keys file is set; set MILLRACE_KEYS, or add --keys-file FILE\n',
      ]);
      expect((await millrace(['keys', 'list', '--keys-file', file])).stderr).to.contain(
        'error[keys_missing]',
      );
      await writeFile(file, '{"version":1,"keys":[7]}');
      for (const argv of [['list'], ['revoke', 'web'], ['create', 'web', '--scope', 'rank']])
        expect((await run(...argv)).stderr).to.contain(
          'error[keys_damaged]: keys[0] is a number; expected an object',
        );
    }));

  it('says who holds the lock, and what a folder lacks', function () {
    this.timeout(20_000);
    return withKeysFile(async (run, file) => {
      const nowhere = join(file, '..', 'no', 'keys.json');
      const failed = await millrace(['keys', 'create', 'web', '--scope', 'rank', '--keys-file', nowhere]);
      expect([failed.code, failed.stderr.includes('cannot be written (ENOENT)')]).to.deep.equal([1, true]);
      await writeFile(`${file}.lock`, '');
      const locked = await run('create', 'web', '--scope', 'rank');
      expect([locked.code, locked.stderr.includes(`delete ${file}.lock`)]).to.deep.equal([1, true]);
      expect(await readdir(join(file, '..'))).to.deep.equal(['keys.json.lock']);
    });
  });
});
