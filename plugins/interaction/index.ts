import { createRequire } from 'node:module';
import {
  type BuildContext,
  definePlugin,
  type Input,
  type InteractionsWanted,
  type JsonObject,
  LONGEST_WINDOW,
  nearest,
  OptionError,
  parseDuration,
  tryEach,
  UNDECLARED_EVENT,
} from 'millrace/api';
import { Interaction } from './interaction.js';
import { OF_EVENTS, OF_VALUES, type Counting, type Measure } from './measure.js';
import type { Options, OutputsEntry } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'interaction',
  kind: 'feature',
  summary:
    'Counts what the user did with a candidate, its brand or its category, from the feedback of a time window.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const { of, with: by, lists } = options;
    if (by !== undefined && by.kind !== 'text' && by.kind !== 'texts') {
      throw new OptionError(
        ['with'],
        `\`${by.text}\` is neither an id nor a text`,
        'give the candidate itself, or an attribute that is an id, a text, or a list of them',
      );
    }
    const scope = { of, ...(by === undefined ? {} : { with: by }) };
    const measures = tryEach(
      Object.entries(options.outputs).map(
        ([name, output]) =>
          () =>
            readMeasure(name, output, scope, build),
      ),
    );
    const events = measures.flatMap(eventsOf);
    const source = build.needInteractions({ ...scope, events });
    return new Interaction(source, by as Input<'text'> | Input<'texts'> | undefined, measures, lists);
  },
});

const eventsOf = ({ types, window }: Pick<Measure, 'types' | 'window'>): { type: string; window: number }[] =>
  types.map((type) => ({ type, window }));

function readMeasure(
  name: string,
  { event, window: text, value: written }: OutputsEntry,
  scope: Pick<InteractionsWanted, 'of' | 'with'>,
  build: BuildContext,
): Measure {
  const kinds = build.eventKinds;
  const types = typeof event === 'string' ? [event] : event;
  const counts = new Array<boolean>(UNDECLARED_EVENT + 1).fill(false);
  for (const [i, type] of types.entries()) {
    const number = kinds.get(type);
    if (number === undefined) {
      const place = ['outputs', name, 'event', ...(typeof event === 'string' ? [] : [i])];
      throw new OptionError(place, `there is no kind of feedback \`${type}\``, kindHelp(type, kinds));
    }
    counts[number] = true;
  }
  const window = parseDuration(text);
  if (window === undefined || window <= 0 || window > LONGEST_WINDOW) {
    throw new OptionError(
      ['outputs', name, 'window'],
      `expected a time up to 366d, found \`${text}\``,
      'for example 30m, 1h, 7d',
    );
  }
  const { value, of } = readValue(name, written);
  const measure = { name, types, counts, window, value };
  if (of === undefined) return measure;
  try {
    const wanted = { name: of, isNumber: value !== 'distinct' };
    return { ...measure, of: build.needInteractions({ ...scope, value: wanted, events: eventsOf(measure) }) };
  } catch (error) {
    if (!(error instanceof OptionError) || error.path[0] !== 'value') throw error;
    throw new OptionError(['outputs', name, 'value'], error.message, error.help);
  }
}

/** `count`, or `sum(revenue)`. */
function readValue(name: string, written: string): { readonly value: Counting; readonly of?: string } {
  const [, word, of] = /^([a-z_]+)(?:\(\s*([a-z][a-z0-9_]*)\s*\))?$/.exec(written.trim()) ?? [];
  const known: readonly Counting[] = of === undefined ? OF_EVENTS : OF_VALUES;
  const value = known.find((one) => one === word);
  if (value !== undefined) return { value, ...(of === undefined ? {} : { of }) };
  const forms = [...OF_EVENTS, ...OF_VALUES.map((one) => `${one}(${of ?? 'revenue'})`)];
  const guess = nearest(written, forms);
  throw new OptionError(
    ['outputs', name, 'value'],
    `there is no value \`${written}\``,
    guess === undefined ? `the values are ${forms.join(', ')}` : `did you mean \`${guess}\`?`,
  );
}

function kindHelp(type: string, kinds: ReadonlyMap<string, number>): string {
  const guess = nearest(type, kinds.keys());
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  return `the kinds are ${[...kinds.keys()].join(', ')}; \`events:\` in millrace.yaml declares them`;
}
