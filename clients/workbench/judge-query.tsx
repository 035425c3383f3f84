import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JudgedView, RoundState } from '../../runtime/serve/judging/round.js';
import { CardFace } from './cards.js';
import { say } from './judge-language.js';
import { judging } from './service.js';

/** A grade that can be taken back. */
interface Act {
  readonly number: number;
  readonly id: string;
  readonly before: number | null;
}

/** The key of a grade: the digit, or if a grade has two digits, its place in the scale. */
const keyOf = (grades: readonly number[], grade: number): string =>
  String(grades.some((one) => one > 9) ? grades.indexOf(grade) : grade);

/** The queries of a round, one at a time, graded by the keyboard or by buttons. Arms and scores are not known here. */
export function JudgeQuery({
  round: { round },
  judge,
  refused,
}: {
  readonly round: RoundState;
  /** The name that a judge of a service without keys has typed. */
  readonly judge: string;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [view, setView] = useState<JudgedView>();
  const [current, setCurrent] = useState(0);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const acts = useRef<Act[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const hasKeys = useRef(false);
  /** Grades are sent one after the other, so that the last one counts. */
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const who = judge.trim() === '' ? {} : { judge: judge.trim() };

  const send = (route: 'query' | 'grade', body: object): Promise<JudgedView | undefined> => {
    const sent = sending.current.then(() => judging<JudgedView>(route, { round, ...who, ...body }));
    sending.current = sent.catch(() => undefined);
    return sent.then(
      (answer) => {
        setProblem('');
        return answer;
      },
      (error: unknown) => {
        setProblem(refused(error));
        return undefined;
      },
    );
  };
  const open = async (number: number, card?: string): Promise<void> => {
    const next = await send('query', { number });
    if (next === undefined) return;
    setView(next);
    const free = next.candidates.findIndex((one) =>
      card === undefined ? one.grade === null : one.candidate_id === card,
    );
    setCurrent(Math.max(0, free));
  };
  useEffect(() => {
    acts.current = [];
    void open(1);
  }, [round, judge]);
  useEffect(() => {
    if (hasKeys.current) list.current?.querySelectorAll<HTMLElement>('[data-card]')[current]?.focus();
  }, [current, view?.number]);

  if (view === undefined)
    return problem === '' ? <p role="status">{say.loading}</p> : <p role="alert">{problem}</p>;
  const { number, queries, query, grades, candidates, skipped, done } = view;
  const titleAt = (at: number): string => candidates[at]?.card?.title ?? candidates[at]?.candidate_id ?? '';
  const step = (by: number): void => {
    if (number + by >= 1 && number + by <= queries) void open(number + by);
  };
  const put = async (at: number, grade: number | null): Promise<JudgedView | undefined> => {
    const id = candidates[at]?.candidate_id ?? '';
    setView({ ...view, candidates: candidates.map((one, i) => (i === at ? { ...one, grade } : one)) });
    const after = await send('grade', { number, grades: [{ candidate_id: id, grade }] });
    // What was not stored is not shown.
    setView((shown) => (shown?.number !== number ? shown : (after ?? view)));
    return after;
  };
  const give = async (at: number, grade: number): Promise<void> => {
    const one = candidates[at];
    if (one === undefined) return;
    acts.current.push({ number, id: one.candidate_id, before: one.grade });
    setSaid(say.graded(titleAt(at), grade));
    const left = candidates.findIndex((other, i) => i !== at && other.grade === null);
    const after = candidates.findIndex((other, i) => i > at && other.grade === null);
    if (left !== -1) setCurrent(after === -1 ? left : after);
    const stored = await put(at, grade);
    if (stored === undefined || left !== -1) return;
    if (stored.done.length === queries) setSaid(say.allDone);
    else step(1);
  };
  const undo = async (): Promise<void> => {
    const last = acts.current.pop();
    if (last === undefined) return;
    const body = { number: last.number, grades: [{ candidate_id: last.id, grade: last.before }] };
    if ((await send('grade', body)) === undefined) return;
    await open(last.number, last.id);
    setSaid(say.undone(last.id));
  };
  const skip = async (): Promise<void> => {
    const after = await send('grade', { number, skipped: !skipped });
    if (after === undefined) return;
    setView(after);
    setSaid(after.skipped ? say.skippedNow : '');
    if (after.skipped) step(1);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const grade = grades.find((one) => keyOf(grades, one) === event.key);
    const works: Readonly<Record<string, () => void>> = {
      ArrowRight: () => setCurrent(Math.min(candidates.length - 1, current + 1)),
      ArrowLeft: () => setCurrent(Math.max(0, current - 1)),
      n: () => step(1),
      p: () => step(-1),
      s: () => void skip(),
      u: () => void undo(),
    };
    const work = grade === undefined ? works[event.key] : (): void => void give(current, grade);
    if (work === undefined) return;
    event.preventDefault();
    hasKeys.current = true;
    work();
  };
  const hasImages = candidates.some(({ card }) => card?.image !== undefined);
  return (
    <section id="judged" aria-labelledby="judged-query">
      <h2 id="judged-query">{query}</h2>
      <p>{say.progress(number, queries, done.length)}</p>
      <progress aria-label={say.progress(number, queries, done.length)} max={queries} value={done.length} />
      <p class="hint">{say.keys(grades.map((one) => keyOf(grades, one)).join(' '))}</p>
      <p class="row">
        <button type="button" disabled={number === 1} onClick={() => step(-1)}>
          {say.previous}
        </button>
        <button type="button" disabled={number === queries} onClick={() => step(1)}>
          {say.next}
        </button>
        <button type="button" aria-pressed={skipped} onClick={() => void skip()}>
          {skipped ? say.unskip : say.skip}
        </button>
        <button type="button" onClick={() => void undo()}>
          {say.undo}
        </button>
      </p>
      <p id="said" role="status">
        {said}
      </p>
      {problem !== '' && (
        <p id="refused" role="alert">
          {problem}
        </p>
      )}
      {candidates.length === 0 && <p>{say.noCandidates}</p>}
      <ol class="cards judged" ref={list} onKeyDown={press}>
        {candidates.map(({ candidate_id: id, card, grade }, at) => (
          <li key={id}>
            <div
              data-card
              role="group"
              aria-label={`${titleAt(at)}, ${grade === null ? say.notGraded : grade}`}
              tabIndex={at === current ? 0 : -1}
              onFocus={() => setCurrent(at)}
            >
              <CardFace id={id} card={card} place={at + 1} hasImages={hasImages}>
                <p class="grades" role="group" aria-label={say.gradeOf(titleAt(at))}>
                  {grades.map((one) => (
                    <button
                      type="button"
                      tabIndex={at === current ? 0 : -1}
                      aria-pressed={one === grade}
                      onClick={() => void give(at, one)}
                    >
                      {one}
                    </button>
                  ))}
                </p>
              </CardFace>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
