import { expect } from 'chai';
import { checkExposure, keysFileOf } from '../../../../runtime/serve/access/exposure.js';
import { loadSettings } from '../../../../runtime/project/settings/settings.js';

async function problem(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  return checkExposure(loadSettings(env)).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}

describe('an address to listen on', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', '::ffff:127.0.0.1'])
    it(`needs no keys if it is ${host}`, async () => {
      expect(await problem({ HOST: host })).to.equal(undefined);
    });

  for (const host of ['0.0.0.0', '::', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1%lo', '0'])
    it(`needs keys, or MILLRACE_AUTH=none, if it is ${host}`, async () => {
      const message = await problem({ HOST: host });
      expect(message).to.contain(`HOST is ${host}`);
      expect(message).to.contain('MILLRACE_KEYS').and.contain('MILLRACE_AUTH=none');
      expect(await problem({ HOST: host, MILLRACE_AUTH: 'none' })).to.equal(undefined);
      expect(await problem({ HOST: host, MILLRACE_KEYS: 'keys.json' })).to.equal(undefined);
      expect(await problem({ HOST: host, MILLRACE_KEYS: 'keys.json', MILLRACE_AUTH: 'keys' })).to.equal(
        undefined,
      );
    });

  it('is refused if keys are wanted and no file is named', async () => {
    expect(await problem({ MILLRACE_AUTH: 'keys' })).to.contain('MILLRACE_KEYS is not set');
  });

  it('is served without keys if MILLRACE_AUTH=none, although a file is named', () => {
    expect(keysFileOf(loadSettings({ MILLRACE_KEYS: '/keys.json', MILLRACE_AUTH: 'none' }))).to.equal(
      undefined,
    );
    expect(keysFileOf(loadSettings({ MILLRACE_KEYS: '/keys.json' }))).to.equal('/keys.json');
  });
});
