import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredCuration } from '../../runtime/state/curation/curation-service.js';
import type { DraftAnswer, DraftsAnswer } from '../../runtime/state/curation/draft-answers.js';
import { doesNothing, type Campaign, type CampaignKey, type ListContent } from './campaign.js';
import { problemText, say } from './campaign-language.js';
import { curation, messageOf, Refusal } from './service.js';

/** What is wrong, by the key of the campaign that it is about; `campaign` if it is about none. */
export type Problems = Readonly<Partial<Record<CampaignKey | 'campaign', string>>>;

/** The list that a person edits, and how it is changed. */
export interface OpenList {
  readonly content: ListContent | undefined;
  /** Why it cannot be read. */
  readonly failure: string;
  /** What the last change was, or why it was refused. */
  readonly said: string;
  readonly problems: Problems;
  /** Counts what was stored, so that a page can follow. */
  readonly changes: number;
  /** Saves a campaign in a draft. @returns whether it is saved */
  readonly save: (draft: string, name: string, campaign: Campaign | null, why: string) => Promise<boolean>;
  /** Does something else to the list, and reads it again. */
  readonly act: <T>(work: () => Promise<T>, done: (answer: T) => string) => Promise<void>;
}

/** What was read of a list, and the changes that are in flight. */
interface Reading {
  readonly content: ListContent | undefined;
  readonly failure: string;
  /** Counts what was read or written. */
  readonly changes: number;
  readonly load: () => Promise<void>;
  /** Replaces a draft by what the service answered. */
  readonly wrote: (draft: DraftAnswer) => void;
  readonly versionOf: (draft: string) => string;
  /** Runs after everything that was started before, so that each change builds on what the one before answered. */
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
}

function useReading(list: string, refused: (error: unknown) => string): Reading {
  const [content, setContent] = useState<ListContent>();
  const [failure, setFailure] = useState('');
  const [changes, setChanges] = useState(0);
  const wanted = useRef(list);
  wanted.current = list;
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const known = useRef<ListContent | undefined>(undefined);
  const put = (next: ListContent | undefined): void => {
    known.current = next;
    setContent(next);
    setChanges((count) => count + 1);
  };
  const load = async (): Promise<void> => {
    if (list === '') return;
    try {
      const [stored, { drafts }] = await Promise.all([
        curation<StoredCuration>('get', { list }),
        curation<DraftsAnswer>('draft/get', { list }),
      ]);
      if (wanted.current !== list) return;
      put({ stored, drafts });
      setFailure('');
    } catch (error) {
      setFailure(refused(error));
    }
  };
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const running = last.current.then(work);
    last.current = running.catch(() => undefined);
    return running;
  };
  useEffect(() => {
    put(undefined);
    void inOrder(load);
    // Colleagues may have saved or published while the person was elsewhere.
    const follow = (): void => void inOrder(load);
    window.addEventListener('focus', follow);
    return () => window.removeEventListener('focus', follow);
  }, [list]);
  return {
    ...{ content, failure, changes, load, inOrder },
    wrote: (draft) => {
      if (known.current === undefined) return;
      const others = known.current.drafts.filter((one) => one.draft !== draft.draft);
      put({ ...known.current, drafts: [...others, draft] });
    },
    versionOf: (draft) => known.current?.drafts.find((one) => one.draft === draft)?.version ?? '',
  };
}

/** Reads a list with its drafts, and changes it. */
export function useList(list: string, refused: (error: unknown) => string): OpenList {
  const { load, wrote, versionOf, inOrder, ...reading } = useReading(list, refused);
  const [said, setSaid] = useState('');
  const [problems, setProblems] = useState<Problems>({});
  const begin = (): void => {
    setProblems({});
    setSaid('');
  };
  useEffect(begin, [list]);
  const save: OpenList['save'] = (draft, name, campaign, why) =>
    inOrder(async () => {
      begin();
      if (campaign !== null && doesNothing(campaign)) {
        setSaid(say.doesNothing);
        return false;
      }
      try {
        const campaigns = { [name]: campaign };
        wrote(await curation('draft/put', { list, draft, campaigns, version: versionOf(draft) }));
        setSaid(why);
        return true;
      } catch (error) {
        setProblems(problemsOf(error, name, refused));
        if (error instanceof Refusal && error.problem.code === 'curation_changed') await load();
        return false;
      }
    });
  const act: OpenList['act'] = (work, done) =>
    inOrder(async () => {
      begin();
      try {
        const answer = await work();
        await load();
        setSaid(done(answer));
      } catch (error) {
        setProblems({ campaign: error instanceof Refusal ? problemText(error) : messageOf(error) });
        await load();
      }
    });
  return { ...reading, said, problems, save, act };
}

/** Puts the errors of a refused campaign beside the fields that they are about. */
function problemsOf(error: unknown, name: string, refused: (error: unknown) => string): Problems {
  const message = refused(error);
  if (!(error instanceof Refusal)) return { campaign: message };
  const start = `/campaigns/${name}`;
  const placed = (error.problem.errors ?? []).filter(({ pointer }) => pointer.startsWith(start));
  if (placed.length === 0) return { campaign: problemText(error) };
  return Object.fromEntries(
    placed.map(({ pointer, detail }) => [
      pointer.slice(start.length + 1).split('/')[0] || 'campaign',
      say.wrong(detail),
    ]),
  );
}
