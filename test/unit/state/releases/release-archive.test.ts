import { expect } from 'chai';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import {
  isReleasePath,
  packFiles,
  ReleaseDamagedError,
  unpackFiles,
} from '../../../../runtime/state/releases/release-archive.js';

const FILES = [
  { path: 'pipelines/a.yaml', content: Buffer.from('pipeline: a\n') },
  { path: 'models/m.txt', content: Buffer.alloc(100_000, 7) },
  { path: 'empty', content: Buffer.alloc(0) },
];

const refused = async (packed: Buffer, bytes: number, sha256: string): Promise<string> => {
  try {
    await unpackFiles(packed, { bytes, sha256 });
    return '';
  } catch (error) {
    expect(error).to.be.instanceOf(ReleaseDamagedError);
    return (error as Error).message;
  }
};

/** Packs an archive again after a change, with the hash of the changed one. */
async function changed(change: (archive: Buffer) => Buffer): Promise<string> {
  const { packed, bytes } = await packFiles(FILES);
  const again = gzipSync(change(gunzipSync(packed)));
  return refused(again, bytes, createHash('sha256').update(again).digest('hex'));
}

describe('the files of a release', () => {
  it('come back as they were packed', async () => {
    const { packed, ...known } = await packFiles(FILES);
    expect(packed.length).to.be.lessThan(known.bytes);
    expect(await unpackFiles(packed, known)).to.deep.equal(FILES);
    expect(await unpackFiles((await packFiles([])).packed, await packFiles([]))).to.deep.equal([]);
  });

  it('are refused if a byte of the archive changed, if it is cut short, or if it is larger than its record says', async () => {
    const { packed, bytes, sha256 } = await packFiles(FILES);
    const other = Buffer.from(packed);
    other.writeUInt8(other.readUInt8(20) ^ 1, 20);
    expect(await refused(other, bytes, sha256)).to.include('do not have the hash');
    expect(await refused(packed.subarray(0, 30), bytes, sha256)).to.include('do not have the hash');
    expect(await refused(packed, bytes - 1, sha256)).to.include('cannot be unpacked');
  });

  it('are refused if the list of files or a file does not fit, whatever the hash of the archive', async () => {
    expect(await changed((archive) => archive.subarray(0, 2))).to.include('cut short');
    expect(await changed((archive) => archive.subarray(0, -1))).to.include('does not have its hash');
    const edit = (from: string, to: string) => (archive: Buffer) =>
      Buffer.from(archive.toString('latin1').replace(from, to), 'latin1');
    expect(await changed(edit('pipelines/a.yaml', '../../escape.yml'))).to.include('is not allowed');
    expect(await changed(edit('pipelines/a.yaml', '/etc/cron.d/abcd'))).to.include('is not allowed');
    expect(await changed(edit('"format":1', '"format":9'))).to.include('list of files');
    expect(await changed(edit('"models/m.txt"', '["odels/m.txt"'))).to.include('list of files');
  });

  it('have paths below the project, outside the folders of the instance', () => {
    for (const path of ['pipelines/a.yaml', 'millrace.yaml', 'models/v..2/m.bin'])
      expect(isReleasePath(path), path).to.equal(true);
    for (const path of ['', '.', '..', '/a', 'a//b', 'a/../b', './a', 'a\\b', 'a\0b', 'plugins/x/index.js'])
      expect(isReleasePath(path), path).to.equal(false);
    for (const path of ['curation/offers.yaml', 'node_modules/x/index.js'])
      expect(isReleasePath(path), path).to.equal(false);
  });
});
