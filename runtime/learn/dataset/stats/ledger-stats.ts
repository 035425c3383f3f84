import { statusName, type StatusName } from '../../../ground/api/status.js';
import { readReport, type ReadReport } from '../../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { RecordKind } from '../../../ground/api/ledger.js';
import type { RecordColumn } from '../../../state/ledger/record-schema.js';
import { readRecords } from '../../../state/ledger/record-reader.js';
import type { Manifest } from '../manifest.js';
import { ShiftCounter, type Shift } from './psi.js';

/** The records of one kind that one process wrote. */
export interface Sequence {
  readonly instance: string;
  readonly kind: RecordKind;
  records: number;
  /** The first and the last number. A first above 1 means that older records were deleted. */
  first: number;
  last: number;
  /** Numbers between first and last that are missing. */
  missing: number;
  /** Numbers that came again. */
  repeated: number;
}

export interface LedgerStats {
  /** By kind, then pipeline, kind of feedback or view, then UTC day: how many records. */
  readonly counts: Readonly<Record<RecordKind, ReadonlyMap<string, ReadonlyMap<string, number>>>>;
  readonly sequences: readonly Sequence[];
  /** By pipeline: how many rankings failed, by code. */
  readonly failed: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By pipeline: how many rankings were degraded. */
  readonly degraded: ReadonlyMap<string, number>;
  /** By pipeline, then value: how many cells have each status. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<string, Readonly<Partial<Record<StatusName, number>>>>>;
  /** Candidates that were logged, by pipeline. */
  readonly candidates: ReadonlyMap<string, number>;
  /** Records that were computed or taken over at an import. */
  readonly imported: number;
  readonly shifts: readonly Shift[];
  readonly report: ReadReport;
}

/**
 * Reads a ledger once and counts what it holds.
 * @param manifest of the data set that the distributions are compared with
 */
export async function ledgerStats(
  ledger: string,
  manifest: Manifest | undefined,
  onRecord: (records: number) => void = () => undefined,
): Promise<LedgerStats> {
  const counting = new Counting(manifest);
  const report = readReport();
  for await (const record of readRecords(ledger, report)) {
    counting.add(record);
    onRecord(report.records);
  }
  return counting.end(report);
}

type Counts = Map<string, number>;

class Counting {
  readonly #counts: Record<RecordKind, Map<string, Counts>> = {
    ranking: new Map(),
    feedback: new Map(),
    history: new Map(),
  };
  readonly #sequences = new Map<string, Sequence>();
  readonly #failed = new Map<string, Counts>();
  readonly #degraded: Counts = new Map();
  readonly #candidates: Counts = new Map();
  readonly #statuses = new Map<string, Map<string, Float64Array>>();
  readonly #manifest: Manifest | undefined;
  readonly #shifts: ReadonlyMap<string, ShiftCounter>;
  #imported = 0;

  constructor(manifest: Manifest | undefined) {
    this.#manifest = manifest;
    this.#shifts = new Map(
      (manifest?.features ?? []).map((feature) => [feature.name, new ShiftCounter(feature)]),
    );
  }

  add(record: DecodedRecord): void {
    const { kind, schema } = record;
    this.#follow(record);
    if (schema.meta.imported === true) this.#imported += 1;
    const of = textOf(
      kind === 'ranking' ? schema.meta.pipeline : kind === 'feedback' ? schema.meta.event : schema.meta.view,
    );
    const byDay = inMap(this.#counts[kind], of, () => new Map<string, number>());
    addTo(byDay, dayOf(record), 1);
    if (kind === 'ranking') this.#ranking(record, of);
  }

  end(report: ReadReport): LedgerStats {
    return {
      counts: this.#counts,
      sequences: [...this.#sequences.values()],
      failed: this.#failed,
      degraded: this.#degraded,
      candidates: this.#candidates,
      statuses: new Map(
        Array.from(this.#statuses, ([pipeline, columns]) => [
          pipeline,
          new Map(Array.from(columns, ([name, counts]) => [name, byName(counts)])),
        ]),
      ),
      imported: this.#imported,
      shifts: this.#endedShifts(),
      report,
    };
  }

  #endedShifts(): Shift[] {
    const manifest = this.#manifest;
    if (manifest === undefined) return [];
    const requests = manifest.requests.train + manifest.requests.holdout;
    const perRequest = Math.max(1, (manifest.rows.train + manifest.rows.holdout) / Math.max(1, requests));
    return manifest.features
      .map(({ name, scope }) => {
        const counter = this.#shifts.get(name);
        // Rows of a request share its values, so only the requests count.
        return counter?.shift(manifest.sampled, scope === 'request' ? perRequest : 1);
      })
      .filter((shift) => shift !== undefined)
      .sort((a, b) => b.psi / b.noise95 - a.psi / a.noise95);
  }

  #follow({ instance, kind, sequence }: DecodedRecord): void {
    const known = this.#sequences.get(`${kind} ${instance}`);
    if (known === undefined) {
      const first = { instance, kind, records: 1, first: sequence, last: sequence, missing: 0, repeated: 0 };
      this.#sequences.set(`${kind} ${instance}`, first);
      return;
    }
    known.records += 1;
    if (sequence <= known.last) known.repeated += 1;
    else {
      known.missing += sequence - known.last - 1;
      known.last = sequence;
    }
  }

  #ranking(record: DecodedRecord, pipeline: string): void {
    const status = record.field('status')?.at(0);
    if (typeof status === 'string' && status !== 'ok')
      addTo(
        inMap(this.#failed, pipeline, () => new Map<string, number>()),
        status,
        1,
      );
    const degraded = record.field('degraded')?.at(0);
    if (Array.isArray(degraded) && degraded.length > 0) addTo(this.#degraded, pipeline, 1);
    addTo(this.#candidates, pipeline, record.rows.candidate);
    const columns = inMap(this.#statuses, pipeline, () => new Map<string, Float64Array>());
    const isCompared = pipeline === this.#manifest?.pipeline && status === 'ok';
    for (const column of record.schema.columns)
      if (column.is === 'value') this.#value(record, column, columns, isCompared);
  }

  #value(
    record: DecodedRecord,
    { name, rows: group }: RecordColumn,
    columns: Map<string, Float64Array>,
    isCompared: boolean,
  ): void {
    const cells = record.value(name);
    if (cells === undefined) return;
    const counts = inMap(columns, name, () => new Float64Array(256));
    const counter = isCompared ? this.#shifts.get(name) : undefined;
    for (let row = 0; row < cells.length; row++) {
      const status = cells.statusAt(row);
      counts[status] = (counts[status] ?? 0) + 1;
      if (counter === undefined) continue;
      const value = cells.at(row);
      const one = typeof value === 'boolean' ? Number(value) : value;
      const times = group === 'record' ? record.rows.candidate : 1;
      for (let time = 0; time < times; time++) counter.add(typeof one === 'object' ? undefined : one);
    }
  }
}

function byName(counts: Float64Array): Partial<Record<StatusName, number>> {
  const named: Partial<Record<StatusName, number>> = {};
  for (const [status, count] of counts.entries()) {
    if (count === 0) continue;
    const name = statusName(status);
    named[name] = (named[name] ?? 0) + count;
  }
  return named;
}

function dayOf(record: DecodedRecord): string {
  const time = record.field('time')?.numberAt(0) ?? NaN;
  return new Date(Math.abs(time) <= 8.64e15 ? time : record.time).toISOString().slice(0, 10);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : 'unknown';
}

function addTo(counts: Counts, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function inMap<V>(map: Map<string, V>, key: string, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = create()));
  return value;
}
