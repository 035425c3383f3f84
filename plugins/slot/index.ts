import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { ReservedPositions } from './slot.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'slot',
  kind: 'rule',
  summary: 'Reserves positions for candidates that meet a condition.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ positions, where, min_score: least }, build) {
    for (const [index, position] of positions.entries()) {
      if (build.pageSize !== undefined && position > build.pageSize)
        build.warn(
          ['positions', index],
          `position ${position} is never on the first page, which has at most ${build.pageSize} candidates`,
          'choose a smaller position, or raise `max_size` under `page:`',
        );
    }
    return new ReservedPositions(positions, where, least);
  },
});
