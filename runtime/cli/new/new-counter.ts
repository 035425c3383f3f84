import { modeline } from '../init/new-project.js';
import { rankedType, type NewKind } from './new-kind.js';

export const newCounter: NewKind = {
  summary: 'a counter of feedback, in schemas/counters/',
  files: ({ name, config }) =>
    new Map([
      [
        `schemas/counters/${name}.yaml`,
        `${modeline('counter', 2)}counter: ${name}
of: [${rankedType(config)}]
features:
  clicks_7d: { event: click, window: 7d }
  heat: { event: click, half_life: 12h }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 100 } }
`,
      ],
    ]),
};
