import { own } from '../../../ground/core/value-fit.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { ComparedId } from '../../../request/compile/meaning/compared-ids.js';
import { sampleEntities, type StoredFitParts } from '../../../state/index/stored-fit.js';
import { entityKey } from '../../../state/store/keys.js';

/** Warns of comparisons with ids that the index does not hold, such as the name of a brand. A type without entities is skipped. */
export async function warnOfUnknownIds(
  compared: readonly ComparedId[],
  types: ReadonlyMap<string, EntityType>,
  parts: StoredFitParts,
  diagnostics: Diagnostics,
): Promise<void> {
  const { store, prefix } = parts;
  const records = await store.read(compared.map(({ entity, id }) => entityKey(prefix, entity, id)));
  const unknown = compared.filter((_, at) => records[at] === null);
  for (const name of new Set(unknown.map(({ entity }) => entity))) {
    const type = types.get(name);
    const sample = type === undefined ? [] : await sampleEntities(name, parts);
    if (type === undefined || sample.length === 0) continue;
    for (const { entity, id, reference, at } of unknown) {
      if (entity !== name) continue;
      const [found] = sample.flatMap((one) =>
        [...type.attributes.keys()].flatMap((attribute) =>
          own(one.entity, attribute) === id ? [{ attribute, id: one.id }] : [],
        ),
      );
      diagnostics.warning(
        'unknown_id',
        at,
        `\`${reference}\` is compared by id, and the index holds no ${name} \`${id}\``,
        found === undefined
          ? `load the ${name}, or correct the id`
          : `\`${name}.${found.attribute}\` has this value: compare \`${reference}.${found.attribute}\`, or the id \`${found.id}\``,
      );
    }
  }
}
