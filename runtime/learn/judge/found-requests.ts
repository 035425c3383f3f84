import { NameColumn, Names, Uint32Column, Float64Column } from '../../ground/core/columns.js';
import { TextIndex, Texts } from '../../ground/core/texts.js';
import { RecordPlaces, type RecordPlace } from '../../state/ledger/record-places.js';
import type { KeptRows } from '../../state/ledger/newest-records.js';
import type { LoggedRequest } from '../../request/pipeline/log/logged-request.js';

/** A request in a ledger, without its content. */
export interface FoundRequest extends RecordPlace, Pick<LoggedRequest, 'requestId' | 'time' | 'lacks'> {
  /** The pipeline that logged it. */
  readonly pipeline: string;
  /** Whose page it is; empty if nobody asks. */
  readonly unit: string;
}

/** Requests in a ledger, oldest first, in columns: a command holds as many of them as it ranks. */
export class FoundRequests implements KeptRows<FoundRequest> {
  readonly places = new RecordPlaces();
  readonly pipelines = new NameColumn();
  readonly units = new NameColumn();
  readonly #ids = new Texts();
  /** What the records lack, as JSON: only some combinations occur. */
  readonly #lacks = new NameColumn();
  #index: TextIndex | undefined;

  get length(): number {
    return this.#ids.length;
  }

  push({ requestId, lacks, pipeline, unit, ...place }: FoundRequest): void {
    this.places.push(place);
    this.#ids.push(requestId);
    this.#lacks.push(JSON.stringify(lacks));
    this.pipelines.push(pipeline);
    this.units.push(unit);
  }

  keep(order: Uint32Array): void {
    for (const column of [this.places, this.#ids, this.#lacks, this.pipelines, this.units])
      column.keep(order);
  }

  idAt(row: number): string {
    return this.#ids.at(row);
  }

  /** The first request with an id; each further page has the same. To be called when all are found. */
  rowOf(requestId: string): number | undefined {
    this.#index ??= new TextIndex(this.#ids);
    return this.#index.rowOf(requestId);
  }

  /** How many requests lack each of the values that some lack, by name. */
  lacks(): ReadonlyMap<string, number> {
    const lacks = new Map<string, number>();
    for (const [names, count] of this.#lacks.counts())
      for (const name of JSON.parse(names) as readonly string[])
        lacks.set(name, (lacks.get(name) ?? 0) + count);
    return new Map([...lacks].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** What users did with logged requests: for each request that has feedback, the highest grade of each candidate. */
export class LoggedGrades {
  readonly #found: FoundRequests;
  /** By request: its last grade, plus 1; 0 for none. */
  readonly #last: Uint32Array;
  /** By grade: the one before of the same request, plus 1; 0 for none. */
  readonly #before = new Uint32Column();
  readonly #candidates = new Uint32Column();
  readonly #grades = new Float64Column();
  readonly #names = new Names();
  /** Of any candidate. */
  highest = 0;

  constructor(found: FoundRequests) {
    this.#found = found;
    this.#last = new Uint32Array(found.length);
  }

  /** Takes no notice of requests that were not found. */
  add(requestId: string, candidate: string, grade: number): void {
    const row = this.#found.rowOf(requestId);
    if (row === undefined) return;
    this.#before.push(this.#last[row] ?? 0);
    this.#candidates.push(this.#names.add(candidate));
    this.#grades.push(grade);
    this.#last[row] = this.#grades.length;
    this.highest = Math.max(this.highest, grade);
  }

  /** The grades of a request, by candidate. */
  of(requestId: string): ReadonlyMap<string, number> {
    const grades = new Map<string, number>();
    const row = this.#found.rowOf(requestId);
    for (let at = row === undefined ? 0 : (this.#last[row] ?? 0); at > 0; at = this.#before.at(at - 1)) {
      const name = this.#names.at(this.#candidates.at(at - 1)) ?? '';
      grades.set(name, Math.max(this.#grades.at(at - 1), grades.get(name) ?? 0));
    }
    return grades;
  }
}
