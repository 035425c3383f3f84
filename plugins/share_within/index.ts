import { createRequire } from 'node:module';
import { definePlugin, type Input, type JsonObject, OptionError } from 'millrace/api';
import { ShareWithin } from './share-within.js';
import type { Options } from './options.generated.js';

export const plugin = definePlugin<Options>({
  name: 'share_within',
  kind: 'feature',
  summary: 'The share of the candidates that have the same text, such as the same brand.',
  amongCandidates: true,
  options: createRequire(import.meta.url)('./options.schema.json') as JsonObject,
  create({ value, among }) {
    if (isTextual(value)) return new ShareWithin(value, among);
    throw new OptionError(
      ['value'],
      `\`value\` takes a text or a list of texts, and \`${value.text}\` is neither`,
      value.kind === 'number' ? 'use `rank_within` to compare numbers' : undefined,
    );
  },
});

function isTextual(input: Input): input is Input<'text' | 'texts'> {
  return input.kind === 'text' || input.kind === 'texts';
}
