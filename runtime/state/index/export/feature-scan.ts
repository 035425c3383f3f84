import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { readBody, unknownName } from '../../../ground/core/body-fields.js';
import { inTurns, type Pieces } from '../../../ground/core/pieces.js';
import { fits } from '../../../ground/core/value-fit.js';
import type { FeatureView } from '../../../project/config/model/views.js';
import {
  decodeSegment,
  findSegment,
  segmentAt,
  segmentsOf,
  viewId,
  type Segment,
} from '../../store/codec/feature-record.js';
import { featureIds, featureKey } from '../../store/keys.js';
import { VIEW_BODY } from '../feature-store.js';
import { EVENT_TIME, rowKeys } from '../row-keys.js';
import { tracedStore } from '../../store/around.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import type { StoreParts } from '../store-parts.js';
import { PAGE_BODY, scanPage, type ScanPage } from './scan-request.js';

export interface FeatureScanParts extends StoreParts {
  readonly views: ReadonlyMap<string, FeatureView>;
}

export const VIEW_SCAN_BODY = { ...VIEW_BODY, ...PAGE_BODY };

/** A row of the page: its ids, and its segment in the record. */
interface Found {
  readonly ids: readonly string[];
  readonly record: Buffer;
  readonly segment: Segment;
}

/**
 * Lists the rows of a view, page by page, with the guarantees of `EntityScan`. Expired rows are listed; deleted rows are
 * not. Views that read from Feast have no rows in the store.
 */
export class FeatureScan {
  readonly #parts: FeatureScanParts;
  readonly #views: ReadonlyMap<string, FeatureView>;

  constructor(parts: FeatureScanParts) {
    this.#parts = parts;
    this.#views = new Map([...parts.views].filter(([, { source }]) => source === undefined));
  }

  /**
   * Body `{view, cursor?, limit?}`. `changed` counts rows with features that the view does not declare, or with values
   * that do not fit it. The page omits these features.
   * @throws MillraceError invalid_body, unknown_view, store_unavailable
   */
  async page(body: unknown, span?: TraceSpan): Promise<ScanPage> {
    const store = tracedStore(this.#parts.store, span);
    const { layouts, prefix } = this.#parts;
    const sent = readBody(body, VIEW_SCAN_BODY, 'The request');
    const view = this.#views.get(sent.view);
    if (view === undefined)
      throw new MillraceError(
        'unknown_view',
        unknownName('view', 'feature view', sent.view, this.#views.keys()),
      );
    const { of, group, name } = view;
    const start = of.length === 0 ? featureKey(prefix, group, [], []) : `${prefix}:${group}:${of.join(',')}:`;
    const { keys, cursor } = await scanPage(store, start, sent);
    const records = await store.read(keys);
    const id = viewId(name);
    const [low, high] = [id.readInt32LE(0), id.readInt32LE(4)];
    const unreadable: string[] = [];
    const found: Found[] = [];
    keys.forEach((key, i) => {
      const record = records[i] ?? null;
      if (record === null) return;
      const ids = featureIds(key, start, of.length);
      const at = findSegment(record, 0, record.length, low, high);
      if (ids !== undefined && at >= 0) found.push({ ids, record, segment: segmentAt(record, at) });
      else if (ids === undefined || segmentsOf(record).at(-1)?.end !== record.length)
        unreadable.push(key.slice(start.length));
    });
    await layouts.resolve(
      found.map(({ segment }) => segment.layoutId).filter((hex) => layouts.get(hex) === undefined),
    );
    const page = await inTurns(this.#decodeAll(found, view, unreadable));
    return { ...page, cursor: cursor ?? null };
  }

  *#decodeAll(
    found: readonly Found[],
    view: FeatureView,
    unreadable: string[],
  ): Pieces<Omit<ScanPage, 'cursor'>> {
    const keys = rowKeys(view, this.#parts.types);
    const rows: JsonObject[] = [];
    let changed = 0;
    for (const { ids, record, segment } of found) {
      const layout = this.#parts.layouts.get(segment.layoutId);
      const features =
        layout === undefined ? undefined : decoded(() => decodeSegment(record, segment, layout));
      if (features === undefined) unreadable.push(ids.join(','));
      else {
        const row = Object.create(null) as Record<string, JsonValue>;
        keys.forEach((key, i) => (row[key] = ids[i] ?? ''));
        let isWhole = true;
        for (const [feature, value] of Object.entries(features)) {
          const type = view.features.get(feature)?.type;
          if (type !== undefined && (value === null || fits(value, type))) row[feature] = value;
          else isWhole = false;
        }
        row[EVENT_TIME] = segment.eventTime;
        if (!isWhole) changed++;
        rows.push(row);
      }
      yield;
    }
    return { records: rows, unreadable, changed };
  }
}

/** Decodes features; undefined if the bytes are damaged. */
function decoded(decode: () => JsonObject): JsonObject | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
