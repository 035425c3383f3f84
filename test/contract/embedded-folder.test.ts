import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import type { Store } from '../../runtime/state/store/store.js';
import { folderSize } from '../support/folder-size.js';
import { itWith } from '../support/needs.js';
import type { Attempt } from '../support/full-disk-writer.js';

const script = (name: string): string => fileURLToPath(new URL(`../support/${name}`, import.meta.url));

async function failure(opening: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await opening.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error(`expected a MillraceError, got ${String(error)}`);
  return error;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

describe('the data folder of the embedded store', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'millrace-folder-'));
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true, force: true });
  });

  const openOnce = async (use?: (store: Store) => Promise<void>): Promise<void> => {
    const store = await openEmbeddedStore({ dataDir });
    await use?.(store);
    await store.close();
  };
  const records = (count: number, size = 200): { key: string; value: Buffer }[] =>
    Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: Buffer.alloc(size, `${i} `) }));

  describe('its owner', () => {
    it('is the next process after a crash, even if another process has the pid in the stale file', async () => {
      const writer = fork(script('embedded-writer.js'), [dataDir]);
      await once(writer, 'message');
      await kill(writer);
      expect(await readFile(join(dataDir, 'owner.pid'), 'utf8')).to.contain(String(writer.pid));
      await openOnce();
      // Simulates that the system reused the number for another program: the parent of this process.
      await writeFile(join(dataDir, 'owner.pid'), `${process.ppid}\n`);
      await openOnce();
      expect(await readdir(dataDir)).not.to.include('owner.pid');
    });

    itWith('Linux', 'is the process that holds the lock, not the one in a stale file', async () => {
      const writer = fork(script('embedded-writer.js'), [dataDir]);
      try {
        await once(writer, 'message');
        for (const stale of ['999999999\n', `${process.ppid}\n`, '', 'not a number']) {
          await writeFile(join(dataDir, 'owner.pid'), stale);
          const error = await failure(openEmbeddedStore({ dataDir }));
          expect(error.code).to.equal('data_folder_in_use');
          expect(error.message).to.contain(`process ${String(writer.pid)}.`);
        }
      } finally {
        await kill(writer);
      }
    });

    it('includes the machine if several machines share the folder', async () => {
      const store = await openEmbeddedStore({ dataDir });
      await writeFile(join(dataDir, 'owner.pid'), '17\nanother-machine\n');
      const error = await failure(openEmbeddedStore({ dataDir }));
      expect(error.message).to.contain('process 17 on another-machine');
      await store.close();
    });
  });

  describe('its size', () => {
    it('depends on the current content, not on everything that was ever written', async function () {
      this.timeout(60_000);
      const size = 100_000;
      const noise = (): Buffer => {
        const bytes = Buffer.allocUnsafe(size);
        for (let at = 0; at < size; at += 4) bytes.writeUInt32LE(Math.floor(Math.random() * 2 ** 32), at);
        return bytes;
      };
      const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
      const store = await openEmbeddedStore({ dataDir });
      for (let round = 0; round < 50; round++)
        await store.write(keys.map((key) => ({ key, value: noise() })));
      await store.close();
      // 200 MB were written, and 4 MB are live.
      expect(await folderSize(dataDir)).to.be.lessThan(80e6);
      await openOnce(async (again) => {
        expect((await again.read(keys)).every((value) => value?.length === size)).to.equal(true);
        for (let round = 0; round < 10; round++) {
          await again.write(keys.map((key) => ({ key, value: noise() })));
          await again.remove(keys);
        }
      });
      expect(await folderSize(dataDir)).to.be.lessThan(80e6);
    });
  });

  describe('a full disk', () => {
    itWith('bash', 'fails writes until there is space, and loses no acknowledged write', async function () {
      this.timeout(60_000);
      // No file of this process may exceed 2 MB: a larger write is truncated, as on a full disk.
      const limited = ['-c', 'ulimit -S -f 2048; exec "$0" "$@"'];
      const writer = spawn('bash', [...limited, process.execPath, script('full-disk-writer.js'), dataDir], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const acknowledged = new Map<string, number>();
      let failed = 0;
      let afterwards = 0;
      writer.on('message', (attempt: Attempt) => {
        if (attempt.error === undefined) {
          acknowledged.set(attempt.key, attempt.number);
          if (failed > 0) afterwards += 1;
        } else {
          failed += 1;
          expect(attempt.error).to.contain('could not write').and.to.contain(dataDir);
        }
        expect(attempt.holds).to.deep.equal(acknowledged.get(attempt.key) ?? NaN);
      });
      while (failed < 3 || afterwards < 50) await once(writer, 'message');
      await kill(writer);
      await openOnce(async (store) => {
        for (const [key, number] of acknowledged) {
          const [value] = await store.read([key]);
          // When the process was killed, later acknowledgements may not have arrived here.
          expect(value?.readDoubleLE(0)).to.be.at.least(number);
        }
      });
    });
  });

  describe('a read-only folder', () => {
    it('is reported', async function () {
      await chmod(dataDir, 0o555);
      // Root can write anywhere, so the test switches to another user.
      const isRoot = process.getuid?.() === 0;
      if (isRoot) process.seteuid?.(65_534);
      try {
        const error = await failure(openEmbeddedStore({ dataDir: join(dataDir, 'data') }));
        expect(error.code).to.equal('invalid_setting');
        expect(error.message)
          .to.contain(dataDir)
          .and.to.match(/permission denied/i);
        expect(error.message).to.contain('MILLRACE_DATA_DIR');
      } finally {
        if (isRoot) process.seteuid?.(0);
        await chmod(dataDir, 0o755);
      }
    });
  });

  describe('damage', () => {
    /** Overwrites bytes in the middle of each file with this ending. */
    async function scribble(ending: string, length: number, fill: string): Promise<number> {
      const folder = join(dataDir, 'records');
      const files = (await readdir(folder)).filter((name) => name.endsWith(ending));
      for (const name of files) {
        const file = await open(join(folder, name), 'r+');
        const { size } = await file.stat();
        await file.write(Buffer.alloc(Math.min(length, size), fill), 0, undefined, Math.floor(size / 3));
        await file.close();
      }
      return files.length;
    }

    /** Makes LevelDB write its whole log to tables. */
    async function toTables(): Promise<void> {
      const database = new ClassicLevel(join(dataDir, 'records'));
      await database.open();
      await database.compactRange('', '\u{10ffff}');
      await database.close();
    }

    const isTold = async (): Promise<void> => {
      const before = await folderSize(join(dataDir, 'records'));
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await failure(openEmbeddedStore({ dataDir }));
        expect(error.code).to.equal('data_folder_damaged');
        expect(error.message).to.contain(dataDir);
      }
      expect(before).to.be.greaterThan(0);
    };

    it('is reported: changed bytes of a table', async () => {
      await openOnce((store) => store.write(records(2000)));
      await toTables();
      expect(await scribble('.ldb', 8, 'damaged!')).to.be.greaterThan(0);
      await isTold();
    });

    it('is reported: a missing part in the middle of the log', async () => {
      await openOnce(async (store) => {
        for (const record of records(2000)) await store.write([record]);
      });
      expect(await scribble('.log', 5000, '\u0000')).to.be.greaterThan(0);
      await isTold();
    });

    it('is reported: a missing table', async () => {
      await openOnce((store) => store.write(records(2000)));
      await toTables();
      for (const name of await readdir(join(dataDir, 'records')))
        if (name.endsWith('.ldb')) await rm(join(dataDir, 'records', name));
      await isTold();
    });

    it('is reported: a missing record', async () => {
      await openOnce((store) => store.write(records(100)));
      const database = new ClassicLevel(join(dataDir, 'records'));
      await database.open();
      await database.del('k7');
      await database.close();
      const error = await failure(openEmbeddedStore({ dataDir }));
      expect(error.message).to.contain('should have 100 records but has 99');
    });

    it('is reported: an invalid manifest', async () => {
      await openOnce((store) => store.write(records(100)));
      await toTables();
      const folder = join(dataDir, 'records');
      for (const name of await readdir(folder))
        if (name.startsWith('MANIFEST')) await writeFile(join(folder, name), 'nothing of use');
      const error = await failure(openEmbeddedStore({ dataDir }));
      expect(error.code).to.be.oneOf(['data_folder_damaged', 'invalid_setting']);
      expect(error.message).to.contain(dataDir);
    });
  });

  describe('erase', () => {
    /** Texts that neither LevelDB's prefix compression nor Snappy splits. */
    const random = (): string => randomBytes(24).toString('base64').replace(/\W/g, 'x');
    const idsOf = (count: number): string[] => Array.from({ length: count }, random);
    const keyOf = (id: string): string => `millrace:entity:user:${id}`;
    const valueOf = (id: string): Buffer => Buffer.from(`value of ${id}`);

    /** How many of the texts occur in any file of the folder. */
    const foundOf = async (texts: readonly string[]): Promise<number> => {
      const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      );
      const bytes = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
      return texts.filter((text) => bytes.some((file) => file.includes(text.slice(8)))).length;
    };

    const store = async (opened: Store, ids: readonly string[]): Promise<void> =>
      opened.write(ids.map((id) => ({ key: keyOf(id), value: valueOf(id) })));

    it('leaves no byte of removed records in any file, whether they were in the log or in tables', async () => {
      const [inTables, inLog, kept] = [idsOf(300), idsOf(300), idsOf(50)];
      await openOnce((opened) => store(opened, inTables)); // the next opening writes the log to a table
      await openOnce(async (opened) => {
        await store(opened, [...inLog, ...kept]);
        await opened.remove([...inTables, ...inLog].map(keyOf));
        expect(await foundOf(inTables), 'before').to.be.greaterThan(290);
        expect(await foundOf(inLog), 'before').to.be.greaterThan(290);
        expect(await opened.erase()).to.deep.equal({ files: 'rewritten', copies: [] });
        expect(await foundOf([...inTables, ...inLog]), 'after').to.equal(0);
        await store(opened, [inLog[0] ?? '']);
      });
      await openOnce(async (opened) => {
        const values = await opened.read([...kept, inLog[0] ?? ''].map(keyOf));
        expect(values.map(String)).to.deep.equal([...kept, inLog[0] ?? ''].map((id) => String(valueOf(id))));
        expect(await opened.read([keyOf(inTables[0] ?? '')])).to.deep.equal([null]);
      });
    });

    it('keeps every write that arrives meanwhile, and scans continue', async () => {
      const ids = idsOf(4000);
      const added: string[] = [];
      await openOnce(async (opened) => {
        await opened.write(ids.map((id) => ({ key: keyOf(id), value: Buffer.alloc(4000, id) })));
        const work = { isOver: false };
        const erasing = Promise.all([opened.erase(), opened.erase()]).finally(() => (work.isOver = true));
        const scanned = new Set<string>();
        const scanning = (async () => {
          let cursor: string | undefined;
          do {
            const page = await opened.scan('millrace:entity:user:', cursor, 100);
            for (const key of page.keys) scanned.add(key);
            cursor = page.cursor;
          } while (cursor !== undefined);
        })();
        while (!work.isOver) {
          const id = random();
          await store(opened, [id]);
          added.push(id);
          await opened.remove([keyOf(ids[added.length] ?? '')]);
        }
        await erasing;
        await scanning;
        expect(scanned.has(keyOf(ids.at(-1) ?? ''))).to.equal(true);
      });
      await openOnce(async (opened) => {
        expect(added.length).to.be.greaterThan(0);
        expect((await opened.read(added.map(keyOf))).map(String)).to.deep.equal(
          added.map((id) => String(valueOf(id))),
        );
        const gone = ids.slice(1, 1 + added.length);
        expect((await opened.read(gone.map(keyOf))).filter((value) => value !== null)).to.deep.equal([]);
        expect((await opened.read([keyOf(ids.at(-1) ?? '')]))[0]?.length).to.equal(4000);
      });
    });

    it('finishes a replacement that a crash interrupted between its renames', async () => {
      await openOnce((opened) => store(opened, ['kept']));
      await cp(join(dataDir, 'records'), join(dataDir, 'records.rewritten'), { recursive: true });
      await rename(join(dataDir, 'records'), join(dataDir, 'records.erased'));
      await openOnce(async (opened) => {
        expect((await opened.read([keyOf('kept')])).map(String)).to.deep.equal([String(valueOf('kept'))]);
      });
      expect((await readdir(dataDir)).sort()).to.deep.equal(['records']);
    });

    it('deletes an unfinished new database, and names the copies that a repair left', async () => {
      await openOnce((opened) => store(opened, ['kept']));
      await cp(join(dataDir, 'records'), join(dataDir, 'records.rewritten'), { recursive: true });
      await cp(join(dataDir, 'records'), join(dataDir, 'records.damaged-2026'), { recursive: true });
      await openOnce(async (opened) => {
        const copies = [join(dataDir, 'records.damaged-2026')];
        expect(await opened.erase()).to.deep.equal({ files: 'rewritten', copies });
      });
      expect((await readdir(dataDir)).sort()).to.deep.equal(['records', 'records.damaged-2026']);
    });
  });
});
