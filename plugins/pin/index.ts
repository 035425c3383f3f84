import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { Pin } from './pin.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'pin',
  kind: 'rule',
  summary: 'Puts named candidates at exact positions of the ranking.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ positions }, build) {
    const pins = new Map<string, number>();
    for (const [position, id] of Object.entries(positions)) {
      const other = pins.get(id);
      if (other !== undefined) {
        throw new OptionError(
          ['positions', position],
          `\`${id}\` is pinned to position ${position} and to position ${other}`,
          'a candidate has one position; remove one of the two',
        );
      }
      if (build.pageSize !== undefined && Number(position) > build.pageSize)
        build.warn(
          ['positions', position],
          `position ${position} is never on the first page, which has at most ${build.pageSize} candidates`,
          'choose a smaller position, or raise `max_size` under `page:`',
        );
      pins.set(id, Number(position));
    }
    return new Pin(pins);
  },
});
