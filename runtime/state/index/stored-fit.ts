import { typeText } from '../../ground/api/types.js';
import { inTurns, type Pieces } from '../../ground/core/pieces.js';
import { fits, own } from '../../ground/core/value-fit.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { decodeEntity, layoutIdOf } from '../store/codec/entity-record.js';
import { entityKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { StoreMonitor } from '../store/store-monitor.js';
import type { Store } from '../store/store.js';

/** Maximum number of records that are sampled for each type. */
const SAMPLE = 300;
/** Time limit of the key search for one type, in milliseconds. */
const SEARCH_WITHIN = 2000;

/** The values of an attribute in a sample that do not fit its type. */
interface Misfits {
  readonly attribute: string;
  readonly count: number;
  /** The types under which they were stored. */
  readonly stored: ReadonlySet<string>;
}

export interface StoredFitParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly monitor: StoreMonitor;
}

/**
 * Samples stored entities of each type and warns about attributes whose values do not fit the schema. After a schema
 * change, such values read as failed, and scores that use them change without an error. It runs in the background of
 * requests and never rejects.
 */
export async function checkStoredFit(
  types: ReadonlyMap<string, EntityType>,
  { store, layouts, prefix, monitor }: StoredFitParts,
): Promise<void> {
  const warned = new Set<string>();
  for (const type of types.values()) {
    try {
      const keys = await store.sampleKeys(
        entityKey(prefix, type.name, ''),
        SAMPLE,
        AbortSignal.timeout(SEARCH_WITHIN),
      );
      const found = await store.read(keys);
      const records = found.filter((record) => record !== null);
      await layouts.resolve(records.flatMap((record) => layoutIdOf(record) ?? []));
      const misfits = await inTurns(misfitsOf(type, records, layouts));
      monitor.sampled(
        type.name,
        records.length,
        new Map(misfits.map(({ attribute, count }) => [attribute, count])),
      );
      for (const { attribute, count, stored } of misfits) {
        const subject = `${type.name}.${attribute}`;
        warned.add(subject);
        const declared = typeText(type.attributes.get(attribute)?.type ?? { kind: 'string' });
        monitor.setWarning(
          'values_misfit',
          subject,
          `${subject} is ${declared} in the schema, and ${count} of ${records.length} sampled records hold another type ` +
            `(${[...stored].join(', ')}): these values read as failed. Load the entities again, or undo the change of the schema`,
        );
      }
    } catch {
      // The store is lost or refuses SCAN. The check is optional, so it is skipped.
    }
  }
  monitor.keepWarnings('values_misfit', warned);
}

function* misfitsOf(
  type: EntityType,
  records: readonly Buffer[],
  layouts: LayoutRegistry,
): Pieces<Misfits[]> {
  const found = new Map<string, { count: number; stored: Set<string> }>();
  for (const record of records) {
    yield;
    const layout = layouts.get(layoutIdOf(record) ?? '');
    if (layout === undefined) continue;
    let entity: ReturnType<typeof decodeEntity>;
    try {
      entity = decodeEntity(record, layout, '');
    } catch {
      continue; // damaged; a read of the entity reports it
    }
    for (const { name, type: declared } of type.attributes.values()) {
      const value = own(entity, name) ?? (declared.kind === 'ref' ? own(entity, `${name}_id`) : undefined);
      if (value === undefined || value === null || fits(value, declared)) continue;
      const misfit = found.get(name) ?? { count: 0, stored: new Set() };
      found.set(name, misfit);
      misfit.count++;
      const stored = layout.byName.get(name);
      misfit.stored.add(stored === undefined ? 'undeclared' : typeText(stored.type));
    }
  }
  return [...found].map(([attribute, misfit]) => ({ attribute, ...misfit }));
}
