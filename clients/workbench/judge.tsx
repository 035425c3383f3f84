import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JudgingExport, RoundList, RoundState } from '../../runtime/serve/judging/round.js';
import { Choice, Field, Text } from './campaign-parts.js';
import { momentText } from './campaign-language.js';
import { say } from './judge-language.js';
import { JudgeQuery } from './judge-query.js';
import { numberText } from './language.js';
import { Loaded, namedInAddress, saveFile, Table } from './parts.js';
import { judging, rounds, whoAmI } from './service.js';

/** What the screen shows beside the rounds. */
interface Shown {
  readonly round: string;
  readonly what: 'grade' | 'result';
}

const MOST_ARMS = 4;
/** The round that the address names, to be graded. */
const named = (): string => namedInAddress('round');

/** The screen on which people grade the pooled results of pipelines. */
export function Judge({ refused }: { readonly refused: (error: unknown) => string }): JSX.Element {
  const [list, setList] = useState<RoundList>();
  const [shown, setShown] = useState<Shown>({ round: named(), what: 'grade' });
  const [failure, setFailure] = useState('');
  const [judge, setJudge] = useState('');
  const [isKnown, setKnown] = useState(true);
  const [isChosen, setChosen] = useState(false);
  const look = async (): Promise<void> => {
    try {
      setList(await rounds());
      setFailure('');
    } catch (error) {
      setFailure(refused(error));
    }
  };
  useEffect(() => {
    void whoAmI().then(
      ({ name }) => setKnown(name !== ''),
      () => undefined,
    );
    void look();
  }, []);
  const show = (next: Shown): void => {
    setShown(next);
    setChosen(true);
    history.replaceState(null, '', `#judge?round=${encodeURIComponent(next.round)}`);
  };
  const round = list?.rounds.find((one) => one.round === shown.round);
  return (
    <Loaded of={list} failure={failure} loading={say.loading} kind="campaigns compare">
      {(found) => (
        <div class="columns">
          <div class="editor">
            {!isKnown && <Text label={say.you} hint={say.youHint} value={judge} onChange={setJudge} />}
            <Rounds
              list={found}
              shown={shown}
              onShow={show}
              onRemoved={() => void look()}
              refused={refused}
            />
            <details open={found.rounds.length === 0}>
              <summary>{say.newRound}</summary>
              <Start
                list={found}
                refused={refused}
                onStart={(name) => void look().then(() => show({ round: name, what: 'grade' }))}
              />
            </details>
          </div>
          {round === undefined && <p class="dim">{say.choose}</p>}
          {round !== undefined && shown.what === 'grade' && (
            <JudgeQuery round={round} judge={judge} isChosen={isChosen} refused={refused} />
          )}
          {round !== undefined && shown.what === 'result' && (
            <Result key={round.round} round={round} refused={refused} />
          )}
        </div>
      )}
    </Loaded>
  );
}

function Rounds({
  list: { rounds: all },
  shown,
  onShow,
  onRemoved,
  refused,
}: {
  readonly list: RoundList;
  readonly shown: Shown;
  readonly onShow: (shown: Shown) => void;
  readonly onRemoved: () => void;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [removing, setRemoving] = useState('');
  const [problem, setProblem] = useState('');
  const remove = async (round: string): Promise<void> => {
    if (removing !== round) {
      setRemoving(round);
      return;
    }
    try {
      await judging('remove', { round });
      onRemoved();
    } catch (error) {
      setProblem(refused(error));
    }
  };
  return (
    <section>
      <h2>{say.rounds}</h2>
      {all.length === 0 && <p class="dim">{say.noRounds}</p>}
      {problem !== '' && <p role="alert">{problem}</p>}
      <ul class="plain">
        {all.map(({ round, queries, at, author }) => (
          <li key={round}>
            <strong>{round}</strong>{' '}
            <span class="dim">
              {[say.queryCount(queries), momentText(at), author ?? '']
                .filter((one) => one !== '')
                .join(' · ')}
            </span>
            <div class="row">
              <button
                type="button"
                aria-current={shown.round === round && shown.what === 'grade'}
                onClick={() => onShow({ round, what: 'grade' })}
              >
                {say.grade(round)}
              </button>
              <button type="button" onClick={() => onShow({ round, what: 'result' })}>
                {say.result(round)}
              </button>
              <button type="button" onClick={() => void remove(round)}>
                {removing === round ? say.sure(round) : say.remove(round)}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a person fills in for a new round. */
interface Wanted {
  readonly round: string;
  readonly arms: readonly { readonly pipeline: string; readonly params: string }[];
  readonly queries: string;
  readonly depth: string;
  readonly grades: string;
}

function Start({
  list: { pipelines },
  refused,
  onStart,
}: {
  readonly list: RoundList;
  readonly refused: (error: unknown) => string;
  readonly onStart: (round: string) => void;
}): JSX.Element {
  const [wanted, setWanted] = useState<Wanted>({
    ...{ round: 'round', queries: '', depth: '10', grades: '0, 1, 2, 3' },
    arms: pipelines.slice(0, 2).map((pipeline) => ({ pipeline, params: '' })),
  });
  const [problem, setProblem] = useState('');
  const put = (change: Partial<Wanted>): void => setWanted((before) => ({ ...before, ...change }));
  const putArm = (at: number, change: Partial<Wanted['arms'][number]>): void =>
    put({ arms: wanted.arms.map((arm, i) => (i === at ? { ...arm, ...change } : arm)) });
  const start = async (): Promise<void> => {
    setProblem('');
    try {
      const body = bodyOf(wanted);
      await judging('start', body);
      onStart(wanted.round);
    } catch (error) {
      setProblem(refused(error));
    }
  };
  return (
    <form
      aria-label={say.newRound}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Text
        label={say.name}
        hint={say.nameHint}
        isLive
        value={wanted.round}
        onChange={(round) => put({ round })}
      />
      {wanted.arms.map(({ pipeline, params }, at) => (
        <>
          <Choice
            label={say.arm(at + 1)}
            value={pipeline}
            options={[
              ...pipelines.map((one) => [one, one] as const),
              ...(at === 0 ? [] : [['', say.none] as const]),
            ]}
            onChange={(one) => putArm(at, { pipeline: one })}
          />
          <Text
            label={say.params(at + 1)}
            {...(at === 0 ? { hint: say.paramsHint } : {})}
            isLive
            value={params}
            onChange={(one) => putArm(at, { params: one })}
          />
        </>
      ))}
      {wanted.arms.length < MOST_ARMS && (
        <button
          type="button"
          onClick={() => put({ arms: [...wanted.arms, { pipeline: pipelines[0] ?? '', params: '' }] })}
        >
          {say.addArm}
        </button>
      )}
      <Field label={say.queries}>
        {(props) => (
          <textarea
            {...props}
            rows={6}
            value={wanted.queries}
            onInput={({ currentTarget }) => put({ queries: currentTarget.value })}
          />
        )}
      </Field>
      <div class="row">
        <Text label={say.depth} isLive value={wanted.depth} onChange={(depth) => put({ depth })} />
        <Text label={say.grades} isLive value={wanted.grades} onChange={(grades) => put({ grades })} />
      </div>
      <button class="main" type="submit">
        {say.start}
      </button>
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

const partsOf = (text: string, separator: RegExp): readonly string[] =>
  text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '');

function bodyOf({ round, arms, queries, depth, grades }: Wanted): object {
  return {
    round,
    queries: [...new Set(partsOf(queries, /\n/))],
    depth: Number(depth),
    grades: partsOf(grades, /[,;\s]+/).map(Number),
    arms: arms
      .filter(({ pipeline }) => pipeline !== '')
      .map(({ pipeline, params }) => {
        const pairs = partsOf(params, /[,;\s]+/).map((one) => one.split('='));
        return {
          pipeline,
          ...(pairs.length === 0
            ? {}
            : { params: Object.fromEntries(pairs.map(([name = '', value = '']) => [name, Number(value)])) }),
        };
      }),
  };
}

/** Who graded how much, how far they agree, and the file. */
function Result({
  round: { round },
  refused,
}: {
  readonly round: RoundState;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [found, setFound] = useState<JudgingExport>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    judging<JudgingExport>('export', { round }).then(setFound, (error: unknown) =>
      setProblem(refused(error)),
    );
  }, []);
  if (problem !== '') return <p role="alert">{problem}</p>;
  if (found === undefined) return <p role="status">{say.loading}</p>;
  const { file, csv, rows, queries, judges, agreement } = found;
  const share = agreement.percent === null ? say.unknown : `${numberText(100 * agreement.percent, 3)} %`;
  return (
    <section id="result">
      <h2>{round}</h2>
      <p>{say.rows(rows, say.queryCount(queries))}</p>
      <p>
        <button class="main" type="button" onClick={() => saveFile(file, csv, 'text/csv')}>
          {say.save(file)}
        </button>
      </p>
      <p class="hint">{say.saveHint}</p>
      <Table
        head={[say.judge, say.gradeCount, say.skippedCount]}
        numbers={[1, 2]}
        rows={judges.map((one) => [one.judge, one.grades, one.skipped])}
      />
      <h3>{say.agreement}</h3>
      <p>{say.compared(agreement.candidates)}</p>
      <Table
        head={[say.percent, say.alpha]}
        rows={[[share, agreement.alpha === null ? say.unknown : numberText(agreement.alpha, 3)]]}
      />
    </section>
  );
}
