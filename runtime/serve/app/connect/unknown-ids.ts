import { setTimeout as pause } from 'node:timers/promises';
import { own } from '../../../ground/core/value-fit.js';
import { type Diagnostic, Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { ComparedId } from '../../../request/compile/meaning/compared-ids.js';
import { sampleEntities, type SampleParts } from '../../../state/index/stored-fit.js';
import { entityKey } from '../../../state/store/keys.js';
import { TOKENS, type Container } from '../container/tokens.js';
import type { CompiledProject } from '../project/compile-project.js';

/** How long a service that starts waits for the store, in milliseconds. */
const ASK_WITHIN = 1000;

/** The warnings of `warnOfUnknownIds`; none if the store does not answer in time. */
export async function unknownIdWarnings(
  services: Container,
  pipelines: CompiledProject['pipelines'],
  types: ReadonlyMap<string, EntityType>,
): Promise<readonly Diagnostic[]> {
  const diagnostics = new Diagnostics();
  const parts = {
    store: services.resolve(TOKENS.store),
    layouts: services.resolve(TOKENS.layouts),
    prefix: services.resolve(TOKENS.settings).prefix,
  };
  const compared = pipelines.flatMap(({ plan }) => plan.comparedIds);
  const asked = warnOfUnknownIds(compared, types, parts, diagnostics).catch(() => undefined);
  await Promise.race([asked, pause(ASK_WITHIN, undefined, { ref: false })]);
  return [...diagnostics.all];
}

/** Warns of comparisons with ids that the index does not hold, such as the name of a brand. A type without entities is skipped. */
export async function warnOfUnknownIds(
  compared: readonly ComparedId[],
  types: ReadonlyMap<string, EntityType>,
  parts: SampleParts,
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
