import { createRequire } from 'node:module';
import {
  definePlugin,
  type Input,
  type JsonObject,
  LONGEST_WINDOW,
  nearest,
  OptionError,
  parseDuration,
  tryEach,
  UNDECLARED_EVENT,
} from 'millrace/api';
import { Interaction } from './interaction.js';
import type { Measure } from './measure.js';
import type { Options, OutputsEntry } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'interaction',
  kind: 'feature',
  summary:
    'Counts what the user did with a candidate, its brand or its category, from the feedback of a time window.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const { of, with: by } = options;
    if (by.kind !== 'text' && by.kind !== 'texts') {
      throw new OptionError(
        ['with'],
        `\`${by.text}\` is neither an id nor a text`,
        'give the candidate itself, or an attribute that is an id, a text, or a list of them',
      );
    }
    const measures = tryEach(
      Object.entries(options.outputs).map(
        ([name, output]) =>
          () =>
            readMeasure(name, output, build.eventKinds),
      ),
    );
    const events = measures.flatMap(({ types, window }) => types.map((type) => ({ type, window })));
    const source = build.needInteractions({ of, with: by, events });
    return new Interaction(source, by as Input<'text'> | Input<'texts'>, measures);
  },
});

function readMeasure(
  name: string,
  { event, window: text, value }: OutputsEntry,
  kinds: ReadonlyMap<string, number>,
): Measure {
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
  return { name, types, counts, window, value };
}

function kindHelp(type: string, kinds: ReadonlyMap<string, number>): string {
  const guess = nearest(type, kinds.keys());
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  return `the kinds are ${[...kinds.keys()].join(', ')}; \`events:\` in millrace.yaml declares them`;
}
