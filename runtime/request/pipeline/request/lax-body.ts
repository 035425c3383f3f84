import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import { BOOL, INT, LaxBody, type LaxType } from '../../../ground/core/lax-value.js';
import { atOnce, soon, type Pieces } from '../../../ground/core/pieces.js';
import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { Plan } from '../../compile/plan.js';
import type { PlanRun } from '../plan-run.js';
import { PAGE_FIELDS } from './read-request.js';

/** Converts the body of a run by the rules of `accept: lax`, before it is checked. */
export async function relax(run: PlanRun): Promise<void> {
  const { plan, asked, stages } = run;
  const lax = (asked.lax ??= new LaxBody(plan.entities, 'entity'));
  asked.body = await soon(laxRequest(plan, asked.body, lax), () => stages.deadline.check());
}

/** Converts a body that comes from a file, at once, if the project accepts lax bodies. */
export function relaxed(plan: Plan, body: unknown, isLax: boolean | undefined): unknown {
  return isLax === true ? atOnce(laxRequest(plan, body, new LaxBody(plan.entities, 'entity'))) : body;
}

/** Returns the body itself if nothing in it changes. */
export function* laxRequest(plan: Plan, body: unknown, lax: LaxBody): Pieces<unknown> {
  if (!isJsonObject(body)) return body;
  let copy: Record<string, JsonValue> | undefined;
  for (const name of Object.keys(body)) {
    const sent = body[name] ?? null;
    if (sent === null) continue;
    const found = yield* laxField(plan, name, sent, lax);
    if (found !== sent) (copy ??= { ...body })[name] = found;
    yield;
  }
  return copy ?? body;
}

function* laxField(plan: Plan, name: string, value: JsonValue, lax: LaxBody): Pieces<JsonValue> {
  const { definition, candidateType } = plan;
  const extra = definition.request.candidates;
  if (definition.task === 'rank' && name === 'candidates')
    return Array.isArray(value) ? yield* laxCandidates(value, candidateType, extra, lax) : value;
  if (definition.task === 'score' && name === candidateType.name)
    return yield* lax.entity(value, candidateType, name, { extra });
  const field = definition.request.fields.get(name);
  const entity = field?.kind === 'entity' ? plan.entities.get(field.entity) : undefined;
  if (entity !== undefined) return yield* lax.entity(value, entity, name);
  // The fields besides, as one object, so that a reference has both spellings.
  const found = yield* lax.object({ [name]: value }, (one) => typeOf(plan, one), '');
  return (found as JsonObject)[name] ?? null;
}

/** The type of a field of the body itself. A `request_id` is strict: it names the request before the body is read. */
function typeOf({ definition, entities }: Plan, name: string): ValueType | undefined {
  if (name === 'include_events') return BOOL;
  if (definition.task === 'rank' && Object.hasOwn(PAGE_FIELDS, name)) return INT;
  const field = definition.request.fields.get(name);
  return field?.kind === 'scalar' ? field.type : entities.get('request')?.attributes.get(name)?.type;
}

function* laxCandidates(
  sent: readonly JsonValue[],
  type: LaxType,
  extra: LaxType['attributes'],
  lax: LaxBody,
): Pieces<readonly JsonValue[]> {
  let copy: JsonValue[] | undefined;
  for (const [i, candidate] of sent.entries()) {
    const found = yield* lax.entity(candidate, type, 'candidates', { extra });
    if (found !== candidate) (copy ??= [...sent])[i] = found;
    yield;
  }
  return copy ?? sent;
}
