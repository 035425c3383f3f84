import { createRequire } from 'node:module';
import { definePlugin, type JsonObject, OptionError } from 'millrace/api';
import { CategoryIndex } from './category-index.js';
import { readVocabulary } from './vocabulary-file.js';
import { positions, type Vocabulary } from './vocabulary.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'category_index',
  kind: 'feature',
  summary: 'Replaces a text by its integer code in a declared list of categories.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create: (options) =>
    new CategoryIndex(
      options.of,
      vocabularyOf(options),
      options.unknown === 'absent' ? undefined : options.unknown,
    ),
});

function vocabularyOf({ categories, file }: Options): Vocabulary {
  if (categories !== undefined && file !== undefined) {
    throw new OptionError(['file'], '`categories` and `file` are both given', 'give one of the two', 'key');
  }
  if (categories !== undefined) return positions(categories, ['categories']);
  if (file !== undefined) return readVocabulary(file, ['file']);
  throw new OptionError(
    [],
    '`categories` is missing',
    'give `categories`, or `file` with the path of a CSV or JSON file',
  );
}
