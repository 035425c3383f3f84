import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject, OptionError } from 'millrace/api';
import { Diversify } from './diversify.js';
import type { Compared } from './likeness.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'diversify',
  kind: 'rule',
  summary: 'Prefers candidates that differ from those above them (maximal marginal relevance).',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ by, relevance, places, window }) {
    if (!isCompared(by))
      throw new OptionError(
        ['by'],
        `\`${by.text}\` is a number, and numbers are not compared`,
        'name a vector, a text or a list of texts, such as product.brand',
      );
    return new Diversify(by, relevance, places, window);
  },
});

function isCompared(by: Input): by is Input<Compared> {
  return by.kind !== 'number';
}
