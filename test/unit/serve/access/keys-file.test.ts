import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ApiKey } from '../../../../runtime/serve/access/api-key.js';
import { createKey, hashOfKey } from '../../../../runtime/serve/access/key-text.js';
import { changeKeys, keysText, parseKeys, readKeys } from '../../../../runtime/serve/access/keys-file.js';
import { SCOPE_NAMES } from '../../../../runtime/serve/access/scopes.js';
import { withFiles } from '../../../support/temporary-files.js';

const TIME = fc.integer({ min: 0, max: 4e12 });
const NAMES = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/), { maxLength: 3 });

/** Any key that a file may hold; `optional` members are there or not. */
const anyKey: fc.Arbitrary<ApiKey> = fc
  .record(
    {
      scopes: fc.subarray([...SCOPE_NAMES]),
      name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/),
      created: TIME,
      pipelines: NAMES,
      entityTypes: NAMES,
      rate: fc.record({
        requests: fc.integer({ min: 1, max: 1e6 }),
        seconds: fc.integer({ min: 1, max: 86_400 }),
      }),
      expires: TIME,
      revoked: TIME,
    },
    { requiredKeys: ['scopes', 'name', 'created'] },
  )
  .map((members) => {
    const { id, text } = createKey();
    return { ...members, id, hash: hashOfKey(text) };
  });

function keyOf(name: string): ApiKey {
  const { id, text } = createKey();
  return { id, name, hash: hashOfKey(text), scopes: ['rank'], created: 0 };
}

describe('a keys file', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 4 }), (keys) => {
        expect(parseKeys(Buffer.from(keysText(keys)))).to.deep.equal(keys);
      }),
    );
  });

  it('cut anywhere, is refused as a whole', () => {
    const text = keysText([keyOf('a'), keyOf('b')]).trimEnd();
    for (let length = 0; length < text.length; length++)
      expect(() => parseKeys(Buffer.from(text.slice(0, length))), String(length))
        .to.throw()
        .with.property('code', 'keys_damaged');
  });

  const key = { ...keyOf('web') };
  const entry = (over: object): string => {
    const file = JSON.parse(keysText([key])) as { keys: object[] };
    return JSON.stringify({ ...file, keys: [{ ...file.keys[0], ...over }] });
  };
  const MISTAKES: readonly [text: string, message: string][] = [
    ['[]', 'the file holds a list; expected an object'],
    ['{"version":2,"keys":[]}', 'version is a number; expected 1'],
    ['{"version":1,"keys":{}}', 'keys is an object; expected a list'],
    ['{"version":1,"key":[]}', 'key is no member of it; did you mean keys?'],
    ['{"version":1,"keys":[7]}', 'keys[0] is a number; expected an object'],
    [entry({ scope: [] }), 'keys[0].scope is no member of it; did you mean scopes?'],
    [
      entry({ scopes: ['rank', 'rnak'] }),
      `keys[0].scopes[1] is "rnak"; expected one of ${SCOPE_NAMES.join(', ')}`,
    ],
    [entry({ hash: 'md5:00' }), 'keys[0].hash is "md5:00"; expected `sha256:` and 64 hex digits'],
    [entry({ hash: createKey().text }), 'keys[0].hash is a key; expected `sha256:` and 64 hex digits'],
    [entry({ expires: 'soon' }), 'keys[0].expires is "soon"; expected a date and time of ISO 8601'],
    [entry({ rate: '5' }), 'keys[0].rate is "5"; expected a rate such as 100/s, 600/m or 5000/12h'],
    [entry({ pipelines: 'search' }), 'keys[0].pipelines is a string; expected a list'],
    [entry({ id: 7 }), 'keys[0].id is a number; expected 8 letters or digits'],
    [keysText([key, { ...keyOf('other'), id: key.id }]), 'keys[0] and keys[1] have the same id'],
    [keysText([key, { ...keyOf('other'), hash: key.hash }]), 'keys[0] and keys[1] have the same hash'],
  ];
  for (const [text, message] of MISTAKES)
    it(`says: ${message}`, () => {
      expect(() => parseKeys(Buffer.from(text)))
        .to.throw(message)
        .with.property('code', 'keys_damaged');
    });

  it('is created for its owner alone, and replaced as a whole', () =>
    withFiles({}, async (root) => {
      const file = join(root, 'keys.json');
      await changeKeys(file, (keys) => [...keys, keyOf('a')]);
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      await chmod(file, 0o644);
      const before = (await stat(file)).ino;
      await changeKeys(file, (keys) => [...keys, keyOf('b')]);
      const after = await stat(file);
      expect(after.mode & 0o777).to.equal(0o600);
      expect(after.ino).not.to.equal(before);
      expect((await readKeys(file)).map(({ name }) => name)).to.deep.equal(['a', 'b']);
      expect(await readdir(root)).to.deep.equal(['keys.json']);
    }));

  it('keeps every change of commands that run at the same time', () =>
    withFiles({}, async (root) => {
      const file = join(root, 'keys.json');
      const names = Array.from({ length: 12 }, (_, i) => `k${i}`);
      await Promise.all(names.map((name) => changeKeys(file, (keys) => [...keys, keyOf(name)])));
      expect((await readKeys(file)).map(({ name }) => name)).to.have.members(names);
    }));

  it('stays behind a link to it', () =>
    withFiles({}, async (root) => {
      const [file, link] = [join(root, 'real.json'), join(root, 'keys.json')];
      await changeKeys(file, () => [keyOf('a')]);
      await symlink(file, link);
      await changeKeys(link, (keys) => [...keys, keyOf('b')]);
      expect((await readKeys(file)).map(({ name }) => name)).to.deep.equal(['a', 'b']);
      expect((await readdir(root)).sort()).to.deep.equal(['keys.json', 'real.json']);
    }));

  it('is not touched if it is damaged', () =>
    withFiles({ 'keys.json': '{"version":1,' }, async (root) => {
      const file = join(root, 'keys.json');
      const failed = await changeKeys(file, () => []).catch((error: unknown) => error);
      expect(failed).to.have.property('code', 'keys_damaged');
      expect(await readFile(file, 'utf8')).to.equal('{"version":1,');
      expect(await readdir(root)).to.deep.equal(['keys.json']);
      await writeFile(file, '');
    }));
});
