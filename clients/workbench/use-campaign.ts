import { useState } from 'preact/hooks';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import type { DraftAnswer } from '../../runtime/state/curation/draft-answers.js';
import {
  campaignsWith,
  freeName,
  nameOf,
  previewTime,
  withHidden,
  withKey,
  withoutPin,
  withPin,
  withTargets,
  type Campaign,
  type CampaignKey,
  type ListContent,
  type Target,
} from './campaign.js';
import { say } from './campaign-language.js';
import type { Edited, Steering } from './campaign-page.js';
import type { Typed } from './fields.js';
import { usePage, type ShownPage } from './page-preview.js';
import { knownTitle, type SentRequest } from './service.js';
import type { OpenList } from './use-list.js';
import {
  pipelinesOf,
  requestOf,
  withoutTargets,
  withPageTarget,
  withWatched,
  type Described,
} from './watched-page.js';

/** What is chosen; the address of the page has it, so that it can be opened again. */
export interface Chosen {
  readonly list: string;
  readonly pipeline: string;
  readonly draft: string;
  readonly campaign: string;
}

export interface EditorProps {
  readonly project: WorkbenchProject;
  /** The name of the person; empty if the service has no keys. */
  readonly me: string;
  readonly chosen: Chosen;
  readonly choose: (part: Partial<Chosen>) => void;
  readonly open: OpenList;
  readonly content: ListContent;
  readonly refused: (error: unknown) => string;
}

/** A campaign that is edited, as long as the draft does not have it as it is here. */
interface Work {
  /** The campaign that was chosen; empty for a new one. */
  readonly of: string;
  readonly name: string;
  readonly campaign: Campaign;
  /** Whether the person chose what it is for. Until then, a new one is for the page that is shown. */
  readonly hasTargets: boolean;
}

/** The draft and the campaigns that a person sees. */
interface Scene {
  readonly described: readonly Described[];
  readonly pipeline: Described | undefined;
  readonly draftName: string;
  readonly draft: DraftAnswer | undefined;
  readonly campaigns: ReadonlyMap<string, Campaign>;
}

/** If nobody chose a draft, it is one that the person wrote; if there is none, it is a new one. */
function sceneOf({ project, me, chosen, content }: EditorProps): Scene {
  const { drafts } = content;
  const described = pipelinesOf(project, content);
  const names = drafts.map((one) => one.draft);
  const mine = drafts.find(({ author }) => (author ?? '') === me)?.draft;
  const draftName = chosen.draft === '' ? (mine ?? freeName(say.newDraftName, names)) : chosen.draft;
  const draft = drafts.find((one) => one.draft === draftName);
  return {
    described,
    pipeline: described.find(({ name }) => name === chosen.pipeline) ?? described[0],
    draftName,
    draft,
    campaigns: campaignsWith(content, draft),
  };
}

/** The campaign of the screen, and everything that can be done with it. */
export interface OpenCampaign extends Scene, Edited {
  readonly isNew: boolean;
  /** Counts the campaigns that were chosen: forms begin anew with each. */
  readonly visit: number;
  /** The fields of the page that is shown. */
  readonly filled: Typed;
  /** The time that is typed, and the one at which the page is shown; undefined: now. */
  readonly at: string;
  readonly time: number | undefined;
  readonly request: SentRequest | undefined;
  readonly page: ShownPage | undefined;
  /** Why there is no page. */
  readonly problem: string;
  readonly isBusy: boolean;
  readonly steering: Steering;
  readonly rename: (typed: string) => void;
  /** @param isKept whether what was typed stays although it is refused */
  readonly set: (key: CampaignKey, value: Campaign[CampaignKey] | undefined, isKept: boolean) => void;
  readonly setTargets: (of: Target, values: readonly string[]) => void;
  readonly watch: (typed: Typed) => void;
  readonly setAt: (at: string) => void;
  /** Another campaign is chosen. */
  readonly leave: () => void;
}

export function useCampaign(props: EditorProps): OpenCampaign {
  const { chosen, choose, open, content, refused } = props;
  const { stored } = content;
  const scene = sceneOf(props);
  const { pipeline, draftName, draft, campaigns } = scene;
  const [typed, setTyped] = useState<Typed>({});
  const [at, setAt] = useState('');
  const [work, setWork] = useState<Work>();
  const [visit, setVisit] = useState(0);
  const first = campaigns.get(chosen.campaign);
  const fresh = { of: chosen.campaign, name: '', campaign: first ?? {}, hasTargets: first !== undefined };
  const edited: Work = work?.of === chosen.campaign ? work : fresh;
  const taken = [...campaigns.keys(), ...stored.locked.flatMap(({ rule }) => rule.split(':')[1] ?? [])];
  const isNew = first === undefined;
  const name = isNew ? edited.name || freeName(say.newCampaignName, taken) : chosen.campaign;
  const filled = withWatched(pipeline, typed, edited.campaign);
  const campaign = edited.hasTargets
    ? edited.campaign
    : withPageTarget(edited.campaign, pipeline, filled, stored);
  const time = previewTime(campaign, at, stored.time_zone, Date.now());
  const request = requestOf(pipeline, filled, {
    ...(time === undefined ? {} : { at: new Date(time).toISOString() }),
    ...(draft === undefined ? {} : { draft: draftName }),
  });
  const shown = usePage(request, campaign, open.changes, refused);
  const save = async (next: Campaign, why: string, isKept = false): Promise<void> => {
    // A second change may be made before the first is saved.
    setWork({ ...edited, campaign: next, hasTargets: true });
    const isSaved = await open.save(draftName, name, next, why);
    if (isSaved) choose({ campaign: name, draft: draftName });
    if (isSaved || !isKept)
      setWork((now) => (now?.campaign !== next ? now : isSaved ? undefined : { ...edited, campaign }));
  };
  const saved = say.saved(name, draftName);
  return {
    ...scene,
    ...shown,
    ...{ name, isNew, visit, campaign, stored, filled, at, time, request },
    steering: steeringOf(campaign, (next, why) => void save(next, why)),
    rename: (next) => setWork({ ...edited, name: nameOf(next) === '' ? '' : freeName(nameOf(next), taken) }),
    set: (key, value, isKept) => void save(withKey(campaign, key, value), saved, isKept),
    setTargets: (of, values) => {
      setTyped((before) => withoutTargets(before, pipeline));
      void save(withTargets(campaign, of, values), saved, true);
    },
    watch: setTyped,
    setAt,
    leave: () => {
      setVisit(visit + 1);
      setWork(undefined);
      setTyped({});
      setAt('');
    },
  };
}

function steeringOf(campaign: Campaign, save: (next: Campaign, why: string) => void): Steering {
  return {
    pin: (id, place) => {
      const before = campaign.pin?.[place];
      const lost = before === undefined || before === id ? '' : ` ${say.lostPin(knownTitle(before))}`;
      save(withPin(campaign, id, place), say.pinned(knownTitle(id), place) + lost);
    },
    unpin: (id) => save(withoutPin(campaign, id), say.unpinned(knownTitle(id))),
    hide: (id, isHidden) =>
      save(
        withHidden(campaign, id, isHidden),
        isHidden ? say.isHidden(knownTitle(id)) : say.isShown(knownTitle(id)),
      ),
  };
}
