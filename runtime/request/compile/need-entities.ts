import type {
  EntitiesWanted,
  EntityFilter,
  EntityKeeper,
  KeptEntities,
} from '../../ground/api/entity-keeper.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { StepInput } from '../../ground/api/step-input.js';
import type { EntityFollower, FollowedType } from '../../state/index/entity-follower.js';
import { didYouMean } from '../../ground/core/nearest.js';
import type { HydrationBuilder } from './hydration-builder.js';
import { columnShape } from './value-types.js';

/** A condition on entities, with the binding of what it reads of them. */
export interface Where {
  readonly columns: EntityBinding;
  of(input: Pick<StepInput, 'now' | 'column'>): EntityFilter;
}

/** The entities that a component keeps. The service binds it to the store, after the pipeline is compiled. */
export class EntityBinding<K extends EntityKeeper = EntityKeeper> implements KeptEntities<K> {
  #follower: EntityFollower | undefined;
  /** Its condition, compiled. */
  where: Where | undefined;

  constructor(readonly followed: FollowedType) {}

  bind(follower: EntityFollower): void {
    this.#follower = follower;
  }

  keeper(): K {
    const problem = this.#follower === undefined ? 'the store is not open' : this.#follower.problem;
    if (problem !== undefined) throw new Error(problem);
    return this.#follower?.keeper as K;
  }

  lag(): string | undefined {
    return this.#follower?.lag ?? this.where?.columns.lag();
  }

  filter(input: Pick<StepInput, 'now' | 'column'>): EntityFilter | undefined {
    return this.where?.of(input);
  }
}

/** @throws OptionError if a path is not an attribute of the candidates, or cannot be kept */
export function needEntities<K extends EntityKeeper>(
  wanted: EntitiesWanted<K>,
  hydration: HydrationBuilder,
): EntityBinding<K> {
  const { candidates } = hydration;
  const attributes = wanted.attributes.map(({ path: text, kinds, option, part, like }) => {
    const fault = (message: string, help?: string): OptionError =>
      new OptionError(option, message, help, part);
    const found = hydration.resolve(text.trim().split('.'));
    if ('problem' in found)
      throw fault(
        `\`${text}\` is not an attribute of \`${candidates.name}\``,
        didYouMean(text, hydration.attributeNames()),
      );
    const { root, hops, path, type, list } = found;
    const shape = columnShape(type, list, 'candidate');
    if (root !== candidates || hops.length > 0 || path.length === 0)
      throw fault(
        `\`${text}\` is not an attribute of \`${candidates.name}\` itself`,
        'entities that others refer to are not kept: copy the value when you upload',
      );
    if (!candidates.entity.attributes.has(path[0] ?? ''))
      throw fault(`\`${text}\` is only sent with rankings`, 'declare it in the entity type');
    if (hydration.isPrivate(found)) throw fault(`\`${text}\` is private`);
    if (shape === undefined || !kinds.includes(shape.kind))
      throw fault(`\`${text}\` is of the type ${type.kind}`, `it must be ${kinds.join(' or ')}`);
    if (shape.kind === 'vector' && like?.size !== undefined && shape.size !== like.size)
      throw fault(
        `\`${text}\` is a vector(${shape.size}), \`${like.text}\` a vector(${like.size})`,
        'only vectors of the same size, from the same model, can be compared',
      );
    return { path, type, list, shape };
  });
  const key = JSON.stringify([candidates.entity.name, wanted.key, wanted.most, attributes]);
  return new EntityBinding<K>({
    type: candidates.entity.name,
    attributes,
    most: wanted.most,
    remedy: wanted.remedy,
    key,
    open: () => wanted.open(),
  });
}
