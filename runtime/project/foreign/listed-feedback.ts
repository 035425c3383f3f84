import type { ForeignFeedback, ForeignRanking } from './foreign-event.js';
import { lineIds } from './line-ids.js';

/** The kind of feedback that a candidate gets when it is shown. */
export const SHOWN = 'impression';

/** The impressions of a list. Their ids depend on the request only, so a source and a file of one log give the same ids. */
export function* impressionsOf({
  request,
  owners,
  time,
  candidates,
}: ForeignRanking): Generator<ForeignFeedback> {
  const idOf = lineIds(request);
  for (const { id: candidate, position } of candidates)
    yield {
      ...{ is: 'feedback', event: SHOWN, id: idOf(candidate), request, owners, time, candidate, position },
      ...{ quantity: 1, values: {} },
    };
}

/** The clicks, orders and other acts that the candidates of a list have, as feedback. */
export function* actsOf({ request, owners, candidates }: ForeignRanking): Generator<ForeignFeedback> {
  for (const { id, position, acts } of candidates)
    for (const act of acts)
      yield { ...act, is: 'feedback', request, owners, candidate: id, position, values: {} };
}
