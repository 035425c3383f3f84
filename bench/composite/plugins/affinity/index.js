import { readFileSync } from 'node:fs';
import { definePlugin, isKnown, Status } from 'millrace/api';

const CLICKS = 'user_brand_stats:clicks_30d';
const CTR = 'user_brand_stats:ctr_30d';

/** The user's interactions with the candidate's brand, computed one candidate at a time with two lookups each. */
export const plugin = definePlugin({
  name: 'affinity',
  kind: 'feature',
  summary: 'Clicks of the user on the brand, weighted by the click-through rate.',
  options: JSON.parse(readFileSync(new URL('options.schema.json', import.meta.url), 'utf8')),

  create(options, build) {
    build.need(CLICKS);
    build.need(CTR);
    return {
      outputs: { value: 'number' },

      compute(input, output) {
        const user = { type: 'user', id: input.column(options.user).values[0] };
        const brands = input.column(options.brand);
        const { values, status } = output.number('value');
        for (const row of input.rows) {
          const at = row * brands.stride;
          status[row] = brands.status[at];
          if (!isKnown(brands.status[at])) continue;
          const pair = [user, { type: 'brand', id: brands.values[at] }];
          const clicks = input.getFeature(pair, CLICKS);
          const ctr = input.getFeature(pair, CTR);
          status[row] = Status.absent;
          if (clicks.value === undefined || ctr.value === undefined) continue;
          values[row] = Math.log1p(clicks.value) * ctr.value;
          status[row] = Status.present;
        }
      },
    };
  },
});
