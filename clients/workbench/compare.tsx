import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Report } from '../../runtime/learn/report/tree.js';
import type {
  ComparisonAnswer,
  ComparisonList,
  ComparisonRequest,
  ComparisonState,
} from '../../runtime/serve/compare/comparison.js';
import { Choice, Field, Text } from './campaign-parts.js';
import { momentText } from './campaign-language.js';
import { say } from './compare-language.js';
import { Loaded, namedInAddress } from './parts.js';
import { ReportView } from './report.js';
import { Lacks } from './rank-keep.js';
import { comparison, comparisons, messageOf, Refusal } from './service.js';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';

/** How often a comparison that runs is looked at, milliseconds. */
const EVERY_MS = 400;

/** Where the queries come from: `judgments:test.csv`, `logged`, `queries` or `experiment:popularity`. */
type Source = string;

/** What a person fills in. */
interface Wanted {
  readonly pipeline: string;
  readonly against: string;
  readonly source: Source;
  readonly slice: string;
  readonly gate: string;
  readonly logged: string;
  readonly queries: string;
}

/** The comparison that the address names. */
const named = (): string => namedInAddress('comparison');

interface CompareProps {
  readonly project: WorkbenchProject;
  readonly refused: (error: unknown) => string;
}

/** The screen on which pipelines are compared; in a process that compares nothing, what does. */
export function Compare({ project, refused }: CompareProps): JSX.Element {
  if (project.elsewhere === null) return <Comparing project={project} refused={refused} />;
  return (
    <section class="campaigns compare">
      <Lacks {...project} />
    </section>
  );
}

function Comparing({ project, refused }: CompareProps): JSX.Element {
  const [list, setList] = useState<ComparisonList>();
  const [failure, setFailure] = useState('');
  const [chosen, setChosen] = useState(named);
  const look = async (): Promise<void> => {
    try {
      setList(await comparisons());
      setFailure('');
    } catch (error) {
      setFailure(refused(error));
    }
  };
  useEffect(() => {
    void look();
    const follow = (): void => setChosen(named());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  const choose = (id: string): void => {
    setChosen(id);
    history.replaceState(null, '', `#compare?comparison=${encodeURIComponent(id)}`);
    void look();
  };
  return (
    <Loaded of={list} failure={failure} loading={say.loading} kind="campaigns compare">
      {(found) => (
        <div class="columns">
          <div class="editor">
            <Start list={found} hasLedger={project.hasLedger} refused={refused} onStart={choose} />
            <Lacks {...project} />
            <Recent all={found.comparisons} chosen={chosen} onChoose={choose} />
          </div>
          <Found key={chosen} id={chosen} refused={refused} onEnd={() => void look()} />
        </div>
      )}
    </Loaded>
  );
}

function Start({
  list,
  hasLedger,
  refused,
  onStart,
}: {
  readonly list: ComparisonList;
  readonly hasLedger: boolean;
  readonly refused: (error: unknown) => string;
  readonly onStart: (id: string) => void;
}): JSX.Element {
  const [wanted, setWanted] = useState(() => firstWanted(list));
  const [problem, setProblem] = useState('');
  const [isSent, setIsSent] = useState(false);
  const put = (change: Partial<Wanted>): void => setWanted((before) => ({ ...before, ...change }));
  const { source } = wanted;
  const isExperiment = source.startsWith('experiment:');
  const hasGrades = source === 'logged' || source.startsWith('judgments:');
  const start = async (): Promise<void> => {
    setIsSent(true);
    setProblem('');
    try {
      onStart((await comparison<ComparisonState>('start', requestOf(wanted))).comparison);
    } catch (error) {
      setProblem(refused(error));
    }
    setIsSent(false);
  };
  const pipelines = list.pipelines.map((name) => [name, name] as const);
  return (
    <form
      aria-label={say.start}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Choice
        label={say.on}
        value={source}
        options={sourcesOf(list, hasLedger)}
        onChange={(one) => put({ source: one })}
      />
      {!isExperiment && (
        <>
          <Choice
            label={say.pipeline}
            value={wanted.pipeline}
            options={pipelines}
            onChange={(pipeline) => put({ pipeline })}
          />
          <Choice
            label={say.against}
            value={wanted.against}
            options={[['', say.none], ...pipelines]}
            onChange={(against) => put({ against })}
          />
        </>
      )}
      {source === 'logged' && (
        <Text label={say.last} value={wanted.logged} isLive onChange={(logged) => put({ logged })} />
      )}
      {source === 'queries' && (
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
      )}
      {hasGrades && (
        <>
          {source !== 'logged' && (
            <Text
              label={say.slice}
              hint={say.sliceHint}
              value={wanted.slice}
              isLive
              onChange={(slice) => put({ slice })}
            />
          )}
          <Text
            label={say.gate}
            hint={say.gateHint}
            value={wanted.gate}
            isLive
            onChange={(gate) => put({ gate })}
          />
        </>
      )}
      <button class="main" type="submit" disabled={isSent}>
        {isExperiment ? say.read : say.compare}
      </button>
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function firstWanted({ pipelines, judgments, experiments }: ComparisonList): Wanted {
  const [first = '', second = ''] = pipelines;
  const file = judgments.find((name) => name.startsWith('test')) ?? judgments[0];
  return {
    // What is new is often last: it is measured against the one before.
    pipeline: second === '' ? first : second,
    against: second === '' ? '' : first,
    source:
      file !== undefined
        ? `judgments:${file}`
        : pipelines.length > 1 || experiments.length === 0
          ? 'queries'
          : `experiment:${experiments[0] ?? ''}`,
    slice: '',
    gate: second === '' ? '' : 'lower(delta.ndcg@10) > 0',
    logged: '1000',
    queries: '',
  };
}

function sourcesOf(
  { judgments, experiments }: ComparisonList,
  hasLedger: boolean,
): readonly (readonly [Source, string])[] {
  return [
    ...judgments.map((name) => [`judgments:${name}`, say.judgments(name)] as const),
    ...(hasLedger ? [['logged', say.logged] as const] : []),
    ['queries', say.ownQueries],
    ...(hasLedger ? experiments : []).map((name) => [`experiment:${name}`, say.experiment(name)] as const),
  ];
}

function requestOf({ pipeline, against, source, slice, gate, logged, queries }: Wanted): ComparisonRequest {
  const [kind, name = ''] = source.split(/:(.*)/s);
  if (kind === 'experiment') return { experiment: name };
  const arms = { pipeline, ...(against === '' ? {} : { against }) };
  if (kind === 'queries') return { ...arms, queries: partsOf(queries, '\n') };
  const gates = partsOf(gate, ',');
  return {
    ...arms,
    ...(kind === 'judgments' ? { judgments: name } : { logged: Number(logged) }),
    ...(kind === 'judgments' && slice.trim() !== '' ? { slice: slice.trim() } : {}),
    ...(gates.length === 0 ? {} : { require: gates }),
  };
}

const partsOf = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** What a comparison is of, in a few words. */
function titleOf({
  pipeline = '',
  against,
  judgments,
  logged,
  queries,
  experiment,
}: ComparisonRequest): string {
  if (experiment !== undefined) return say.experiment(experiment);
  const arms = against === undefined ? pipeline : say.versus(pipeline, against);
  const on =
    judgments ?? (logged === undefined ? say.queryCount(queries?.length ?? 0) : say.loggedCount(logged));
  return `${arms} · ${on}`;
}

function Recent({
  all,
  chosen,
  onChoose,
}: {
  readonly all: readonly ComparisonState[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}): JSX.Element {
  return (
    <section class="part">
      <h2>{say.recent}</h2>
      {all.length === 0 && <p class="dim">{say.noneYet}</p>}
      <ul class="plain">
        {all.map(({ comparison: id, request, state, at, author }) => (
          <li key={id}>
            <button class="link" type="button" aria-current={id === chosen} onClick={() => onChoose(id)}>
              {titleOf(request)}
            </button>{' '}
            <span class="dim">
              {[say.states[state], momentText(at), author ?? ''].filter((one) => one !== '').join(' · ')}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The chosen comparison: how far it is, then what it says. */
function Found({
  id,
  refused,
  onEnd,
}: {
  readonly id: string;
  readonly refused: (error: unknown) => string;
  readonly onEnd: () => void;
}): JSX.Element {
  const [answer, setAnswer] = useState<ComparisonAnswer>();
  const [failure, setFailure] = useState('');
  const section = useRef<HTMLElement>(null);
  // On a narrow screen it is below the form.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [answer?.state]);
  useEffect(() => {
    let timer = 0;
    let isOpen = true;
    const look = async (): Promise<void> => {
      try {
        const next = await comparison<ComparisonAnswer>('get', { comparison: id });
        if (!isOpen) return;
        setAnswer(next);
        if (next.state === 'waiting' || next.state === 'running')
          timer = window.setTimeout(() => void look(), EVERY_MS);
        else onEnd();
      } catch (error) {
        if (isOpen) setFailure(error instanceof Refusal && error.status === 404 ? say.gone : refused(error));
      }
    };
    if (id !== '') void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [id]);
  if (failure !== '') return <p role="alert">{failure}</p>;
  if (id === '') return <p class="dim">{say.empty}</p>;
  if (answer === undefined) return <p role="status">{say.loading}</p>;
  const { state, request, progress, problem, notes, report } = answer;
  const isOpen = state === 'waiting' || state === 'running';
  const stop = (): void => {
    comparison('stop', { comparison: id }).catch((error: unknown) => setFailure(messageOf(error)));
  };
  return (
    <section id="found" ref={section} aria-busy={isOpen}>
      <h2>{titleOf(request)}</h2>
      {report === null && (
        <p role="status">
          {say.states[state]}
          {isOpen && progress !== null && ` · ${say.percent(progress)}`}
        </p>
      )}
      {isOpen && (
        <p>
          <progress aria-label={say.progress} max={1} {...(progress === null ? {} : { value: progress })} />{' '}
          <button type="button" onClick={stop}>
            {say.stop}
          </button>
        </p>
      )}
      {problem !== null && (
        <p class="failed" role="alert" lang="en">
          {problem}
        </p>
      )}
      {report !== null && <ReportView report={report as Report} heading={titleOf(request)} />}
      {notes.length > 0 && (
        <details>
          <summary>{say.notes(notes.length)}</summary>
          <ul lang="en">
            {notes.map((note) => (
              <li>{note}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
