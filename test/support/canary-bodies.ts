import type { Schema } from './schema-values.js';

/** The values to put into bodies. */
export interface Planted {
  /** Attributes for every object that names a user. */
  readonly user: Readonly<Record<string, unknown>>;
  /** The names of those that are private. */
  readonly hidden: ReadonlySet<string>;
  /** Features for every row of a user. */
  readonly row: Readonly<Record<string, unknown>>;
}

type Json = unknown;

/**
 * Makes bodies from the examples of a route: with the planted values; with every planted value in the place of every
 * other, so that types are wrong; with values under misspelt names; and with each member missing.
 */
export function createRequestBodies(examples: Schema, planted: Planted): string[] {
  const bodies: Json[] = [];
  for (const { value } of Object.values(examples) as { readonly value: Json }[]) {
    const good = withValues(value, planted);
    bodies.push(value, good, withEvents(good));
    const hidden = Object.entries({ ...planted.user, ...planted.row }).filter(([name]) =>
      planted.hidden.has(name),
    );
    const values = hidden.map(([, one]) => one);
    for (const wrong of values)
      bodies.push(mapMembers(good, (name, member) => (planted.hidden.has(name) ? wrong : member)));
    bodies.push(renamed(good));
    if (typeof good === 'object' && good !== null)
      for (const name of Object.keys(good))
        bodies.push({ ...good, [name]: undefined }, { ...good, [name]: [7] });
  }
  return bodies.map((body) => JSON.stringify(body));
}

function withValues(value: Json, planted: Planted): Json {
  if (Array.isArray(value)) return value.map((one) => withValues(one, planted));
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withValues(one, planted)]),
  );
  if (!('user_id' in inner) || Array.isArray(inner['user_id'])) return inner;
  const isRow = 'note' in inner || 'spent' in inner;
  return { ...inner, ...(isRow ? planted.row : planted.user) };
}

function withEvents(body: Json): Json {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? { ...body, include_events: true }
    : body;
}

function mapMembers(value: Json, change: (name: string, member: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((one) => mapMembers(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapMembers(change(name, member), change)]),
  );
}

/** The values under names that nothing declares. */
function renamed(value: Json): Json {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.length > 8 ? name : `${name}x`, renamed(member)]),
  );
}
