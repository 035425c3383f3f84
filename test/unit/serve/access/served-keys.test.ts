import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import type { ApiKey } from '../../../../runtime/serve/access/api-key.js';
import { createKey, hashOfKey } from '../../../../runtime/serve/access/key-text.js';
import { keysText } from '../../../../runtime/serve/access/keys-file.js';
import { ServedKeys } from '../../../../runtime/serve/access/served-keys.js';
import { until } from '../../../support/served-project.js';
import { withFiles } from '../../../support/temporary-files.js';

function newKey(name: string): { readonly key: ApiKey; readonly text: string } {
  const { id, text } = createKey();
  return { key: { id, name, hash: hashOfKey(text), scopes: ['rank'], created: 0 }, text };
}

describe('the keys in service', () => {
  const [old, next] = [newKey('old'), newKey('next')];

  async function withKeys(
    use: (served: ServedKeys, file: string, log: () => readonly string[]) => Promise<void>,
  ): Promise<void> {
    await withFiles({ 'keys.json': keysText([old.key]) }, async (root) => {
      const file = join(root, 'keys.json');
      const served = await ServedKeys.open(file);
      const lines: string[] = [];
      const logger = pino({}, { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) });
      served.watch(logger, 5);
      try {
        await use(served, file, () => lines);
      } finally {
        served.stop();
      }
    });
  }

  it('follow the file', () =>
    withKeys(async (served, file, log) => {
      expect(served.find(old.text)?.name).to.equal('old');
      await writeFile(`${file}.new`, keysText([next.key]));
      await rename(`${file}.new`, file);
      await until(() => served.find(next.text) !== undefined);
      expect(served.find(old.text)).to.equal(undefined);
      expect(log()).to.deep.equal(['the keys were read again']);
    }));

  for (const [what, spoil, message] of [
    ['damaged', (file: string) => writeFile(file, '{"version":1,"keys":['), 'the keys file is damaged'],
    ['gone', (file: string) => rm(file), 'the keys file is gone'],
    ['empty', (file: string) => writeFile(file, ''), 'the keys file is damaged'],
  ] as const)
    it(`stay as they were while the file is ${what}, and say so once`, () =>
      withKeys(async (served, file, log) => {
        await spoil(file);
        await until(() => served.isDamaged);
        await served.look();
        await served.look();
        expect(served.find(old.text)?.name).to.equal('old');
        expect(served.warnings()).to.have.length(1);
        expect(served.warnings()[0]?.detail).to.contain('the keys read before stay in service');
        expect(log()).to.have.length(1);
        expect(log()[0]).to.contain(message);
        await writeFile(`${file}.new`, keysText([old.key]));
        await rename(`${file}.new`, file);
        await until(() => !served.isDamaged);
        expect(served.warnings()).to.deep.equal([]);
        expect(served.find(old.text)?.name).to.equal('old');
      }));

  it('do not report a file that is half written for a moment', () =>
    withFiles({ 'keys.json': keysText([old.key]) }, async (root) => {
      const file = join(root, 'keys.json');
      const served = await ServedKeys.open(file);
      const text = keysText([next.key]);
      await writeFile(file, text.slice(0, 40));
      await served.look();
      expect(served.isDamaged).to.equal(false);
      await writeFile(file, text);
      await served.look();
      expect([served.isDamaged, served.find(next.text)?.name]).to.deep.equal([false, 'next']);
    }));

  it('are not served from a file that is damaged or missing at the start', () =>
    withFiles({ 'keys.json': '{' }, async (root) => {
      const code = async (name: string): Promise<unknown> =>
        ServedKeys.open(join(root, name)).then(
          () => undefined,
          (error: unknown) => (error as { code?: unknown }).code,
        );
      expect(await code('keys.json')).to.equal('keys_damaged');
      expect(await code('none.json')).to.equal('keys_missing');
    }));
});
