import { Section } from '../yaml/section.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import type { CurationList, CurationRule } from '../model/curation.js';
import { readActs } from './read-acts.js';
import { readCampaign } from './read-campaigns.js';
import { checkActs, readActivity } from './read-rule.js';

/** Rules that came over the API. They are read in portions, each as a file of its own. */
export interface SentPortion {
  /** The number of rules before it. */
  readonly before: number;
  /** The names of the rules before it; those of the portion are added. */
  readonly names: Set<string>;
}

/**
 * Reads the rules and campaigns of a YAML file whose shape is checked. Errors go to `diagnostics`.
 * @param zone the time zone of the project
 * @param sent if they came over the API; the names of the rules say so
 */
export function readCurationYaml(
  { file, root, name }: ParsedFile,
  diagnostics: Diagnostics,
  zone: string,
  sent?: SentPortion,
): CurationList {
  const prefix = sent === undefined ? name.value : `${name.value}:api`;
  const { before, names } = sent ?? { before: 0, names: new Set<string>() };
  const list = new Section('curation', file, root, diagnostics);
  if (sent === undefined && !list.has('rules') && !list.has('campaigns') && !list.hasUnknownKey)
    diagnostics.error(
      'missing_key',
      list.at(),
      'the list has neither `rules` nor `campaigns`',
      'add one of them, such as `rules: []`',
    );
  const rules = list.items('rules').map((node, index) => {
    const rule = new Section('curation.rules', file, node, diagnostics);
    const own = rule.located('name');
    if (own !== undefined && names.has(own.value))
      diagnostics.error(
        'duplicate_name',
        own.at,
        `another rule of the list has the name \`${own.value}\``,
        'give this rule another name',
      );
    names.add(own?.value ?? '');
    return readRule(rule, `${prefix}:${own?.value ?? before + index + 1}`);
  });
  const campaigns = list.entries('campaigns').flatMap((entry) => readCampaign(list, entry, zone));
  const isStored = sent === undefined ? undefined : (true as const);
  const all = [...rules, ...campaigns].map((rule) => ({ ...rule, isStored }));
  return { name: name.value, file, at: name.at, rules: all };
}

function readRule(section: Section<'curation.rules'>, name: string): CurationRule {
  const { diagnostics } = section;
  const at = section.at();
  const query = section.located('query');
  const match = section.located('match');
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
    note: section.text('note'),
    query: query && { text: query, match: section.word('match') ?? 'equals' },
    when: section.located('when'),
    ...readActivity({ at, from: section.located('from'), until: section.located('until') }, diagnostics),
    ...readActs(section),
  };
  checkActs(section, at);
  return rule;
}
