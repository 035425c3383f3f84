import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isDate } from '../../runtime/ground/core/time-zone.js';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import {
  campaignsWith,
  freeName,
  itemsOf,
  listOf,
  nameOf,
  previewTime,
  targetsOf,
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
import { Banner, Condition, Sponsor } from './campaign-acts.js';
import { DraftChanges, History, type Watched } from './campaign-changes.js';
import { campaignTitle, daysText, momentText, say } from './campaign-language.js';
import { AddProduct, CampaignPage, PinState, Placed, type Edited, type Offer, type Steering } from './campaign-page.js';
import { Choice, Text } from './campaign-parts.js';
import { titleOf } from './cards.js';
import { searchCondition } from './condition.js';
import { Fields, withField, type Typed } from './fields.js';
import { Fold } from './parts.js';
import { fatesOf, usePage, type ShownPage } from './page-preview.js';
import { explain, type SentRequest } from './service.js';
import { useList, type OpenList } from './use-list.js';

type Described = WorkbenchProject['pipelines'][number];

/** What is chosen; the address of the page has it, so that it can be opened again. */
interface Chosen {
  readonly list: string;
  readonly pipeline: string;
  readonly draft: string;
  readonly campaign: string;
}

const MOST_OFFERS = 12;
/** The most ids of removed products that a search shows. */
const MOST_REMOVED = 5;

/** The screen on which merchandisers write campaigns, see their pages, and publish them. */
export function Campaigns({
  project,
  refused,
}: {
  readonly project: WorkbenchProject;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [chosen, setChosen] = useState<Chosen>(() => chosenAtFirst(project));
  const open = useList(chosen.list, refused);
  useEffect(() => {
    const follow = (): void => setChosen(chosenAtFirst(project));
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  const choose = (part: Partial<Chosen>): void => {
    const next = { ...chosen, ...part };
    setChosen(next);
    remember(next);
  };
  if (project.lists.length === 0) return <p class="page">{say.noLists}</p>;
  const { content, failure } = open;
  return (
    <>
      {failure !== '' && (
        <p class="page failed" role="alert">
          {failure}
        </p>
      )}
      {content === undefined ? (
        <p class="page hint" aria-busy="true">
          {failure === '' ? say.loading : ''}
        </p>
      ) : (
        <Editor
          key={chosen.list}
          project={project}
          chosen={chosen}
          choose={choose}
          open={open}
          content={content}
          refused={refused}
        />
      )}
    </>
  );
}

interface EditorProps {
  readonly project: WorkbenchProject;
  readonly chosen: Chosen;
  readonly choose: (part: Partial<Chosen>) => void;
  readonly open: OpenList;
  readonly content: ListContent;
  readonly refused: (error: unknown) => string;
}

/** A campaign that is edited, and whether the draft has it as it is here. */
interface Work {
  readonly of: string;
  readonly name: string;
  readonly campaign: Campaign;
  /** Whether the person chose what it is for. Until then, a new one is for the page that is shown. */
  readonly hasTargets: boolean;
}

function Editor({ project, chosen, choose, open, content, refused }: EditorProps): JSX.Element {
  const { stored, drafts } = content;
  const zone = stored.time_zone;
  const described = pipelinesOf(project, content);
  const pipeline = described.find(({ name }) => name === chosen.pipeline) ?? described[0];
  const draftName = chosen.draft === '' ? (drafts[0]?.draft ?? say.newDraftName) : chosen.draft;
  const draft = drafts.find((one) => one.draft === draftName);
  const campaigns = campaignsWith(content, draft);
  const first = chosen.campaign === '' ? undefined : campaigns.get(chosen.campaign);
  const [typed, setTyped] = useState<Typed>({});
  const [at, setAt] = useState('');
  const [work, setWork] = useState<Work>();
  const isSame = work !== undefined && work.of === chosen.campaign;
  const edited: Work =
    isSame && work !== undefined
      ? work
      : { of: chosen.campaign, name: '', campaign: first ?? {}, hasTargets: first !== undefined };
  const isNew = first === undefined;
  const taken = [...campaigns.keys(), ...stored.locked.flatMap(({ rule }) => rule.split(':')[1] ?? [])];
  const name = isNew ? edited.name || freeName(say.newCampaignName, taken) : chosen.campaign;
  const filled = withWatched(pipeline, typed, edited.campaign);
  const campaign = edited.hasTargets ? edited.campaign : withPageTarget(edited.campaign, pipeline, filled, stored);
  const time = previewTime(campaign, at, zone, Date.now());
  const preview = { ...(time === undefined ? {} : { at: new Date(time).toISOString() }) };
  const request = requestOf(pipeline, filled, draft === undefined ? preview : { ...preview, draft: draftName });
  const { page, problem, isBusy } = usePage(request, campaign, open.changes, refused);

  const edit = (next: Partial<Work>): void => setWork({ ...edited, ...next });
  /** @param isKept whether what was typed stays although it is refused */
  const save = async (next: Campaign, why: string, isKept = false): Promise<void> => {
    // A second change may be made before the first is saved.
    edit({ campaign: next, hasTargets: true });
    const isSaved = await open.save(draftName, name, next, why);
    if (isSaved) choose({ campaign: name, draft: draftName });
    if (isSaved || !isKept)
      setWork((now) => (now?.campaign !== next ? now : isSaved ? undefined : { ...edited, campaign }));
  };
  const set = (key: CampaignKey, value: Campaign[CampaignKey], isKept = true): void =>
    void save(withKey(campaign, key, value), say.saved(name, draftName), isKept);
  const steering = steeringOf(campaign, page, (next, why) => void save(next, why));
  const editing: Edited = { name, campaign, stored };
  const attributes = stored.uses.find((one) => one.pipeline === pipeline?.name)?.attributes ?? [];
  const acts = {
    campaign,
    problems: open.problems,
    onSave: (key: CampaignKey, value: Campaign[CampaignKey] | undefined) => set(key, value, false),
  };
  return (
    <div class="campaigns">
      <Choices
        {...{ project, chosen, choose, content, draftName, campaigns, described }}
        onCampaign={(next) => {
          setWork(undefined);
          setTyped({});
          setAt('');
          choose({ campaign: next });
        }}
      />
      <p id="said" role="status">
        {open.said}
      </p>
      {open.problems.campaign !== undefined && (
        <p class="failed" role="alert" id="refused">
          {open.problems.campaign}
        </p>
      )}
      <div class="columns">
        <section class="editor" aria-label={say.edit}>
          <What
            key={chosen.campaign}
            {...{ name, isNew, campaign, zone }}
            targets={stored.uses.find((one) => one.pipeline === pipeline?.name)?.on ?? []}
            problems={open.problems}
            onName={(next) => edit({ name: nameOf(next) === '' ? '' : freeName(nameOf(next), taken) })}
            onSet={set}
            onTargets={(of, values) => {
              setTyped((before) => withoutTargets(before, pipeline));
              void save(withTargets(campaign, of, values), say.saved(name, draftName), true);
            }}
          />
          <Placed page={page} edited={editing} steering={steering} problem={open.problems.pin ?? open.problems.hide} />
          <Condition act="boost" attributes={attributes} {...acts} />
          <Condition act="bury" attributes={attributes} {...acts} />
          <Sponsor {...acts} products={(page?.explanation.page ?? []).map((one) => [one.candidate_id, titleOf(one)])}>
            {campaign.sponsor === undefined ? undefined : (
              <p>
                {campaign.sponsor.product}:{' '}
                <PinState
                  page={page}
                  edited={editing}
                  id={campaign.sponsor.product}
                  place={campaign.sponsor.places[0] ?? 1}
                />
              </p>
            )}
          </Sponsor>
          <Banner {...acts} />
          {!isNew && (
            <button type="button" onClick={() => void open.save(draftName, name, null, say.willBeRemoved(name))}>
              {say.removeCampaign}
            </button>
          )}
          <Locked stored={stored} />
        </section>
        <section class="preview" aria-label={say.page}>
          <PreviewFields
            {...{ pipeline, filled, zone, at, time }}
            onType={(parameter, value) => setTyped({ ...filled, [parameter]: value })}
            onAt={setAt}
          />
          {problem !== '' && (
            <p class="failed" role="alert">
              {problem}
            </p>
          )}
          <AddProduct
            find={(text) => findProducts(pipeline, request, text)}
            steering={steering}
          />
          <div id="page" aria-busy={isBusy}>
            {page !== undefined && <CampaignPage page={page} edited={editing} steering={steering} />}
            {request === undefined && <p class="hint">{say.noPage}</p>}
          </div>
        </section>
      </div>
      <DraftChanges
        list={chosen.list}
        draft={draft}
        open={open}
        watchedOf={(target, of) => watchedOf(pipeline, filled, target, {
          time: previewTime(of, at, zone, Date.now()),
          zone,
        })}
      />
      <History list={chosen.list} open={open} />
    </div>
  );
}

function Choices({
  project,
  chosen,
  choose,
  content,
  draftName,
  campaigns,
  described,
  onCampaign,
}: Pick<EditorProps, 'project' | 'chosen' | 'choose' | 'content'> & {
  readonly draftName: string;
  readonly campaigns: ReadonlyMap<string, Campaign>;
  readonly described: readonly Described[];
  readonly onCampaign: (name: string) => void;
}): JSX.Element {
  const { drafts } = content;
  const isKnown = drafts.some((one) => one.draft === draftName);
  const names = drafts.map(({ draft }) => draft).sort();
  return (
    <div class="row choices">
      {project.lists.length > 1 && (
        <Choice
          label={say.list}
          value={chosen.list}
          options={project.lists.map((one) => [one, one])}
          onChange={(list) => choose({ list, draft: '', campaign: '' })}
        />
      )}
      {described.length > 1 && (
        <Choice
          label={say.pipeline}
          value={chosen.pipeline}
          options={described.map(({ name }) => [name, name])}
          onChange={(pipeline) => choose({ pipeline })}
        />
      )}
      <Choice
        label={say.draft}
        value={isKnown ? draftName : ''}
        options={[...names.map((one) => [one, one] as const), ['', say.newDraft]]}
        onChange={(next) => choose({ draft: next === '' ? freeName(say.newDraftName, names) : next })}
      />
      {!isKnown && (
        <Text
          label={say.draftName}
          value={draftName}
          onChange={(next) => {
            if (nameOf(next) !== '') choose({ draft: nameOf(next) });
          }}
        />
      )}
      <Choice
        label={say.campaign}
        value={campaigns.has(chosen.campaign) ? chosen.campaign : ''}
        options={[
          ['', say.newCampaign],
          ...[...campaigns].map(([name, one]) => [name, campaignTitle(name, one)] as const),
        ]}
        onChange={onCampaign}
      />
    </div>
  );
}

/** The name, the days, and what the campaign is for. */
function What({
  name,
  isNew,
  campaign,
  zone,
  targets,
  problems,
  onName,
  onSet,
  onTargets,
}: {
  readonly name: string;
  readonly isNew: boolean;
  readonly campaign: Campaign;
  readonly zone: string;
  readonly targets: readonly Target[];
  readonly problems: OpenList['problems'];
  readonly onName: (name: string) => void;
  readonly onSet: (key: CampaignKey, value: string) => void;
  readonly onTargets: (of: Target, values: readonly string[]) => void;
}): JSX.Element {
  const { on, note } = campaign;
  return (
    <>
      <h2>{isNew ? say.newCampaign : name}</h2>
      {isNew && <Text label={say.name} value={name} onChange={onName} hint={say.nameHint} />}
      <div class="row">
        {(['from', 'until'] as const).map((key) => {
          const value = campaign[key] ?? '';
          return (
            <Text
              label={say[key]}
              type={value === '' || isDate(value) ? 'date' : 'text'}
              value={value}
              problem={problems[key]}
              onChange={(next) => onSet(key, next)}
            />
          );
        })}
      </div>
      <p class="hint">
        {[daysText(campaign), say.wholeDays(zone)].filter(Boolean).join('. ')}
      </p>
      {targets.map((of, at) => (
        <Text
          label={say.targets[of]}
          value={listOf(on?.[of]).join(', ')}
          problem={at === 0 ? problems.on : undefined}
          placeholder={say.commas}
          onChange={(next) => onTargets(of, itemsOf(next))}
        />
      ))}
      <p class="hint" id="for">
        {say.isFor(targetsOf(campaign).map(([, value]) => value))}
        {on?.when === undefined ? '' : ` ${say.onlyWhen(on.when)}`}
      </p>
      <Text label={say.note} value={note ?? ''} problem={problems.note} onChange={(next) => onSet('note', next)} />
    </>
  );
}

/** Whose page is shown, and when. */
function PreviewFields({
  pipeline,
  filled,
  zone,
  at,
  time,
  onType,
  onAt,
}: {
  readonly pipeline: Described | undefined;
  readonly filled: Typed;
  readonly zone: string;
  readonly at: string;
  readonly time: number | undefined;
  readonly onType: (parameter: string, value: string) => void;
  readonly onAt: (at: string) => void;
}): JSX.Element {
  return (
    <>
      <h2>{say.page}</h2>
      <div class="row">
        <Fields
          fields={pipeline?.fields ?? []}
          typed={filled}
          onInput={({ parameter }, value) => onType(parameter, value)}
        />
      </div>
      <div class="row when">
        <Text label={say.previewAt} type="datetime-local" value={at} onChange={onAt} />
        <p class="hint" id="when">
          {time === undefined ? say.now : say.asOf(momentText(time, zone), zone)}
        </p>
      </div>
    </>
  );
}

/** The rules of the file, which this screen cannot change. */
function Locked({ stored: { locked, file, file_rules: count } }: Pick<Edited, 'stored'>): JSX.Element | null {
  if (count === 0) return null;
  const byLine = new Map(locked.map((one) => [one.line, one]));
  return (
    <Fold title={say.locked(count, file)}>
      <ul class="plain">
        {[...byLine.values()].map(({ line, text }) => (
          <li>
            {say.line(line)}
            <pre>{text}</pre>
          </li>
        ))}
      </ul>
    </Fold>
  );
}

function steeringOf(
  campaign: Campaign,
  page: ShownPage | undefined,
  save: (next: Campaign, why: string) => void,
): Steering {
  const title = (id: string): string =>
    page?.explanation.page.find(({ candidate_id: one }) => one === id)?.card?.title ?? id;
  return {
    pin: (id, place) => {
      const before = campaign.pin?.[place];
      const lost = before === undefined || before === id ? '' : ` ${say.lostPin(title(before))}`;
      save(withPin(campaign, id, place), say.pinned(title(id), place) + lost);
    },
    unpin: (id) => save(withoutPin(campaign, id), say.unpinned(title(id))),
    hide: (id, isHidden) =>
      save(withHidden(campaign, id, isHidden), isHidden ? say.isHidden(title(id)) : say.isShown(title(id))),
  };
}

function chosenAtFirst({ lists, pipelines }: WorkbenchProject): Chosen {
  const given = new URLSearchParams(location.hash.split('?')[1] ?? '');
  const list = given.get('list') ?? '';
  return {
    list: lists.includes(list) ? list : (lists[0] ?? ''),
    pipeline: given.get('pipeline') ?? pipelines[0]?.name ?? '',
    draft: given.get('draft') ?? '',
    campaign: given.get('campaign') ?? '',
  };
}

function remember(chosen: Chosen): void {
  const filled = Object.entries(chosen).filter(([, value]) => value !== '');
  history.replaceState(null, '', `#campaigns?${new URLSearchParams(filled).toString()}`);
}

/** The pipelines that apply a list, and whose requests a person can fill in. */
function pipelinesOf({ pipelines }: WorkbenchProject, { stored }: ListContent): readonly Described[] {
  return pipelines.filter(({ name }) => stored.uses.some((one) => one.pipeline === name));
}

const fieldOf = (pipeline: Described | undefined, of: Target): Described['fields'][number] | undefined =>
  pipeline?.fields.find(({ name }) => name === of);

/** The fields of the page that is shown: what is typed; else the first query or category of the campaign. */
function withWatched(pipeline: Described | undefined, typed: Typed, campaign: Campaign): Typed {
  const watched = (['query', 'category'] as const).map((of) => fieldOf(pipeline, of)?.parameter ?? '');
  const [target] = targetsOf(campaign);
  if (target === undefined || watched.some((one) => typed[one] !== undefined)) return typed;
  const parameter = fieldOf(pipeline, target[0])?.parameter;
  return parameter === undefined ? typed : { ...typed, [parameter]: target[1] };
}

function withoutTargets(typed: Typed, pipeline: Described | undefined): Typed {
  const watched = (['query', 'category'] as const).map((of) => fieldOf(pipeline, of)?.parameter);
  return Object.fromEntries(Object.entries(typed).filter(([name]) => !watched.includes(name)));
}

/** A new campaign is for the query or category of the page that is shown. */
function withPageTarget(
  campaign: Campaign,
  pipeline: Described | undefined,
  filled: Typed,
  { uses }: ListContent['stored'],
): Campaign {
  const on = uses.find((one) => one.pipeline === pipeline?.name)?.on ?? [];
  for (const of of on) {
    const value = filled[fieldOf(pipeline, of)?.parameter ?? '']?.trim() ?? '';
    if (value !== '') return withTargets(campaign, of, [value]);
  }
  return campaign;
}

function bodyOf(pipeline: Described, typed: Typed): Record<string, unknown> {
  return pipeline.fields.reduce<Record<string, unknown>>(
    (all, field) => withField(all, field, typed[field.parameter] ?? ''),
    { ...pipeline.body },
  );
}

/** @returns undefined as long as a field is empty that the pipeline needs, or nothing says which page it is */
function requestOf(
  pipeline: Described | undefined,
  typed: Typed,
  preview: Readonly<Record<string, string>>,
): SentRequest | undefined {
  const isReady = pipeline?.fields.every(
    ({ optional, parameter }) => optional || (typed[parameter] ?? '').trim() !== '',
  );
  if (pipeline === undefined || isReady !== true) return undefined;
  const watched = (['query', 'category'] as const).flatMap((of) => fieldOf(pipeline, of)?.parameter ?? []);
  // Without any of the two, retrievers find nothing.
  if (!('candidates' in pipeline.body) && watched.length > 0 && watched.every((one) => !typed[one]?.trim()))
    return undefined;
  return { path: pipeline.explain, body: JSON.stringify(bodyOf(pipeline, typed)), preview };
}

/** The page of a query or a category as it is served. */
function watchedOf(
  pipeline: Described | undefined,
  filled: Typed,
  target: readonly [Target, string] | undefined,
  { time, zone }: { readonly time: number | undefined; readonly zone: string },
): Watched {
  const field = target && fieldOf(pipeline, target[0]);
  const typed = field === undefined ? filled : { ...withoutTargets(filled, pipeline), [field.parameter]: target?.[1] ?? '' };
  const preview = time === undefined ? {} : { at: new Date(time).toISOString() };
  const body = pipeline === undefined ? {} : bodyOf(pipeline, typed);
  return {
    title: `${target?.[1] ?? say.shownPage}${time === undefined ? '' : `, ${momentText(time, zone)}`}`,
    request: { path: pipeline?.explain ?? '', body: JSON.stringify(body), preview },
  };
}

/** Finds products by id, or in the index by what a person searches by. Filters of the pipeline do not leave them out. */
async function findProducts(
  pipeline: Described | undefined,
  request: SentRequest | undefined,
  typed: string,
): Promise<readonly Offer[]> {
  if (pipeline === undefined || request === undefined) return [];
  const asked = [...(await fatesOf(request, [typed])).values()];
  const byId = asked.filter(({ card }) => card?.missing !== true);
  const offers = byId.map(({ candidate_id: id, card }) => offerOf(id, card));
  if (pipeline.searched.length === 0) return offers;
  const candidates = { from: 'index', where: searchCondition(pipeline.searched, typed), limit: MOST_OFFERS };
  const body = JSON.stringify({ ...(JSON.parse(request.body) as object), candidates });
  const { page, steps, candidates: found } = await explain({ path: request.path, body });
  const removed = steps.flatMap((step) => step.removed?.ids ?? []).slice(0, MOST_REMOVED);
  const fates = await fatesOf(request, removed);
  const others = [
    ...page.map(({ candidate_id: id, card }) => offerOf(id, card)),
    ...removed.map((id) => offerOf(id, fates.get(id)?.card)),
  ];
  const known = new Set([...offers.map(({ id }) => id), ...(found.brought?.ids ?? [])]);
  return [...offers, ...others.filter(({ id }) => !known.has(id))];
}

function offerOf(id: string, card: ShownPage['explanation']['page'][number]['card']): Offer {
  const badges = (card?.badges ?? []).map(({ name, value }) => `${name} ${String(value)}`);
  return { id, title: card?.title ?? id, about: [card?.subtitle ?? '', ...badges].filter(Boolean).join(' · ') };
}
