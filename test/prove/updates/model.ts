/**
 * What a final state of an entity may be, given all writes of it with the times of their requests. Each client owns two
 * attributes, which only its updates change, one after the other: they say which of its updates is the last one that the
 * state has. `price` is changed by all.
 *
 * One write of the whole entity comes last: an upload, a deletion, or an update that created the entity. A state is explained
 * if one of the writes that may be the last one explains each attribute: by itself, or by an update after it.
 */

/** What the clients see of an entity; undefined if the index does not have it. */
export type State = Readonly<Record<string, unknown>> | undefined;

export interface Write {
  /** `merge`: an update of an entity that the index had. */
  readonly is: 'whole' | 'merge';
  /** Who sent it. */
  readonly client: number;
  /** When the request began and when its answer came. */
  readonly from: number;
  readonly to: number;
  /** The attributes that it writes; null removes one. Undefined: a deletion. */
  readonly attributes: Readonly<Record<string, unknown>> | undefined;
}

/** The attributes that a client owns: it always writes the same number into both. */
export const ownedBy = (client: number): readonly [string, string] => [`a${client}`, `b${client}`];

/** Why a state is no result of the writes; undefined if it is one. */
export function difference(writes: readonly Write[], found: State, clients: number): string | undefined {
  const wholes = writes.filter(({ is }) => is === 'whole');
  const lastStart = Math.max(...wholes.map(({ from }) => from));
  let reason = 'no write of the whole entity';
  for (const last of wholes.filter(({ to }) => to >= lastStart)) {
    const why = unexplained(writes, last, found, clients);
    if (why === undefined) return undefined;
    reason = why;
  }
  return reason;
}

function unexplained(
  writes: readonly Write[],
  last: Write,
  found: State,
  clients: number,
): string | undefined {
  const merges = writes.filter(({ is, to }) => is === 'merge' && to >= last.from);
  if (last.attributes === undefined) {
    if (merges.some(({ from }) => from > last.to)) return 'an update found an entity that was deleted';
    return found === undefined ? undefined : 'the entity was deleted';
  }
  if (found === undefined) return 'the entity is missing';
  const known = new Set(['product_id', 'price', ...Object.keys(last.attributes)]);
  for (let client = 0; client < clients; client++) {
    const [a, b] = ownedBy(client);
    known.add(a).add(b);
    // A client waits for the answer, so its updates have one order.
    const own = merges.filter((merge) => merge.client === client);
    const latest = own.reduce<Write | undefined>(
      (one, next) => (one && one.from > next.from ? one : next),
      undefined,
    );
    const allowed = [
      ...(latest === undefined ? [] : [latest.attributes]),
      ...(latest === undefined || latest.from <= last.to ? [last.attributes] : []),
    ];
    const holds = allowed.some((written) =>
      [a, b].every((name) => (written?.[name] ?? undefined) === found[name]),
    );
    if (!holds) return `${a} is ${String(found[a])}, ${b} is ${String(found[b])}`;
  }
  const priced = [last, ...merges];
  const isPrice = priced.some(
    (write) =>
      write.attributes?.['price'] === found['price'] &&
      !merges.some((other) => other !== write && other.from > write.to),
  );
  if (!isPrice) return `price is ${String(found['price'])}`;
  for (const [name, value] of Object.entries(last.attributes))
    if (name.startsWith('kept') && found[name] !== value) return `${name} is ${String(found[name])}`;
  const foreign = Object.keys(found).find((name) => !known.has(name));
  return foreign === undefined ? undefined : `${foreign} is of an earlier whole entity`;
}
