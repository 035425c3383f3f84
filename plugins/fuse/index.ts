import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { Fuse } from './fuse.js';
import type { Options } from './options.generated.js';

/** The constant of Cormack, Clarke and Büttcher, who found that its value matters little. */
const USUAL_K = 60;

export const plugin = definePlugin<Options>({
  name: 'fuse',
  kind: 'feature',
  summary: 'Combines several scores into one: by reciprocal ranks, or as a weighted sum of scaled scores.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ inputs, method, k, missing }) {
    if (method !== 'rrf' && k !== undefined)
      throw new OptionError(
        ['k'],
        `\`k\` has no effect on method ${method}`,
        'remove it, or use `method: rrf`',
        'key',
      );
    if (method === 'rrf' && missing !== undefined)
      throw new OptionError(
        ['missing'],
        '`missing` has no effect on method rrf: a missing value adds nothing',
        'remove the line',
        'key',
      );
    return new Fuse(
      inputs.map(({ input, value }) => ({ input, weight: value })),
      method === 'rrf' ? { name: 'rrf', k: k ?? USUAL_K } : { name: method, missing: missing ?? 'absent' },
    );
  },
});
