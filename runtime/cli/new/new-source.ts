import { modeline } from '../init/new-project.js';
import type { NewKind } from './new-kind.js';

export const newSource: NewKind = {
  summary: 'a source of feedback, entities or features, in sources/',
  files: ({ name }) =>
    new Map([
      [
        `sources/${name}.yaml`,
        `${modeline('source', 1)}source: ${name}
use: redis_stream # kafka
into: feedback # { entities: product }, { features: product_stats }
# map: segment # ga4, snowplow, metarank, or columns: { type: name, user: uid, product: item.id }
with: { url: "\${STREAM_URL:-redis://127.0.0.1:6379}", stream: ${name} }
`,
      ],
    ]),
};
