import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '../dataset/fields.js';
import { PartitionFiles } from '../dataset/partition-files.js';
import { partitionsOf } from '../dataset/scan-ledger.js';
import { readReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import {
  nonIncreasing,
  RandomExamination,
  SwapExamination,
  type Examination,
  type ShownCandidate,
} from '../off-policy/examination.js';
import { loggedPipeline } from '../../request/pipeline/log/logged-request.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { tellDamage } from './logged-requests.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';

/** How the places of the pages were drawn. */
export const METHODS = ['swap', 'random'] as const;
export type Method = (typeof METHODS)[number];

export interface Estimated {
  readonly pipeline: string;
  readonly method: Method;
  /** Pages with a drawn place. */
  readonly pages: number;
  readonly places: readonly Examination[];
  /** The values of the places, made to never increase. */
  readonly propensities: readonly number[];
}

/** With fewer clicks at a place its estimate is worth nothing. */
const FEWEST_CLICKS = 30;

interface Options {
  readonly pipeline?: string;
  readonly event: string;
  readonly method?: Method;
}

/** Lines of a partition: a drawn page, or a click. */
type Line =
  | readonly [request: string, candidates: readonly Row[]]
  | readonly [request: string, subject: string, type: string];
type Row = readonly [
  id: string,
  place: number,
  before: number | null,
  propensity: number | null,
  marginal: number | null,
];

/**
 * Estimates the examination of places. It divides the ledger into partitions on disk, as `dataset build` does.
 * @throws CommandFailure if the ledger has no drawn places, or too few clicks
 */
export async function estimateExamination(
  context: Console,
  ledger: string,
  { pipeline, event, method }: Options,
): Promise<Estimated> {
  const scratch = scratchFolder(context, join(tmpdir(), 'millrace-propensities-'));
  try {
    const scan = new Scan(scratch.path, (await partitionsOf(ledger)).parts, pipeline, event);
    const report = readReport();
    for await (const record of readRecords(ledger, report)) scan.add(record);
    tellDamage(context.stderr, report);
    const found = scan.check(ledger);
    const used = method ?? found.method;
    const estimator = used === 'swap' ? new SwapExamination() : new RandomExamination();
    for (const page of scan.pages(found.candidateType)) estimator.add(page);
    const places = estimator.result().filter(({ place, clicks }) => place === 1 || clicks >= FEWEST_CLICKS);
    const inRow = places.filter(({ place }, at) => place === at + 1);
    if (inRow.length < 2)
      throw new CommandFailure(
        `${ledger} has too few ${event} events on ${used === 'swap' ? 'swapped neighbours' : 'pages in random order'} of ${found.pipeline}`,
        `two places with ${FEWEST_CLICKS} each are the least; let the rule explore run longer or on a larger share`,
      );
    return {
      pipeline: found.pipeline,
      method: used,
      pages: scan.drawn,
      places: inRow,
      propensities: nonIncreasing(inRow.map(({ value }) => value)),
    };
  } finally {
    await scratch.remove();
  }
}

class Scan {
  drawn = 0;
  readonly #files: PartitionFiles;
  readonly #wanted: string | undefined;
  readonly #event: string;
  readonly #pipelines = new Map<string, string>();
  readonly #others = new Set<string>();
  /** True if a candidate was drawn for a place that is not next to its own. */
  #isRandom = false;

  constructor(work: string, parts: number, wanted: string | undefined, event: string) {
    this.#files = new PartitionFiles(work, parts);
    this.#wanted = wanted;
    this.#event = event;
  }

  add(record: DecodedRecord): void {
    if (record.kind === 'ranking') this.#ranking(record);
    else if (record.kind === 'feedback' && textOf(record.field('event')) === this.#event) {
      const request = textOf(record.field('request_id'));
      const subject = textOf(record.field('subject_id'));
      if (request !== undefined && subject !== undefined)
        this.#append([request, subject, textOf(record.field('subject_type')) ?? '']);
    }
  }

  #append(line: Line): void {
    this.#files.appendJson(this.#files.of(line[0]), line);
  }

  #ranking(record: DecodedRecord): void {
    const pipeline = loggedPipeline(record);
    const request = textOf(record.field('request_id'));
    if (pipeline === undefined || request === undefined) return;
    const rows = rowsOf(record);
    if (rows.length === 0 || (this.#wanted ?? pipeline) !== pipeline) {
      this.#others.add(pipeline);
      return;
    }
    const { candidate_type: type } = record.schema.meta;
    this.#pipelines.set(pipeline, typeof type === 'string' ? type : '');
    this.#isRandom ||= rows.some(
      ([, place, before, drawn]) => drawn !== null && (before === null || Math.abs(place - before) > 1),
    );
    this.drawn += 1;
    this.#append([request, rows]);
  }

  /** @throws CommandFailure if it is not clear whose pages are meant */
  check(ledger: string): {
    readonly pipeline: string;
    readonly candidateType: string;
    readonly method: Method;
  } {
    const names = [...this.#pipelines.keys()].sort();
    const [pipeline, other] = names;
    if (pipeline === undefined) {
      const others = [...this.#others].sort().join(', ');
      throw new CommandFailure(
        `${ledger} has no pages with drawn places${this.#wanted === undefined ? '' : ` of ${this.#wanted}`}${others === '' ? '' : `; it has pages of ${others}`}`,
        'add the rule explore to the pipeline, or import a log with map: { propensity: COLUMN }',
      );
    }
    if (other !== undefined)
      throw new CommandFailure(
        `${ledger} has pages with drawn places of ${names.join(', ')}`,
        `name one of them: --pipeline ${pipeline}`,
      );
    this.#files.flush();
    return {
      pipeline,
      candidateType: this.#pipelines.get(pipeline) ?? '',
      method: this.#isRandom ? 'random' : 'swap',
    };
  }

  /** The drawn pages, with what was clicked on them. */
  *pages(candidateType: string): Generator<ReadonlyMap<number, ShownCandidate>> {
    for (let part = 0; part < this.#files.count; part++) {
      const clicks = new Map<string, Set<string>>();
      const pages: (readonly [string, readonly Row[]])[] = [];
      for (const line of this.#files.readJson(part) as Iterable<Line>) {
        if (line.length === 2) pages.push(line);
        else if (line[2] === candidateType)
          clicks.set(line[0], (clicks.get(line[0]) ?? new Set<string>()).add(line[1]));
      }
      for (const [request, rows] of pages) {
        const clicked = clicks.get(request);
        yield new Map(
          rows.map(([id, place, before, propensity, marginal]): [number, ShownCandidate] => [
            place,
            {
              place,
              before: before ?? undefined,
              propensity: propensity ?? NaN,
              marginal: marginal ?? NaN,
              clicked: clicked?.has(id) === true,
            },
          ]),
        );
      }
      this.#files.remove(part);
    }
  }
}

/** The candidates of the page by place; none if no place was drawn. */
function rowsOf(record: DecodedRecord): Row[] {
  const propensities = record.field('propensity');
  if (propensities === undefined || textOf(record.field('status')) !== 'ok') return [];
  const marginals = record.field('marginal') ?? propensities;
  const [ids, places] = [record.field('candidate_id'), record.field('place')];
  const [shown, befores] = [record.field('on_page'), record.field('place_before')];
  const rows: Row[] = [];
  for (let row = 0; row < record.rows.candidate; row++) {
    const [id, place] = [ids?.at(row), places?.numberAt(row) ?? NaN];
    if (typeof id !== 'string' || !(place > 0) || shown?.numberAt(row) === 0) continue;
    const before = befores?.numberAt(row) ?? NaN;
    const [drawn, marginal] = [propensities.numberAt(row), marginals.numberAt(row)];
    rows.push([id, place, before > 0 ? before : null, known(drawn), known(marginal)]);
  }
  return rows.some(([, , , drawn]) => drawn !== null) ? rows : [];
}

/** JSON has no NaN. */
function known(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
