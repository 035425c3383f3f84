import type { Node } from 'yaml';
import { parseDuration } from '../../../ground/api/duration.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import { entriesOf, entryOf, locatedText, memberOf, spanOf, textOf } from '../yaml/tree.js';
import type { CounterFeature, CounterValue } from '../model/counters.js';
import type { EventKind } from '../model/events.js';

/** With 24 buckets, clocks that differ by five minutes still fit into a shorter window. */
const SHORTEST = 60_000;
const LONGEST = 366 * 24 * 3_600_000;

const VALUE_HELP = 'values are count, sum(value), distinct(entity) and last(time)';

const FEATURE_KEYS: readonly string[] = [
  'event',
  'value',
  'window',
  'half_life',
  'over',
  'prior',
  'expected',
];

/** Reads the entries under `features:` of a counter. */
export class CounterFeatureReader {
  readonly #file: SourceFile;
  readonly #events: ReadonlyMap<string, EventKind>;
  readonly #entityNames: ReadonlySet<string>;
  readonly #diagnostics: Diagnostics;

  constructor(
    file: SourceFile,
    events: ReadonlyMap<string, EventKind>,
    entityNames: ReadonlySet<string>,
    diagnostics: Diagnostics,
  ) {
    this.#file = file;
    this.#events = events;
    this.#entityNames = entityNames;
    this.#diagnostics = diagnostics;
  }

  /** Undefined if the entry has no event, which is reported. */
  read(name: string, at: Span, node: Node | undefined): CounterFeature | undefined {
    const file = this.#file;
    const event = locatedText(file, memberOf(file, node, 'event'));
    if (event === undefined) return undefined;
    this.#checkKind(event);
    const over = locatedText(file, memberOf(file, node, 'over'));
    if (over !== undefined) this.#checkKind(over);
    const written = this.#value(locatedText(file, memberOf(file, node, 'value')), event.value);
    const value: CounterValue = written ?? { kind: 'count' };
    const feature: CounterFeature = {
      name,
      event: event.value,
      value,
      window: this.#time(node, 'window'),
      halfLife: this.#time(node, 'half_life'),
      over: over?.value,
      prior: this.#prior(node),
      expected: textOf(memberOf(file, node, 'expected')) === 'true',
      at,
    };
    // What belongs to a value that is not one cannot be told.
    if (written !== undefined) this.#checkTogether(feature, node);
    return feature;
  }

  #checkKind({ value, at }: Located<string>): void {
    if (this.#events.has(value)) return;
    const guess = nearest(value, this.#events.keys());
    this.#diagnostics.error(
      'unknown_event',
      at,
      `there is no kind of feedback \`${value}\``,
      guess === undefined
        ? `declare it under \`events:\` in millrace.yaml; there are ${[...this.#events.keys()].join(', ')}`
        : `did you mean \`${guess}\`?`,
    );
  }

  #time(node: Node | undefined, key: 'window' | 'half_life'): number | undefined {
    const found = memberOf(this.#file, node, key);
    const time = parseDuration(textOf(found) ?? '');
    if (found === undefined || time === undefined) return undefined;
    if (time < SHORTEST || time > LONGEST)
      this.#diagnostics.error(
        'wrong_type',
        spanOf(this.#file, found),
        `\`${key}\`: expected a time from 1m to 366d, found ${textOf(found) ?? ''}`,
      );
    return time;
  }

  /** Undefined if the text is not a value, which is reported. */
  #value(text: Located<string> | undefined, event: string): CounterValue | undefined {
    if (text === undefined || text.value === 'count') return { kind: 'count' };
    const match = /^(\w+)\(\s*(\w+)\s*\)$/.exec(text.value);
    const [, name = '', of = ''] = match ?? [];
    if (name === 'last' && of === 'time') return { kind: 'last' };
    if (name === 'sum') {
      this.#checkSum(of, event, text.at);
      return { kind: 'sum', of };
    }
    if (name === 'distinct') {
      this.#checkDistinct(of, event, text.at);
      return { kind: 'distinct', of };
    }
    const guess = nearest(name === '' ? text.value : name, ['count', 'sum', 'distinct', 'last']);
    this.#diagnostics.error(
      'wrong_type',
      text.at,
      `\`value\`: \`${text.value}\` is not a value`,
      guess === undefined
        ? VALUE_HELP
        : `did you mean \`${guess === 'count' ? guess : guess === 'last' ? 'last(time)' : `${guess}(…)`}\`? ${VALUE_HELP}`,
    );
    return undefined;
  }

  #checkSum(of: string, event: string, at: Span): void {
    const kind = this.#events.get(event);
    if (kind === undefined || of === 'quantity') return;
    const type = kind.values.get(of);
    if (type !== undefined && type.kind !== 'string') return;
    const numbers = [...kind.values].flatMap(([name, { kind: its }]) => (its === 'string' ? [] : [name]));
    const guess = nearest(of, [...numbers, 'quantity']);
    this.#diagnostics.error(
      'unknown_name',
      at,
      type === undefined
        ? `an event of the kind \`${event}\` has no value \`${of}\``
        : `\`${of}\` is a text, which has no sum`,
      guess === undefined
        ? `it has ${[...numbers, 'quantity'].join(', ')}; \`events:\` in millrace.yaml declares values`
        : `did you mean \`sum(${guess})\`?`,
    );
  }

  #checkDistinct(of: string, event: string, at: Span): void {
    const kind = this.#events.get(event);
    if (kind === undefined || this.#entityNames.has(of) || kind.values.has(of)) return;
    const guess = nearest(of, [...this.#entityNames, ...kind.values.keys()]);
    this.#diagnostics.error(
      'unknown_name',
      at,
      `\`${of}\` is neither an entity type nor a value of the kind \`${event}\``,
      guess === undefined
        ? 'name an entity type, for example `distinct(user)`'
        : `did you mean \`distinct(${guess})\`?`,
    );
  }

  #prior(node: Node | undefined): CounterFeature['prior'] {
    const prior = memberOf(this.#file, node, 'prior');
    if (prior === undefined) return undefined;
    const mean = textOf(memberOf(this.#file, prior, 'mean')) ?? 'global';
    const weight = Number(textOf(memberOf(this.#file, prior, 'weight')));
    return { weight, mean: mean === 'global' ? mean : Number(mean) };
  }

  /** The parts of a feature that exclude or need one another. */
  #checkTogether(feature: CounterFeature, node: Node | undefined): void {
    const { name, value, halfLife, over, prior, expected, at } = feature;
    const written = (key: string): Span => entryOf(this.#file, node, key)?.keyAt ?? at;
    const refuse = (place: Span, message: string, help: string): void => {
      this.#diagnostics.error('invalid_counter', place, message, help);
    };
    const has = (key: string): boolean => entryOf(this.#file, node, key) !== undefined;
    // An unknown key is reported already; it may be a misspelt window.
    const isMisspelt = entriesOf(this.#file, node).some(({ key }) => !FEATURE_KEYS.includes(key));
    if (has('window') && has('half_life'))
      refuse(
        written('half_life'),
        'a feature has a window or a half-life, not both',
        'remove one of them, or declare two features',
      );
    if (halfLife !== undefined && (value.kind === 'distinct' || value.kind === 'last'))
      refuse(
        written('half_life'),
        `\`${value.kind === 'last' ? 'last(time)' : 'distinct'}\` has no half-life`,
        value.kind === 'last' ? 'remove `half_life`' : 'write `window` instead, for example `window: 7d`',
      );
    else if (!has('window') && !has('half_life') && value.kind !== 'last' && !isMisspelt)
      refuse(at, `\`${name}\` has no window and no half-life`, 'add `window: 7d`, or `half_life: 12h`');
    if (over !== undefined && (value.kind === 'distinct' || value.kind === 'last'))
      refuse(
        written('over'),
        `a rate divides a count or a sum, not \`${value.kind}\``,
        'remove `over`, or `value`',
      );
    if (over === undefined && prior !== undefined)
      refuse(written('prior'), '`prior` is part of a rate', 'add `over: impression`, or remove `prior`');
    if (over === undefined && expected)
      refuse(written('expected'), '`expected` is part of a rate', 'add `over: impression`, or remove it');
    if (over !== undefined && expected && value.kind === 'sum')
      refuse(written('expected'), '`expected` compares counts, not sums', 'remove `value`');
  }
}
