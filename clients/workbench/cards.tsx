import type { ComponentChildren, JSX } from 'preact';
import type { ExplainedCandidate, Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { plain, scoreText, text, words } from './language.js';

/** The place of each candidate in the answer before, by id. */
export type Places = ReadonlyMap<string, number>;

export function placesOf({ page }: Explanation): Places {
  return new Map(page.map(({ candidate_id, place }) => [candidate_id, place]));
}

export const titleOf = ({ candidate_id: id, card }: ExplainedCandidate): string => card?.title ?? id;

/** The candidates of a page as cards, in their order. */
export function Cards({
  page,
  before,
  onWhy,
}: {
  readonly page: readonly ExplainedCandidate[];
  readonly before: Places | undefined;
  readonly onWhy: (candidate: ExplainedCandidate) => void;
}): JSX.Element {
  const hasImages = page.some(({ card }) => card?.image !== undefined);
  return (
    <ol class="cards">
      {page.map((one) => (
        <li key={one.candidate_id}>
          <CardOf candidate={one} before={before} hasImages={hasImages} onWhy={() => onWhy(one)}>
            <Rules of={one} />
          </CardOf>
        </li>
      ))}
    </ol>
  );
}

/** The rules that placed a candidate: its score alone does not say why it is there. */
function Rules({ of: { changes } }: { readonly of: ExplainedCandidate }): JSX.Element | null {
  const rules = new Set(changes.flatMap((one) => one.rules ?? []));
  if (rules.size === 0) return null;
  return <p class="mark dim">{text.byRules([...rules].join(', '))}</p>;
}

/** @param children what else can be done with it */
export function CardOf({
  candidate,
  before,
  hasImages,
  isOfToday,
  onWhy,
  children,
}: {
  readonly candidate: ExplainedCandidate;
  readonly before: Places | undefined;
  readonly hasImages: boolean;
  readonly isOfToday?: boolean;
  readonly onWhy: () => void;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const { candidate_id: id, card, place, score } = candidate;
  const title = titleOf(candidate);
  const move = before !== undefined && <Move place={place} was={before.get(id)} />;
  return (
    <CardFace {...{ id, card, place, hasImages }} mark={move} isOfToday={isOfToday}>
      <p class="score">
        {text.score} {scoreText(score)}{' '}
        <button class="why" type="button" aria-label={text.whyHere(title, place)} onClick={onWhy}>
          {text.why}
        </button>
      </p>
      {children}
    </CardFace>
  );
}

/** The badges of a card in a line. */
export function badgesText(card: ExplainedCandidate['card']): string {
  return (card?.badges ?? []).map(({ name, value }) => `${words(name)} ${plain(value)}`).join(' · ');
}

/** What a card shows wherever it is. @param mark stands beside its place @param isOfToday whether its values are marked so */
export function CardFace({
  id,
  card,
  place,
  hasImages,
  mark,
  isOfToday = false,
  children,
}: {
  readonly id: string;
  readonly card: ExplainedCandidate['card'];
  readonly place: number;
  readonly hasImages: boolean;
  readonly mark?: ComponentChildren;
  readonly isOfToday?: boolean | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const title = card?.title ?? id;
  return (
    <article class="card">
      {hasImages && <Picture key={card?.image} address={card?.image} />}
      <p class="place">
        {place}. {mark}
      </p>
      <h3 title={title === id ? id : `${title} (${id})`}>{title}</h3>
      {card?.missing === true && <p class="failed">{text.notInIndex}</p>}
      {card?.subtitle !== undefined && <p class="subtitle">{card.subtitle}</p>}
      {card?.badges !== undefined && (
        <p class="badges">
          {badgesText(card)}
          {isOfToday && <span class="dim"> {text.ofToday}</span>}
        </p>
      )}
      {children}
    </article>
  );
}

/** The title stands beside the picture, so that the picture has no text of its own. */
function Picture({ address }: { readonly address: string | undefined }): JSX.Element {
  return (
    <div class="picture">
      {address !== undefined && (
        <img
          alt=""
          loading="lazy"
          referrerPolicy="no-referrer"
          onError={({ currentTarget }) => (currentTarget.hidden = true)}
          src={address}
        />
      )}
    </div>
  );
}

function Move({ place, was }: { readonly place: number; readonly was: number | undefined }): JSX.Element {
  if (was === undefined) return <span class="up">{text.isNew}</span>;
  if (was === place) return <span class="dim">=</span>;
  return was > place ? <span class="up">▲ {was - place}</span> : <span class="down">▼ {place - was}</span>;
}
