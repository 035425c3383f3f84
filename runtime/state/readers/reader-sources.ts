import type { Column } from '../../ground/api/columns.js';
import { MillraceError } from '../../ground/api/errors.js';
import { Status } from '../../ground/api/status.js';
import { writeJson } from '../../language/frame/cells.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type {
  FeatureSources,
  ReadReport,
  SourceAsk,
  SourceReader,
  SourceRows,
} from '../index/feature-source.js';
import { DefaultCells } from '../store/codec/default-cells.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';
import { FAILED, type Cell } from './checked-rows.js';
import { ViewRows, type FoundRows, type OpenReader, type RowCache, type UsedRow } from './view-rows.js';

export interface ReaderSourcesParts {
  /** Those of the project; views of other readers cannot be read. */
  readonly readers: readonly OpenReader[];
  /** What they keep, by view. */
  readonly caches: ReadonlyMap<string, RowCache>;
  /** Where the other views outside the store are. */
  readonly others: FeatureSources;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** Hears of each read. */
  readonly onRead?: (report: ReadReport) => void;
}

/** Feature views that plugins read, beside other views outside the store. The plugins are closed with their project. */
export class ReaderSources implements FeatureSources {
  readonly #others: FeatureSources;
  readonly #views: ReadonlyMap<string, ViewRows>;
  readonly #onRead: ReaderSourcesParts['onRead'];

  constructor({ readers, caches, others, clock, onRead }: ReaderSourcesParts) {
    this.#others = others;
    this.#onRead = onRead;
    this.#views = new Map(
      readers.map((one) => [one.view.name, new ViewRows(one, clock, caches.get(one.view.name))]),
    );
  }

  /** @throws MillraceError invalid_body for a view whose reader this process did not make */
  readerOf(wanted: readonly WantedFeature[]): SourceReader {
    const view = wanted[0]?.view;
    if (view?.reader === undefined) return this.#others.readerOf(wanted);
    const rows = this.#views.get(view.name);
    if (rows === undefined)
      throw new MillraceError(
        'invalid_body',
        `view: ${view.name} is read by the plugin ${view.reader.use.value}; ask a running service for it, with --url`,
      );
    return new ReaderOfView(view, wanted, rows, this.#onRead);
  }

  ping(): Promise<void> {
    return this.#others.ping();
  }

  close(): Promise<void> {
    return this.#others.close();
  }
}

/** Reads some features of a view. */
class ReaderOfView implements SourceReader {
  readonly view: string;
  readonly #rows: ViewRows;
  readonly #cells: ViewCells;
  readonly #onRead: ReaderSourcesParts['onRead'];

  constructor(
    view: FeatureView,
    wanted: readonly WantedFeature[],
    rows: ViewRows,
    onRead: ReaderSourcesParts['onRead'],
  ) {
    this.view = view.name;
    this.#rows = rows;
    this.#cells = new ViewCells(view, wanted);
    this.#onRead = onRead;
  }

  async read(
    keys: readonly (readonly string[])[],
    signal?: AbortSignal,
    ask: SourceAsk = { now: Date.now(), leftMs: Infinity, trace: undefined },
  ): Promise<SourceRows> {
    if (keys.length === 0) return new FoundCells(this.#cells, { rows: [], report: undefined });
    const found = await this.#rows.find(keys, signal, ask);
    this.#onRead?.(found.report);
    return new FoundCells(this.#cells, found);
  }

  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    this.#cells.missing(cause, columns, row);
  }
}

/** Writes cells with the statuses that FeatureDecoder gives to those of the store. */
class ViewCells {
  readonly #view: FeatureView;
  /** By column: the position of its feature in the view. */
  readonly #places: readonly number[];
  readonly #defaults: DefaultCells;

  constructor(view: FeatureView, wanted: readonly WantedFeature[]) {
    this.#view = view;
    const names = [...view.features.keys()];
    this.#places = wanted.map(({ feature }) => names.indexOf(feature.name));
    this.#defaults = new DefaultCells(wanted.map(({ feature }) => feature));
  }

  missing(cause: number, columns: readonly Column[], row: number): void {
    for (let i = 0; i < columns.length; i++) this.#defaults.write(columns, i, row, cause);
  }

  write(used: UsedRow | undefined, columns: readonly Column[], row: number, now: number): void {
    const cells = used?.row.cells;
    if (used === undefined || cells === undefined) {
      this.missing(used === undefined ? Status.failed : Status.missing_feature, columns, row);
      return;
    }
    const { ttl, expired } = this.#view;
    const isExpired = ttl !== null && !(now - used.row.time <= ttl);
    if (isExpired && expired !== 'stale') {
      this.missing(expired === 'fail' ? Status.failed : Status.expired, columns, row);
      return;
    }
    const known = isExpired || used.isStale ? Status.stale : Status.present;
    for (let i = 0; i < columns.length; i++) this.#cell(cells[this.#places[i] ?? -1], known, columns, i, row);
  }

  #cell(cell: Cell, known: number, columns: readonly Column[], index: number, row: number): void {
    const column = columns[index];
    if (cell === FAILED) this.#defaults.write(columns, index, row, Status.failed);
    else if (cell === undefined) this.#defaults.write(columns, index, row, Status.missing_feature);
    else if (cell === null) this.#defaults.write(columns, index, row, Status.null);
    else if (column !== undefined) {
      writeJson(column, row, cell);
      column.status[row] = known;
    }
  }
}

class FoundCells implements SourceRows {
  readonly report?: ReadReport;
  readonly #cells: ViewCells;
  readonly #rows: FoundRows['rows'];

  constructor(
    cells: ViewCells,
    { rows, report }: Pick<FoundRows, 'rows'> & { readonly report: ReadReport | undefined },
  ) {
    this.#cells = cells;
    this.#rows = rows;
    if (report !== undefined) this.report = report;
  }

  decode(index: number, columns: readonly Column[], row: number, now: number): void {
    this.#cells.write(this.#rows[index], columns, row, now);
  }

  eventTime(index: number): number | undefined {
    const row = this.#rows[index]?.row;
    return row?.cells === undefined ? undefined : row.time;
  }
}
