import type { Section } from '../yaml/section.js';
import { locatedText, type Entry } from '../yaml/tree.js';
import type { CurationRule } from '../model/curation.js';
import { readActs } from './read-acts.js';
import { checkActs, readActivity } from './read-rule.js';

/**
 * Reads a campaign: one rule for each query or category that it is for, named `<list>:<campaign>:<number>`.
 * @param zone the time zone in which its days are whole
 */
export function readCampaign(
  list: Section<'curation'>,
  { key: name, keyAt, value }: Entry,
  zone: string,
): CurationRule[] {
  const { file, diagnostics, node } = list;
  const campaign = list.of('curation.campaigns.*', value);
  // Its other keys are those of a rule.
  const shared = list.of('curation.rules', value);
  const on = campaign.section('on');
  const [queries, categories] = [on.texts('query'), on.texts('category')];
  if (queries.length > 0 && categories.length > 0)
    diagnostics.error(
      'unknown_key',
      on.keyAt('category'),
      '`on` has both `query` and `category`',
      'write a second campaign for the categories',
    );
  if (on.has('match') && !on.has('query'))
    diagnostics.error(
      'missing_key',
      on.keyAt('match'),
      '`match` has no effect without `query`',
      'add a `query`, or remove `match`',
    );
  if (name === 'api')
    diagnostics.error(
      'reserved_name',
      keyAt,
      'rules of the API have the name `api`',
      'give the campaign another name',
    );
  const at = { file, start: keyAt.start, end: value?.range?.[1] ?? keyAt.end };
  const written = { at, from: campaign.located('from'), until: campaign.located('until') };
  const common = {
    at,
    note: shared.text('note'),
    when: on.located('when'),
    ...readActivity(written, diagnostics, zone),
    ...readActs(shared),
    brings: true as const,
  };
  checkActs(shared, keyAt);
  const match = on.word('match') ?? 'equals';
  const wanted = [
    ...queries.map((text) => ({ query: { text, match }, category: undefined })),
    ...categories.map((category) => ({ query: undefined, category })),
  ];
  const conditions = wanted.length === 0 ? [{ query: undefined, category: undefined }] : wanted;
  const listName = locatedText(file, node && list.value('curation'))?.value ?? '';
  return conditions.map((one, index) => ({ ...common, ...one, name: `${listName}:${name}:${index + 1}` }));
}
