import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openCheckpoint, type Checkpoint } from '../../../../runtime/cli/load/checkpoint.js';

describe('the checkpoint of a load', () => {
  let folder = '';
  const opened: Checkpoint[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-'));
    await writeFile(join(folder, 'rows.jsonl'), '{"id":"a"}\n');
  });
  afterEach(async () => {
    for (const checkpoint of opened.splice(0)) checkpoint.close();
    await rm(folder, { recursive: true });
  });

  async function open(resume: boolean): Promise<Checkpoint> {
    const place = { folder: join(folder, 'loads'), file: join(folder, 'rows.jsonl'), load: ['product'] };
    const checkpoint = await openCheckpoint(place, resume);
    opened.push(checkpoint);
    return checkpoint;
  }

  it('can be read after each batch while the load continues', async () => {
    const load = await open(false);
    for (const line of [9, 10, 99, 100, 12_345, 1_000_000]) {
      load.reached(line);
      expect((await open(true)).after).to.equal(line);
    }
  });

  it('replaces a checkpoint with more progress', async () => {
    (await open(false)).reached(1_000_000);
    const again = await open(false);
    expect(again.after).to.equal(0);
    again.reached(7);
    expect((await open(true)).after).to.equal(7);
  });

  it('is unchanged if a resumed load stops before its first batch', async () => {
    (await open(false)).reached(70);
    (await open(true)).close();
    expect((await open(true)).after).to.equal(70);
  });

  it('is removed once the load has reached the end of the file', async () => {
    const load = await open(false);
    load.reached(70);
    load.finished();
    load.close();
    expect((await open(true)).after).to.equal(0);
  });
});
