import { createRequire } from 'node:module';
import { definePlugin, type JsonObject } from 'millrace/api';
import { drawMethodOf } from './draw-method.js';
import { Explore } from './explore.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'explore',
  kind: 'rule',
  summary: 'Draws the order of the first places, and logs the probabilities.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create(options, build) {
    const { top } = options;
    const draw = drawMethodOf(options);
    if (build.pageSize !== undefined && top > build.pageSize)
      build.warn(
        ['top'],
        `${top} places are drawn, and a page has at most ${build.pageSize} candidates; users who see one page see a part of them`,
        'choose a smaller `top`, or raise `max_size` under `page:`',
      );
    return new Explore({ top, draw });
  },
});
