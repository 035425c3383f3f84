import { modeline } from '../init/new-project.js';
import type { NewKind } from './new-kind.js';

export const newCuration: NewKind = {
  summary: 'a list of dated rules of a merchandiser, in curation/',
  files: ({ name }) =>
    new Map([
      [
        `curation/${name}.yaml`,
        `${modeline('curation', 1)}curation: ${name}
# A pipeline applies the list with a step: { use: curation, with: { list: ${name} } }
rules: []
# rules:
#   - query: running shoe
#     from: 2026-11-27T00:00+01:00
#     until: 2026-12-01T00:00+01:00
#     pin: { 1: p42 }
#     hide: [p9]
`,
      ],
    ]),
};
