import { pageStart, type Paging } from '../request/paging.js';
import type { RankedRow, Ranking } from '../components/ranking.js';

/**
 * Cuts the page that the request asks for. `candidates` is already one page of a longer list. With s = user_page ·
 * user_page_size − candidate_page · candidate_page_size, the page contains the ranks max(0, s) … max(0, s +
 * user_page_size) − 1. It is empty past the end.
 */
export function cutPage(ranking: Ranking, paging: Paging): RankedRow[] {
  const start = pageStart(paging);
  return ranking.slice(Math.max(0, start), Math.max(0, start + paging.userPageSize));
}
