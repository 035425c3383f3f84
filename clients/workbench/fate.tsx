import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ExplainedFate } from '../../runtime/request/pipeline/explain/explanation.js';
import { text } from './language.js';
import { explain, messageOf, type SentRequest } from './service.js';

/** Asks why a candidate that is not on the page is not there. */
export function Fate({ request }: { readonly request: SentRequest }): JSX.Element {
  const [id, setId] = useState('');
  const [said, setSaid] = useState('');
  const ask = async (): Promise<void> => {
    const sought = id.trim();
    if (sought === '') return;
    try {
      const { why } = await explain(request, { why: sought });
      setSaid(why === undefined ? '' : fateText(why));
    } catch (error) {
      setSaid(messageOf(error));
    }
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <label>
        {text.notHere}{' '}
        <input
          id="sought"
          autocomplete="off"
          value={id}
          onInput={({ currentTarget }) => setId(currentTarget.value)}
        />
      </label>
      <button type="submit">{text.find}</button>
      <span id="fate" role="status">
        {said}
      </span>
    </form>
  );
}

function fateText({
  candidate_id: id,
  card,
  fate,
  place,
  as,
  rules = [],
  reason,
  found,
}: ExplainedFate): string {
  const name = card?.title === undefined || card.title === id ? id : `${card.title} (${id})`;
  const lists = Object.entries(found?.places ?? {}).map(([name, at]) => `${name} ${at}`);
  return [
    `${text.fate(name)} ${text.fates[fate]}`,
    ...(place === undefined ? [] : [text.atPlace(place)]),
    ...(as === undefined
      ? []
      : [text.removedBy([as, ...rules].join(', '), reason === undefined ? '' : `: ${reason}`)]),
    ...(lists.length === 0 ? [] : [text.foundAt(lists.join(', '))]),
  ].join('; ');
}
