/** The two methods of Buffer that read a text without looking its encoding up by name. */
interface TextSlices {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}

/** Reads a text; `ascii` when every byte is known to be ASCII, which is several times faster. */
export function readText(bytes: Buffer, start: number, end: number, ascii: boolean): string {
  const slices = bytes as unknown as TextSlices;
  return ascii ? slices.latin1Slice(start, end) : slices.utf8Slice(start, end);
}

let lastBuffer: ArrayBufferLike = new ArrayBuffer(0);
let lastView: DataView = new DataView(lastBuffer);

/**
 * A view of the memory that a buffer lies in, from the memory's start: add `bytes.byteOffset`. Records of one reply
 * share their memory, so that the view is rarely made anew.
 */
export function viewOf(bytes: Buffer): DataView {
  if (bytes.buffer !== lastBuffer) {
    lastBuffer = bytes.buffer;
    lastView = new DataView(lastBuffer);
  }
  return lastView;
}

const INITIAL_SIZE = 16 * 1024;
/** A larger scratch is given back after use. */
const KEPT_SIZE = 1024 * 1024;

/** Builds a record in scratch memory, which the next record uses again. */
export class ByteWriter {
  bytes = Buffer.allocUnsafeSlow(INITIAL_SIZE);
  length = 0;
  /** Whether every text written since `start` was ASCII. */
  ascii = true;

  start(): void {
    this.length = 0;
    this.ascii = true;
    if (this.bytes.length > KEPT_SIZE) this.bytes = Buffer.allocUnsafeSlow(INITIAL_SIZE);
  }

  /** Makes room for `size` more bytes. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }

  /** Writes zeros; returns where they start. */
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

  /** Answers whether the text is ASCII. */
  text(text: string): boolean {
    this.reserve(3 * text.length);
    const written = this.bytes.write(text, this.length, 'utf8');
    const ascii = written === text.length;
    if (!ascii) this.ascii = false;
    this.length += written;
    return ascii;
  }

  /** A copy of what was written. */
  finish(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.length));
  }
}
