import { xxh32 } from './xxh32.js';

/**
 * Reads LZ4 frames. Sources: "LZ4 Frame Format Description" 1.6.4 and "LZ4 Block Format Description" (doc/ of
 * github.com/lz4/lz4). No kept library reads frames in JavaScript alone, and Node has no LZ4.
 */

/** The bytes are no LZ4 frame, or a damaged one. */
export class Lz4Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Lz4Error';
  }
}

const MAGIC = 0x184d2204;
const FIRST_SKIPPABLE = 0x184d2a50;
const LAST_SKIPPABLE = 0x184d2a5f;
/** By the number of the frame descriptor. */
const BLOCK_BYTES = [64, 256, 1024, 4096].map((kilobytes) => kilobytes * 1024);
/** A block refers at most this far back. */
const WINDOW = 65_536;

export function isLz4Frame(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === MAGIC;
}

/**
 * Decompresses frames that follow one another, with their checksums verified.
 * @param mostBytes the largest result; more is an error, so that a small value cannot fill the memory
 * @throws Lz4Error
 */
export function readLz4(bytes: Buffer, mostBytes: number): Buffer {
  const output = new Output(mostBytes);
  const input = new Input(bytes);
  while (!input.isAtEnd) {
    const magic = input.uint32();
    if (magic >= FIRST_SKIPPABLE && magic <= LAST_SKIPPABLE) input.take(input.uint32());
    else if (magic === MAGIC) readFrame(input, output);
    else throw new Lz4Error('no LZ4 frame');
  }
  return output.whole();
}

class Input {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new Lz4Error('the frame is cut short');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  uint32(): number {
    return this.take(4).readUInt32LE();
  }
}

/** Grows as needed. Blocks copy from what was written before. */
class Output {
  readonly #most: number;
  #bytes = Buffer.allocUnsafe(1024);
  length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Copies bytes from `offset` bytes back. The ranges may overlap, which repeats the bytes between. */
  repeat(offset: number, length: number): void {
    this.#reserve(length);
    for (let i = 0; i < length; i++)
      this.#bytes[this.length + i] = this.#bytes[this.length + i - offset] ?? 0;
    this.length += length;
  }

  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.length);
  }

  whole(): Buffer {
    return this.since(0);
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed > this.#most) throw new Lz4Error(`the value has more than ${this.#most} bytes`);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.whole());
    this.#bytes = larger;
  }
}

function readFrame(input: Input, output: Output): void {
  const flags = input.byte();
  const block = input.byte();
  if (flags >>> 6 !== 1) throw new Lz4Error(`version ${flags >>> 6} of the frame format is not known`);
  const areIndependent = (flags & 0x20) !== 0;
  const hasBlockChecksums = (flags & 0x10) !== 0;
  const blockBytes = BLOCK_BYTES[((block >>> 4) & 7) - 4];
  if (blockBytes === undefined || (flags & 0x02) !== 0 || (block & 0x8f) !== 0)
    throw new Lz4Error('the head of the frame is damaged');
  const size = (flags & 0x08) === 0 ? undefined : input.take(8);
  const dictionary = (flags & 0x01) === 0 ? undefined : input.take(4);
  const head = Buffer.concat([Buffer.from([flags, block]), size ?? NONE, dictionary ?? NONE]);
  if (input.byte() !== ((xxh32(head) >>> 8) & 0xff)) throw new Lz4Error('the head of the frame is damaged');
  if (dictionary !== undefined) throw new Lz4Error('frames with a dictionary are not supported');
  const start = output.length;
  for (let length = input.uint32(); length !== 0; length = input.uint32()) {
    const stored = input.take(length & 0x7fffffff);
    if (stored.length > blockBytes) throw new Lz4Error('a block is larger than its frame allows');
    if (hasBlockChecksums && input.uint32() !== xxh32(stored)) throw new Lz4Error('a block is damaged');
    if ((length & 0x80000000) !== 0) output.append(stored);
    else readBlock(new Input(stored), output, areIndependent ? output.length : start, blockBytes);
  }
  if ((flags & 0x04) !== 0 && input.uint32() !== xxh32(output.since(start)))
    throw new Lz4Error('the content is damaged: its checksum differs');
  if (size !== undefined && size.readBigUInt64LE() !== BigInt(output.length - start))
    throw new Lz4Error('the content has another length than its frame says');
}

const NONE = Buffer.alloc(0);

/** @param floor the place in the output before which nothing may be copied */
function readBlock(input: Input, output: Output, floor: number, blockBytes: number): void {
  const start = output.length;
  for (;;) {
    const token = input.byte();
    output.append(input.take(readLength(input, token >>> 4)));
    // The last sequence has no match.
    if (input.isAtEnd) break;
    const offset = input.take(2).readUInt16LE();
    if (offset === 0 || offset > WINDOW || offset > output.length - floor)
      throw new Lz4Error('a block refers to bytes before its start');
    output.repeat(offset, readLength(input, token & 15) + 4);
    if (output.length - start > blockBytes) throw new Lz4Error('a block is larger than its frame allows');
  }
  if (output.length - start > blockBytes) throw new Lz4Error('a block is larger than its frame allows');
}

function readLength(input: Input, length: number): number {
  if (length < 15) return length;
  for (;;) {
    const more = input.byte();
    length += more;
    if (more !== 255) return length;
  }
}
