import type { EntityType } from '../config/project/model.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';

/** What every service over stored records of the project needs. */
export interface StoreParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Prefix of every store key. */
  readonly prefix: string;
  readonly types: ReadonlyMap<string, EntityType>;
}
