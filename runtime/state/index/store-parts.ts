import type { EntityType } from '../../project/config/model/entities.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';

/** The bodies that store records. */
export type WriteBody = 'upload' | 'update' | 'push';

/** The parts that every service over stored records shares. */
export interface StoreParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Prefix of every store key. */
  readonly prefix: string;
  readonly types: ReadonlyMap<string, EntityType>;
  /** Whether values of bodies are converted to the declared types; by default they are only checked. */
  readonly isLax?: boolean;
  /** Takes the number of values that were converted of a valid body. */
  readonly onCoerced?: (body: WriteBody, values: number) => void;
}
