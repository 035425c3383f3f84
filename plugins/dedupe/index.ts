import { createRequire } from 'node:module';
import { definePlugin, isGroupInput, type JsonObject, OptionError } from 'millrace/api';
import { Dedupe } from './dedupe.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'dedupe',
  kind: 'rule',
  summary: 'Keeps the best of the candidates that share a value, and removes the others.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ by }) {
    if (!isGroupInput(by))
      throw new OptionError(
        ['by'],
        `\`${by.text}\` has several values for a candidate`,
        'name one text or number, such as product.title',
      );
    if (by.scope === 'request')
      throw new OptionError(
        ['by'],
        `\`${by.text}\` is the same for all candidates`,
        'name a value of the candidates, such as product.title',
      );
    return new Dedupe(by);
  },
});
