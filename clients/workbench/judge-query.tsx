import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JudgedView, RoundState } from '../../runtime/serve/judging/round.js';
import { CardFace } from './cards.js';
import { say } from './judge-language.js';
import { Refused } from './parts.js';
import { judging } from './service.js';

/** A grade that can be taken back. */
interface Act {
  readonly number: number;
  readonly id: string;
  readonly before: number | null;
}

/** What is shown. */
interface Live {
  readonly view?: JudgedView;
  readonly current: number;
  /** Grades on their way. */
  pending: number;
  /** Whether the next query is about to be shown: a key is not for this one any more. */
  isLeaving: boolean;
}

/** The key of a grade: the digit, or if a grade has two digits, its place in the scale. */
const keyOf = (grades: readonly number[], grade: number): string =>
  String(grades.some((one) => one > 9) ? grades.indexOf(grade) : grade);

/** The queries of a round, one at a time, graded by the keyboard or by buttons. Arms and scores are not known here. */
export function JudgeQuery({
  round: { round },
  judge,
  isChosen,
  refused,
}: {
  readonly round: RoundState;
  /** Whether the person chose the round here: then the keys work at once. */
  readonly isChosen: boolean;
  /** The name that a judge of a service without keys has typed. */
  readonly judge: string;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const [, draw] = useState(0);
  /** Known at once: the next key may come before the page is drawn again. */
  const live = useRef<Live>({ current: 0, pending: 0, isLeaving: false });
  const acts = useRef<Act[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const hasKeys = useRef(isChosen);
  /** Grades are sent one after the other, so that the last one counts. */
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const who = judge.trim() === '' ? {} : { judge: judge.trim() };
  const focus = (): void => {
    if (hasKeys.current)
      list.current?.querySelectorAll<HTMLElement>('[data-card]')[live.current.current]?.focus();
  };
  const show = (change: Partial<Live>): void => {
    const before = change.view === undefined ? undefined : live.current.view?.number;
    live.current = { ...live.current, ...change };
    if (change.current !== undefined && change.view?.number === before) focus();
    draw((count) => count + 1);
  };
  const send = async (route: 'query' | 'grade', body: object): Promise<JudgedView | undefined> => {
    const sent = sending.current.then(() => judging<JudgedView>(route, { round, ...who, ...body }));
    sending.current = sent.catch(() => undefined);
    try {
      const answer = await sent;
      setProblem('');
      return answer;
    } catch (error) {
      setProblem(refused(error));
      return undefined;
    }
  };
  const open = async (number: number, card?: string): Promise<void> => {
    live.current.isLeaving = true;
    const next = await send('query', { number });
    live.current.isLeaving = false;
    if (next === undefined) return;
    const free = next.candidates.findIndex((one) =>
      card === undefined ? one.grade === null : one.candidate_id === card,
    );
    show({ view: next, current: Math.max(0, free) });
  };
  useEffect(() => {
    acts.current = [];
    void open(1);
  }, [round, judge]);
  const { view, current } = live.current;
  useEffect(focus, [view?.number]);

  if (view === undefined)
    return problem === '' ? <p role="status">{say.loading}</p> : <p role="alert">{problem}</p>;
  const { number, queries, query, grades, candidates, skipped, done } = view;
  const titleAt = (at: number): string => candidates[at]?.card?.title ?? candidates[at]?.candidate_id ?? '';
  const step = (by: number): void => {
    if (number + by >= 1 && number + by <= queries) void open(number + by);
  };
  const give = async (at: number, grade: number): Promise<void> => {
    const { view: shown = view, pending, isLeaving } = live.current;
    const one = shown.candidates[at];
    if (one === undefined || isLeaving) return;
    acts.current.push({ number, id: one.candidate_id, before: one.grade });
    setSaid(say.graded(titleAt(at), grade));
    const graded = shown.candidates.map((other, i) => (i === at ? { ...other, grade } : other));
    const after = graded.findIndex((other, i) => i > at && other.grade === null);
    const left = graded.findIndex((other) => other.grade === null);
    show({
      view: { ...shown, candidates: graded },
      current: after === -1 ? Math.max(left, left === -1 ? at : 0) : after,
      pending: pending + 1,
      isLeaving: left === -1,
    });
    const stored = await send('grade', { number, grades: [{ candidate_id: one.candidate_id, grade }] });
    live.current.pending--;
    live.current.isLeaving = false;
    // What was not stored is not shown.
    if (stored === undefined) {
      await open(number, one.candidate_id);
      return;
    }
    if (live.current.pending === 0) show({ view: stored });
    if (left !== -1) return;
    if (stored.done.length === queries) setSaid(say.allDone);
    else step(1);
  };
  const undo = async (): Promise<void> => {
    const last = acts.current.pop();
    if (last === undefined) return;
    const body = { number: last.number, grades: [{ candidate_id: last.id, grade: last.before }] };
    if ((await send('grade', body)) === undefined) return;
    await open(last.number, last.id);
    const back = live.current.view?.candidates.find((one) => one.candidate_id === last.id);
    setSaid(say.undone(back?.card?.title ?? last.id));
  };
  const skip = async (): Promise<void> => {
    const after = await send('grade', { number, skipped: !skipped });
    if (after === undefined) return;
    show({ view: after });
    setSaid(after.skipped ? say.skippedNow : '');
    if (after.skipped) step(1);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const grade = grades.find((one) => keyOf(grades, one) === event.key);
    const at = live.current.current;
    const works: Readonly<Record<string, () => void>> = {
      ArrowRight: () => show({ current: Math.min(candidates.length - 1, at + 1) }),
      ArrowLeft: () => show({ current: Math.max(0, at - 1) }),
      n: () => step(1),
      p: () => step(-1),
      s: () => void skip(),
      u: () => void undo(),
    };
    const work = grade === undefined ? works[event.key] : (): void => void give(at, grade);
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
      <p class="hint">
        {say.scale(grades[0] ?? 0, grades.at(-1) ?? 0)}{' '}
        {say.keys(grades.map((one) => keyOf(grades, one)).join(' '))}
      </p>
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
      <Refused text={problem} />
      {candidates.length === 0 && <p>{say.noCandidates}</p>}
      <ol class="cards judged" ref={list} onKeyDown={press}>
        {candidates.map(({ candidate_id: id, card, grade }, at) => (
          <li key={id}>
            <div
              data-card
              role="group"
              aria-label={`${titleAt(at)}, ${grade === null ? say.notGraded : grade}`}
              tabIndex={at === current ? 0 : -1}
              onFocus={() => {
                if (live.current.current !== at) show({ current: at });
              }}
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
