import type { Plan } from '../../compile/plan.js';
import { BODY_FIELDS, RANKING_FIELDS } from '../../../project/config/project/reserved-names.js';
import { nearest } from '../../../ground/core/nearest.js';

/** A field of a body that nothing declares, and the declared one that it most likely means. */
export interface MisspeltField {
  /** Dotted, without list positions. */
  readonly field: string;
  readonly near: string;
}

/** Of each request, so many undeclared fields are looked at. */
const MOST_FIELDS = 20;
/** Of a pipeline, so many are remembered. */
const MOST_KNOWN = 500;
const NONE: readonly MisspeltField[] = [];

/**
 * Finds the undeclared fields that are near a declared one. The request is answered without them, so somebody should hear of
 * them. Others are left alone: clients may send more than a pipeline reads.
 */
export class MisspeltFields {
  readonly #declared: ReadonlyMap<string, readonly string[]>;
  readonly #tell: (field: MisspeltField) => void;
  readonly #known = new Map<string, MisspeltField | undefined>();

  /** @param tell called once for each field */
  constructor(plan: Plan, tell: (field: MisspeltField) => void) {
    this.#declared = declaredBy(plan);
    this.#tell = tell;
  }

  /** @param unknown the undeclared fields of a body */
  of(unknown: ReadonlyMap<string, number>): readonly MisspeltField[] {
    if (unknown.size === 0) return NONE;
    return [...unknown.keys()].slice(0, MOST_FIELDS).flatMap((field) => this.#find(field) ?? []);
  }

  #find(field: string): MisspeltField | undefined {
    if (this.#known.has(field)) return this.#known.get(field);
    if (this.#known.size >= MOST_KNOWN) return undefined;
    const dot = field.lastIndexOf('.');
    const parent = field.slice(0, Math.max(dot, 0));
    const near = nearest(field.slice(dot + 1), this.#declared.get(parent) ?? []);
    const found =
      near === undefined ? undefined : { field, near: parent === '' ? near : `${parent}.${near}` };
    this.#known.set(field, found);
    if (found !== undefined) this.#tell(found);
    return found;
  }
}

/** By dotted field that holds an object: the names that it can have; the body itself is ''. */
function declaredBy({ definition, candidateType, entities }: Plan): ReadonlyMap<string, readonly string[]> {
  const { task, request } = definition;
  const candidates = task === 'rank' ? 'candidates' : candidateType.name;
  const root = task === 'rank' ? RANKING_FIELDS : [...BODY_FIELDS, candidates];
  const declared = new Map<string, readonly string[]>([
    ['', [...root, ...request.fields.keys()]],
    [candidates, [candidateType.key, ...candidateType.attributes.keys(), ...request.candidates.keys()]],
  ]);
  for (const field of request.fields.values()) {
    const type = field.kind === 'entity' ? entities.get(field.entity) : undefined;
    if (type !== undefined) declared.set(field.name, [type.key, ...type.attributes.keys()]);
  }
  return declared;
}
