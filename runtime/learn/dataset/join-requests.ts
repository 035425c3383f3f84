import { eventIdentity } from '../../ground/core/event-identity.js';
import { readBytes } from '../../state/ledger/record-reader.js';
import type { AddedValues } from './as-of.js';
import type { DividedLedger } from './divided-ledger.js';
import type { Linked } from './events.js';
import type { FeatureWriter } from './feature-writer.js';
import type { AttributionCounts, RequestCounts } from './manifest.js';
import { mergePages, type MergedRows } from './merge-pages.js';
import type { DataSetOptions } from './options.js';
import { PartitionFeedback } from './partition-feedback.js';
import { requestsOf, type RankedRequest } from './ranked-requests.js';
import type { RowBatch } from './row-batch.js';
import { CLICK } from './scan-ledger.js';
import type { Splitter } from './splitter.js';

export interface JoinCounts {
  readonly requests: RequestCounts;
  readonly attribution: AttributionCounts;
  readonly rows: { train: number; holdout: number; with_grade: number };
  /** The times of the first and the last request of the data set. */
  from: number;
  to: number;
}

/** The rows of the data set that are of one partition. */
export type JoinedRows = Readonly<Record<'train' | 'holdout', RowBatch>>;

/** What a join reads, and where its counts go. */
export interface JoinParts {
  readonly divided: DividedLedger;
  readonly options: DataSetOptions;
  readonly splitter: Splitter;
  readonly features: FeatureWriter;
  readonly counts: JoinCounts;
}

/** Joins the rankings of one partition after another with their feedback. */
export class RequestJoin {
  readonly #divided: DividedLedger;
  readonly #options: DataSetOptions;
  readonly #splitter: Splitter;
  readonly #features: FeatureWriter;
  readonly #counts: JoinCounts;

  constructor({ divided, options, splitter, features, counts }: JoinParts) {
    this.#divided = divided;
    this.#options = options;
    this.#splitter = splitter;
    this.#features = features;
    this.#counts = counts;
  }

  /** Joins a partition. @param batches get its rows */
  join(part: number, batches: JoinedRows): void {
    const { rankings, linked, asOf } = this.#divided;
    const records = [...readBytes(rankings.read(part))];
    const feedback = new PartitionFeedback(linked.readJson(part));
    const added = asOf?.read(
      part,
      records.map(({ rows }) => rows.candidate),
    );
    for (const request of requestsOf(records))
      this.#request(request, feedback.take(request.id), added, batches);
    this.#countRest(feedback);
  }

  /** Removes a partition that is joined. */
  remove(part: number): void {
    const { rankings, linked, asOf } = this.#divided;
    for (const files of [rankings, linked, asOf]) files?.remove(part);
  }

  #request(
    request: RankedRequest,
    feedback: readonly Linked[],
    added: AddedValues | undefined,
    batches: JoinedRows,
  ): void {
    const { requests, rows } = this.#counts;
    const part = this.#splitter.partOf(request);
    if (part !== 'train' && part !== 'holdout') {
      if (part !== 'outside') requests[part] += 1;
      this.#leaveOut(feedback);
      return;
    }
    const merged = mergePages(request.pages);
    if (merged.length === 0) {
      requests.empty += 1;
      this.#leaveOut(feedback);
      return;
    }
    const batch = batches[part];
    batch.reserve(merged.length);
    const start = batch.length;
    this.#writeOwn(request, merged, batch);
    this.#label(request, merged, feedback, batch);
    this.#features.write(request, merged, added, batch);
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

  /** Writes the labels, and which rows were examined. */
  #label(
    { id: ofRequest, time }: RankedRequest,
    merged: MergedRows,
    feedback: readonly Linked[],
    { label, examined, length }: RowBatch,
  ): void {
    const { attribution } = this.#counts;
    const { label: grades, window, examined: rule } = this.#options;
    if (rule.rule === 'judged') examined.fill(0, length, length + merged.length);
    label.fill(0, length, length + merged.length);
    const seen = new Set<string>();
    let lastClicked = 0;
    for (const { by, event, subject, subjectType, time: at, id } of feedback) {
      const grade = grades.get(event);
      const count = (name: keyof AttributionCounts): void => {
        if (grade !== undefined) attribution[name] += 1;
      };
      if (subjectType !== this.#divided.facts.candidateType) {
        count('unused');
        continue;
      }
      const request = by === 'request' ? ofRequest : undefined;
      const identity = eventIdentity({ id, request, time: at }, [event, subject]);
      if (seen.has(identity)) {
        count('duplicates');
        continue;
      }
      seen.add(identity);
      const row = merged.rowOf(subject);
      if (row === undefined) count('orphans');
      else if (at > time + window) count('late');
      else {
        count(by === 'request' ? 'by_request' : 'by_last_click');
        const place = length + row;
        if (grade !== undefined && grade > (label[place] ?? 0)) label[place] = grade;
        if (rule.rule === 'judged') examined[place] = 1;
        if (event === CLICK) lastClicked = Math.max(lastClicked, merged.place[row] ?? 0);
      }
    }
    if (rule.rule !== 'last_click') return;
    for (let row = 0; row < merged.length; row++)
      if ((merged.place[row] ?? 0) > lastClicked + rule.further) examined[length + row] = 0;
  }

  #writeOwn(
    { id, time }: RankedRequest,
    merged: MergedRows,
    { requestId, candidateId, time: times, place, weight, examined, length }: RowBatch,
  ): void {
    for (let row = 0; row < merged.length; row++) {
      const at = length + row;
      requestId[at] = id;
      times[at] = time;
      candidateId[at] = merged.ids[row] ?? '';
      place[at] = merged.place[row] ?? 0;
      weight[at] = merged.weight[row] ?? 1;
      examined[at] = merged.onPage[row] ?? 0;
    }
  }

  /** Feedback whose request is not among the rankings of the data set. */
  #countRest(feedback: PartitionFeedback): void {
    const { attribution } = this.#counts;
    for (const [request, rest] of feedback.rest()) {
      const graded = rest.filter(({ event }) => this.#options.label.has(event)).length;
      attribution[feedback.isOutside(request) ? 'outside' : 'orphans'] += graded;
    }
  }
}
