import {
  analyzerOf,
  analyzerText,
  type AnalyzerSettings,
  type Input,
  OptionError,
  tryEach,
} from 'millrace/api';
import { groupBy } from './group-by.js';
import type { Options } from './options.generated.js';

/** A text, or list of texts, of the candidates to search in. */
export interface SearchedField {
  readonly input: Input<'text' | 'texts'>;
  /** The weight of an occurrence in this field, relative to the other fields. */
  readonly weight: number;
}

/** The fields of a step that become words in the same way. */
export interface FieldGroup {
  readonly fields: readonly SearchedField[];
  /** The places of the fields among those of the step. */
  readonly members: readonly number[];
  readonly analyzer: AnalyzerSettings;
  /** A text of the request that names another language, where it is known. */
  readonly languageFrom?: Input<'text'> | undefined;
}

/** A field with its analyzer. */
interface AnalyzedField {
  readonly field: SearchedField;
  readonly analyzer: AnalyzerSettings;
  readonly languageFrom: Input<'text'> | undefined;
}

/**
 * The fields of a step, grouped by their analyzers in the order of the first field of each.
 * @throws OptionError, or an AggregateError of several
 */
export function fieldGroups(options: Options): FieldGroup[] {
  return groupBy(analyzedFields(options), ({ analyzer, languageFrom }) =>
    [analyzerText(analyzer), languageFrom?.text ?? ''].join('\n'),
  ).flatMap(({ items, members }): FieldGroup[] => {
    const [first] = items;
    if (first === undefined) return [];
    const { analyzer, languageFrom } = first;
    return [{ fields: items.map(({ field }) => field), members, analyzer, languageFrom }];
  });
}

function analyzedFields(options: Options): AnalyzedField[] {
  const { field, fields, language_from: languageFrom } = options;
  if (field !== undefined && fields !== undefined) {
    throw new OptionError(
      ['fields'],
      '`field` and `fields` are both given',
      'move the field into `fields`',
      'key',
    );
  }
  const analyzer = analyzerOf(options, (name) => [name]);
  if (field !== undefined)
    return [{ field: { input: searchable(field, ['field']), weight: 1 }, analyzer, languageFrom }];
  if (fields === undefined)
    throw new OptionError([], '`field` is missing', 'add e.g. `field: product.title`');
  return tryEach(
    fields.map(({ input, value }) => (): AnalyzedField => {
      const path = ['fields', input.text];
      const [weight, own] = typeof value === 'number' ? [value, undefined] : [value.weight, value.analyzer];
      const searched = { input: searchable(input, path, 'key'), weight };
      if (own === undefined) return { field: searched, analyzer, languageFrom };
      const { language_from: ofRequest, ...inherited } = options;
      const followed = own.language === undefined ? ofRequest : undefined;
      const merged = { ...inherited, ...(followed && { language_from: followed }), ...own };
      const settings = analyzerOf(merged, (name) => [
        ...path,
        'analyzer',
        ...(Object.hasOwn(own, name) ? [name] : []),
      ]);
      return { field: searched, analyzer: settings, languageFrom: followed };
    }),
  );
}

function searchable(
  input: Input,
  path: readonly string[],
  part: 'key' | 'value' = 'value',
): Input<'text' | 'texts'> {
  if (isText(input)) return input;
  throw new OptionError(path, `\`${input.text}\` is neither a text nor a list of texts`, undefined, part);
}

function isText(input: Input): input is Input<'text'> | Input<'texts'> {
  return input.kind === 'text' || input.kind === 'texts';
}
