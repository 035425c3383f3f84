import type { Plan } from '../../../request/compile/plan.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { BODY_FIELDS, RANKING_FIELDS } from '../../../project/config/project/reserved-names.js';
import type { GivenError } from '../run/run-case.js';
import { suggestion } from './check-given.js';
import { entriesIn, itemsIn, member, placeAt, type Placed, type PlacedEntry } from './placed.js';
import type { TestCase } from './test-case.js';

/** Reports data that the store does not take, each violation at its place. */
export function reportGiven(error: GivenError, { given, at }: TestCase, diagnostics: Diagnostics): void {
  const { part, of, first, reason } = error;
  const list = member(member(given, part), of);
  if (list === undefined || reason.violations.length === 0) {
    diagnostics.error('wrong_type', list?.at ?? at, `\`${of}\`: ${reason.message}`);
    return;
  }
  for (const { pointer, detail } of reason.violations) {
    const [, , number = '0', ...rest] = pointer.split('/');
    const place = `/${first + Number(number)}${rest.map((one) => `/${one}`).join('')}`;
    diagnostics.error('wrong_type', placeAt(list, place).at, `\`${of}\`: ${detail}`);
  }
}

/**
 * Reports fields of the request that nothing declares. The service ignores them, but in a test they are a mistake.
 * @param fields as `candidates.colour` or `devise`
 */
export function reportUnknownFields(
  fields: readonly string[],
  { request }: TestCase,
  { definition, candidateType, entities }: Plan,
  diagnostics: Diagnostics,
): void {
  for (const field of fields) {
    const [first = '', ...rest] = field.split('.');
    const name = rest[0] ?? first;
    const holder = rest.length === 0 ? request : member(request, first);
    const entry = entryIn(holder, name);
    const of = rest.length === 0 ? undefined : definition.request.fields.get(first);
    const type = of?.kind === 'entity' ? entities.get(of.entity) : candidateType;
    const known =
      rest.length === 0
        ? [
            ...definition.request.fields.keys(),
            ...(definition.task === 'rank' ? RANKING_FIELDS : [...BODY_FIELDS, candidateType.name]),
          ]
        : [
            ...(type === undefined ? [] : [type.key, ...type.attributes.keys()]),
            ...definition.request.candidates.keys(),
          ];
    diagnostics.error(
      'unknown_key',
      entry?.keyAt ?? holder?.at ?? request.at,
      `the pipeline \`${definition.name}\` has no field \`${field}\``,
      suggestion(name, known, 'remove it, or declare it under `request:` of the pipeline'),
    );
  }
}

function entryIn(holder: Placed | undefined, name: string): PlacedEntry | undefined {
  if (holder?.kind === 'map') return holder.entries.get(name);
  for (const item of itemsIn(holder)) {
    const found = entriesIn(item).find(([key]) => key === name);
    if (found !== undefined) return found[1];
  }
  return undefined;
}
