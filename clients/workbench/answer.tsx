import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type {
  ExplainedCandidate,
  ExplainedStep,
  Explanation,
} from '../../runtime/request/pipeline/explain/explanation.js';
import { Cards, type Places } from './cards.js';
import { Fate } from './fate.js';
import { numberText, plain, text, words } from './language.js';
import { statusText, Table, ValueTable } from './parts.js';
import { KeepTest } from './rank-keep.js';
import { say } from './rank-language.js';
import type { LoggedRanking } from '../../runtime/serve/compare/workshop-answers.js';
import type { SentRequest } from './service.js';
import { Why } from './why.js';

/** An explanation: the page first, then what is below it. */
export function Answer({
  request,
  explanation,
  before,
  base,
  logged,
  query,
  canKeep,
}: {
  readonly request: SentRequest;
  readonly explanation: Explanation;
  readonly before: Places | undefined;
  /** The page with the params of the file. */
  readonly base: Explanation;
  /** The request as it was logged, if it is that of a log. */
  readonly logged: LoggedRanking | undefined;
  readonly query: string;
  /** Whether the process keeps a ranking as a test. */
  readonly canKeep: boolean;
}): JSX.Element {
  const [asked, setAsked] = useState<ExplainedCandidate>();
  const [only, setOnly] = useState('');
  const { candidates, page, stages, store, degraded, steps, answered = {} } = explanation;
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <div>
      {degraded.length > 0 && (
        <p class="failed">
          {text.degraded}: {degraded.map(({ cause, value }) => `${words(cause)} ${value}`).join(', ')}
        </p>
      )}
      <BlockedImages {...explanation} />
      <div class="row">
        <h2>{text.page}</h2>
        {page.length > 0 && <Only only={only} page={page} base={base.page} onOnly={setOnly} />}
      </div>
      <p class="hint">
        {text.counts(candidates.retrieval !== undefined, candidates.sent, candidates.left, page.length)}{' '}
        {text.work(numberText(total, 3), store.round_trips, store.keys_read)}
      </p>
      {page.length === 0 ? (
        <p>{text.emptyPage}</p>
      ) : (
        <Cards page={matching(page, only)} before={before} onWhy={setAsked} />
      )}
      {asked !== undefined && (
        <Why
          key={asked.candidate_id}
          candidate={asked}
          page={page}
          request={request}
          logged={logged?.candidates.find((one) => one.candidate_id === asked.candidate_id)?.values}
          query={query}
          onClose={() => setAsked(undefined)}
        />
      )}
      <Fate request={request} />
      {canKeep && <KeepTest key={explanation.pipeline} pipeline={explanation.pipeline} request={request} />}
      <h2>{text.time}</h2>
      <Stages {...explanation} />
      <h2>{text.steps}</h2>
      <Steps steps={steps} />
      <Values title={text.theRequest} values={explanation.request} />
      <Values title={text.answered} values={answered} />
      <Params {...explanation} />
      <Features {...explanation} />
      {explanation.unknown_fields.length > 0 && (
        <>
          <h2>{text.undeclared}</h2>
          <p>{explanation.unknown_fields.map(({ field, times }) => `${field} (${times})`).join(', ')}</p>
        </>
      )}
      <WholeJson explanation={explanation} />
    </div>
  );
}

/** It is long, so it is written only when somebody looks: a slider shows many explanations. */
function WholeJson({ explanation }: { readonly explanation: Explanation }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{text.wholeJson}</summary>
      {isOpen && <pre>{JSON.stringify(explanation, null, 2)}</pre>}
    </details>
  );
}

/** The candidates whose card has a text; all of them without one. */
function matching(page: readonly ExplainedCandidate[], only: string): readonly ExplainedCandidate[] {
  const sought = only.trim().toLocaleLowerCase();
  if (sought === '') return page;
  return page.filter(({ candidate_id: id, card }) =>
    [id, card?.title, card?.subtitle, ...(card?.badges ?? []).map(({ value }) => String(value))].some(
      (one) => one?.toLocaleLowerCase().includes(sought) === true,
    ),
  );
}

/** Leaves out the cards without a text, and says how the others stand: now, and with the params of the file. */
function Only({
  only,
  page,
  base,
  onOnly,
}: {
  readonly only: string;
  readonly page: readonly ExplainedCandidate[];
  readonly base: readonly ExplainedCandidate[];
  readonly onOnly: (only: string) => void;
}): JSX.Element {
  const [now, then] = [matching(page, only), matching(base, only)];
  const meanOf = (some: readonly ExplainedCandidate[]): string =>
    some.length === 0 ? '–' : numberText(some.reduce((sum, { place }) => sum + place, 0) / some.length, 3);
  const told = [
    say.matches(only.trim(), now.length, meanOf(now)),
    ...(page === base ? [] : [say.before(then.length, meanOf(then))]),
  ];
  return (
    <p class="row">
      <label>
        {say.only}{' '}
        <input
          id="only"
          autocomplete="off"
          placeholder={say.onlyHint}
          value={only}
          onInput={({ currentTarget }) => onOnly(currentTarget.value)}
        />
      </label>
      <span id="matches" role="status">
        {only.trim() === '' ? '' : told.join('; ')}
      </span>
    </p>
  );
}

function Stages({ stages }: Explanation): JSX.Element {
  return (
    <>
      <div class="stages">
        {stages.map(({ stage, ms }) => (
          <span style={{ flexGrow: ms }} title={`${stage} ${numberText(ms, 3)} ms`} />
        ))}
      </div>
      <p class="hint">{stages.map(({ stage, ms }) => `${stage} ${numberText(ms, 3)} ms`).join(', ')}</p>
    </>
  );
}

/** Images that are not shown since the project does not name their hosts. */
function BlockedImages({ page }: Explanation): JSX.Element | null {
  const hosts = new Set(page.flatMap(({ card }) => card?.blocked_host ?? []));
  if (hosts.size === 0) return null;
  return <p class="hint">{text.images([...hosts].map((host) => JSON.stringify(host)).join(', '))}</p>;
}

function Steps({ steps }: { readonly steps: readonly ExplainedStep[] }): JSX.Element {
  return (
    <Table
      head={[text.step, text.name, text.plugin, text.outcome, text.did]}
      rows={steps.map((step) => [
        step.step,
        step.as,
        step.use,
        <span class={step.outcome === 'failed' ? 'failed' : undefined}>{text.outcomes[step.outcome]}</span>,
        stepText(step),
      ])}
      numbers={[0]}
    />
  );
}

function stepText(step: ExplainedStep): string {
  const { reason, removed, undecided = 0, applied, skipped = 0, outputs, not_known: unknown } = step;
  return [
    ...(reason === undefined ? [] : [reason]),
    ...(removed === undefined ? [] : [text.removed(removed.count, removed.ids.join(', '))]),
    ...(undecided === 0 ? [] : [text.keptUndecided(undecided)]),
    ...(applied === undefined ? [] : [text.changed(applied)]),
    ...(skipped === 0 ? [] : [text.leftUnchanged(skipped)]),
    ...statusParts(outputs),
    ...statusParts(unknown),
  ].join('; ');
}

function statusParts(counts: ExplainedStep['outputs'] = {}): string[] {
  return Object.entries(counts).map(([name, statuses]) => {
    const parts = Object.entries(statuses) as [keyof typeof statuses, number][];
    return `${name}: ${parts.map(([status, count]) => `${count} ${statusText(status)}`).join(', ')}`;
  });
}

function Values({
  title,
  values,
}: {
  readonly title: string;
  readonly values: Explanation['request'];
}): JSX.Element | null {
  if (Object.keys(values).length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <ValueTable values={values} />
    </>
  );
}

function Params({ params }: Explanation): JSX.Element | null {
  const entries = Object.entries(params);
  if (entries.length === 0) return null;
  return (
    <>
      <h2>{text.params}</h2>
      <Table
        head={[text.name, text.value]}
        rows={entries.map(([name, value]) => [name, plain(value)])}
        numbers={[1]}
      />
    </>
  );
}

function Features({ features }: Explanation): JSX.Element | null {
  if (features.length === 0) return null;
  return (
    <>
      <h2>{text.features}</h2>
      <Table
        head={[text.view, text.status, text.values]}
        rows={features.map(({ view, status, cause, values }) => [view, statusText(status, cause), values])}
        numbers={[2]}
      />
    </>
  );
}
