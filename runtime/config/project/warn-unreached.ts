import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { CounterDefinition } from '../model/counters.js';
import type { EventKind } from '../model/events.js';
import type { SourceDefinition } from '../model/sources.js';
import { keptTypes } from './check-source-map.js';
import { DEFAULT_EVENTS } from './load-events.js';
import { isReadyMap } from './ready-maps.js';

type Kinds = ReadonlyMap<string, EventKind>;

/**
 * Warns of features of counters that no event can reach: their kind is only a default, because millrace.yaml declares none,
 * and no source posts it. A project without sources gets its events over the API, where clients can post every kind.
 */
export function warnOfUnreached(
  counters: ReadonlyMap<string, CounterDefinition>,
  sources: readonly SourceDefinition[],
  events: Kinds,
  diagnostics: Diagnostics,
): void {
  const posting = sources.filter(({ into }) => into.kind === 'feedback');
  if (posting.length === 0 || events !== DEFAULT_EVENTS) return;
  const posted = new Set(posting.flatMap((source) => [...kindsOf(source, events)]));
  const names = posting.map(({ name }) => name).join(', ');
  for (const counter of counters.values())
    for (const { name, event, over, at } of counter.features.values())
      for (const kind of new Set([event, over]))
        if (kind !== undefined && events.has(kind) && !posted.has(kind))
          diagnostics.warning(
            'unreached',
            at,
            `\`${name}\` counts \`${kind}\`, which no source posts (${names}) and millrace.yaml does not declare`,
            `map a message of a source to \`${kind}\`; or, if clients post it, declare it, for example \`events: { ${[...events.keys()].map((one) => `${one}: {}`).join(', ')} }\``,
          );
}

/** The kinds of feedback that a source can post. */
function kindsOf(source: SourceDefinition, events: Kinds): Iterable<string> {
  const { map, event } = source;
  // A message of the API's form, of Metarank, or with the kind in a column can be of any kind.
  if (map === undefined || map === 'metarank') return events.keys();
  if (typeof map === 'string') return isReadyMap(map) ? DEFAULT_EVENTS.keys() : events.keys();
  if (event === undefined) return events.keys();
  if (typeof event === 'string') return [event];
  const kept = keptTypes(source);
  return Object.entries(event).flatMap(([type, kind]) =>
    kind === null || kept?.has(type) === false ? [] : [kind],
  );
}
