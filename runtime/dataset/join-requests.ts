import type { Cells } from '../ledger/cells.js';
import type { DecodedRecord } from '../ledger/record-decoder.js';
import { readBytes } from '../ledger/record-reader.js';
import type { AddedValues, AsOf } from './as-of.js';
import { readLinked, type Linked } from './events.js';
import type { Feature } from './features.js';
import { numberOf, textOf } from './fields.js';
import type { AttributionCounts, RequestCounts } from './manifest.js';
import { mergePages, type MergedRows, type PageRows } from './merge-pages.js';
import type { DataSetOptions } from './options.js';
import type { RowBatch } from './row-batch.js';
import { CLICK, type ScannedLedger } from './scan-ledger.js';
import type { Splitter } from './splitter.js';
import type { Summaries } from './summaries.js';

/** The ranking records of one request, in the order of their times. */
export interface RankedRequest {
  readonly id: string;
  readonly pages: readonly DecodedRecord[];
  /** The place of each page among the records of the partition. */
  readonly indexes: readonly number[];
  /** Of the first page, in epoch milliseconds. */
  readonly time: number;
}

export interface JoinCounts {
  readonly requests: RequestCounts;
  readonly attribution: AttributionCounts;
  readonly rows: { train: number; holdout: number; with_grade: number };
  /** The times of the first and the last request of the data set. */
  from: number;
  to: number;
}

/** Takes the rows of the data set. */
export interface RowTaker {
  /** The batch of a part that has room for more rows. */
  batchFor(part: 'train' | 'holdout', rows: number): RowBatch;
}

/** Joins the rankings of one partition after another with their feedback. */
export class RequestJoin {
  readonly #scanned: ScannedLedger;
  readonly #options: DataSetOptions;
  readonly #splitter: Splitter;
  readonly #features: readonly Feature[];
  readonly #asOf: AsOf | undefined;
  readonly #taker: RowTaker;
  readonly #summaries: Summaries;
  readonly #counts: JoinCounts;

  constructor(
    scanned: ScannedLedger,
    options: DataSetOptions,
    splitter: Splitter,
    features: readonly Feature[],
    asOf: AsOf | undefined,
    taker: RowTaker,
    summaries: Summaries,
    counts: JoinCounts,
  ) {
    this.#scanned = scanned;
    this.#options = options;
    this.#splitter = splitter;
    this.#features = features;
    this.#asOf = asOf;
    this.#taker = taker;
    this.#summaries = summaries;
    this.#counts = counts;
  }

  /** Joins a partition, and removes it. */
  join(part: number): void {
    const { rankings, linked } = this.#scanned;
    const records = [...readBytes(rankings.read(part))];
    const feedback = new FeedbackOf(linked.readJson(part));
    const added = this.#asOf?.read(
      part,
      records.map(({ rows }) => rows.candidate),
    );
    for (const request of requestsOf(records)) this.#request(request, feedback.take(request.id), added);
    this.#countRest(feedback);
    rankings.remove(part);
    linked.remove(part);
  }

  #request(request: RankedRequest, feedback: readonly Linked[], added: AddedValues | undefined): void {
    const { requests, rows } = this.#counts;
    const part = this.#splitter.partOf(request);
    if (part !== 'train' && part !== 'holdout') {
      if (part !== 'outside') requests[part] += 1;
      return this.#leaveOut(feedback);
    }
    const merged = mergePages(request.pages);
    if (merged.length === 0) {
      requests.empty += 1;
      return this.#leaveOut(feedback);
    }
    const batch = this.#taker.batchFor(part, merged.length);
    const start = batch.length;
    const lastClicked = this.#label(request, merged, feedback, batch);
    this.#writeOwn(request, merged, lastClicked, batch);
    this.#writeFeatures(request, merged, added, batch);
    batch.length += merged.length;
    batch.groups.push(merged.length);
    let graded = 0;
    for (let row = start; row < batch.length; row++) if ((batch.label[row] ?? 0) > 0) graded += 1;
    requests[part] += 1;
    if (graded === 0) requests.without_feedback += 1;
    rows[part] += merged.length;
    rows.with_grade += graded;
    this.#counts.from = Math.min(this.#counts.from, request.time);
    this.#counts.to = Math.max(this.#counts.to, request.time);
  }

  #leaveOut(feedback: readonly Linked[]): void {
    const graded = feedback.filter(({ event }) => this.#options.label.has(event));
    this.#counts.attribution.outside += graded.length;
  }

  /** Writes the labels. @returns the greatest place that was clicked; 0 without a click */
  #label(
    { time }: RankedRequest,
    merged: MergedRows,
    feedback: readonly Linked[],
    { label, length }: RowBatch,
  ): number {
    const { attribution } = this.#counts;
    const { label: grades, window } = this.#options;
    label.fill(0, length, length + merged.length);
    const seen = new Set<string>();
    let lastClicked = 0;
    for (const { by, event, subject, subjectType, time: at } of feedback) {
      const grade = grades.get(event);
      const count = (name: keyof AttributionCounts): void => {
        if (grade !== undefined) attribution[name] += 1;
      };
      if (subjectType !== this.#scanned.candidateType) {
        count('unused');
        continue;
      }
      const identity = JSON.stringify([event, subject]);
      if (by === 'request' && seen.has(identity)) {
        count('duplicates');
        continue;
      }
      if (by === 'request') seen.add(identity);
      const row = merged.rowOf(subject);
      if (row === undefined) count('orphans');
      else if (at > time + window) count('late');
      else {
        count(by === 'request' ? 'by_request' : 'by_last_click');
        const place = length + row;
        if (grade !== undefined && grade > (label[place] ?? 0)) label[place] = grade;
        if (event === CLICK) lastClicked = Math.max(lastClicked, merged.place[row] ?? 0);
      }
    }
    return lastClicked;
  }

  #writeOwn(
    { id, time }: RankedRequest,
    merged: MergedRows,
    lastClicked: number,
    { requestId, candidateId, time: times, place, weight, examined, length }: RowBatch,
  ): void {
    const { examined: rule } = this.#options;
    const lowest = rule.rule === 'page' ? Infinity : lastClicked + rule.further;
    for (let row = 0; row < merged.length; row++) {
      const at = length + row;
      const ownPlace = merged.place[row] ?? 0;
      requestId[at] = id;
      times[at] = time;
      candidateId[at] = merged.ids[row] ?? '';
      place[at] = ownPlace;
      weight[at] = merged.weight[row] ?? 1;
      examined[at] = merged.onPage[row] === 1 && ownPlace <= lowest ? 1 : 0;
    }
  }

  #writeFeatures(
    request: RankedRequest,
    merged: MergedRows,
    added: AddedValues | undefined,
    batch: RowBatch,
  ): void {
    let addedNumber = 0;
    for (const [at, feature] of this.#features.entries()) {
      const values = batch.features[at];
      if (values === undefined) continue;
      if (feature.added !== undefined && added !== undefined) {
        this.#writeAdded(at, addedNumber, request, merged, added, batch);
        addedNumber += 1;
        continue;
      }
      for (const [page, rows] of merged.byPage.entries()) {
        if (rows.from.length === 0) continue;
        const cells = request.pages[page]?.value(feature.name);
        if (values instanceof Float64Array) this.#copyNumbers(at, cells, rows, values, batch.length);
        else this.#copyTexts(at, cells, rows, values, batch.length);
      }
    }
  }

  #copyNumbers(
    feature: number,
    cells: Cells | undefined,
    { from, to }: PageRows,
    values: Float64Array,
    start: number,
  ): void {
    const count = from.length;
    if (cells === undefined) {
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = NaN;
      this.#summaries.countAll(feature, 'not_logged', count);
      return;
    }
    if (isOfRequest(cells, from)) {
      const value = cells.numberAt(0);
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = value;
      this.#summaries.countAll(feature, cells.statusAt(0), count);
      return;
    }
    for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = cells.numberAt(from[at] ?? 0);
    this.#summaries.count(feature, cells.status, from);
  }

  #copyTexts(
    feature: number,
    cells: Cells | undefined,
    { from, to }: PageRows,
    values: (string | undefined)[],
    start: number,
  ): void {
    const count = from.length;
    if (cells === undefined) {
      for (let at = 0; at < count; at++) values[start + (to[at] ?? 0)] = undefined;
      this.#summaries.countAll(feature, 'not_logged', count);
      return;
    }
    const ofRequest = isOfRequest(cells, from);
    const only = ofRequest ? textOf(cells) : undefined;
    for (let at = 0; at < count; at++) {
      const value = ofRequest ? only : cells.at(from[at] ?? 0);
      values[start + (to[at] ?? 0)] = typeof value === 'string' ? value : undefined;
    }
    if (ofRequest) this.#summaries.countAll(feature, cells.statusAt(0), count);
    else this.#summaries.count(feature, cells.status, from);
  }

  #writeAdded(
    feature: number,
    number: number,
    { indexes }: RankedRequest,
    merged: MergedRows,
    added: AddedValues,
    batch: RowBatch,
  ): void {
    const values = batch.features[feature];
    for (const [page, { from, to }] of merged.byPage.entries()) {
      const index = indexes[page] ?? 0;
      for (let at = 0; at < from.length; at++) {
        const cell = added.cell(number, index, from[at] ?? 0);
        const value = added.at(number, cell);
        const place = batch.length + (to[at] ?? 0);
        if (values instanceof Float64Array) values[place] = typeof value === 'number' ? value : NaN;
        else if (values !== undefined) values[place] = typeof value === 'string' ? value : undefined;
        this.#summaries.countAll(feature, added.statusAt(number, cell), 1);
      }
    }
  }

  /** Feedback whose request is not among the rankings of the data set. */
  #countRest(feedback: FeedbackOf): void {
    const { attribution } = this.#counts;
    for (const [request, rest] of feedback.rest()) {
      const graded = rest.filter(({ event }) => this.#options.label.has(event)).length;
      attribution[feedback.isOutside(request) ? 'outside' : 'orphans'] += graded;
    }
  }
}

/** True if a column has one value for the whole ranking. */
function isOfRequest(cells: Cells, rows: readonly number[]): boolean {
  return cells.length === 1 && rows.length > 0;
}

/** The feedback of a partition, by request. */
class FeedbackOf {
  readonly #byRequest = new Map<string, Linked[]>();
  readonly #outside = new Set<string>();

  constructor(lines: Iterable<unknown>) {
    for (const line of lines) {
      const one = readLinked(line);
      if (!('by' in one)) {
        this.#outside.add(one.request);
        continue;
      }
      const known = this.#byRequest.get(one.request);
      if (known === undefined) this.#byRequest.set(one.request, [one]);
      else known.push(one);
    }
  }

  /** The feedback of a request, by time; it is taken once. */
  take(request: string): readonly Linked[] {
    const found = this.#byRequest.get(request) ?? [];
    this.#byRequest.delete(request);
    return found.sort((a, b) => a.time - b.time);
  }

  rest(): Iterable<readonly [string, readonly Linked[]]> {
    return this.#byRequest;
  }

  isOutside(request: string): boolean {
    return this.#outside.has(request);
  }
}

/** Groups the records of a partition by request, in the order of time. */
function requestsOf(records: readonly DecodedRecord[]): readonly RankedRequest[] {
  const groups = new Map<string, { record: DecodedRecord; index: number; time: number }[]>();
  for (const [index, record] of records.entries()) {
    const id = textOf(record.field('request_id')) ?? '';
    const page = { record, index, time: numberOf(record.field('time')) };
    const known = groups.get(id);
    if (known === undefined) groups.set(id, [page]);
    else known.push(page);
  }
  const requests: RankedRequest[] = [];
  for (const [id, pages] of groups) {
    if (pages.length > 1)
      pages.sort(
        (a, b) =>
          a.time - b.time ||
          compare(a.record.instance, b.record.instance) ||
          a.record.sequence - b.record.sequence,
      );
    requests.push({
      id,
      pages: pages.map(({ record }) => record),
      indexes: pages.map(({ index }) => index),
      time: pages[0]?.time ?? NaN,
    });
  }
  return requests.sort((a, b) => a.time - b.time || compare(a.id, b.id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
