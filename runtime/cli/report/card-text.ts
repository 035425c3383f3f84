import { printable } from '../../ground/core/display-width.js';
import { CARD_COLUMN, cardCell, type Cell, type TableColumn } from '../../learn/report/tree.js';
import type { Card, CardsById } from '../../state/index/cards.js';
import { renderTable } from './table.js';

/** The column of ids beside titles. */
export const ID_COLUMN: TableColumn = { title: 'candidate_id', max: 50, least: 16 };
const LONGEST_SUBTITLE = 14;
const LONGEST_BADGE = 16;
/** A narrower terminal has room for titles alone. */
const WIDE = 110;

/** A table of a page in its order, as wide as the terminal: with the cards of the candidates, if there are any. */
export function rankingText(
  page: readonly { readonly candidate_id: string; readonly ranked_score: number }[],
  cards: CardsById,
  width: number,
): string {
  const ranked = page.map((one, at) => [at + 1, one.candidate_id, one.ranked_score.toFixed(6)] as const);
  const shown = page.flatMap(({ candidate_id: id }) => cards.get(id) ?? []);
  if (shown.length === 0)
    return renderTable({ place: 'right', candidate_id: 50, ranked_score: 'right' }, ranked);
  const hasSubtitle = shown.some(({ subtitle }) => subtitle !== undefined);
  const badged = width < WIDE ? [] : shown;
  const names = [...new Set(badged.flatMap(({ badges = [] }) => badges.map(({ name }) => name)))];
  const badgeOf = (card: Card | undefined, name: string): Cell =>
    printable(String(card?.badges?.find((badge) => badge.name === name)?.value ?? ''));
  return renderTable(
    [
      { title: 'place', align: 'right' },
      ID_COLUMN,
      CARD_COLUMN,
      ...(hasSubtitle ? [{ title: '', max: LONGEST_SUBTITLE }] : []),
      ...names.map((title) => ({ title, align: 'right' as const, max: LONGEST_BADGE })),
      { title: 'ranked_score', align: 'right' },
    ],
    ranked.map(([place, id, score]) => {
      const card = cards.get(id);
      return [
        place,
        printable(id),
        cardCell(card),
        ...(hasSubtitle ? [printable(card?.subtitle ?? '')] : []),
        ...names.map((name) => badgeOf(card, name)),
        score,
      ];
    }),
    width,
  );
}
