import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { AttributeDefinition } from '../../project/config/model/entities.js';
import type { RecordLayout, StoredField } from '../store/codec/record-layout.js';
import { conflict, isConflict, misfit, own, showOf, type Misfit } from '../../ground/core/value-fit.js';
import { jsonProblem } from '../../ground/core/check-json.js';
import { pointerTo, shownName, type Violations } from '../../ground/core/violations.js';

/** The attributes of an entity type, by name. */
type Definitions = ReadonlyMap<string, AttributeDefinition>;

/**
 * Checks an entity's attributes: declared attributes must fit their type or be null, and every value must be storable.
 * Undeclared attributes may be any JSON.
 */
export function checkAttributes(
  entity: JsonObject,
  layout: RecordLayout,
  pointer: string,
  violations: Violations,
  definitions: Definitions,
): void {
  for (const name of Object.keys(entity)) {
    const value = entity[name] ?? null;
    const problem =
      name === '__proto__'
        ? { path: [], code: 'reserved_name', detail: 'the name `__proto__` cannot be used' }
        : (jsonProblem(value) ?? misfitOf(layout.carried.get(name), value, definitions.get(name)));
    if (problem !== undefined) {
      violations.add(
        pointerTo(pointer, name, ...problem.path),
        problem.code,
        `${shownName(name)}: ${problem.detail}`,
      );
    }
  }
  for (const { name, alternative } of layout.references) {
    if (isConflict(own(entity, name), own(entity, alternative))) {
      const { code, detail } = conflict(name);
      violations.add(pointerTo(pointer, alternative), code, detail);
    }
  }
}

function misfitOf(
  field: StoredField | undefined,
  value: JsonValue,
  definition: AttributeDefinition | undefined,
): Misfit | undefined {
  return field === undefined ? undefined : misfit(value, field.type, showOf(definition));
}
