import { useEffect, useRef, useState } from 'preact/hooks';
import type { StoredCuration } from '../../runtime/state/curation/curation-service.js';
import type { DraftAnswer, DraftsAnswer } from '../../runtime/state/curation/drafts.js';
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
  load(): Promise<void>;
  tell(text: string): void;
  /** Saves a campaign in a draft. @returns whether it is saved */
  save(draft: string, name: string, campaign: Campaign | null, why: string): Promise<boolean>;
  /** Does something else to the list, and reads it again. @returns what was answered; undefined if it was refused */
  act<T>(work: () => Promise<T>, done: (answer: T) => string): Promise<T | undefined>;
}

/** Reads a list with its drafts, and changes it. */
export function useList(list: string, refused: (error: unknown) => string): OpenList {
  const [content, setContent] = useState<ListContent>();
  const [failure, setFailure] = useState('');
  const [said, setSaid] = useState('');
  const [problems, setProblems] = useState<Problems>({});
  const [changes, setChanges] = useState(0);
  const wanted = useRef(list);
  wanted.current = list;
  /** Changes of a person are sent one after the other, each with what the one before answered. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const known = useRef<ListContent | undefined>(undefined);

  const put = (next: ListContent | undefined): void => {
    known.current = next;
    setContent(next);
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
      setChanges((count) => count + 1);
    } catch (error) {
      setFailure(refused(error));
    }
  };
  useEffect(() => {
    put(undefined);
    setProblems({});
    setSaid('');
    void load();
    // Colleagues may have saved or published while the person was elsewhere.
    const follow = (): void => void load();
    window.addEventListener('focus', follow);
    return () => window.removeEventListener('focus', follow);
  }, [list]);

  const save: OpenList['save'] = (draft, name, campaign, why) => {
    const work = async (): Promise<boolean> => {
      setProblems({});
      if (campaign !== null && doesNothing(campaign)) {
        setSaid(say.doesNothing);
        return false;
      }
      try {
        const version = known.current?.drafts.find((one) => one.draft === draft)?.version ?? '';
        const saved = await curation<DraftAnswer>('draft/put', {
          list,
          draft,
          campaigns: { [name]: campaign },
          version,
        });
        const others = (known.current?.drafts ?? []).filter((one) => one.draft !== draft);
        if (known.current !== undefined)
          put({ ...known.current, drafts: saved.changes.length === 0 ? others : [...others, saved] });
        setSaid(why);
        setChanges((count) => count + 1);
        return true;
      } catch (error) {
        setSaid('');
        setProblems(problemsOf(error, name, refused));
        if (error instanceof Refusal && error.problem.code === 'curation_changed') await load();
        return false;
      }
    };
    const saving = last.current.then(work);
    last.current = saving;
    return saving;
  };
  const act: OpenList['act'] = async (work, done) => {
    setProblems({});
    try {
      await last.current;
      const answer = await work();
      await load();
      setSaid(done(answer));
      return answer;
    } catch (error) {
      setSaid('');
      setProblems({ campaign: error instanceof Refusal ? problemText(error) : messageOf(error) });
      await load();
      return undefined;
    }
  };
  return { content, failure, said, problems, changes, load, tell: setSaid, save, act };
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
