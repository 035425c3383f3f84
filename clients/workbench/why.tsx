import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  ExplainedAccount,
  ExplainedCandidate,
  ExplainedChange,
  ExplainedPair,
} from '../../runtime/request/pipeline/explain/explanation.js';
import { Accounts } from './accounts.js';
import { titleOf } from './cards.js';
import { numberText, plain, scoreText, text, words } from './language.js';
import { statusText, Table, valueText, ValueTable } from './parts.js';
import { SaveJudgment } from './rank-keep.js';
import { say } from './rank-language.js';
import type { LoggedRanking } from '../../runtime/serve/compare/workshop-answers.js';
import { explain, messageOf, type SentRequest } from './service.js';

/** Shows over the page what the steps did to a candidate, what its score is made of, and why another has another place. */
export function Why({
  candidate,
  page,
  request,
  logged,
  query = '',
  onClose,
}: {
  readonly candidate: ExplainedCandidate;
  readonly page: readonly ExplainedCandidate[];
  readonly request: SentRequest;
  /** The values that it had, if the request is one of the log. */
  readonly logged?: LoggedRanking['candidates'][number]['values'] | undefined;
  /** Of a ranking that can be graded. */
  readonly query?: string;
  readonly onClose: () => void;
}): JSX.Element {
  const { candidate_id: id, place, score, ranked_score: ranked, changes, values } = candidate;
  const dialog = useRef<HTMLDialogElement>(null);
  const [accounts, setAccounts] = useState<readonly ExplainedAccount[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    dialog.current?.showModal();
    explain(request, { contributions: 'true' }).then(
      ({ page: explained }) =>
        setAccounts(explained.find((one) => one.candidate_id === id)?.contributions ?? []),
      (error: unknown) => setProblem(messageOf(error)),
    );
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="why-title" onClose={onClose}>
      <div class="top">
        <h2 id="why-title">
          {place}. {titleOf(candidate)}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          {text.close}
        </button>
      </div>
      <p>
        <span class="id">{id}</span> · {text.score} {scoreText(score)}
        {ranked !== score && `; ${text.rankedAs(scoreText(ranked))}`}. {aboveText(candidate, page)}
      </p>
      <ul>
        {changes.length === 0 && <li class="dim">{text.unchanged}</li>}
        {changes.map((change) => (
          <li>
            {change.as}
            {change.rules !== undefined && ` (${change.rules.join(', ')})`}: {changeText(change)}
          </li>
        ))}
      </ul>
      {problem !== '' && <p class="failed">{problem}</p>}
      {accounts.length > 0 && (
        <>
          <h3>{text.howScore}</h3>
          <Accounts accounts={accounts} />
        </>
      )}
      <Comparison candidate={candidate} page={page} request={request} />
      {query !== '' && <SaveJudgment id={id} query={query} />}
      <h3>{text.values}</h3>
      {logged === undefined ? (
        <ValueTable values={values} />
      ) : (
        <Table
          head={[text.name, say.asLogged, say.now, text.status]}
          rows={Object.entries(values).map(([name, value]) => {
            const then = logged[name];
            return [
              name,
              then === undefined ? '–' : valueText(then),
              valueText(value),
              statusText(value.status, value.cause),
            ];
          })}
        />
      )}
    </dialog>
  );
}

/** How much the candidate above has more, if scores decided it. */
function aboveText({ place, score }: ExplainedCandidate, page: readonly ExplainedCandidate[]): string {
  const above = page.find((one) => one.place === place - 1);
  if (above === undefined || above.score === null || score === null) return '';
  const isByScore = above.ranked_score === above.score && above.score > score;
  return isByScore ? text.above(above.place, titleOf(above), numberText(above.score - score, 4)) : '';
}

/** Compares the candidate with another one of the page. */
function Comparison({
  candidate,
  page,
  request,
}: {
  readonly candidate: ExplainedCandidate;
  readonly page: readonly ExplainedCandidate[];
  readonly request: SentRequest;
}): JSX.Element {
  const [pair, setPair] = useState<ExplainedPair>();
  const [problem, setProblem] = useState('');
  const id = candidate.candidate_id;
  const [other, setOther] = useState('');
  const choose = async (chosen: string): Promise<void> => {
    setOther(chosen);
    setPair(undefined);
    setProblem('');
    if (chosen === '') return;
    try {
      const { compared } = await explain(request, { compare: id, with: chosen });
      setPair(compared);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const otherCard = page.find((one) => one.candidate_id === other);
  return (
    <>
      <p>
        <label>
          {text.compareWith}{' '}
          <select id="other" value={other} onChange={({ currentTarget }) => void choose(currentTarget.value)}>
            <option value="">{text.nothing}</option>
            {page
              .filter((one) => one.candidate_id !== id)
              .map((one) => (
                <option value={one.candidate_id}>
                  {one.place}. {titleOf(one)}
                </option>
              ))}
          </select>
        </label>
      </p>
      {problem !== '' && <p class="failed">{problem}</p>}
      {pair !== undefined && otherCard !== undefined && <Pair pair={pair} other={titleOf(otherCard)} />}
    </>
  );
}

function Pair({
  pair: { split, reason, difference, changed = [], contributions = [] },
  other,
}: {
  readonly pair: ExplainedPair;
  readonly other: string;
}): JSX.Element {
  return (
    <section id="pair">
      <h3>{text.comparison(other)}</h3>
      {split !== undefined && <p>{text.split(split.as, split.below)}</p>}
      {reason !== undefined && (
        <p>
          {text.notCompared}: {reason}
        </p>
      )}
      {difference !== undefined && <p class="hint">{text.thisMinusOther}</p>}
      <Accounts accounts={contributions} isPair />
      {changed.map(({ as, amount }) => (
        <p>
          {text.changedLater(as)}: {numberText(amount, 6)}
        </p>
      ))}
    </section>
  );
}

function changeText(change: ExplainedChange): string {
  if ('pinned_to' in change) return text.pinned(change.pinned_to);
  if ('pin_lost' in change) return text.pinLost(change.pin_lost);
  if ('before' in change) return `${scoreText(change.before)} → ${scoreText(change.after)}`;
  return Object.entries(change)
    .filter(([name]) => !['step', 'as', 'rules'].includes(name))
    .map(([name, value]) => (value === true ? words(name) : `${words(name)} ${plain(value)}`))
    .join(', ');
}
