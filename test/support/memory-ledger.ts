import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunningLedger, type Ledger } from '../../runtime/state/ledger/ledger.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { readBytes } from '../../runtime/state/ledger/record-reader.js';
import type { RecordSink } from '../../runtime/state/ledger/record-sink.js';

/** A ledger whose records stay in memory, in the bytes of a segment. */
export interface MemoryLedger {
  readonly ledger: Ledger;
  /** The records so far, also those of requests that were answered just now. */
  readonly records: () => Promise<DecodedRecord[]>;
  /** The size of these records. */
  readonly bytes: () => Promise<number>;
}

export function memoryLedger(): MemoryLedger {
  const pieces: Buffer[] = [];
  let size = 0;
  const sink: RecordSink = {
    name: 'memory',
    takes: ['ranking', 'feedback', 'history'],
    queueBytes: 2 ** 30,
    write: ({ schemas, frames }) => {
      for (const piece of [...schemas.map(({ frame }) => frame), frames]) {
        pieces.push(Buffer.from(piece));
        size += piece.length;
      }
      return Promise.resolve(undefined);
    },
  };
  const ledger = new RunningLedger([sink]);
  const settle = async (): Promise<void> => {
    await nextTurn(); // requests are recorded after they are answered
    await ledger.flush();
  };
  return {
    ledger,
    records: async () => {
      await settle();
      return [...readBytes(Buffer.concat(pieces))];
    },
    bytes: async () => {
      await settle();
      return size;
    },
  };
}

/** The values of a field or value of a record, one for each row. */
export function cellsOf(record: DecodedRecord, name: string): unknown[] {
  const cells = record.field(name) ?? record.value(name);
  if (cells === undefined) throw new Error(`the record has no column ${name}`);
  return Array.from({ length: cells.length }, (_, row) => cells.at(row));
}
