import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import { targetsOf, withTargets, type Campaign, type ListContent, type Target } from './campaign.js';
import type { Watched } from './campaign-changes.js';
import { momentText, say } from './campaign-language.js';
import type { Offer } from './campaign-page.js';
import { badgesText } from './cards.js';
import { searchCondition } from './condition.js';
import { withField, type Typed } from './fields.js';
import { fatesOf, type ShownPage } from './page-preview.js';
import { explain, type SentRequest } from './service.js';

export type Described = WorkbenchProject['pipelines'][number];

const MOST_OFFERS = 12;
/** The most ids of removed products that a search shows. */
const MOST_REMOVED = 5;

/** The pipelines that apply a list, and whose requests a person can fill in. */
export function pipelinesOf({ pipelines }: WorkbenchProject, { stored }: ListContent): readonly Described[] {
  return pipelines.filter(({ name }) => stored.uses.some((one) => one.pipeline === name));
}

const fieldOf = (pipeline: Described | undefined, of: Target): Described['fields'][number] | undefined =>
  pipeline?.fields.find(({ name }) => name === of);

/** The fields of the page that is shown: what is typed; else the first query or category of the campaign. */
export function withWatched(pipeline: Described | undefined, typed: Typed, campaign: Campaign): Typed {
  const watched = (['query', 'category'] as const).map((of) => fieldOf(pipeline, of)?.parameter ?? '');
  const [target] = targetsOf(campaign);
  if (target === undefined || watched.some((one) => typed[one] !== undefined)) return typed;
  const parameter = fieldOf(pipeline, target[0])?.parameter;
  return parameter === undefined ? typed : { ...typed, [parameter]: target[1] };
}

export function withoutTargets(typed: Typed, pipeline: Described | undefined): Typed {
  const watched = (['query', 'category'] as const).map((of) => fieldOf(pipeline, of)?.parameter);
  return Object.fromEntries(Object.entries(typed).filter(([name]) => !watched.includes(name)));
}

/** A new campaign is for the query or category of the page that is shown. */
export function withPageTarget(
  campaign: Campaign,
  pipeline: Described | undefined,
  filled: Typed,
  { uses }: ListContent['stored'],
): Campaign {
  const on = uses.find((one) => one.pipeline === pipeline?.name)?.on ?? [];
  for (const of of on) {
    const value = filled[fieldOf(pipeline, of)?.parameter ?? '']?.trim() ?? '';
    if (value !== '') return withTargets(campaign, of, [value]);
  }
  return campaign;
}

function bodyOf(pipeline: Described, typed: Typed): Record<string, unknown> {
  return pipeline.fields.reduce<Record<string, unknown>>(
    (all, field) => withField(all, field, typed[field.parameter] ?? ''),
    { ...pipeline.body },
  );
}

/** @returns undefined as long as a field is empty that the pipeline needs, or nothing says which page it is */
export function requestOf(
  pipeline: Described | undefined,
  typed: Typed,
  preview: Readonly<Record<string, string>>,
): SentRequest | undefined {
  const isReady = pipeline?.fields.every(
    ({ optional, parameter }) => optional || (typed[parameter] ?? '').trim() !== '',
  );
  if (pipeline === undefined || isReady !== true) return undefined;
  const watched = (['query', 'category'] as const).flatMap((of) => fieldOf(pipeline, of)?.parameter ?? []);
  // Without any of the two, retrievers find nothing.
  if (!('candidates' in pipeline.body) && watched.length > 0 && watched.every((one) => !typed[one]?.trim()))
    return undefined;
  return { path: pipeline.explain, body: JSON.stringify(bodyOf(pipeline, typed)), preview };
}

/** The page of a query or a category as it is served. */
export function watchedOf(
  pipeline: Described | undefined,
  filled: Typed,
  target: readonly [Target, string] | undefined,
  { time, zone }: { readonly time: number | undefined; readonly zone: string },
): Watched {
  const field = target && fieldOf(pipeline, target[0]);
  const typed =
    field === undefined
      ? filled
      : { ...withoutTargets(filled, pipeline), [field.parameter]: target?.[1] ?? '' };
  const preview = time === undefined ? {} : { at: new Date(time).toISOString() };
  const body = pipeline === undefined ? {} : bodyOf(pipeline, typed);
  return {
    title: `${target?.[1] ?? say.shownPage}${time === undefined ? '' : `, ${momentText(time, zone)}`}`,
    request: { path: pipeline?.explain ?? '', body: JSON.stringify(body), preview },
  };
}

/** Finds products by id, or in the index by what a person searches by. Filters of the pipeline do not leave them out. */
export async function findProducts(
  pipeline: Described | undefined,
  request: SentRequest | undefined,
  typed: string,
): Promise<readonly Offer[]> {
  if (pipeline === undefined) return [];
  // A campaign for every page needs no page.
  const some = { ...pipeline.body, candidates: { from: 'index', where: 'true', limit: 1 } };
  const base = request ?? { path: pipeline.explain, body: JSON.stringify(some) };
  const asked = [...(await fatesOf(base, [typed])).values()];
  const byId = asked.filter(({ card }) => card?.missing !== true);
  const offers = byId.map(({ candidate_id: id, card }) => offerOf(id, card));
  if (pipeline.searched.length === 0) return offers;
  const candidates = { from: 'index', where: searchCondition(pipeline.searched, typed), limit: MOST_OFFERS };
  const body = JSON.stringify({ ...(JSON.parse(base.body) as object), candidates });
  const { page, steps, candidates: found } = await explain({ path: base.path, body });
  const removed = steps.flatMap((step) => step.removed?.ids ?? []).slice(0, MOST_REMOVED);
  const fates = await fatesOf(base, removed);
  const others = [
    ...page.map(({ candidate_id: id, card }) => offerOf(id, card)),
    ...removed.map((id) => offerOf(id, fates.get(id)?.card)),
  ];
  const known = new Set([...offers.map(({ id }) => id), ...(found.brought?.ids ?? [])]);
  return [...offers, ...others.filter(({ id }) => !known.has(id))];
}

function offerOf(id: string, card: ShownPage['explanation']['page'][number]['card']): Offer {
  return {
    id,
    title: card?.title ?? id,
    about: [card?.subtitle ?? '', badgesText(card)].filter(Boolean).join(' · '),
  };
}
