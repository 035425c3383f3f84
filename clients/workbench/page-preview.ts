import { useEffect, useRef, useState } from 'preact/hooks';
import type { ExplainedFate, Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { listOf, pinsOf, type Campaign } from './campaign.js';
import { explain, type SentRequest } from './service.js';

/** A page as customers will see it, and what became of what the campaign names and the page does not have. */
export interface ShownPage {
  readonly request: SentRequest;
  readonly explanation: Explanation;
  readonly fates: ReadonlyMap<string, ExplainedFate>;
}

/** The most products of which it is asked what became of them. */
const MOST_FATES = 12;
const PAUSE_MS = 150;

/** Asks for the page again whenever the request or the campaign changes. Of several requests, the last one is shown. */
export function usePage(
  request: SentRequest | undefined,
  campaign: Campaign,
  changes: number,
  refused: (error: unknown) => string,
): { readonly page: ShownPage | undefined; readonly problem: string; readonly isBusy: boolean } {
  const [page, setPage] = useState<ShownPage>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const sent = useRef(0);
  const key = request === undefined ? '' : JSON.stringify(request);
  useEffect(() => {
    const number = ++sent.current;
    if (request === undefined) {
      setPage(undefined);
      setProblem('');
      setBusy(false);
      return undefined;
    }
    setBusy(true);
    const ask = async (): Promise<void> => {
      const next = await pageOf(request, campaign).catch((error: unknown) => refused(error));
      if (number !== sent.current) return;
      setPage(typeof next === 'string' ? undefined : next);
      setProblem(typeof next === 'string' ? next : '');
      setBusy(false);
    };
    // A person types faster than pages come.
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key, changes]);
  return { page, problem, isBusy };
}

async function pageOf(request: SentRequest, campaign: Campaign): Promise<ShownPage> {
  const explanation = await explain(request);
  const shown = new Set(explanation.page.map(({ candidate_id: id }) => id));
  const named = [
    ...pinsOf(campaign).map(({ id }) => id),
    ...(campaign.sponsor === undefined ? [] : [campaign.sponsor.product]),
    ...listOf(campaign.hide),
  ];
  const missing = [...new Set(named)].filter((id) => !shown.has(id)).slice(0, MOST_FATES);
  return { request, explanation, fates: await fatesOf(request, missing) };
}

/** Why some candidates are not on a page. */
export async function fatesOf(
  request: SentRequest,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExplainedFate>> {
  const found = await Promise.all(
    ids.map(async (id) => [id, (await explain(request, { why: id })).why] as const),
  );
  return new Map(found.flatMap(([id, why]) => (why === undefined ? [] : [[id, why] as const])));
}
