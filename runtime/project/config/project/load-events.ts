import { isMap, type Node } from 'yaml';
import { INTERACTION_TYPES } from '../../../ground/api/interactions.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import { PROJECT_FILE } from '../../settings/setting-origin.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Environment } from '../yaml/interpolate.js';
import type { SourceFile, Span } from '../yaml/source.js';
import { entriesOf, entryOf, isEmpty, spanOf, textOf, type Entry } from '../yaml/tree.js';
import { EVENTS_KEY, readProjectFile } from './load-project-file.js';
import { nameHelp } from './marks.js';
import type { EventKind, EventValueType } from '../model/events.js';
import { ourType } from './parse-type.js';
import { EVENT_FIELDS } from './reserved-names.js';
import { foundWords } from './shape-words.js';

/** Most kinds of feedback of a project. Each kind takes space in the histories of users. */
export const MOST_EVENT_KINDS = 32;

/** Most values of a kind. */
const MOST_EVENT_VALUES = 32;

const EXAMPLE = '`events: { click: {}, order: { revenue: float } }`';
export const VALUE_KINDS = ['int', 'float', 'bool', 'string'] as const;

/** The kinds of feedback of a project that declares none. */
export const DEFAULT_EVENTS: ReadonlyMap<string, EventKind> = new Map(
  INTERACTION_TYPES.map((name) => [name, { name, values: new Map() }]),
);

/**
 * The number of each kind in plans. The kinds of INTERACTION_TYPES always have the same numbers; the other kinds follow in
 * the order of the file.
 */
export function eventNumbers(events: ReadonlyMap<string, EventKind>): ReadonlyMap<string, number> {
  const others = [...events.keys()].filter((name) => !isDefault(name));
  const names = [...INTERACTION_TYPES, ...others];
  return new Map([...events.keys()].map((name) => [name, names.indexOf(name)]));
}

const isDefault = (name: string): boolean => (INTERACTION_TYPES as readonly string[]).includes(name);

/**
 * Reads `events:` in millrace.yaml. Kinds with errors count as declared, so that their uses are not reported too.
 * @param entityNames names that no value can have, because events name their entity beside their values
 */
export async function loadEvents(
  root: string,
  environment: Environment,
  entityNames: ReadonlySet<string>,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, EventKind>> {
  // The settings of the file are checked elsewhere. Only a file that cannot be parsed is reported here as well.
  const ofFile = new Diagnostics();
  const { source, root: node } = await readProjectFile(root, environment, ofFile);
  if (source === undefined || node === undefined) {
    diagnostics.addAll(ofFile.all.filter(({ at }) => at.file.path === PROJECT_FILE));
    return DEFAULT_EVENTS;
  }
  const entry = entryOf(source, node, EVENTS_KEY);
  if (entry === undefined) return DEFAULT_EVENTS;
  return new EventReader(source, entityNames, diagnostics).read(entry);
}

class EventReader {
  /** By value: its type, and the kind that declared it first. */
  readonly #types = new Map<string, { readonly type: EventValueType; readonly kind: string }>();

  constructor(
    readonly file: SourceFile,
    readonly entityNames: ReadonlySet<string>,
    readonly diagnostics: Diagnostics,
  ) {}

  read({ keyAt, value }: Entry): ReadonlyMap<string, EventKind> {
    const kinds = entriesOf(this.file, value);
    if (!isMap(value)) {
      const found = foundWords(this.file, value);
      const message = `\`${EVENTS_KEY}\`: expected the kinds of feedback, found ${found}`;
      this.diagnostics.error('wrong_type', this.#placeOf(value, keyAt), message, `for example ${EXAMPLE}`);
    } else if (kinds.length === 0) {
      const help = `remove the line to have the kinds ${INTERACTION_TYPES.join(', ')}`;
      this.diagnostics.error('wrong_type', keyAt, `\`${EVENTS_KEY}\` declares no kind of feedback`, help);
    }
    const beyond = kinds[MOST_EVENT_KINDS];
    if (beyond !== undefined)
      this.diagnostics.error(
        'wrong_type',
        beyond.keyAt,
        `at most ${MOST_EVENT_KINDS} kinds of feedback, found ${kinds.length}`,
        'give one kind a value that tells its variants apart, for example `{ channel: string }`',
      );
    const read = kinds.flatMap((entry): [string, EventKind][] =>
      this.#checkName(entry) ? [[entry.key, { name: entry.key, values: this.#valuesOf(entry) }]] : [],
    );
    return read.length === 0 ? DEFAULT_EVENTS : new Map(read);
  }

  #valuesOf({ key: kind, keyAt, value: node }: Entry): Map<string, EventValueType> {
    const values = new Map<string, EventValueType>();
    if (isEmpty(node)) return values;
    if (!isMap(node)) {
      const type = ourType(textOf(node) ?? '');
      this.diagnostics.error(
        'wrong_type',
        this.#placeOf(node, keyAt),
        `\`${kind}\`: expected the values of the event, found ${foundWords(this.file, node)}`,
        type === undefined
          ? `write \`${kind}: {}\`, or for example \`${kind}: { revenue: float }\``
          : `give the value a name, for example \`${kind}: { amount: ${type} }\``,
      );
      return values;
    }
    const entries = entriesOf(this.file, node);
    const beyond = entries[MOST_EVENT_VALUES];
    if (beyond !== undefined)
      this.diagnostics.error(
        'wrong_type',
        beyond.keyAt,
        `\`${kind}\`: at most ${MOST_EVENT_VALUES} values, found ${entries.length}`,
      );
    for (const entry of entries) {
      const type = this.#checkName(entry) && this.#isFree(entry) ? this.#typeOf(entry) : undefined;
      if (type === undefined || !this.#agrees(entry, type, kind)) continue;
      values.set(entry.key, type);
    }
    return values;
  }

  #checkName({ key, keyAt }: Entry): boolean {
    if (NAME_PATTERN.test(key)) return true;
    this.diagnostics.error('invalid_name', keyAt, `\`${key}\` is not a valid name`, nameHelp(key));
    return false;
  }

  /** An event has its fields, its entity and its values side by side. */
  #isFree({ key, keyAt }: Entry): boolean {
    const taken = EVENT_FIELDS.includes(key)
      ? 'a field of every event'
      : this.entityNames.has(key)
        ? 'an entity type, and events name their entity by it'
        : undefined;
    if (taken === undefined) return true;
    this.diagnostics.error('reserved_name', keyAt, `\`${key}\` is ${taken}`, 'choose another name');
    return false;
  }

  #typeOf({ key, keyAt, value: node }: Entry): EventValueType | undefined {
    const text = textOf(node);
    const kind = VALUE_KINDS.find((one) => one === text);
    if (kind !== undefined) return { kind };
    const guess = VALUE_KINDS.find((one) => one === ourType(text ?? ''));
    const found = text === undefined ? foundWords(this.file, node) : `\`${text}\``;
    this.diagnostics.error(
      'invalid_type',
      this.#placeOf(node, keyAt),
      `\`${key}\`: expected the type of the value, found ${found}`,
      guess === undefined
        ? `the values of events are ${VALUE_KINDS.join(', ')}`
        : `did you mean \`${guess}\`?`,
    );
    return undefined;
  }

  /** Values of one name have one type, so that several kinds can be counted together. */
  #agrees({ key, keyAt, value }: Entry, type: EventValueType, kind: string): boolean {
    const first = this.#types.get(key) ?? { type, kind };
    this.#types.set(key, first);
    if (first.type.kind === type.kind) return true;
    this.diagnostics.error(
      'invalid_type',
      this.#placeOf(value, keyAt),
      `\`${key}\` is ${type.kind} here and ${first.type.kind} in \`${first.kind}\``,
      'give both the same type, or give one another name',
    );
    return false;
  }

  #placeOf(node: Node | undefined, keyAt: Span): Span {
    return node === undefined ? keyAt : spanOf(this.file, node);
  }
}
