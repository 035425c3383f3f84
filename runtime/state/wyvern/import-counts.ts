import { printable } from '../../ground/core/display-width.js';
import { SKIPPED, type SkipReason } from './old-record.js';

/** Keys that are shown for each reason. */
const SHOWN = 3;

/** What an import has done. It is plain JSON, which --resume continues. */
export interface ImportCounts {
  /** Keys under the prefix. */
  keys: number;
  /** By entity type. */
  readonly imported: Record<string, number>;
  /** Of those: entities that got their id from their key. */
  added: number;
  /** Of those: entities with a value that was converted to the type of its attribute. */
  converted: number;
  /** Attributes of those that were left out, because their values do not fit. */
  readonly left_out: { count: number; readonly keys: string[] };
  readonly skipped: Partial<Record<SkipReason, { count: number; readonly keys: string[] }>>;
  /** Entities that the index refused, e.g. because two spellings of a reference differ. */
  readonly refused: { count: number; readonly keys: string[] };
}

export const noCounts = (): ImportCounts => ({
  keys: 0,
  imported: {},
  added: 0,
  converted: 0,
  left_out: { count: 0, keys: [] },
  skipped: {},
  refused: { count: 0, keys: [] },
});

/** Counts a key, and remembers the first ones with what is wrong. */
export function note(list: { count: number; readonly keys: string[] }, key: string, detail?: string): void {
  list.count++;
  if (list.keys.length < SHOWN) list.keys.push(detail === undefined ? key : `${key}: ${detail}`);
}

/** True if something of the old index is lost: it could not be read, or the new index refused it. */
export const hasLosses = ({ skipped, refused, left_out: leftOut }: ImportCounts): boolean =>
  refused.count > 0 ||
  leftOut.count > 0 ||
  (['damaged', 'no_json', 'ambiguous', 'no_id'] as const).some((reason) => skipped[reason] !== undefined);

const number = (value: number): string => value.toLocaleString('en');

/** The summary that the command prints. */
export function countsText(counts: ImportCounts, target: string, isDry: boolean): string {
  const { keys, imported, added, converted, left_out: leftOut, skipped, refused } = counts;
  const types = Object.entries(imported).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = [`${number(keys)} keys read`];
  const verb = isDry ? 'would be imported' : `imported into ${target}`;
  for (const [type, count] of types) lines.push(`  ${number(count).padStart(9)}  ${type} ${verb}`);
  if (types.length === 0) lines.push(`  ${'0'.padStart(9)}  ${verb}`);
  if (added > 0) lines.push(`  ${number(added).padStart(9)}  of these with the id from the key`);
  if (converted > 0)
    lines.push(`  ${number(converted).padStart(9)}  of these with values converted to the declared types`);
  if (leftOut.count > 0) lines.push(...listed(leftOut, 'attributes of these left out'));
  for (const reason of Object.keys(SKIPPED) as SkipReason[]) {
    const one = skipped[reason];
    if (one !== undefined) lines.push(...listed(one, `skipped: ${SKIPPED[reason]}`));
  }
  if (refused.count > 0) lines.push(...listed(refused, 'refused by the index'));
  return `${lines.join('\n')}\n`;
}

function listed(
  { count, keys }: { readonly count: number; readonly keys: readonly string[] },
  what: string,
): string[] {
  return [
    `  ${number(count).padStart(9)}  ${what}`,
    ...keys.toSorted().map((key) => `             ${printable(key)}`),
  ];
}
