import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** All partitions of a kind together keep at most this many bytes in memory. */
const BUFFERED = 32 * 2 ** 20;
const LEAST_BUFFER = 4096;
const MOST_BUFFER = 256 * 1024;

/**
 * Records on disk, divided by a hash, so that one part at a time fits into memory. A part is appended to, and read once
 * as a whole.
 */
export class PartitionFiles {
  readonly #folder: string;
  readonly #size: number;
  readonly #pending: (Buffer | undefined)[];
  readonly #used: Int32Array;

  readonly #sizes: readonly number[] | undefined;

  /**
   * @param folder is created
   * @param sizes the bytes of each part, if all are written already
   */
  constructor(
    folder: string,
    readonly count: number,
    sizes?: readonly number[],
  ) {
    this.#sizes = sizes;
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#size = Math.max(LEAST_BUFFER, Math.min(MOST_BUFFER, Math.floor(BUFFERED / count)));
    this.#pending = new Array<Buffer | undefined>(count);
    this.#used = new Int32Array(count);
  }

  /** The part of a key. */
  of(key: string): number {
    return hashOf(key) % this.count;
  }

  append(part: number, bytes: Uint8Array): void {
    let used = this.#used[part] ?? 0;
    if (used + bytes.length > this.#size) {
      this.#flush(part);
      used = 0;
    }
    if (bytes.length > this.#size) {
      this.#write(part, bytes);
      return;
    }
    (this.#pending[part] ??= Buffer.allocUnsafeSlow(this.#size)).set(bytes, used);
    this.#used[part] = used + bytes.length;
  }

  /** Appends a value as a line of JSON. */
  appendJson(part: number, value: unknown): void {
    this.append(part, Buffer.from(`${JSON.stringify(value)}\n`));
  }

  /** Writes what is in memory, and frees it. */
  flush(): void {
    for (let part = 0; part < this.count; part++) {
      this.#flush(part);
      this.#pending[part] = undefined;
    }
  }

  /** @throws Error if the part is not as it was written */
  read(part: number): Buffer {
    const path = this.#path(part);
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    if (this.#sizes !== undefined && bytes.length !== this.#sizes[part])
      throw new Error(`${path} was changed by another process; let only one write into this folder`);
    return bytes;
  }

  /** The bytes of each part. All must be flushed. */
  sizes(): number[] {
    return Array.from(
      { length: this.count },
      (_, part) => statSync(this.#path(part), { throwIfNoEntry: false })?.size ?? 0,
    );
  }

  /** The values of `appendJson`, in their order. */
  *readJson(part: number): Generator {
    const bytes = this.read(part);
    for (let at = 0; at < bytes.length;) {
      const end = bytes.indexOf(10, at);
      yield JSON.parse(bytes.toString('utf8', at, end));
      at = end + 1;
    }
  }

  remove(part: number): void {
    rmSync(this.#path(part), { force: true });
  }

  #path(part: number): string {
    return join(this.#folder, String(part));
  }

  #flush(part: number): void {
    const used = this.#used[part] ?? 0;
    const pending = this.#pending[part];
    if (used === 0 || pending === undefined) return;
    this.#write(part, pending.subarray(0, used));
    this.#used[part] = 0;
  }

  /** The file is open only here, since there may be more parts than a process may have open files. */
  #write(part: number, bytes: Uint8Array): void {
    const file = openSync(this.#path(part), 'a');
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
  }
}

/** FNV-1a over UTF-16 units, with a final mix: the low bits of FNV alone follow those of the last unit. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
