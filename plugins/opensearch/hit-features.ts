import {
  type HitNumbers,
  type JsonObject,
  type JsonValue,
  nearest,
  OptionError,
  valueAt,
} from 'millrace/api';
import type { Options } from './options.generated.js';

/**
 * The body with its size, and without what no step reads.
 * @throws OptionError at `place` if the body has a size, or at `queries` or `features` if the body does not ask for them
 */
export function bodyOf(
  body: JsonObject,
  { size, queries, features }: Pick<Options, 'size' | 'queries' | 'features'>,
  place: readonly (string | number)[],
): JsonObject {
  if (Object.hasOwn(body, 'size'))
    throw new OptionError(place, 'the body has a `size`', 'remove it, and write the option `size:`');
  const names = Object.keys(queries).length === 0 ? [] : [...namesIn(body)];
  for (const [option, outputs, taken] of [
    ['queries', queries, ['score']],
    ['features', features, ['score', ...Object.keys(queries)]],
  ] as [string, object, string[]][])
    for (const output of Object.keys(outputs))
      if (taken.includes(output))
        throw new OptionError([option, output], `\`${output}\` is an output already`, 'choose another name');
  for (const [output, name] of Object.entries(queries)) {
    if (names.includes(name)) continue;
    const close = nearest(name, names);
    throw new OptionError(
      ['queries', output],
      `no query of the body has \`_name: ${name}\``,
      close === undefined ? 'name a query of the body by `_name`' : `did you mean \`${close}\`?`,
    );
  }
  if (Object.keys(features).length > 0 && valueAt(body, ['ext', 'ltr_log']) === undefined)
    throw new OptionError(['features'], 'the body logs no features', 'add `ext: { ltr_log: … }` to the body');
  return { _source: false, track_total_hits: false, ...body, size };
}

function* namesIn(value: JsonValue): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === '_name' && typeof item === 'string') yield item;
    else yield* namesIn(item);
  }
}

/** The scores of named queries, and the values that the plugin Learning to Rank logs for each hit. */
export class HitFeatures implements HitNumbers {
  /** A named query that does not match adds nothing to the score: 0. A feature without a value is not known. */
  readonly outputs: Readonly<Record<string, number>>;
  readonly #queries: readonly (readonly [output: string, name: string])[];
  readonly #outputsOf = new Map<unknown, string[]>();

  constructor({ queries, features }: Pick<Options, 'queries' | 'features'>) {
    this.#queries = Object.entries(queries);
    this.outputs = {
      ...Object.fromEntries(this.#queries.map(([output]) => [output, 0])),
      ...Object.fromEntries(Object.keys(features).map((output) => [output, NaN])),
    };
    for (const [output, name] of Object.entries(features))
      this.#outputsOf.set(name, [...(this.#outputsOf.get(name) ?? []), output]);
  }

  read(hit: unknown, set: (output: string, value: number) => void): void {
    const matched = valueAt(hit, ['matched_queries']);
    // A list of names comes from servers that return no scores of named queries.
    const isList = Array.isArray(matched);
    for (const [output, name] of this.#queries) {
      const score = isList ? Number(matched.includes(name)) : valueAt(matched, [name]);
      if (typeof score === 'number') set(output, score);
    }
    if (this.#outputsOf.size === 0) return;
    const logs = valueAt(hit, ['fields', '_ltrlog']);
    for (const log of Array.isArray(logs) ? (logs as readonly unknown[]) : [])
      for (const entries of Object.values(log ?? {}))
        for (const entry of Array.isArray(entries) ? entries : []) {
          const value = valueAt(entry, ['value']);
          if (typeof value !== 'number') continue;
          for (const output of this.#outputsOf.get(valueAt(entry, ['name'])) ?? []) set(output, value);
        }
  }
}
