import { createRequire } from 'node:module';
import { definePlugin, isGroupInput, type JsonObject, OptionError } from 'millrace/api';
import { Group } from './group.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'group',
  kind: 'rule',
  summary: 'Shows one variant of each group, at the place of the best one.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ by, show }) {
    if (!isGroupInput(by))
      throw new OptionError(
        ['by'],
        `\`${by.text}\` has several values for a candidate`,
        'name one text or number, such as product.parent',
      );
    if (by.scope === 'request')
      throw new OptionError(
        ['by'],
        `\`${by.text}\` is the same for all candidates`,
        'name a value of the candidates, such as product.parent',
      );
    return new Group(by, show);
  },
});
