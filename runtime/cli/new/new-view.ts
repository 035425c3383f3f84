import { modeline } from '../init/new-project.js';
import { rankedType, type NewKind } from './new-kind.js';

export const newView: NewKind = {
  summary: 'a feature view, in schemas/features/',
  files: ({ name, config }) =>
    new Map([
      [
        `schemas/features/${name}.yaml`,
        `${modeline('feature-view', 2)}view: ${name}
of: [${rankedType(config)}] # several types: one row for each pair
ttl: 7d
features:
  clicks_30d: { type: int, default: 0 }
  ctr_30d: float
`,
      ],
    ]),
};
