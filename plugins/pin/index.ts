import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { Pin, type Pins } from './pin.js';
import { readPins } from './pin-table.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'pin',
  kind: 'rule',
  summary: 'Puts named candidates at exact positions of the ranking.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ positions, ids, table, bring }, build) {
    const given = [positions, ids, table].filter((one) => one !== undefined);
    if (given.length !== 1)
      throw new OptionError(
        [],
        given.length === 0 ? 'no pins are given' : 'pins are given in more than one way',
        'give exactly one of `positions`, `ids` and `table`; use a step for each',
      );
    if (ids !== undefined) return Pin.of(ids, bring);
    const warn = (place: readonly (string | number)[], position: number): void => {
      if (build.pageSize !== undefined && position > build.pageSize)
        build.warn(
          place,
          `position ${position} is never on the first page, which has at most ${build.pageSize} candidates`,
          'choose a smaller position, or raise `max_size` under `page:`',
        );
    };
    if (table !== undefined) {
      const pins = readPins(table.file, ['table', 'file']);
      let largest = 0;
      for (const one of pins.values())
        for (const position of one.values()) largest = Math.max(largest, position);
      warn(['table', 'file'], largest);
      return Pin.by(table.by, pins, bring);
    }
    const pins: Pins = new Map();
    for (const [position, id] of Object.entries(positions ?? {})) {
      const other = pins.get(id);
      if (other !== undefined) {
        throw new OptionError(
          ['positions', position],
          `\`${id}\` is pinned to position ${position} and to position ${other}`,
          'a candidate has one position; remove one of the two',
        );
      }
      warn(['positions', position], Number(position));
      pins.set(id, Number(position));
    }
    const places = Array.from(pins, ([id, position]) => ({
      position,
      id,
      option: ['positions', String(position)],
    }));
    return new Pin(() => pins, bring, places);
  },
});
