import { expect } from 'chai';
import fc from 'fast-check';
import { Digest } from '../../../../runtime/state/store/embedded/digest.js';
import { RecordMemory } from '../../../../runtime/state/store/embedded/record-memory.js';

/** Total size of the distinct memories that hold the records. */
function held(memory: RecordMemory): number {
  const memories = new Set<ArrayBufferLike>();
  for (const key of memory.keys()) memories.add(memory.get(key)?.buffer ?? new ArrayBuffer());
  return [...memories].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

describe('the memory of the embedded store', () => {
  const change = fc.record({
    key: fc.integer({ min: 0, max: 30 }).map(String),
    size: fc.option(fc.oneof(fc.nat(200), fc.integer({ min: 20_000, max: 70_000 })), { freq: 4 }),
  });

  it('holds the same records as a map after any puts and deletions', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const memory = new RecordMemory();
        const map = new Map<string, Buffer>();
        changes.forEach(({ key, size }, i) => {
          if (size === null) {
            memory.delete(key);
            map.delete(key);
          } else {
            const value = Buffer.alloc(size, `${i}`);
            memory.put(key, value);
            map.set(key, Buffer.from(value));
            value.fill(0); // the caller may reuse its buffer
          }
        });
        expect([...memory.keys()].sort()).to.deep.equal([...map.keys()].sort());
        for (const [key, value] of map) expect(memory.get(key)?.equals(value)).to.equal(true);
        expect(memory.size).to.equal(map.size);
        expect(memory.bytes).to.equal([...map.values()].reduce((sum, { length }) => sum + length, 0));
      }),
      { numRuns: 200 },
    );
  });

  it('frees replaced and deleted records', () => {
    const memory = new RecordMemory();
    const keys = Array.from({ length: 5000 }, (_, i) => `k${i}`);
    for (let round = 0; round < 20; round++)
      keys.forEach((key, i) => {
        if ((i + round) % 3 !== 0) memory.put(key, Buffer.alloc(500, `${round}`));
      });
    expect(held(memory)).to.be.lessThan(2 * memory.bytes + 1024 * 1024);
    keys.forEach((key, i) => {
      if (i % 50 !== 0) memory.delete(key);
    });
    expect(memory.size).to.equal(100);
    expect(held(memory)).to.be.lessThan(2 * memory.bytes + 1024 * 1024);
  });

  it('never changes a record that a reader holds', () => {
    const memory = new RecordMemory();
    const read: [Buffer, string][] = [];
    for (let i = 0; i < 3000; i++) {
      const key = `k${i % 7}`;
      memory.put(key, Buffer.from(`${i}`.padEnd(400)));
      read.push([memory.get(key) ?? Buffer.alloc(0), `${i}`]);
    }
    for (const [value, text] of read) expect(value.toString().trimEnd()).to.equal(text);
  });

  it('accepts an empty value, and the deletion of a missing record', () => {
    const memory = new RecordMemory();
    memory.put('k', Buffer.alloc(0));
    memory.delete('other');
    expect(memory.get('k')).to.deep.equal(Buffer.alloc(0));
    memory.clear();
    expect(memory.get('k')).to.equal(undefined);
    expect([memory.size, memory.bytes]).to.deep.equal([0, 0]);
  });
});

describe('the digest of the records', () => {
  const value = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes));
  const changes = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.option(value, { nil: undefined })), {
    maxLength: 40,
  });

  it('depends only on the current records', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 5 }), (batches) => {
        const memory = new RecordMemory();
        let digest = new Digest();
        for (const batch of batches) {
          const changed = new Map(batch);
          digest = digest.after(changed, memory);
          for (const [key, now] of changed) {
            if (now === undefined) memory.delete(key);
            else memory.put(key, now);
          }
        }
        const counted = new Digest();
        for (const key of [...memory.keys()].reverse()) counted.add(key, memory.get(key) ?? Buffer.alloc(0));
        expect(digest.equals(counted)).to.equal(true);
        expect(Digest.decode(digest.encode())?.equals(digest)).to.equal(true);
      }),
    );
  });

  it('differs if a byte, a key or a record differs', () => {
    const of = (...records: [string, string][]): Digest => {
      const digest = new Digest();
      for (const [key, text] of records) digest.add(key, Buffer.from(text));
      return digest;
    };
    const whole = of(['a', 'xy'], ['b', 'z']);
    for (const other of [of(['a', 'xz'], ['b', 'z']), of(['a', 'xy'], ['c', 'z']), of(['a', 'xy']), of()])
      expect(whole.equals(other)).to.equal(false);
    expect(Digest.decode(Buffer.from('?'))).to.equal(undefined);
  });
});
