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
      const { by, keys, file, change } = table;
      if ((by === undefined) === (keys === undefined))
        throw new OptionError(
          ['table'],
          by === undefined ? 'the table has no key' : '`by` and `keys` are both given',
          'give `by` for one key, or `keys` for several',
        );
      if (keys !== undefined && 'amount' in keys)
        throw new OptionError(
          ['table', 'keys', 'amount'],
          'the column `amount` has the amounts, so it is no key',
          'give the key and its column another name',
        );
      const columns = keys === undefined ? { key: by } : keys;
      const inputs = Object.values(columns).filter((input) => input !== undefined);
      const amounts = readTable(file, ['table', 'file'], Object.keys(columns));
      return new Boost(where, change, amountFrom(amounts, inputs));
    }
    if (add !== undefined) return new Boost(where, 'add', amountOf(add));
    if (multiply !== undefined) return new Boost(where, 'multiply', amountOf(multiply));
    throw new Error('one change is given');
  },
});
