import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { BoostBounds, type Range } from './boost-bounds.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'boost_bounds',
  kind: 'rule',
  summary: 'Bounds what all boosts together do to a score.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ base, add, multiply }) {
    if (add === undefined && multiply === undefined)
      throw new OptionError([], 'no bounds are given', 'add e.g. `multiply: [0.5, 2]`');
    if (base.text.trim() === 'score')
      throw new OptionError(
        ['base'],
        '`score` is the score with the boosts, so nothing is bounded',
        'name what it was before them, e.g. ltr:score',
      );
    return new BoostBounds(base, rangeOf('add', add, 0), rangeOf('multiply', multiply, 1));
  },
});

/** @param neutral what changes no score; the bounds must allow it */
function rangeOf(option: string, range: readonly number[] | undefined, neutral: number): Range | undefined {
  if (range === undefined) return undefined;
  const [least = neutral, most = neutral] = range;
  if (least > most) throw new OptionError([option], `${least} is above ${most}`, `write [${most}, ${least}]`);
  if (least > neutral || most < neutral)
    throw new OptionError(
      [option],
      `a score without boosts is outside [${least}, ${most}]`,
      `let the bounds contain ${neutral}`,
    );
  return [least, most];
}
