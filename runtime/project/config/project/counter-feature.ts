import { parseDuration } from '../../../ground/api/duration.js';
import { didYouMean, nearest } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Section } from '../yaml/section.js';
import type { Located, Span } from '../yaml/source.js';
import type { CounterFeature, CounterValue } from '../model/counters.js';
import type { EventKind } from '../model/events.js';
import type { SourceNames } from './source-names.js';

/** With 24 buckets, clocks that differ by five minutes still fit into a shorter window. */
const SHORTEST = 60_000;
const LONGEST = 366 * 24 * 3_600_000;

const VALUE_HELP = 'values are count, sum(value), distinct(entity) and last(time)';

/** Reads one entry under `features:` of a counter. */
export class CounterFeatureReader {
  readonly #section: Section<'counter.features.*'>;
  readonly #events: ReadonlyMap<string, EventKind>;
  readonly #entityNames: ReadonlySet<string>;
  readonly #diagnostics: Diagnostics;

  constructor(
    section: Section<'counter.features.*'>,
    { events, entityNames }: Pick<SourceNames, 'events' | 'entityNames'>,
  ) {
    this.#section = section;
    this.#events = events;
    this.#entityNames = entityNames;
    this.#diagnostics = section.diagnostics;
  }

  /** Undefined if the entry has no event, which is reported. */
  read(name: string, at: Span): CounterFeature | undefined {
    const section = this.#section;
    const event = section.located('event');
    if (event === undefined) return undefined;
    this.#checkKind(event);
    const over = section.located('over');
    if (over !== undefined) this.#checkKind(over);
    const written = this.#value(section.located('value'), event.value);
    const feature: CounterFeature = {
      name,
      event: event.value,
      value: written ?? { kind: 'count' },
      window: this.#time('window'),
      halfLife: this.#time('half_life'),
      over: over?.value,
      prior: this.#prior(),
      expected: section.isTrue('expected'),
      at,
    };
    // What belongs to a value that is not one cannot be told.
    if (written !== undefined) this.#checkTogether(feature);
    return feature;
  }

  #checkKind({ value, at }: Located<string>): void {
    if (this.#events.has(value)) return;
    this.#diagnostics.error(
      'unknown_event',
      at,
      `there is no kind of feedback \`${value}\``,
      didYouMean(value, this.#events.keys()) ??
        `declare it under \`events:\` in millrace.yaml; there are ${[...this.#events.keys()].join(', ')}`,
    );
  }

  #time(key: 'window' | 'half_life'): number | undefined {
    const text = this.#section.text(key) ?? '';
    const time = parseDuration(text);
    if (time !== undefined && (time < SHORTEST || time > LONGEST))
      this.#section.wrong(key, `expected a time from 1m to 366d, found ${text}`);
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
    this.#diagnostics.error(
      'unknown_name',
      at,
      type === undefined
        ? `an event of the kind \`${event}\` has no value \`${of}\``
        : `\`${of}\` is a text, which has no sum`,
      didYouMean(of, [...numbers, 'quantity'], (guess) => `\`sum(${guess})\``) ??
        `it has ${[...numbers, 'quantity'].join(', ')}; \`events:\` in millrace.yaml declares values`,
    );
  }

  #checkDistinct(of: string, event: string, at: Span): void {
    const kind = this.#events.get(event);
    if (kind === undefined || this.#entityNames.has(of) || kind.values.has(of)) return;
    this.#diagnostics.error(
      'unknown_name',
      at,
      `\`${of}\` is neither an entity type nor a value of the kind \`${event}\``,
      didYouMean(of, [...this.#entityNames, ...kind.values.keys()], (guess) => `\`distinct(${guess})\``) ??
        'name an entity type, for example `distinct(user)`',
    );
  }

  #prior(): CounterFeature['prior'] {
    if (this.#section.value('prior') === undefined) return undefined;
    const prior = this.#section.section('prior');
    const mean = prior.text('mean') ?? 'global';
    return { weight: Number(prior.text('weight')), mean: mean === 'global' ? mean : Number(mean) };
  }

  /** The parts of a feature that exclude or need one another. */
  #checkTogether({ name, value, halfLife, over, prior, expected, at }: CounterFeature): void {
    const section = this.#section;
    const refuse = (place: Span, message: string, help: string): void => {
      this.#diagnostics.error('invalid_counter', place, message, help);
    };
    if (section.has('window') && section.has('half_life'))
      refuse(
        section.keyAt('half_life'),
        'a feature has a window or a half-life, not both',
        'remove one of them, or declare two features',
      );
    if (halfLife !== undefined && (value.kind === 'distinct' || value.kind === 'last'))
      refuse(
        section.keyAt('half_life'),
        `\`${value.kind === 'last' ? 'last(time)' : 'distinct'}\` has no half-life`,
        value.kind === 'last' ? 'remove `half_life`' : 'write `window` instead, for example `window: 7d`',
      );
    else if (
      !section.has('window') &&
      !section.has('half_life') &&
      value.kind !== 'last' &&
      !section.hasUnknownKey
    )
      refuse(at, `\`${name}\` has no window and no half-life`, 'add `window: 7d`, or `half_life: 12h`');
    if (over !== undefined && (value.kind === 'distinct' || value.kind === 'last'))
      refuse(
        section.keyAt('over'),
        `a rate divides a count or a sum, not \`${value.kind}\``,
        'remove `over`, or `value`',
      );
    if (over === undefined && prior !== undefined)
      refuse(
        section.keyAt('prior'),
        '`prior` is part of a rate',
        'add `over: impression`, or remove `prior`',
      );
    if (over === undefined && expected)
      refuse(
        section.keyAt('expected'),
        '`expected` is part of a rate',
        'add `over: impression`, or remove it',
      );
    if (over !== undefined && expected && value.kind === 'sum')
      refuse(section.keyAt('expected'), '`expected` compares counts, not sums', 'remove `value`');
  }
}
