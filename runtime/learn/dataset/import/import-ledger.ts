import { closeSync, mkdirSync, openSync, renameSync, rmSync, utimesSync, writeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isObjectPath } from '../../../ground/core/stored-files.js';
import { CommandFailure } from '../../../project/config/diagnostics/failure.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import type { RecordKind } from '../../../ground/api/ledger.js';
import type { RecordSchema } from '../../../state/ledger/record-schema.js';
import { RecordWriter, type RecordRows } from '../../../state/ledger/record-writer.js';
import { schemaFrame } from '../../../state/ledger/schema-frame.js';
import { SEGMENT_BYTES, SEGMENT_MS, segmentPath } from '../../../ground/sdk/segments.js';

const BUFFER = 1 << 20;
/** Segments that are being written have this ending, so that no reader takes them before the import is whole. */
const UNFINISHED = '.importing';

interface Segment {
  readonly file: number;
  readonly path: string;
  readonly schemas: Set<string>;
  bytes: number;
}

/**
 * Writes the records of one import into segments of a ledger. Nothing is dropped. The segments appear all together when the
 * import is finished.
 */
export class ImportLedger implements Ledger {
  readonly #folder: string;
  readonly #instance: string;
  readonly #instanceBytes: Buffer;
  readonly #writer = new RecordWriter();
  readonly #sequences: Record<RecordKind, number> = { ranking: 0, feedback: 0, history: 0 };
  readonly #now = Date.now();
  readonly #paths: string[] = [];
  readonly #buffer = Buffer.alloc(BUFFER);
  #buffered = 0;
  #segment: Segment | undefined;

  /**
   * @throws CommandFailure if the ledger is in object storage
   * @param folder of the ledger
   * @param instance a UUID that is the same for each import of the same files
   */
  constructor(folder: string, instance: string) {
    if (isObjectPath(folder))
      throw new CommandFailure(
        `an import writes segments into a folder, and the ledger is ${folder}`,
        'import into a folder, and copy its segments there',
      );
    this.#folder = folder;
    this.#instance = instance;
    this.#instanceBytes = Buffer.from(instance.replaceAll('-', ''), 'hex');
  }

  takes(): boolean {
    return true;
  }

  add(schema: RecordSchema, rows: RecordRows, write: (writer: RecordWriter) => void): void {
    const sequence = ++this.#sequences[schema.kind];
    this.#writer.begin(schema, rows, { instance: this.#instanceBytes, sequence, time: this.#now });
    write(this.#writer);
    const frame = this.#writer.finish();
    const segment = this.#current();
    if (!segment.schemas.has(schema.id)) {
      segment.schemas.add(schema.id);
      this.#put(segment, schemaFrame(schema));
    }
    this.#put(segment, frame);
  }

  /** Makes the segments visible. @returns their paths */
  finish(): readonly string[] {
    this.#closeSegment();
    // A segment of this age is closed for readers, though no later one follows it.
    const closed = new Date(this.#now - SEGMENT_MS - 120_000);
    const visible = this.#paths.map((path) => path.slice(0, -UNFINISHED.length));
    for (const [index, path] of this.#paths.entries()) {
      utimesSync(path, closed, closed);
      renameSync(path, visible[index] ?? path);
    }
    return visible;
  }

  /** Removes what was written. */
  abandon(): void {
    if (this.#segment !== undefined) closeSync(this.#segment.file);
    this.#segment = undefined;
    for (const path of this.#paths) rmSync(path, { force: true });
  }

  #current(): Segment {
    if (this.#segment !== undefined && this.#segment.bytes < SEGMENT_BYTES) return this.#segment;
    this.#closeSegment();
    const number = this.#paths.length + 1;
    const path = segmentPath(this.#folder, this.#instance, number, this.#now) + UNFINISHED;
    mkdirSync(dirname(path), { recursive: true });
    this.#paths.push(path);
    this.#segment = { file: openSync(path, 'w'), path, schemas: new Set(), bytes: 0 };
    return this.#segment;
  }

  #put(segment: Segment, bytes: Uint8Array): void {
    segment.bytes += bytes.length;
    if (this.#buffered + bytes.length > BUFFER) this.#flush(segment);
    if (bytes.length > BUFFER) writeWhole(segment.file, bytes);
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
    }
  }

  #flush(segment: Segment): void {
    writeWhole(segment.file, this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #closeSegment(): void {
    if (this.#segment === undefined) return;
    this.#flush(this.#segment);
    closeSync(this.#segment.file);
    this.#segment = undefined;
  }
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** The segments of an earlier import of the same files. What an interrupted import left is removed. */
export async function segmentsOfImport(folder: string, instance: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const own = entries
    .filter((entry) => basename(entry).startsWith(`${instance}-`))
    .map((entry) => join(folder, entry));
  for (const path of own) if (path.endsWith(UNFINISHED)) rmSync(path, { force: true });
  return own.filter((path) => !path.endsWith(UNFINISHED));
}
