import { crc32cOfWords } from './crc32c.js';
import { At, FORMAT_MAJOR, FRAME_HEAD, LONGEST_FRAME, SCHEMA_HEAD } from './format.js';

/** What a reader met. A reader adds to one that it is given. */
export interface ReadReport {
  /** Records that were read. */
  records: number;
  /** Segments whose last frame is not whole: the writer was killed, or still writes. */
  torn: number;
  /** Frames with a wrong checksum or an impossible length. */
  damaged: number;
  /** Segments that could not be read to their end because of damage. */
  ended: number;
  /** Frames of a newer major version, of an unknown kind, or whose schema is not known. */
  skipped: number;
}

export function readReport(): ReadReport {
  return { records: 0, torn: 0, damaged: 0, ended: 0, skipped: 0 };
}

/**
 * Splits the bytes of a segment into frames, and checks their CRC. A damaged frame is counted and skipped by its
 * length. If the frame after it is damaged too, the length may have been wrong, and the reading ends.
 */
export class FrameSplitter {
  readonly #report: ReadReport;
  #pending = Buffer.alloc(0);
  #wasDamaged = false;
  #hasEnded = false;

  constructor(report: ReadReport) {
    this.#report = report;
  }

  /** True when damage ended the reading; further bytes are ignored. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The bytes of a frame that is not yet whole. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  /** The whole frames that the bytes complete. Each frame has memory of its own, aligned to 8 bytes. */
  *push(bytes: Uint8Array): Generator<Buffer, void> {
    if (this.#hasEnded) return;
    const all = this.#pending.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#pending, bytes]);
    let at = 0;
    while (all.length - at >= FRAME_HEAD && !this.hasEnded) {
      const length = all.readUInt32LE(at + At.length);
      if (!isLength(length)) {
        this.#damaged(true);
        break;
      }
      const end = at + FRAME_HEAD + length;
      if (end > all.length) break;
      const frame = ownCopy(all, at, end);
      at = end;
      if (isIntact(frame)) {
        this.#wasDamaged = false;
        if (frame[At.major] === FORMAT_MAJOR) yield frame;
        else this.#report.skipped++;
      } else {
        this.#damaged(this.#wasDamaged);
      }
    }
    this.#pending = this.hasEnded ? Buffer.alloc(0) : Buffer.from(all.subarray(at));
  }

  /** Says that no more bytes come. */
  end(): void {
    if (this.#pending.length > 0 && !this.#hasEnded) this.#report.torn++;
    this.#pending = Buffer.alloc(0);
  }

  #damaged(ends: boolean): void {
    this.#report.damaged++;
    this.#wasDamaged = true;
    if (!ends) return;
    this.#hasEnded = true;
    this.#report.ended++;
  }
}

function isLength(length: number): boolean {
  return length % 8 === 0 && length >= SCHEMA_HEAD - FRAME_HEAD && length <= LONGEST_FRAME;
}

function isIntact(frame: Buffer): boolean {
  const words = new Int32Array(frame.buffer, frame.byteOffset, frame.length / 4);
  return crc32cOfWords(words, FRAME_HEAD / 4, words.length) === frame.readUInt32LE(At.crc);
}

function ownCopy(all: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.from(new ArrayBuffer(end - start));
  all.copy(copy, 0, start, end);
  return copy;
}
