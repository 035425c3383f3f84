import { typeText } from '../../ground/api/types.js';
import type { JsonObject } from '../../ground/api/types.js';
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

export interface SampleParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
}

export interface StoredFitParts extends SampleParts {
  readonly monitor: StoreMonitor;
}

/**
 * Samples stored entities of each type and warns about attributes whose values do not fit the schema. After a schema
 * change, such values read as failed, and scores that use them change without an error. It runs in the background of
 * requests and never rejects.
 */
export async function checkStoredFit(
  types: ReadonlyMap<string, EntityType>,
  parts: StoredFitParts,
): Promise<void> {
  const { layouts, monitor } = parts;
  const warned = new Set<string>();
  for (const type of types.values()) {
    try {
      const records = (await sampleRecords(type.name, parts)).map(({ record }) => record);
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

/** Some stored records of a type, with their ids. Their layouts are known then. */
async function sampleRecords(
  type: string,
  { store, layouts, prefix }: SampleParts,
): Promise<{ readonly id: string; readonly record: Buffer }[]> {
  const start = entityKey(prefix, type, '');
  const keys = await store.sampleKeys(start, SAMPLE, AbortSignal.timeout(SEARCH_WITHIN));
  const found = await store.read(keys);
  const records = found.flatMap((record, at) =>
    record === null ? [] : [{ id: keys[at]?.slice(start.length) ?? '', record }],
  );
  await layouts.resolve(records.flatMap(({ record }) => layoutIdOf(record) ?? []));
  return records;
}

/** Some stored entities of a type, with their ids; none if the store cannot be asked. Damaged ones are left out. */
export async function sampleEntities(
  type: string,
  parts: SampleParts,
): Promise<{ readonly id: string; readonly entity: JsonObject }[]> {
  const records = await sampleRecords(type, parts).catch(() => []);
  return records.flatMap(({ id, record }) => {
    const entity = entityOf(record, parts.layouts);
    return entity === undefined ? [] : [{ id, entity }];
  });
}

/** @returns undefined for a damaged record; a read of the entity reports it */
function entityOf(record: Buffer, layouts: LayoutRegistry): JsonObject | undefined {
  const layout = layouts.get(layoutIdOf(record) ?? '');
  try {
    return layout && decodeEntity(record, layout, '');
  } catch {
    return undefined;
  }
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
    const entity = entityOf(record, layouts);
    if (layout === undefined || entity === undefined) continue;
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
