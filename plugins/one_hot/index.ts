import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject, OptionError } from 'millrace/api';
import { OneHot, OTHER } from './one-hot.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'one_hot',
  kind: 'feature',
  summary: 'One output for each declared category: 1 if the text is in the category, otherwise 0.',
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ of, categories }) {
    if (!isText(of)) {
      throw new OptionError(['of'], `\`${of.text}\` is neither a text nor a list of texts`);
    }
    return new OneHot(of, Object.keys(categories), outputsByText(categories));
  },
});

function isText(input: Input): input is Input<'text'> | Input<'texts'> {
  return input.kind === 'text' || input.kind === 'texts';
}

/** By text: the position of its output. */
function outputsByText(categories: Options['categories']): Map<string, number> {
  const outputs = new Map<string, number>();
  for (const [position, [name, texts]] of Object.entries(categories).entries()) {
    if (name === OTHER) {
      throw new OptionError(
        ['categories', name],
        `\`${OTHER}\` is the output for texts in no category`,
        'give this category another name',
        'key',
      );
    }
    for (const [index, text] of (typeof texts === 'string' ? [texts] : texts).entries()) {
      if (outputs.has(text)) {
        throw new OptionError(
          typeof texts === 'string' ? ['categories', name] : ['categories', name, index],
          `\`${text}\` occurs twice`,
          'a text can be in only one category; remove one of the two',
        );
      }
      outputs.set(text, position);
    }
  }
  return outputs;
}
