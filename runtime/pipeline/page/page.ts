import { pageStart, type Paging } from '../request/paging.js';
import type { RankedRow, Ranking } from '../components/ranking.js';

/**
 * The page that the request asks for. `candidates` already is one page of a longer list: with
 * s = user_page · user_page_size − candidate_page · candidate_page_size the page holds the ranks
 * max(0, s) … max(0, s + user_page_size) − 1; past the end it is empty.
 */
export function cutPage(ranking: Ranking, paging: Paging): RankedRow[] {
  const start = pageStart(paging);
  return ranking.slice(Math.max(0, start), Math.max(0, start + paging.userPageSize));
}
