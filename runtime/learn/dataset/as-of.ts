import { setImmediate } from 'node:timers/promises';
import { isKnown, Status } from '../../ground/api/status.js';
import type { Cells } from '../../state/ledger/cells.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readBytes } from '../../state/ledger/record-reader.js';
import { numberOf } from './fields.js';
import type { AddedView, HistoryParts, PushedRow } from './history-parts.js';
import { PartitionFiles } from './partition-files.js';
import { entityOf } from './scan-ledger.js';

/** The row of a probe of a request's own entities. */
const REQUEST_ROW = -1;

/** The values that views had when rankings were served, by partition of the rankings. */
export class AsOf {
  readonly #answers: PartitionFiles;
  readonly #views: readonly AddedView[];

  /** @param answers of `join` */
  constructor(answers: PartitionFiles, views: readonly AddedView[]) {
    this.#answers = answers;
    this.#views = views;
  }

  /** The files of the answers. @param sizes see `PartitionFiles` */
  static answersIn(work: string, count: number, sizes?: readonly number[]): PartitionFiles {
    return new PartitionFiles(`${work}/answers`, count, sizes);
  }

  /**
   * Looks up the rows of views for each ranking and candidate: first it writes a probe for each, by the view's keys, then
   * it answers the probes of one partition of the history after another.
   * @param work a folder for partitions
   */
  static async join(
    rankings: PartitionFiles,
    histories: HistoryParts,
    candidateType: string,
    work: string,
  ): Promise<void> {
    if (histories.views.length === 0) return;
    const probes = new PartitionFiles(`${work}/probes`, histories.files.count);
    const answers = AsOf.answersIn(work, rankings.count);
    for (let part = 0; part < rankings.count; part++) {
      let index = 0;
      for (const record of readBytes(rankings.read(part))) {
        const time = numberOf(record.field('time'));
        // The other system did not wait until this store had a row.
        const stored = record.schema.meta.imported === true ? null : time;
        for (const [view, { keys }] of histories.views.entries())
          for (const [row, found] of keysOf(record, keys, candidateType))
            probes.appendJson(histories.partOf(view, found), [part, index, row, view, found, time, stored]);
        index += 1;
      }
      // Between two partitions a signal can end the command.
      await setImmediate();
    }
    probes.flush();
    for (let part = 0; part < probes.count; part++) {
      answerProbes(probes, part, histories, answers);
      probes.remove(part);
      histories.files.remove(part);
      await setImmediate();
    }
    answers.flush();
  }

  /** @param candidates the number of candidates of each record of the partition, in their order */
  read(part: number, candidates: readonly number[]): AddedValues {
    const added = new AddedValues(this.#views, candidates);
    for (const line of this.#answers.readJson(part)) {
      const [index, row, view, values, statuses] = line as [
        number,
        number,
        number,
        (number | string | null)[],
        number[],
      ];
      added.set(index, row, view, values, statuses);
    }
    return added;
  }

  remove(part: number): void {
    this.#answers.remove(part);
  }
}

/** The joined values of the rankings of a partition. */
export class AddedValues {
  /** By record: where its rows start. The first is that of the request. */
  readonly #starts: number[] = [];
  /** By view: the number of its first feature. */
  readonly #firsts: number[] = [];
  /** By feature: the number of its view. */
  readonly #viewOf: number[] = [];
  /** By record and view: whether the request has one value for all candidates. */
  readonly #perRequest: boolean[][];
  readonly #values: (number | string | null)[][] = [];
  readonly #statuses: Uint8Array[] = [];

  constructor(views: readonly AddedView[], candidates: readonly number[]) {
    let slots = 0;
    for (const rows of candidates) {
      this.#starts.push(slots);
      slots += rows + 1;
    }
    for (const [view, { features }] of views.entries()) {
      this.#firsts.push(this.#values.length);
      for (let at = 0; at < features.length; at++) {
        this.#viewOf.push(view);
        this.#values.push([]);
        this.#statuses.push(new Uint8Array(slots).fill(Status.missing_entity));
      }
    }
    this.#perRequest = candidates.map(() => []);
  }

  set(
    index: number,
    row: number,
    view: number,
    values: readonly (number | string | null)[],
    statuses: readonly number[],
  ): void {
    const perRequest = this.#perRequest[index];
    if (perRequest !== undefined) perRequest[view] = row === REQUEST_ROW;
    const slot = (this.#starts[index] ?? 0) + row + 1;
    for (const [at, value] of values.entries()) {
      const feature = (this.#firsts[view] ?? 0) + at;
      const column = this.#values[feature];
      if (column !== undefined) column[slot] = value;
      const status = this.#statuses[feature];
      if (status !== undefined) status[slot] = statuses[at] ?? Status.missing_feature;
    }
  }

  /** Where the value of a feature is. @param feature its number among the added ones */
  cell(feature: number, index: number, row: number): number {
    const own = this.#perRequest[index]?.[this.#viewOf[feature] ?? 0] === true ? REQUEST_ROW : row;
    return (this.#starts[index] ?? 0) + own + 1;
  }

  at(feature: number, cell: number): number | string | undefined {
    return this.#values[feature]?.[cell] ?? undefined;
  }

  statusAt(feature: number, cell: number): number {
    return this.#statuses[feature]?.[cell] ?? Status.missing_entity;
  }
}

/**
 * The ids that a view is keyed by, as JSON, for each candidate of a ranking; or once, if they are the same for all. A key
 * is the candidate itself, an entity of the request, or what the candidate refers to, if that was logged
 * (`product.brand`).
 */
function* keysOf(
  record: DecodedRecord,
  types: readonly string[],
  candidateType: string,
): Generator<readonly [row: number, keys: string]> {
  const sources = types.map((type): string | Cells | undefined =>
    type === candidateType
      ? record.field('candidate_id')
      : (entityOf(record, type) ?? record.value(`${candidateType}.${type}`)),
  );
  if (sources.includes(undefined)) return;
  if (sources.every((source) => typeof source === 'string')) {
    yield [REQUEST_ROW, JSON.stringify(sources)];
    return;
  }
  for (let row = 0; row < record.rows.candidate; row++) {
    const ids = sources.map((source) => (typeof source === 'object' ? source.at(row) : source));
    if (ids.every((id) => typeof id === 'string')) yield [row, JSON.stringify(ids)];
  }
}

function answerProbes(
  probes: PartitionFiles,
  part: number,
  histories: HistoryParts,
  answers: PartitionFiles,
): void {
  const rows = new Map<string, PushedRow[]>();
  for (const row of histories.read(part)) {
    const key = `${row.view} ${row.keys}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, [row]);
    else known.push(row);
  }
  for (const pushed of rows.values()) pushed.sort((a, b) => a.time - b.time || a.stored - b.stored);
  for (const line of probes.readJson(part)) {
    const [of, index, row, view, keys, time, stored] = line as [
      ...[of: number, index: number, row: number, view: number, keys: string, time: number],
      number | null,
    ];
    const features = histories.views[view]?.features ?? [];
    const found = asOf(rows.get(`${view} ${keys}`) ?? [], time, stored ?? Infinity);
    const isExpired = found?.ttl !== undefined && found.ttl !== null && time - found.time > found.ttl;
    const statuses = features.map((_, at) =>
      found === undefined
        ? Status.missing_feature
        : isExpired
          ? Status.expired
          : (found.statuses[at] ?? Status.missing_feature),
    );
    const values = features.map((_, at) => (isKnown(statuses[at]) ? (found?.values[at] ?? null) : null));
    answers.appendJson(of, [index, row, view, values, statuses]);
  }
}

/**
 * The row that a view had at a time: of the rows whose event time and stored time are not later, the one with the latest
 * event time; of several with the same, the one stored last.
 * @param rows by event time, then by stored time
 * @param stored the latest stored time, if it is not `time`
 */
export function asOf(rows: readonly PushedRow[], time: number, stored = time): PushedRow | undefined {
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    if (row !== undefined && row.time <= time && row.stored <= stored) return row;
  }
  return undefined;
}
