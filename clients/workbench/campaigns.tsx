import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isDate } from '../../runtime/ground/core/time-zone.js';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import { freeName, itemsOf, listOf, nameOf, previewTime, targetsOf } from './campaign.js';
import { Banner, Condition, Sponsor } from './campaign-acts.js';
import { DraftChanges, History } from './campaign-changes.js';
import { campaignTitle, daysText, momentText, say } from './campaign-language.js';
import { Share } from './campaign-share.js';
import { Sheet } from './campaign-sheet.js';
import { AddProduct, CampaignPage, PinState, Placed, type Edited } from './campaign-page.js';
import { Choice, Text } from './campaign-parts.js';
import { productName } from './campaign-words.js';
import { titleOf } from './cards.js';
import { Fields } from './fields.js';
import { Fold } from './parts.js';
import { whoAmI } from './service.js';
import { useCampaign, type Chosen, type EditorProps, type OpenCampaign } from './use-campaign.js';
import { useList, type OpenList } from './use-list.js';
import { findProducts, watchedOf } from './watched-page.js';

/** The screen on which merchandisers write campaigns, see their pages, and publish them. */
export function Campaigns({
  project,
  refused,
}: {
  readonly project: WorkbenchProject;
  readonly refused: (error: unknown) => string;
}): JSX.Element {
  const [chosen, setChosen] = useState<Chosen>(() => chosenAtFirst(project));
  const [me, setMe] = useState<string>();
  const open = useList(chosen.list, refused);
  useEffect(() => {
    const follow = (): void => setChosen(chosenAtFirst(project));
    window.addEventListener('hashchange', follow);
    whoAmI().then(
      ({ name }) => setMe(name),
      () => setMe(''),
    );
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
      {content === undefined || me === undefined ? (
        <p class="page hint" aria-busy="true">
          {failure === '' ? say.loading : ''}
        </p>
      ) : (
        <Editor
          key={chosen.list}
          project={project}
          me={me}
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

function Editor(props: EditorProps): JSX.Element {
  const { chosen, open, content } = props;
  const zone = content.stored.time_zone;
  const edited = useCampaign(props);
  const { pipeline, filled, at } = edited;
  return (
    <div class="campaigns">
      <Choices {...props} edited={edited} />
      <p id="said" role="status">
        {open.said}
      </p>
      {open.problems.campaign !== undefined && (
        <p class="failed" role="alert" id="refused">
          {open.problems.campaign}
        </p>
      )}
      <DraftChanges
        list={chosen.list}
        draft={edited.draft}
        open={open}
        pipeline={pipeline?.name ?? ''}
        watchedOf={(target, of) =>
          watchedOf(pipeline, filled, target, { time: previewTime(of, at, zone, Date.now()), zone })
        }
      />
      <div class="columns">
        <Acts key={edited.visit} edited={edited} open={open} />
        <Preview edited={edited} />
      </div>
      <Sheet
        list={chosen.list}
        draftName={edited.draftName}
        draft={edited.draft}
        open={open}
        onSaved={(campaign) => props.choose({ draft: edited.draftName, campaign })}
      />
      <History list={chosen.list} open={open} />
    </div>
  );
}

/** Everything that a campaign says. */
function Acts({ edited, open }: { readonly edited: OpenCampaign; readonly open: OpenList }): JSX.Element {
  const { name, isNew, campaign, stored, page, pipeline, draftName, steering, set } = edited;
  const { problems } = open;
  const { attributes = [] } = stored.uses.find((one) => one.pipeline === pipeline?.name) ?? {};
  const acts = {
    campaign,
    problems,
    onSave: (key: Parameters<typeof set>[0], value: Parameters<typeof set>[1]) => set(key, value, false),
  };
  return (
    <section class="editor" aria-label={say.edit}>
      <What edited={edited} problems={problems} />
      <Placed page={page} edited={edited} steering={steering} problem={problems.pin ?? problems.hide} />
      <Condition act="boost" attributes={attributes} {...acts} />
      <Condition act="bury" attributes={attributes} {...acts} />
      <Sponsor
        {...acts}
        products={(page?.explanation.page ?? []).map((one) => [one.candidate_id, titleOf(one)])}
      >
        {campaign.sponsor && (
          <p>
            {productName(campaign.sponsor.product)}:{' '}
            <PinState
              page={page}
              edited={edited}
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
  );
}

/** The page, as somebody sees it at some time. */
function Preview({ edited }: { readonly edited: OpenCampaign }): JSX.Element {
  const { pipeline, filled, at, time, request, page, problem, isBusy, steering, stored } = edited;
  const zone = stored.time_zone;
  return (
    <section class="preview" aria-label={say.page}>
      <h2>{say.page}</h2>
      <div class="row">
        <Fields
          fields={pipeline?.fields ?? []}
          typed={filled}
          onInput={({ parameter }, value) => edited.watch({ ...filled, [parameter]: value })}
        />
      </div>
      {request === undefined && <p>{say.noPage}</p>}
      <div class="row when">
        <Text label={say.previewAt} type="datetime-local" value={at} onChange={edited.setAt} />
        <p class="hint" id="when">
          {time === undefined ? say.now : say.asOf(momentText(time, zone), zone)}
        </p>
      </div>
      {problem !== '' && (
        <p class="failed" role="alert">
          {say.wrong(problem)}
        </p>
      )}
      <Share key={edited.draftName} edited={edited} />
      <AddProduct find={(text) => findProducts(pipeline, request, text)} steering={steering} />
      <div id="page" aria-busy={isBusy}>
        {page !== undefined && <CampaignPage page={page} edited={edited} steering={steering} />}
      </div>
    </section>
  );
}

/** The list, the pipeline, the draft and the campaign. */
function Choices({
  project,
  chosen,
  choose,
  content,
  edited: { draftName, campaigns, described, leave },
}: EditorProps & { readonly edited: OpenCampaign }): JSX.Element {
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
        onChange={(campaign) => {
          leave();
          choose({ campaign });
        }}
      />
    </div>
  );
}

/** The name, the days, and what the campaign is for. */
function What({
  edited: { name, isNew, campaign, stored, pipeline, rename, set, setTargets },
  problems,
}: {
  readonly edited: OpenCampaign;
  readonly problems: OpenList['problems'];
}): JSX.Element {
  const { on: targets = [] } = stored.uses.find((one) => one.pipeline === pipeline?.name) ?? {};
  const { on, note } = campaign;
  return (
    <>
      <h2>{isNew ? say.newCampaign : name}</h2>
      {isNew && <Text label={say.name} value={name} onChange={rename} hint={say.nameHint} />}
      <div class="row">
        {(['from', 'until'] as const).map((key) => {
          const value = campaign[key] ?? '';
          return (
            <Text
              label={say[key]}
              type={value === '' || isDate(value) ? 'date' : 'text'}
              value={value}
              problem={problems[key]}
              onChange={(next) => set(key, next, true)}
            />
          );
        })}
      </div>
      <p class="hint">{[daysText(campaign), say.wholeDays(stored.time_zone)].filter(Boolean).join('. ')}</p>
      {targets.map((of, at) => (
        <Text
          label={say.targets[of]}
          value={listOf(on?.[of]).join(', ')}
          problem={at === 0 ? problems.on : undefined}
          placeholder={say.commas}
          onChange={(next) => setTargets(of, itemsOf(next))}
        />
      ))}
      <p class="hint" id="for">
        {say.isFor(targetsOf(campaign).map(([, value]) => value))}
        {on?.when === undefined ? '' : ` ${say.onlyWhen(on.when)}`}
      </p>
      <Text
        label={say.note}
        value={note ?? ''}
        problem={problems.note}
        onChange={(next) => set('note', next, true)}
      />
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
