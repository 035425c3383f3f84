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
  for (const { features } of counters.values())
    for (const kind of events.keys()) {
      if (posted.has(kind)) continue;
      const [first, ...others] = [...features.values()].filter(
        ({ event, over }) => event === kind || over === kind,
      );
      if (first === undefined) continue;
      const who = others.length === 0 ? `\`${first.name}\` counts` : `${listOf([first, ...others])} count`;
      diagnostics.warning(
        'unreached',
        first.at,
        `${who} \`${kind}\`, which no source posts (${names}) and millrace.yaml does not declare`,
        `map a message of a source to \`${kind}\`; or, if clients post it, declare it, for example ${EXAMPLE}`,
      );
    }
}

const EXAMPLE = `\`events: { ${[...DEFAULT_EVENTS.keys()].map((kind) => `${kind}: {}`).join(', ')} }\``;

function listOf(features: readonly { readonly name: string }[]): string {
  const names = features.map(({ name }) => `\`${name}\``);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
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
