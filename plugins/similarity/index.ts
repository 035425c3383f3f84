import { createRequire } from 'node:module';
import { definePlugin, type FeatureComponent, type Input, type JsonObject, OptionError } from 'millrace/api';
import { TextSimilarity } from './text-similarity.js';
import { VectorSimilarity } from './vector-similarity.js';
import type { Options } from './options.generated.js';

type Pair<K extends 'vector' | 'texts'> = readonly [Input<K>, Input<K>];

export const plugin = definePlugin<Options>({
  name: 'similarity',
  kind: 'feature',
  summary:
    'The similarity of two vectors (cosine, dot product, distance) or of two lists of texts (Jaccard, overlap).',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ vectors, texts }): FeatureComponent {
    if (vectors !== undefined && texts !== undefined) {
      throw new OptionError(['texts'], '`vectors` and `texts` are both given', 'use a step for each', 'key');
    }
    if (vectors !== undefined) {
      checkSizes(vectors);
      return new VectorSimilarity(...vectors);
    }
    if (texts !== undefined) return new TextSimilarity(...texts);
    throw new OptionError(
      [],
      '`vectors` is missing',
      'add e.g. `vectors: [product.embedding, user.embedding]`',
    );
  },
});

function checkSizes([a, b]: Pair<'vector'>): void {
  if (a.size === b.size) return;
  throw new OptionError(
    ['vectors', 1],
    `\`${b.text}\` is a vector(${String(b.size)}), \`${a.text}\` a vector(${String(a.size)})`,
    'only vectors of the same size, from the same model, can be compared',
  );
}
