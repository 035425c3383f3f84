import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import { storeContract } from './store.js';

const folders: string[] = [];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-data-'));
  folders.push(folder);
  return folder;
}

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

storeContract('embedded', {
  start: () => Promise.resolve(),
  open: async () => openEmbeddedStore({ dataDir: await newFolder() }),
  stop: () => Promise.resolve(),
});

/** Starts a process that opens the folder's store and writes to it. */
function startWriter(folder: string): ChildProcess {
  const script = fileURLToPath(new URL('../support/embedded-writer.js', import.meta.url));
  return fork(script, [folder]);
}

async function failure(opening: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await opening.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error('expected a MillraceError');
  return error;
}

describe('the embedded store', () => {
  it('has its records after it is closed and opened again', async () => {
    const dataDir = join(await newFolder(), 'made', 'when', 'needed');
    const first = await openEmbeddedStore({ dataDir, sync: true });
    await first.write([
      { key: 'kept', value: Buffer.from([0, 255]) },
      { key: 'removed', value: Buffer.from('x') },
    ]);
    await first.remove(['removed']);
    await first.close();
    const second = await openEmbeddedStore({ dataDir });
    expect(await second.read(['kept', 'removed'])).to.deep.equal([Buffer.from([0, 255]), null]);
    await second.close();
  });

  it('finishes pending writes before it closes', async () => {
    const dataDir = await newFolder();
    const first = await openEmbeddedStore({ dataDir });
    const writes = Array.from({ length: 20 }, (_, i) =>
      first.write([{ key: `k${String(i)}`, value: Buffer.from(String(i)) }]),
    );
    await first.close();
    await Promise.all(writes);
    const second = await openEmbeddedStore({ dataDir });
    const found = await second.read(writes.map((_, i) => `k${String(i)}`));
    expect(found.map(String)).to.deep.equal(writes.map((_, i) => String(i)));
    await second.close();
  });

  it('has every acknowledged write after its process is killed', async () => {
    const dataDir = await newFolder();
    for (let round = 0; round < 3; round++) {
      const writer = startWriter(dataDir);
      let acknowledged = -1;
      writer.on('message', (message) => (acknowledged = Number(message)));
      while (acknowledged < 40) await once(writer, 'message');
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      const store = await openEmbeddedStore({ dataDir });
      const keys = Array.from({ length: acknowledged + 1 }, (_, i) => `n${String(i)}`);
      const found = await store.read(keys);
      expect(found.map((value) => value?.toString())).to.deep.equal(keys);
      await store.close();
    }
  });

  it('rejects a second process, and names the first', async () => {
    const dataDir = await newFolder();
    const writer = startWriter(dataDir);
    await once(writer, 'message');
    const error = await failure(openEmbeddedStore({ dataDir }));
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect(error.code).to.equal('data_folder_in_use');
    expect(error.message)
      .to.contain(`process ${String(writer.pid)}`)
      .and.to.contain('--url')
      .and.to.contain(dataDir);
    expect(error.extensions).to.deep.equal({ owner_pid: writer.pid });
  });

  it('cannot be opened twice by one process', async () => {
    const dataDir = await newFolder();
    const first = await openEmbeddedStore({ dataDir });
    const error = await failure(openEmbeddedStore({ dataDir }));
    await first.close();
    expect(error.code).to.equal('data_folder_in_use');
    expect(error.message).to.contain(`this process (${String(process.pid)})`);
    const again = await openEmbeddedStore({ dataDir });
    await again.close();
  });

  it('reports why a folder cannot be used', async () => {
    const file = join(await newFolder(), 'file');
    await writeFile(file, 'not a folder');
    const error = await failure(openEmbeddedStore({ dataDir: file }));
    expect(error.code).to.equal('invalid_setting');
    expect(error.message).to.contain(`${file} cannot be used: it is not a folder`);
  });
});
