import { createRequire } from 'node:module';
import { definePlugin, isGroupInput, type JsonObject, OptionError } from 'millrace/api';
import { Limit } from './limit.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'limit',
  kind: 'rule',
  summary: 'Shows at most some candidates of a group on a page, or in any window of places.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ by, most, within }) {
    if (!isGroupInput(by))
      throw new OptionError(
        ['by'],
        `\`${by.text}\` has several values for a candidate`,
        'name one text or number, such as product.brand',
      );
    if (by.scope === 'request')
      throw new OptionError(
        ['by'],
        `\`${by.text}\` is the same for all candidates`,
        'name a value of the candidates, such as product.brand',
      );
    if (within !== 'page' && most >= within)
      throw new OptionError(
        ['most'],
        `a window of ${within} places never has more than ${within} candidates`,
        `write a number below ${within}`,
      );
    return new Limit(by, most, within);
  },
});
