import { JsonList } from '../../ground/core/json-list.js';
import { inTurns } from '../../ground/core/pieces.js';
import { isJsonObject, own } from '../../ground/core/value-fit.js';
import { viewNames } from '../../state/index/view-names.js';
import type { EntityTypesOf } from './route.js';

// These functions read bodies before they are checked. What does not fit is left to the check, which refuses it.

/** The type of a body with `entity_type`. */
export const entityTypeOf: EntityTypesOf = (body) => {
  const type = isJsonObject(body) ? own(body, 'entity_type') : undefined;
  return typeof type === 'string' ? [type] : [];
};

/** The types that the view of a body with `view` is of. */
export const typesOfView: EntityTypesOf = (body, { views }) => {
  const view = isJsonObject(body) ? own(body, 'view') : undefined;
  return typeof view === 'string' ? (views.get(view)?.of ?? []) : [];
};

/** The types that the views of a body's `features`, or of its `feature_service`, are of. */
export const typesOfFeatures: EntityTypesOf = (body, { views }) => {
  if (!isJsonObject(body)) return [];
  const names = viewNames(views);
  const service = own(body, 'feature_service');
  const features: unknown = typeof service === 'string' ? names.service(service) : own(body, 'features');
  if (!Array.isArray(features)) return [];
  const asked = new Set(
    features.map((feature: unknown) => (typeof feature === 'string' ? (feature.split(':')[0] ?? '') : '')),
  );
  return [...asked].flatMap((name) => names.find(name)?.of ?? []);
};

/** The types that the view of a body with `feature_view_name` is of. */
export const typesOfFeastWrite: EntityTypesOf = (body, { views }) => {
  const name = isJsonObject(body) ? own(body, 'feature_view_name') : undefined;
  return typeof name === 'string' ? (viewNames(views).find(name)?.of ?? []) : [];
};

/** The types that the views of a body with `push_source_name` are of. */
export const typesOfFeastPush: EntityTypesOf = (body, { views }) => {
  const name = isJsonObject(body) ? own(body, 'push_source_name') : undefined;
  return typeof name === 'string'
    ? viewNames(views)
        .pushed(name)
        .flatMap(({ of }) => of)
    : [];
};

/** The types of the entities that a feedback body and its events name. */
export const typesOfFeedback: EntityTypesOf = async (body, { entityTypes }) => {
  if (!isJsonObject(body)) return [];
  const events: unknown = own(body, 'events');
  // A list of a large body can be read only once.
  const list = events instanceof JsonList ? await inTurns(events.whole()) : events;
  if (events instanceof JsonList) Object.assign(body, { events: list });
  const types = new Set<string>();
  for (const part of [body, ...(Array.isArray(list) ? (list as unknown[]) : [])])
    if (isJsonObject(part)) for (const name of Object.keys(part)) if (entityTypes.has(name)) types.add(name);
  return types;
};
