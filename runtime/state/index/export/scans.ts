import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import { EntityScan } from './entity-scan.js';
import { FeatureScan, type FeatureScanParts } from './feature-scan.js';
import type { ScanPage } from './scan-request.js';

/** The answer to a scan of entities. */
export interface EntityPage extends Omit<ScanPage, 'records'> {
  readonly entity_type: string;
  readonly entities: ScanPage['records'];
}

/** The answer to a scan of rows. */
export interface RowPage extends Omit<ScanPage, 'records'> {
  readonly view: string;
  readonly rows: ScanPage['records'];
}

/** Lists the content of the store, page by page. */
export class Scans {
  readonly #entities: EntityScan;
  readonly #features: FeatureScan;

  constructor(parts: FeatureScanParts) {
    this.#entities = new EntityScan(parts);
    this.#features = new FeatureScan(parts);
  }

  /** See `EntityScan`. */
  async entities(body: unknown, span?: TraceSpan): Promise<EntityPage> {
    const { records, ...page } = await this.#entities.page(body, span);
    return { entity_type: (body as { entity_type: string }).entity_type, entities: records, ...page };
  }

  /** See `FeatureScan`. */
  async features(body: unknown, span?: TraceSpan): Promise<RowPage> {
    const { records, ...page } = await this.#features.page(body, span);
    return { view: (body as { view: string }).view, rows: records, ...page };
  }
}
