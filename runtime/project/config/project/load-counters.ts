import { parseDuration } from '../../../ground/api/duration.js';
import { Section } from '../yaml/section.js';
import type { Located } from '../yaml/source.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import { CounterFeatureReader } from './counter-feature.js';
import { checkPath } from './counter-path.js';
import type { CounterDefinition, CounterFeature } from '../model/counters.js';
import type { EntityType } from '../model/entities.js';
import type { EventKind } from '../model/events.js';
import type { FeatureView } from '../model/views.js';
import type { TypeContext } from './parse-type.js';

/** A day more than a year, as for histories. */
const LONGEST_TTL = 366 * 24 * 3_600_000;
/** After so many half-lives, an event counts less than a millionth. */
const HALF_LIVES = 20;
/** The ttl of a counter that only has times of last events. */
const DEFAULT_TTL = 90 * 24 * 3_600_000;

/** What the files of counters refer to. */
export interface CounterContext {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** The declared entity types, those with errors included. */
  readonly entityNames: ReadonlySet<string>;
  readonly events: ReadonlyMap<string, EventKind>;
  readonly views: ReadonlyMap<string, FeatureView>;
}

/** Loads the counters of a project. The existence of their entity types is checked with all other references. */
export function loadCounters(
  files: readonly ParsedFile[],
  known: CounterContext,
  context: TypeContext,
): Map<string, CounterDefinition> {
  return new Map(files.map((parsed) => [parsed.name.value, loadCounter(parsed, known, context)]));
}

function loadCounter(
  { file, root, name }: ParsedFile,
  known: CounterContext,
  context: TypeContext,
): CounterDefinition {
  const { diagnostics } = context;
  if (known.views.has(name.value))
    diagnostics.error(
      'duplicate_name',
      name.at,
      `\`${name.value}\` is already the name of a feature view`,
      'counters and feature views share their names; choose another name',
    );
  const counter = new Section('counter', file, root, diagnostics);
  const types = readOf(counter, context);
  const by = readBy(counter, types, known);
  const features = new Map<string, CounterFeature>();
  for (const { key, keyAt, value } of counter.entries('features')) {
    const reader = new CounterFeatureReader(counter.of('counter.features.*', value), known);
    const feature = reader.read(key, keyAt);
    if (feature !== undefined) features.set(key, feature);
  }
  const of = types.map(({ value }) => value);
  const ttl = readTtl(counter, features);
  return { name: name.value, of, by, ttl, features, at: name.at };
}

function readOf(counter: Section<'counter'>, context: TypeContext): Located<string>[] {
  const types = counter.texts('of');
  for (const [i, { value, at }] of types.entries()) {
    context.references.push({ entity: value, at });
    if (types.findIndex((other) => other.value === value) < i)
      context.diagnostics.error(
        'duplicate_name',
        at,
        `the key contains \`${value}\` twice`,
        'count two entities of one type in two counters',
      );
  }
  return types;
}

function readBy(
  counter: Section<'counter'>,
  types: readonly Located<string>[],
  known: CounterContext,
): string[][] {
  const { diagnostics } = counter;
  if (!counter.has('by')) return types.map(({ value }) => [value]);
  const paths = counter.texts('by');
  if (paths.length !== types.length) {
    diagnostics.error(
      'binding_mismatch',
      counter.keyAt('by'),
      `\`by\`: expected ${types.length === 1 ? '1 path' : `${types.length} paths`}, one for each entity type under \`of\`, found ${paths.length}`,
      types.length === 0
        ? 'remove the line: a global counter needs no path'
        : `for example \`by: [${types.map(({ value }) => value).join(', ')}]\``,
    );
    return types.map(({ value }) => [value]);
  }
  paths.forEach((path, i) => {
    const type = types[i]?.value ?? '';
    if (known.entityNames.has(type)) checkPath(path, type, i, known, diagnostics);
  });
  const followed = paths.filter(({ value }) => value.includes('.'));
  const rootOf = ({ value }: Located<string>): string => value.split('.')[0] ?? '';
  const other = followed.find((path) => rootOf(path) !== rootOf(followed[0] ?? path));
  if (other !== undefined && followed[0] !== undefined)
    diagnostics.error(
      'binding_mismatch',
      other.at,
      `an event is about one entity: \`${rootOf(followed[0])}\` and \`${rootOf(other)}\` cannot both be followed`,
      'name the entity that the events belong to without an attribute, for example `user`',
    );
  return paths.map(({ value }) => value.split('.'));
}

function readTtl(counter: Section<'counter'>, features: ReadonlyMap<string, CounterFeature>): number {
  const lasting = [...features.values()].map(({ name, window, halfLife }) => ({
    name,
    time: window ?? (halfLife === undefined ? 0 : Math.min(HALF_LIVES * halfLife, LONGEST_TTL)),
    isWindow: window !== undefined,
  }));
  const longest = lasting.filter(({ isWindow }) => isWindow).sort((a, b) => b.time - a.time)[0];
  const ttl = parseDuration(counter.text('ttl') ?? '');
  if (ttl === undefined) return Math.max(...lasting.map(({ time }) => time), 0) || DEFAULT_TTL;
  if (longest !== undefined && ttl < longest.time)
    counter.diagnostics.error(
      'invalid_counter',
      counter.at('ttl'),
      `\`ttl\` is shorter than the window of \`${longest.name}\``,
      'give it at least the longest window, or remove the line',
    );
  else if (ttl > LONGEST_TTL || ttl < 60_000) counter.wrong('ttl', 'expected a time from 1m to 366d');
  return ttl;
}

/** Counters as pipelines see them: feature views whose rows are counted. */
export function viewsOfCounters(counters: ReadonlyMap<string, CounterDefinition>): Map<string, FeatureView> {
  return new Map(
    Array.from(counters, ([name, counter]) => [
      name,
      {
        name,
        of: counter.of,
        ttl: null,
        expired: 'missing' as const,
        group: 'counters',
        features: new Map(
          Array.from(counter.features.values(), (feature) => [
            feature.name,
            { name: feature.name, type: { kind: typeOf(feature) }, default: undefined, at: feature.at },
          ]),
        ),
        counter,
        at: counter.at,
      },
    ]),
  );
}

function typeOf({ value, halfLife, over }: CounterFeature): 'int' | 'float' | 'timestamp' {
  if (value.kind === 'last') return 'timestamp';
  return (value.kind === 'count' || value.kind === 'distinct') && halfLife === undefined && over === undefined
    ? 'int'
    : 'float';
}
