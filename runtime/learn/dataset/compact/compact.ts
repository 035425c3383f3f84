import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { MAX_TIME } from '../../../ground/core/timestamp.js';
import { readReport } from '../../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import { readRecords } from '../../../state/ledger/record-reader.js';
import { segmentFiles, type SegmentFile } from '../../../ground/sdk/segments.js';
import { PartFile, partFolder } from './part-file.js';
import type { Table } from './table-columns.js';

/** What a compaction did. */
export interface CompactReport {
  /** Segments that were compacted now. */
  segments: number;
  /** Segments that were compacted before. */
  before: number;
  /** Segments that are still being written. */
  open: number;
  bytes: number;
  written: number;
  /** Places where a segment was damaged or torn; what follows there is lost. */
  damaged: number;
  readonly rows: Record<Table, number>;
}

const STATE_FILE = 'compacted.json';
const WORK = '.work';
/** 2: feedback has its owner. */
const FORMAT = 2;
/** The files that are written at the same time. A segment with more days is read again for the others. */
const MOST_OPEN = 64;
/** The cells of all open files that are held in memory. */
const MOST_HELD = 2_000_000;

interface State {
  readonly format: typeof FORMAT;
  /** By name: the size when it was compacted. */
  readonly segments: Record<string, number>;
}

/**
 * Turns the closed segments of a ledger into Parquet files by table, day, and pipeline or view. A segment is compacted
 * once. After a crash the next compaction writes the files of the interrupted segment again, under the same names.
 * @param onSegment called before each segment, with the fraction that is done
 */
export async function compactLedger(
  ledger: string,
  out: string,
  onSegment: (fraction: number) => void = () => undefined,
): Promise<CompactReport> {
  const report: CompactReport = {
    segments: 0,
    before: 0,
    open: 0,
    bytes: 0,
    written: 0,
    damaged: 0,
    rows: { rankings: 0, candidates: 0, feedback: 0, history: 0 },
  };
  const state = readState(out);
  const all = await segmentFiles(ledger);
  const closed = all.filter(({ isClosed }) => isClosed);
  report.open = all.length - closed.length;
  const waiting = closed.filter(({ path }) => !Object.hasOwn(state.segments, basename(path)));
  report.before = closed.length - waiting.length;
  const total = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  mkdirSync(out, { recursive: true });
  for (const segment of waiting) {
    onSegment(total === 0 ? 1 : report.bytes / total);
    await compactSegment(segment, out, report);
    state.segments[basename(segment.path)] = segment.bytes;
    writeState(out, state);
    report.segments += 1;
    report.bytes += segment.bytes;
  }
  rmSync(join(out, WORK), { recursive: true, force: true });
  return report;
}

async function compactSegment({ path }: SegmentFile, out: string, report: CompactReport): Promise<void> {
  rmSync(join(out, WORK), { recursive: true, force: true });
  const name = basename(path).replace(/\.[^.]*$/, '');
  const done = new Set<string>();
  for (let isLast = false; !isLast;) {
    const parts = new Map<string, PartFile>();
    const read = readReport();
    isLast = true;
    try {
      for await (const record of readRecords(path, read)) {
        for (const { table, folder, rows } of rowsOf(record)) {
          const file = join(folder, `part-${name}-${record.schema.id}.parquet`);
          if (rows === 0 || done.has(file)) continue;
          let part = parts.get(file);
          if (part === undefined) {
            if (parts.size === MOST_OPEN) {
              isLast = false;
              continue;
            }
            const work = join(out, WORK, `${parts.size}.parquet`);
            parts.set(file, (part = new PartFile(join(out, file), work, table, record.schema)));
          }
          part.add(record, rows);
          report.rows[table] += rows;
        }
        if (heldBy(parts) > MOST_HELD) for (const part of parts.values()) part.flush();
      }
      for (const part of parts.values()) part.finish();
    } catch (error) {
      for (const part of parts.values()) part.abandon();
      throw error;
    }
    for (const [file, part] of parts) {
      part.publish();
      done.add(file);
      report.written += 1;
    }
    if (isLast) report.damaged += read.damaged + read.torn;
  }
}

function heldBy(parts: ReadonlyMap<string, PartFile>): number {
  let held = 0;
  for (const part of parts.values()) held += part.held;
  return held;
}

interface TableRows {
  readonly table: Table;
  readonly folder: string;
  readonly rows: number;
}

function rowsOf(record: DecodedRecord): readonly TableRows[] {
  const { kind, schema } = record;
  switch (kind) {
    case 'ranking': {
      const by = { pipeline: nameOf(schema.meta.pipeline) };
      const day = dayOf(record, 'time');
      return [
        { table: 'rankings', folder: partFolder('rankings', day, by), rows: 1 },
        { table: 'candidates', folder: partFolder('candidates', day, by), rows: record.rows.candidate },
      ];
    }
    case 'feedback':
      return [
        { table: 'feedback', folder: partFolder('feedback', dayOf(record, 'received'), undefined), rows: 1 },
      ];
    case 'history': {
      const by = { view: nameOf(schema.meta.view) };
      return [{ table: 'history', folder: partFolder('history', dayOf(record, 'stored'), by), rows: 1 }];
    }
  }
}

/** The UTC day of a time of a record. */
function dayOf(record: DecodedRecord, field: string): string {
  const time = record.field(field)?.numberAt(0) ?? NaN;
  return new Date(Math.abs(time) <= MAX_TIME ? time : record.time).toISOString().slice(0, 10);
}

/** A name that can be the name of a folder. */
function nameOf(value: unknown): string {
  return typeof value === 'string' && NAME_PATTERN.test(value) ? value : 'unknown';
}

function readState(out: string): State {
  let text: string;
  try {
    text = readFileSync(join(out, STATE_FILE), 'utf8');
  } catch {
    return { format: FORMAT, segments: {} };
  }
  const state = JSON.parse(text) as Partial<State>;
  if (state.format !== FORMAT)
    throw new Error(`${out} was written by another version; compact the ledger into another folder`);
  return { format: FORMAT, segments: { ...state.segments } };
}

function writeState(out: string, state: State): void {
  const path = join(out, STATE_FILE);
  writeFileSync(`${path}.tmp`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${path}.tmp`, path);
}
