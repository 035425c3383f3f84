import { isDate, momentOf } from '../../runtime/ground/core/time-zone.js';
import type { Campaign } from '../../runtime/project/config/curation/campaign.js';
import type { StoredCuration } from '../../runtime/state/curation/curation-service.js';
import type { DraftAnswer } from '../../runtime/state/curation/draft-answers.js';

export type { Campaign };
export type CampaignKey = keyof Campaign;
export type Target = 'query' | 'category';

/** What a campaign does. One that does nothing cannot be saved. */
const ACTS: readonly CampaignKey[] = ['pin', 'hide', 'boost', 'bury', 'sponsor', 'banner'];

/** A list beside its drafts. */
export interface ListContent {
  readonly stored: StoredCuration;
  readonly drafts: readonly DraftAnswer[];
}

export const doesNothing = (campaign: Campaign): boolean => ACTS.every((act) => campaign[act] === undefined);

/** The campaigns of a list as they are once a draft is published. */
export function campaignsWith(
  { stored }: ListContent,
  draft: DraftAnswer | undefined,
): ReadonlyMap<string, Campaign> {
  const all = new Map<string, Campaign>(Object.entries(stored.campaigns));
  for (const { campaign, after } of draft?.changes ?? [])
    if (after === null) all.delete(campaign);
    else all.set(campaign, after);
  return all;
}

/** Replaces a key; undefined and what is empty remove it. */
export function withKey<Key extends CampaignKey>(
  campaign: Campaign,
  key: Key,
  value: Campaign[Key] | undefined,
): Campaign {
  const rest = Object.fromEntries(Object.entries(campaign).filter(([name]) => name !== key));
  const isEmpty =
    value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
  return isEmpty ? rest : { ...rest, [key]: value };
}

export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value.map(String);
}

/** What a person typed between commas. */
export function itemsOf(typed: string): readonly string[] {
  return [...new Set(typed.split(',').map((one) => one.trim()))].filter((one) => one !== '');
}

/** The queries or categories that a campaign is for; none: every request. */
export function targetsOf({ on }: Campaign): readonly (readonly [Target, string])[] {
  return (['query', 'category'] as const).flatMap((of) =>
    listOf(on?.[of]).map((value) => [of, value] as const),
  );
}

/** Replaces the queries or categories. A campaign has only one of the two. */
export function withTargets(campaign: Campaign, of: Target, values: readonly string[]): Campaign {
  const { when, match } = campaign.on ?? {};
  return withKey(campaign, 'on', {
    ...(values.length === 0 ? {} : { [of]: values }),
    ...(match === undefined || of !== 'query' || values.length === 0 ? {} : { match }),
    ...(when === undefined ? {} : { when }),
  });
}

/** The pins by position. */
export function pinsOf({ pin = {} }: Campaign): readonly { readonly place: number; readonly id: string }[] {
  return Object.entries(pin)
    .map(([place, id]) => ({ place: Number(place), id }))
    .sort((a, b) => a.place - b.place);
}

/** Pins a product, which has no other pin and is not hidden then. */
export function withPin(campaign: Campaign, id: string, place: number): Campaign {
  const others = Object.entries(campaign.pin ?? {}).filter(([at, one]) => one !== id && Number(at) !== place);
  return withHidden(withKey(campaign, 'pin', { ...Object.fromEntries(others), [place]: id }), id, false);
}

export function withoutPin(campaign: Campaign, id: string): Campaign {
  const others = Object.entries(campaign.pin ?? {}).filter(([, one]) => one !== id);
  return withKey(campaign, 'pin', Object.fromEntries(others));
}

/** Hides a product, which has no pin then, or shows it again. */
export function withHidden(campaign: Campaign, id: string, isHidden: boolean): Campaign {
  const others = listOf(campaign.hide).filter((one) => one !== id);
  const next = withKey(campaign, 'hide', isHidden ? [...others, id] : others);
  return isHidden ? withoutPin(next, id) : next;
}

/** A name as files and the API have it: `Black Friday` becomes `black_friday`. */
export function nameOf(typed: string): string {
  return typed
    .toLowerCase()
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[0-9_]+|_+$/g, '')
    .slice(0, 100);
}

/** The first of `base`, `base_2`, … that is not taken. */
export function freeName(base: string, taken: Iterable<string>): string {
  const names = new Set(taken);
  let name = base;
  for (let at = 2; names.has(name); at++) name = `${base}_${at}`;
  return name;
}

/**
 * The time at which a page is shown: the one that is typed; else now, or the noon of its first day if a campaign is for later.
 * Undefined: now.
 */
export function previewTime(
  { from }: Campaign,
  typed: string,
  zone: string,
  now: number,
): number | undefined {
  const wanted = momentOf(typed, zone);
  if (!Number.isNaN(wanted)) return wanted;
  if (from === undefined) return undefined;
  const start = isDate(from) ? momentOf(`${from}T12:00`, zone) : Date.parse(from);
  return start > now ? start : undefined;
}
