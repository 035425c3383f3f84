import { join } from 'node:path';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { schemaFrame } from '../../state/ledger/schema-frame.js';
import { storedFile, storedFiles } from '../../ground/core/stored-files.js';
import { SEGMENT_ENDING } from '../../ground/sdk/segments.js';
import { linkedLine, looseLine, outsideLine } from './events.js';
import { DataSetProblem } from './problem.js';
import { FeatureTable } from './features.js';
import { HistoryParts } from './history-parts.js';
import { numberOf, textOf, textsOf } from './fields.js';
import type { DataSetOptions } from './options.js';
import { PartitionFiles } from './partition-files.js';

/** The kind of feedback that other feedback without a request id is attributed to. */
export const CLICK = 'click';

/** The bytes of the ledger that a partition has. A partition is in memory while it is joined. */
const PARTITION_BYTES = 32 * 2 ** 20;
const MOST_PARTITIONS = 4096;

/** The ledger, divided into partitions on disk. */
export interface ScannedLedger {
  readonly pipeline: string;
  readonly candidateType: string;
  /** Ranking records of the pipeline that did not fail, by request id. */
  readonly rankings: PartitionFiles;
  /** `Linked` and `Outside`, by request id. */
  readonly linked: PartitionFiles;
  /** `Loose`, by user and candidate. */
  readonly loose: PartitionFiles;
  readonly histories: HistoryParts;
  /** The times of the rankings that may be in the data set, in no order. */
  readonly times: Float64Array;
  /** The time of the last ranking or feedback. */
  readonly end: number;
  readonly versions: ReadonlyMap<string, number>;
  readonly features: FeatureTable;
  readonly failed: number;
  readonly orphans: number;
  readonly unused: number;
  /** The kinds of feedback in the ledger. */
  readonly kinds: ReadonlySet<string>;
  /** Whether rankings of another system are among them. */
  readonly imported: boolean;
  readonly report: ReadReport;
}

/**
 * Reads a ledger once and divides it into partitions.
 * @param folder of the ledger
 * @param work a folder for the partitions
 * @throws DataSetProblem if the ledger has no rankings of the pipeline
 */
export async function scanLedger(
  folder: string,
  work: string,
  options: DataSetOptions,
  progress: (fraction: number) => void,
): Promise<ScannedLedger> {
  const { bytes, parts } = await partitionsOf(folder);
  const scan = new Scan(options, work, parts);
  let read = 0;
  for await (const record of readRecords(folder, scan.report)) {
    scan.add(record);
    read += record.frame.length;
    if (scan.report.records % 1000 === 0) progress(read / bytes);
  }
  return scan.end(folder);
}

/**
 * The bytes of a ledger, and into how many partitions it is divided, so that each of them fits into memory.
 * @param files other files that are divided with it
 */
export async function partitionsOf(
  folder: string,
  files: readonly string[] = [],
): Promise<{ readonly bytes: number; readonly parts: number }> {
  const segments = await storedFiles(folder, SEGMENT_ENDING);
  const others = await Promise.all(files.map((path) => storedFile(path)));
  const bytes = [...segments, ...others].reduce((sum, one) => sum + one.bytes, 0);
  return { bytes, parts: Math.max(1, Math.min(MOST_PARTITIONS, Math.ceil(bytes / PARTITION_BYTES))) };
}

class Scan {
  readonly report = readReport();
  readonly #options: DataSetOptions;
  readonly #rankings: PartitionFiles;
  readonly #linked: PartitionFiles;
  readonly #loose: PartitionFiles;
  readonly #histories: HistoryParts;
  /** By partition: the schemas whose frames it has. */
  readonly #schemas: Set<string>[];
  readonly #seenSchemas = new Set<string>();
  readonly #features = new FeatureTable();
  readonly #versions = new Map<string, number>();
  readonly #pipelines = new Map<string, string>();
  readonly #kinds = new Set<string>();
  readonly #attributed: ReadonlySet<string>;
  readonly #times = new Numbers();
  #end = -Infinity;
  #failed = 0;
  #orphans = 0;
  #unused = 0;
  #imported = false;

  constructor(options: DataSetOptions, work: string, parts: number) {
    this.#options = options;
    this.#rankings = new PartitionFiles(join(work, 'rankings'), parts);
    this.#linked = new PartitionFiles(join(work, 'linked'), parts);
    this.#loose = new PartitionFiles(join(work, 'loose'), parts);
    this.#histories = new HistoryParts(join(work, 'history'), parts, options.add);
    this.#schemas = Array.from({ length: parts }, () => new Set());
    this.#attributed = new Set(options.attribute.map(({ event }) => event));
  }

  add(record: DecodedRecord): void {
    switch (record.kind) {
      case 'ranking':
        this.#ranking(record);
        break;
      case 'feedback':
        this.#feedback(record);
        break;
      case 'history':
        this.#histories.add(record);
    }
  }

  end(folder: string): ScannedLedger {
    const { pipeline: wanted } = this.#options;
    const found = [...this.#pipelines.keys()].sort();
    const pipeline = wanted ?? found[0];
    if (pipeline === undefined) throw new DataSetProblem(`${folder} has no rankings`);
    const candidateType = this.#pipelines.get(pipeline);
    if (candidateType === undefined)
      throw new DataSetProblem(
        `${folder} has no rankings of ${pipeline}${found.length === 0 ? '' : `; it has ${found.join(', ')}`}`,
      );
    if (wanted === undefined && found.length > 1)
      throw new DataSetProblem(
        `${folder} has rankings of ${found.join(', ')}`,
        `name one of them, as in \`dataset build ${pipeline}\``,
      );
    for (const files of [this.#rankings, this.#linked, this.#loose]) files.flush();
    this.#histories.flush();
    this.#histories.check(folder);
    return {
      pipeline,
      candidateType,
      rankings: this.#rankings,
      linked: this.#linked,
      loose: this.#loose,
      histories: this.#histories,
      times: this.#times.all(),
      end: this.#end,
      versions: this.#versions,
      features: this.#features,
      failed: this.#failed,
      orphans: this.#orphans,
      unused: this.#unused,
      kinds: this.#kinds,
      imported: this.#imported,
      report: this.report,
    };
  }

  #ranking(record: DecodedRecord): void {
    const { schema } = record;
    const { pipeline, candidate_type: type, pipeline_version: version, imported } = schema.meta;
    const time = numberOf(record.field('time'));
    const request = textOf(record.field('request_id'));
    if (typeof pipeline !== 'string' || request === undefined || Number.isNaN(time)) return;
    this.#end = Math.max(this.#end, time);
    this.#pipelines.set(pipeline, typeof type === 'string' ? type : '');
    const part = this.#rankings.of(request);
    const isOurs = (this.#options.pipeline ?? pipeline) === pipeline;
    if (isOurs && textOf(record.field('status')) === 'ok') {
      if (time >= this.#options.since && time < this.#options.until) {
        this.#times.push(time);
        const key = typeof version === 'string' ? version : '';
        this.#versions.set(key, (this.#versions.get(key) ?? 0) + 1);
        if (!this.#seenSchemas.has(schema.id)) {
          this.#seenSchemas.add(schema.id);
          this.#features.add(schema);
          this.#imported ||= imported === true;
        }
      }
      const schemas = this.#schemas[part];
      if (schemas?.has(schema.id) === false) {
        schemas.add(schema.id);
        this.#rankings.append(part, schemaFrame(schema));
      }
      this.#rankings.append(part, record.frame);
      return;
    }
    if (isOurs) this.#failed += 1;
    this.#linked.appendJson(part, outsideLine({ request }));
  }

  #feedback(record: DecodedRecord): void {
    this.#end = Math.max(this.#end, numberOf(record.field('received')));
    const event = textOf(record.field('event')) ?? '';
    const subjectType = textOf(record.field('subject_type')) ?? '';
    const subject = textOf(record.field('subject_id'));
    const time = numberOf(record.field('time'));
    this.#kinds.add(event);
    const isGraded = this.#options.label.has(event);
    if (!isGraded) this.#unused += 1;
    if (!isGraded && event !== CLICK) return;
    if (subject === undefined || Number.isNaN(time)) {
      if (isGraded) this.#orphans += 1;
      return;
    }
    const [id, request] = [textOf(record.field('event_id')), textOf(record.field('request_id'))];
    if (request !== undefined)
      this.#linked.appendJson(
        this.#linked.of(request),
        linkedLine({ by: 'request', request, event, subjectType, subject, time, id }),
      );
    const isLoose =
      request === undefined ? this.#attributed.has(event) : event === CLICK && this.#attributed.size > 0;
    const owner = isLoose ? ownerOf(record) : undefined;
    if (owner !== undefined)
      this.#loose.appendJson(
        this.#loose.of(`${owner} ${subject}`),
        looseLine({ owner, subjectType, subject, time, event, request, id }),
      );
    else if (request === undefined && isGraded) this.#orphans += 1;
  }
}

/** Whose feedback it is, e.g. `user=u1`: the user if there is one, otherwise the first owner that is known. */
export function ownerOf(record: DecodedRecord): string | undefined {
  const { owners } = record.schema.meta;
  const types = Array.isArray(owners) ? owners.filter((type) => typeof type === 'string') : [];
  for (const type of types.includes('user') ? ['user', ...types] : types) {
    const id = textOf(record.value(type));
    if (id !== undefined) return `${type}=${id}`;
  }
  return undefined;
}

/** The id of an entity of the request; undefined if the request has none of this type. */
export function entityOf(record: DecodedRecord, type: string): string | undefined {
  for (const entity of textsOf(record.field('entities')))
    if (entity.startsWith(`${type}=`)) return entity.slice(type.length + 1);
  return undefined;
}

/** The types of the entities of a request. */
export function entityTypesOf(record: DecodedRecord): string[] {
  return textsOf(record.field('entities')).map((entity) => entity.slice(0, entity.indexOf('=')));
}

/** A growing list of numbers, 8 bytes each. */
class Numbers {
  #values = new Float64Array(1024);
  #length = 0;

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(this.#length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  all(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }
}
