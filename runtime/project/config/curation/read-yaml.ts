import { choiceOf } from '../model/choices.js';
import { isMap, type Node } from 'yaml';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { entriesOf, entryOf, itemsOf, locatedText, memberOf, spanOf, textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import { checkActs, readActivity } from './read-rule.js';
import type { CuratedBoost, CurationList, CurationRule } from '../model/curation.js';

/** Rules that came over the API. They are read in portions, each as a file of its own. */
export interface SentPortion {
  /** The number of rules before it. */
  readonly before: number;
  /** The names of the rules before it; those of the portion are added. */
  readonly names: Set<string>;
}

/**
 * Reads the rules of a YAML file whose shape is checked. Errors go to `diagnostics`.
 * @param sent if the rules came over the API; their names say so
 */
export function readCurationYaml(
  { file, root, name }: ParsedFile,
  diagnostics: Diagnostics,
  sent?: SentPortion,
): CurationList {
  const list = sent === undefined ? name.value : `${name.value}:api`;
  const { before, names } = sent ?? { before: 0, names: new Set<string>() };
  const rules = itemsOf(memberOf(file, root, 'rules')).map((node, index) => {
    const own = locatedText(file, memberOf(file, node, 'name'));
    if (own !== undefined && names.has(own.value))
      diagnostics.error(
        'duplicate_name',
        own.at,
        `another rule of the list has the name \`${own.value}\``,
        'give this rule another name',
      );
    names.add(own?.value ?? '');
    return readRule(file, node, `${list}:${own?.value ?? before + index + 1}`, diagnostics);
  });
  return { name: name.value, file, at: name.at, rules };
}

/** The keys that change nothing. */
const PASSIVE_KEYS: readonly string[] = ['name', 'note', 'query', 'match', 'when', 'from', 'until'];

function readRule(file: SourceFile, node: Node, name: string, diagnostics: Diagnostics): CurationRule {
  const text = (key: string): Located<string> | undefined => locatedText(file, memberOf(file, node, key));
  const at = spanOf(file, node);
  const query = text('query');
  const match = text('match');
  if (query === undefined && match !== undefined)
    diagnostics.error(
      'missing_key',
      match.at,
      '`match` has no effect without `query`',
      'add a `query`, or remove `match`',
    );
  const rule: CurationRule = {
    name,
    at,
    note: textOf(memberOf(file, node, 'note')),
    query: query && { text: query, match: choiceOf('curation.match', match?.value) },
    when: text('when'),
    ...readActivity({ at, from: text('from'), until: text('until') }, diagnostics),
    pins: entriesOf(file, memberOf(file, node, 'pin')).flatMap(({ key, value }) => {
      const id = locatedText(file, value);
      return id === undefined ? [] : [{ position: Number(key), id }];
    }),
    hides: itemsOf(memberOf(file, node, 'hide')).flatMap((item) => locatedText(file, item) ?? []),
    boosts: readBoost(file, node, diagnostics),
    buries: [locatedText(file, memberOf(file, memberOf(file, node, 'bury'), 'where'))].flatMap(
      (where) => where ?? [],
    ),
  };
  // A misspelt action, and an action with a wrong value, are reported already.
  const keys = entriesOf(file, node).map(({ key }) => key);
  if (isMap(node) && keys.every((key) => PASSIVE_KEYS.includes(key))) checkActs(rule, diagnostics);
  return rule;
}

function readBoost(file: SourceFile, rule: Node, diagnostics: Diagnostics): CuratedBoost[] {
  const boost = entryOf(file, rule, 'boost');
  const where = locatedText(file, memberOf(file, boost?.value, 'where'));
  if (boost === undefined || where === undefined) return [];
  const multiply = textOf(memberOf(file, boost.value, 'multiply'));
  const add = textOf(memberOf(file, boost.value, 'add'));
  if ((multiply === undefined) === (add === undefined)) {
    diagnostics.error(
      multiply === undefined ? 'missing_key' : 'unknown_key',
      boost.keyAt,
      `\`boost\` needs one of \`multiply\` and \`add\`, found ${multiply === undefined ? 'none' : 'both'}`,
      'write `multiply: 1.5` or `add: 2`',
    );
    return [];
  }
  return [{ where, change: multiply === undefined ? 'add' : 'multiply', amount: Number(multiply ?? add) }];
}
