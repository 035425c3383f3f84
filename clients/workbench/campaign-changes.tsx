import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type {
  AnsweredChange,
  DraftAnswer,
  HistoryAnswer,
  PublishAnswer,
} from '../../runtime/state/curation/draft-answers.js';
import { targetsOf, type Campaign } from './campaign.js';
import { momentText, problemText, say } from './campaign-language.js';
import { campaignLines } from './campaign-words.js';
import { LoggedEffect } from './campaign-effect.js';
import { titleOf } from './cards.js';
import { Table } from './parts.js';
import { curation, explain, messageOf, Refusal, type Problem, type SentRequest } from './service.js';
import type { OpenList } from './use-list.js';

/** A page that a draft may change. */
export interface Watched {
  readonly title: string;
  readonly request: SentRequest;
}

/** What a draft changes on one page. */
interface Moved {
  readonly title: string;
  readonly places: number;
  readonly rows: readonly (readonly [product: string, before: string, after: string])[];
  readonly problem?: string;
}

const MOST_PAGES = 12;
const MOST_ROWS = 12;

interface DraftProps {
  readonly list: string;
  readonly open: OpenList;
  readonly watchedOf: WatchedOf;
  /** The pipeline of the page that is shown. */
  readonly pipeline: string;
}

/** The page of a query or a category; of none, the page that is shown. */
type WatchedOf = (target: ReturnType<typeof targetsOf>[number] | undefined, campaign: Campaign) => Watched;

type Conflicts = NonNullable<Problem['conflicts']>;

/** What a draft has, what it moves, and the way into service. */
export function DraftChanges({
  draft,
  ...props
}: DraftProps & { readonly draft: DraftAnswer | undefined }): JSX.Element {
  return (
    <section aria-labelledby="changes" class="part">
      <h2 id="changes">{say.changes}</h2>
      {draft === undefined || draft.changes.length === 0 ? (
        <p class="hint">{say.noChanges}</p>
      ) : (
        <OpenDraft key={draft.draft} draft={draft} {...props} />
      )}
    </section>
  );
}

function OpenDraft({
  list,
  draft,
  open,
  watchedOf,
  pipeline,
}: DraftProps & { readonly draft: DraftAnswer }): JSX.Element {
  const [moved, setMoved] = useState<readonly Moved[]>();
  const [isBusy, setBusy] = useState(false);
  const [compared, setCompared] = useState(0);
  const [conflicts, setConflicts] = useState<Conflicts>([]);
  const { draft: name, version, changes } = draft;
  const compare = async (): Promise<void> => {
    setBusy(true);
    setCompared((count) => count + 1);
    setMoved(await movedBy(changes, name, watchedOf));
    setBusy(false);
  };
  const campaign = changes.find(({ after }) => after !== null)?.after as Campaign | undefined;
  const at = watchedOf(undefined, campaign ?? {}).request.preview?.['at'];
  const publish = async (): Promise<void> => {
    setConflicts([]);
    await open.act(
      () =>
        curation<PublishAnswer>('publish', { list, draft: name, version }).catch(async (error: unknown) => {
          const both = (error instanceof Refusal && error.problem.conflicts) || [];
          await readTitles(both, watchedOf);
          setConflicts(both);
          throw error;
        }),
      (answer) => say.published(answer.changes.length),
    );
  };
  const settle = (campaign: string, route: string, body: object, done: string): void => {
    setConflicts((others) => others.filter((one) => one.campaign !== campaign));
    void open.act(
      () => curation(route, { list, draft: name, ...body }),
      () => done,
    );
  };
  const discard = (campaign: string): void =>
    settle(campaign, 'draft/discard', { campaigns: [campaign] }, say.discarded);
  return (
    <>
      <ChangeList draft={draft} onDiscard={discard} />
      <div class="row">
        <button type="button" disabled={isBusy} onClick={() => void compare()}>
          {say.whatChanges}
        </button>
        <button type="button" class="main" onClick={() => void publish()}>
          {say.publish}
        </button>
      </div>
      {conflicts.map((conflict) => (
        <ConflictOf
          conflict={conflict}
          onMine={({ campaign, yours }) =>
            settle(
              campaign,
              'draft/put',
              { campaigns: { [campaign]: yours }, rebase: true },
              say.kept(campaign),
            )
          }
          onTheirs={({ campaign }) => discard(campaign)}
        />
      ))}
      {compared > 0 && pipeline !== '' && (
        <LoggedEffect key={`${compared} ${version}`} draft={name} pipeline={pipeline} at={at} />
      )}
      <div id="moved" aria-live="polite" aria-busy={isBusy}>
        {moved?.map((one) => (
          <MovedOn moved={one} />
        ))}
      </div>
    </>
  );
}

function ChangeList({
  draft: { changes, conflicts },
  onDiscard,
}: {
  readonly draft: DraftAnswer;
  readonly onDiscard: (campaign: string) => void;
}): JSX.Element {
  return (
    <ul class="plain" id="draft">
      {changes.map((change) => (
        <li>
          {changeText(change)}{' '}
          {conflicts.includes(change.campaign) && <strong class="failed">{say.changedSince}</strong>}{' '}
          <button
            type="button"
            class="link"
            aria-label={say.actOf(say.discard, change.campaign)}
            onClick={() => onDiscard(change.campaign)}
          >
            {say.discard}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Both sides of a campaign that others changed since. */
function ConflictOf({
  conflict,
  onMine,
  onTheirs,
}: {
  readonly conflict: Conflicts[number];
  readonly onMine: (conflict: Conflicts[number]) => void;
  readonly onTheirs: (conflict: Conflicts[number]) => void;
}): JSX.Element {
  const { campaign, author, at, yours, theirs } = conflict;
  return (
    <div class="conflict">
      <p>{say.conflict(campaign, author ?? say.somebody, at === undefined ? '' : momentText(at))}</p>
      <Table
        head={[say.yours, say.theirs]}
        rows={[[yours, theirs].map((one) => <CampaignText campaign={one} />)]}
      />
      <div class="row">
        <button type="button" onClick={() => onMine(conflict)}>
          {say.keepMine}
        </button>
        <button type="button" onClick={() => onTheirs(conflict)}>
          {say.keepTheirs}
        </button>
      </div>
    </div>
  );
}

function MovedOn({ moved: { title, places, rows, problem } }: { readonly moved: Moved }): JSX.Element {
  return (
    <>
      <h3>{title}</h3>
      {problem === undefined ? (
        <p>{rows.length === 0 ? say.nothingMoves : say.moves(rows.length, places)}</p>
      ) : (
        <p class="failed">{say.wrong(problem)}</p>
      )}
      {rows.length > 0 && (
        <Table head={[say.product, say.before, say.after]} rows={rows.slice(0, MOST_ROWS)} numbers={[1, 2]} />
      )}
      {rows.length > MOST_ROWS && <p class="hint">{say.moreRows(rows.length - MOST_ROWS)}</p>}
    </>
  );
}

function CampaignText({ campaign }: { readonly campaign: unknown }): JSX.Element {
  if (campaign === null) return <em>{say.removed}</em>;
  return (
    <ul class="plain">
      {campaignLines(campaign as Campaign).map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

function changeText({ campaign, before, after, keys }: AnsweredChange): string {
  if (before === null) return say.isNew(campaign);
  if (after === null) return say.isRemoved(campaign);
  return say.isChanged(campaign, keys.map((key) => say.keys[key] ?? key).join(', '));
}

/** Reads the pages of campaigns that differ, so that the products are named by their titles. */
async function readTitles(conflicts: Conflicts, watchedOf: WatchedOf): Promise<void> {
  for (const { yours, theirs } of conflicts) {
    const campaign = (yours ?? theirs) as Campaign;
    // Without titles, ids are shown.
    await explain(watchedOf(targetsOf(campaign)[0], campaign).request).catch(() => undefined);
  }
}

/** Ranks the pages of the changed campaigns as they are served, and with the draft. */
async function movedBy(
  changes: readonly AnsweredChange[],
  draft: string,
  watchedOf: WatchedOf,
): Promise<readonly Moved[]> {
  const pages = new Map<string, Watched>();
  for (const { before, after } of changes)
    for (const campaign of [after, before] as (Campaign | null)[]) {
      if (campaign === null) continue;
      const targets = targetsOf(campaign);
      for (const target of targets.length === 0 ? [undefined] : targets) {
        const watched = watchedOf(target, campaign);
        if (!pages.has(watched.title)) pages.set(watched.title, watched);
      }
    }
  const found: Moved[] = [];
  // One after the other: a comparison is no load on the service.
  for (const { title, request } of [...pages.values()].slice(0, MOST_PAGES))
    found.push(
      await movedOn(title, request, draft).catch((error: unknown) => ({
        title,
        places: 0,
        rows: [],
        problem: messageOf(error),
      })),
    );
  return found;
}

async function movedOn(title: string, request: SentRequest, draft: string): Promise<Moved> {
  const [before, after] = await Promise.all([
    explain(request),
    explain({ ...request, preview: { ...request.preview, draft } }),
  ]);
  const was = new Map(before.page.map((one) => [one.candidate_id, one]));
  const is = new Map(after.page.map((one) => [one.candidate_id, one]));
  const all = [...after.page, ...before.page.filter(({ candidate_id: id }) => !is.has(id))];
  const rows = all.flatMap((one): Moved['rows'] => {
    const [from, to] = [was, is].map((places) => places.get(one.candidate_id)?.place);
    if (from === to) return [];
    return [[titleOf(one), from === undefined ? '–' : String(from), to === undefined ? '–' : String(to)]];
  });
  return { title, places: after.page.length, rows };
}

/** What was published, with the way back. */
export function History({ list, open }: { readonly list: string; readonly open: OpenList }): JSX.Element {
  const [history, setHistory] = useState<HistoryAnswer>();
  const [problem, setProblem] = useState('');
  const load = async (): Promise<void> => {
    setProblem('');
    try {
      setHistory(await curation<HistoryAnswer>('history', { list }));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const undo = async (publish: string): Promise<void> => {
    setProblem('');
    await open.act(
      () =>
        curation<PublishAnswer>('undo', { list, publish }).catch((error: unknown) => {
          if (error instanceof Refusal)
            setProblem(error.problem.code === 'curation_conflict' ? say.undoConflict : problemText(error));
          throw error;
        }),
      () => say.undone,
    );
    await load();
  };
  const undone = new Set(history?.publishes.flatMap(({ undoes }) => undoes ?? []));
  return (
    <section aria-labelledby="history" class="part">
      <h2 id="history">{say.history}</h2>
      <button type="button" onClick={() => void load()}>
        {say.showHistory}
      </button>
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
      {history?.publishes.length === 0 && <p>{say.noHistory}</p>}
      <ul class="plain" id="publishes">
        {history?.publishes.map(({ publish, author, at, undoes, changes, draft }) => (
          <li>
            {momentText(at)}, {author ?? say.somebody}:{' '}
            {undoes === null ? say.publishedDraft(draft ?? '') : say.undid(undoes)}{' '}
            <span class="dim">{changes.map(changeText).join('; ')}</span>{' '}
            {publish !== null && !undone.has(publish) && (
              <button
                type="button"
                aria-label={say.actOf(say.undo, publish)}
                onClick={() => void undo(publish)}
              >
                {say.undo}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
