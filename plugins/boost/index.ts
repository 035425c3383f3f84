import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { amountFrom, amountOf, readTable } from './amount.js';
import { Boost } from './boost.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'boost',
  kind: 'rule',
  summary: 'Raises or lowers scores: adds to them, multiplies them, or looks the change up in a table.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ where, add, multiply, table }) {
    const given = [add, multiply, table].filter((change) => change !== undefined);
    if (given.length !== 1) {
      throw new OptionError(
        [],
        given.length === 0 ? 'no change is given' : 'more than one change is given',
        'give exactly one of `add`, `multiply` and `table`; use a step for each',
      );
    }
    if (table !== undefined) {
      const amounts = readTable(table.file, ['table', 'file']);
      return new Boost(where, table.change, amountFrom(amounts, table.by));
    }
    if (add !== undefined) return new Boost(where, 'add', amountOf(add));
    if (multiply !== undefined) return new Boost(where, 'multiply', amountOf(multiply));
    throw new Error('one change is given');
  },
});
