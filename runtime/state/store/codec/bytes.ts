/** Methods of Buffer that read and write text without looking up the encoding by name. */
interface TextBytes {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
  utf8Write(text: string, at: number): number;
}

/** Decodes a text. Pass `ascii` only if every byte is ASCII: that is several times faster. */
export function readText(bytes: Buffer, start: number, end: number, ascii: boolean): string {
  const slices = bytes as unknown as TextBytes;
  return ascii ? slices.latin1Slice(start, end) : slices.utf8Slice(start, end);
}

let lastBuffer: ArrayBufferLike = new ArrayBuffer(0);
let lastView: DataView = new DataView(lastBuffer);

/**
 * A view of the memory that holds a buffer, from the start of that memory: add `bytes.byteOffset`. Records of one reply
 * share their memory, so the view is rarely created again.
 */
export function viewOf(bytes: Buffer): DataView {
  if (bytes.buffer !== lastBuffer) {
    lastBuffer = bytes.buffer;
    lastView = new DataView(lastBuffer);
  }
  return lastView;
}

/** Size of the memory that small records share. A larger record gets its own memory. */
const SHARED_SIZE = 64 * 1024;
/** Up to this length, a loop over the characters is faster than a call out of JavaScript. */
const SHORT_TEXT = 24;

/**
 * Builds records one after another in shared memory: copying a small record into its own memory would cost more than
 * encoding it. The bytes of a finished record never change. A record keeps the memory of its neighbours alive.
 */
export class ByteWriter {
  /** The memory, from the start of the current record. */
  bytes = Buffer.allocUnsafeSlow(SHARED_SIZE);
  /** Length of the current record so far. */
  length = 0;
  /** Whether every text since `start` is ASCII. */
  ascii = true;
  #memory = this.bytes;
  /** Offset of the next record in the memory. */
  #used = 0;

  start(): void {
    if (this.#memory.length > SHARED_SIZE) this.#take(SHARED_SIZE);
    this.bytes = this.#memory.subarray(this.#used);
    this.length = 0;
    this.ascii = true;
  }

  /** Ensures space for `size` more bytes. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const { bytes } = this;
    this.#take(Math.max(SHARED_SIZE, 2 * needed));
    this.bytes = this.#memory;
    bytes.copy(this.bytes, 0, 0, this.length);
  }

  #take(size: number): void {
    this.#memory = Buffer.allocUnsafeSlow(size);
    this.#used = 0;
  }

  /** Writes zeros; returns their offset. */
  zeros(size: number): number {
    this.reserve(size);
    const at = this.length;
    this.length += size;
    this.bytes.fill(0, at, this.length);
    return at;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  double(value: number): void {
    this.reserve(8);
    this.length = this.bytes.writeDoubleLE(value, this.length);
  }

  float(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeFloatLE(value, this.length);
  }

  uint32(value: number): void {
    this.reserve(4);
    this.length = this.bytes.writeUInt32LE(value, this.length);
  }

  /** Writes a text; returns whether it is ASCII. */
  text(text: string): boolean {
    this.reserve(3 * text.length);
    const end = text.length > SHORT_TEXT ? -1 : writeAscii(this.bytes, this.length, text);
    const written = end < 0 ? (this.bytes as unknown as TextBytes).utf8Write(text, this.length) : text.length;
    const ascii = written === text.length;
    if (!ascii) this.ascii = false;
    this.length += written;
    return ascii;
  }

  /** Returns the finished record. */
  finish(): Buffer {
    this.#used += this.length;
    return this.bytes.subarray(0, this.length);
  }
}

/** Writes a text; returns the offset after it, or -1 if it is not ASCII. */
export function writeAscii(bytes: Buffer, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return -1;
    bytes[start + i] = code;
  }
  return start + text.length;
}
