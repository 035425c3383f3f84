import { render, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LinkedPreview } from '../../runtime/serve/http/routes/previews.js';
import { momentText, say } from './campaign-language.js';
import { Banners } from './campaign-parts.js';
import { CardFace } from './cards.js';
import { text } from './language.js';
import { messageOf, openPreview, Refusal } from './service.js';

/** A link has what allows the preview after `#`. */
const link = location.hash.slice(1);

/** The page of a draft, for a colleague without a key. */
function Preview(): JSX.Element {
  const [shown, setShown] = useState<LinkedPreview>();
  const [problem, setProblem] = useState(link === '' ? say.noLink : '');
  useEffect(() => {
    if (link === '') return;
    openPreview(link).then(setShown, (error: unknown) => setProblem(linkProblem(error)));
  }, []);
  return (
    <main class="campaigns">
      <h1>{say.previewTitle}</h1>
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
      {problem === '' && shown === undefined && <p aria-busy="true">{say.loading}</p>}
      {shown !== undefined && <Shown shown={shown} />}
    </main>
  );
}

function Shown({ shown }: { readonly shown: LinkedPreview }): JSX.Element {
  const { draft, author, at, expires, values, page, answer, time_zone: zone } = shown;
  const hasImages = page.some(({ card }) => card?.image !== undefined);
  const labels = new Map(
    (answer.ranked_candidates ?? []).map(({ candidate_id: id, sponsored }) => [id, sponsored]),
  );
  return (
    <>
      <p id="about">
        {say.previewOf(draft, author ?? say.somebody)}{' '}
        {at === null ? say.now : say.rulesOf(`${momentText(at, zone)} (${zone})`)}{' '}
        {say.valuesOf(momentText(values))} <span class="hint">{say.linkUntil(momentText(expires))}</span>
      </p>
      <h2>{say.page}</h2>
      <Banners answer={answer} />
      {page.length === 0 && <p>{text.emptyPage}</p>}
      <ol class="cards">
        {page.map(({ candidate_id: id, place, card }) => (
          <li key={id}>
            <CardFace id={id} card={card} place={place} hasImages={hasImages} isOfToday={at !== null}>
              {labels.get(id) !== undefined && <p class="mark">{labels.get(id)}</p>}
            </CardFace>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Why a link opens nothing. */
function linkProblem(error: unknown): string {
  const { code, detail = '' } = error instanceof Refusal ? error.problem : {};
  if (code === 'unknown_draft') return say.draftGone;
  if (code !== 'preview_link_invalid') return messageOf(error);
  if (detail.includes('expired')) return say.linkExpired;
  return detail.includes('revoked') ? say.linkWasRevoked : say.linkUnknown;
}

render(<Preview />, document.body);
