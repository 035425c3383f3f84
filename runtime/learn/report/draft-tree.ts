import { counted } from '../../ground/core/count.js';
import type { DraftEffect, PlaceEffect } from '../judge/draft-effect.js';
import { section, table, type Report } from './tree.js';

/** What a draft changes, for people. */
export function draftTree({
  draft,
  pipeline,
  requests,
  changed,
  failed,
  queries,
  places,
}: DraftEffect): Report {
  return {
    title: `What the draft ${draft} changes of ${pipeline}`,
    parts: [
      `${counted(requests, 'logged request')} ranked with and without the draft`,
      `${shareText(changed, requests)} of them change on the first page`,
      ...(failed === 0 ? [] : [`${counted(failed, 'request')} could not be ranked`]),
      ...section(
        'Queries that change',
        ...(queries.length === 0
          ? []
          : [
              table(
                { query: 40, requests: 'right', changed: 'right', 'most places': 'right' },
                queries.map((one) => [one.query, one.requests, one.changed, one.places]),
              ),
            ]),
      ),
      ...section(
        'Places',
        ...(places.length === 0
          ? []
          : [
              table(
                {
                  campaign: 24,
                  product: 24,
                  place: 'right',
                  requests: 'right',
                  shown: 'right',
                  otherwise: 50,
                },
                places.map((one) => [
                  one.campaign,
                  one.product,
                  one.place,
                  one.requests,
                  shareText(one.shown, one.requests),
                  otherwiseText(one),
                ]),
              ),
            ]),
      ),
    ],
  };
}

function otherwiseText({ unknown, requests, elsewhere, removed, winners }: PlaceEffect): string {
  if (unknown) return 'not in the index';
  return [
    ...removed.map(({ step, requests: count }) => `${step} removes it in ${shareText(count, requests)}`),
    ...(elsewhere === 0 ? [] : [`at another place in ${shareText(elsewhere, requests)}`]),
    ...winners.slice(0, 1).map(({ product, rules }) => `${product} has the place (${rules.join(', ')})`),
  ].join('; ');
}

function shareText(count: number, of: number): string {
  return of === 0 ? '–' : `${((100 * count) / of).toFixed(1)}%`;
}
