import { isMap, isScalar, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { nameHelp } from './marks.js';
import type { FeatureRequirement } from '../model/pipelines.js';
import { foundWords } from './shape-words.js';
import { spanWithin, type Located, type SourceFile } from '../yaml/source.js';
import { entriesOf, locatedText, spanOf } from '../yaml/tree.js';

const FORMS = 'write a view, view:feature, or name: view(path, …)';

/** Reads an item of `features:`. An invalid item is reported, and the result is undefined. */
export function parseRequirement(
  file: SourceFile,
  item: Node,
  diagnostics: Diagnostics,
): FeatureRequirement | undefined {
  const at = spanOf(file, item);
  const refuse = (message: string, help: string = FORMS, place = at): FeatureRequirement | undefined => {
    diagnostics.error('wrong_type', place, message, help);
    return undefined;
  };
  if (isScalar(item)) {
    const text = locatedText(file, item);
    return text === undefined
      ? refuse('expected a feature view, found nothing')
      : parseLine(text, diagnostics);
  }
  const entries = entriesOf(file, item);
  const [entry] = entries;
  if (!isMap(item) || entry === undefined)
    return refuse(`expected a feature view, found ${foundWords(file, item)}`);
  if (entries.length > 1)
    return refuse(
      'an item of `features` binds only one name',
      'start each name with its own `-`',
      entries[1]?.keyAt,
    );
  if (entry.value === undefined)
    return refuse(
      `the value after \`${entry.key}:\` is missing`,
      `to require the view, write \`- ${entry.key}\``,
    );
  const text = locatedText(file, entry.value);
  if (text === undefined)
    return refuse(
      `expected a view, found ${foundWords(file, entry.value)}`,
      `write \`${entry.key}: view(path, …)\``,
      spanOf(file, entry.value),
    );
  const name = { value: entry.key, at: entry.keyAt };
  const parsed = checkName(name, diagnostics) ? parseLine(text, diagnostics) : undefined;
  if (parsed?.feature !== undefined)
    return refuse(
      'only a whole view can have another name',
      `write \`${entry.key}: ${parsed.view.value}\``,
      text.at,
    );
  return parsed && { ...parsed, name, at: { ...entry.keyAt, end: text.at.end } };
}

/** `view`, `view:feature` or `view(path, …)` */
function parseLine(text: Located<string>, diagnostics: Diagnostics): FeatureRequirement | undefined {
  const match = /^([^:.()\s]+)\s*(?:\(([\s\S]*)\)|([:.])([^:.()\s]+))?$/.exec(text.value);
  if (match === null) {
    diagnostics.error('wrong_type', text.at, `\`${text.value}\` is not a feature view`, FORMS);
    return undefined;
  }
  const [, viewName = '', args, separator, featureName] = match;
  const view = { value: viewName, at: spanWithin(text, 0, viewName.length) };
  if (!checkName(view, diagnostics)) return undefined;
  if (separator === '.') {
    diagnostics.error(
      'wrong_type',
      text.at,
      'the name of a feature follows a colon, not a dot',
      `write \`${viewName}:${featureName ?? ''}\``,
    );
    return undefined;
  }
  const feature =
    featureName === undefined
      ? undefined
      : { value: featureName, at: spanWithin(text, viewName.length + 1, text.value.length) };
  if (feature !== undefined && !checkName(feature, diagnostics)) return undefined;
  const paths = args === undefined ? undefined : parsePaths(text, args, diagnostics);
  if (args !== undefined && paths === undefined) return undefined;
  return { name: view, view, feature, paths, at: text.at };
}

function parsePaths(
  text: Located<string>,
  args: string,
  diagnostics: Diagnostics,
): Located<string>[] | undefined {
  if (args.trim() === '') return [];
  const paths: Located<string>[] = [];
  let start = text.value.indexOf('(') + 1;
  for (const part of args.split(',')) {
    const value = part.trim();
    const from = start + (part.length - part.trimStart().length);
    const at = spanWithin(text, from, from + Math.max(value.length, 1));
    start += part.length + 1;
    if (value.split('.').every((segment) => NAME_PATTERN.test(segment))) {
      paths.push({ value, at });
    } else {
      diagnostics.error(
        'wrong_type',
        at,
        value === '' ? 'a path is missing' : `\`${value}\` is not a path`,
        value.includes(':') ? `write \`${value.replaceAll(':', '.')}\`` : 'a path looks like product.brand',
      );
      return undefined;
    }
  }
  return paths;
}

function checkName(name: Located<string>, diagnostics: Diagnostics): boolean {
  if (NAME_PATTERN.test(name.value)) return true;
  diagnostics.error('invalid_name', name.at, `\`${name.value}\` is not a valid name`, nameHelp(name.value));
  return false;
}
