import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ExplainedCandidate } from '../../runtime/request/pipeline/explain/explanation.js';
import type { StoredCuration } from '../../runtime/state/curation/curation-service.js';
import { listOf, pinsOf, type Campaign } from './campaign.js';
import { conditionText } from './campaign-acts.js';
import { productName } from './campaign-words.js';
import { say } from './campaign-language.js';
import { Act, Banners, Field } from './campaign-parts.js';
import { CardOf, titleOf } from './cards.js';
import type { ShownPage } from './page-preview.js';
import { Why } from './why.js';

/** How the reason of a filter begins: what it keeps follows. */
const UNMET = 'not: ';

/** What can be done with a product. */
export interface Steering {
  pin(id: string, place: number): void;
  unpin(id: string): void;
  hide(id: string, isHidden: boolean): void;
}

/** A campaign beside the list that it is of. */
export interface Edited {
  readonly name: string;
  readonly campaign: Campaign;
  readonly stored: StoredCuration;
}

/** The page as customers will see it. Each card can be pinned, dragged to a place, or hidden. */
export function CampaignPage({
  page: { request, explanation },
  edited,
  steering,
}: {
  readonly page: ShownPage;
  readonly edited: Edited;
  readonly steering: Steering;
}): JSX.Element {
  const [asked, setAsked] = useState<ExplainedCandidate>();
  const [over, setOver] = useState<number>();
  const { page, answer } = explanation;
  const hasImages = page.some(({ card }) => card?.image !== undefined);
  const labels = new Map(
    (answer.ranked_candidates ?? []).map(({ candidate_id: id, sponsored }) => [id, sponsored]),
  );
  const drop = (event: DragEvent, place: number): void => {
    event.preventDefault();
    setOver(undefined);
    const id = event.dataTransfer?.getData('text/plain') ?? '';
    if (page.some(({ candidate_id: one }) => one === id)) steering.pin(id, place);
  };
  return (
    <>
      <Banners answer={answer} />
      {page.length === 0 && <p>{say.emptyPage}</p>}
      <ol class="cards steered">
        {page.map((one) => (
          <li
            key={one.candidate_id}
            draggable
            class={over === one.place ? 'over' : undefined}
            onDragStart={({ dataTransfer }) => dataTransfer?.setData('text/plain', one.candidate_id)}
            onDragOver={(event) => {
              event.preventDefault();
              setOver(one.place);
            }}
            onDragLeave={() => setOver(undefined)}
            onDrop={(event) => drop(event, one.place)}
          >
            <CardOf
              candidate={one}
              before={undefined}
              hasImages={hasImages}
              isOfToday={request.preview?.['at'] !== undefined}
              onWhy={() => setAsked(one)}
            >
              <Marks candidate={one} label={labels.get(one.candidate_id)} edited={edited} />
              <Steer candidate={one} edited={edited} steering={steering} />
            </CardOf>
          </li>
        ))}
      </ol>
      {asked !== undefined && (
        <Why
          key={asked.candidate_id}
          candidate={asked}
          page={page}
          request={request}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

/** Which rules placed a candidate, and whether its place is paid. */
function Marks({
  candidate: { changes },
  label,
  edited,
}: {
  readonly candidate: ExplainedCandidate;
  readonly label: string | undefined;
  readonly edited: Edited;
}): JSX.Element {
  const rules = [...new Set(changes.flatMap((one) => one.rules ?? []))];
  return (
    <>
      {label !== undefined && <p class="mark">{label}</p>}
      {rules.map((rule) => (
        <p class="mark dim">{ruleText(rule, edited)}</p>
      ))}
    </>
  );
}

/** Who a rule belongs to: this campaign, another one, or the file, where it is locked. */
export function ruleText(rule: string, { name, stored }: Pick<Edited, 'name' | 'stored'>): string {
  const [, campaign = ''] = rule.split(':');
  const locked = stored.locked.find((one) => one.rule === rule);
  if (locked !== undefined) return say.lockedRule(campaign, stored.file, locked.line);
  return campaign === name ? say.thisCampaign : say.otherCampaign(campaign);
}

function Steer({
  candidate,
  edited: { campaign },
  steering,
}: {
  readonly candidate: ExplainedCandidate;
  readonly edited: Edited;
  readonly steering: Steering;
}): JSX.Element {
  const { candidate_id: id, place } = candidate;
  const title = titleOf(candidate);
  const pinned = pinsOf(campaign).find((one) => one.id === id);
  return (
    <div class="steer">
      <PinTo title={title} place={pinned?.place ?? place} onPin={(at) => steering.pin(id, at)} />
      {pinned !== undefined && (
        <button type="button" aria-label={say.actOf(say.unpin, title)} onClick={() => steering.unpin(id)}>
          {say.unpin}
        </button>
      )}
      <button type="button" aria-label={say.actOf(say.hide, title)} onClick={() => steering.hide(id, true)}>
        {say.hide}
      </button>
    </div>
  );
}

/** Pins to a place that is typed. */
function PinTo({
  title,
  place,
  onPin,
}: {
  readonly title: string;
  readonly place: number;
  readonly onPin: (place: number) => void;
}): JSX.Element {
  const [typed, setTyped] = useState<string>();
  return (
    <form
      class="pin"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const at = Number(typed ?? place);
        if (!Number.isInteger(at) || at < 1) return;
        setTyped(undefined);
        onPin(at);
      }}
    >
      <button type="submit" aria-label={say.actOf(say.pinTo, title)}>
        {say.pin}
      </button>
      <input
        class="small"
        type="number"
        min={1}
        aria-label={say.placeOf(title)}
        value={typed ?? String(place)}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </form>
  );
}

/** What a campaign pins and hides, and what became of each. */
export function Placed({
  page,
  edited,
  steering,
  problem,
}: {
  readonly page: ShownPage | undefined;
  readonly edited: Edited;
  readonly steering: Steering;
  readonly problem: string | undefined;
}): JSX.Element {
  const pins = pinsOf(edited.campaign);
  const hidden = listOf(edited.campaign.hide);
  return (
    <section aria-labelledby="placed">
      <h3 id="placed">{say.pins}</h3>
      {problem !== undefined && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
      {pins.length === 0 && <p class="hint">{say.noPins}</p>}
      <ul class="plain" id="pins">
        {pins.map(({ place, id }) => (
          <li>
            <strong>{say.place(place)}</strong> {productName(id)}{' '}
            <button
              type="button"
              aria-label={say.actOf(say.unpin, productName(id))}
              onClick={() => steering.unpin(id)}
            >
              {say.unpin}
            </button>
            <br />
            <PinState page={page} edited={edited} id={id} place={place} />
          </li>
        ))}
      </ul>
      {hidden.length > 0 && (
        <>
          <h3>{say.hidden}</h3>
          <ul class="plain" id="hidden">
            {hidden.map((id) => (
              <li>
                {productName(id)}{' '}
                <button
                  type="button"
                  aria-label={say.actOf(say.unhide, id)}
                  onClick={() => steering.hide(id, false)}
                >
                  {say.unhide}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Whether a pin, or a paid place, is shown; else which step removed it, or who has the place. */
export function PinState({
  page,
  edited,
  id,
  place,
}: {
  readonly page: ShownPage | undefined;
  readonly edited: Edited;
  readonly id: string;
  readonly place: number;
}): JSX.Element {
  if (page === undefined) return <span class="hint">{say.notAsked}</span>;
  const { explanation, fates } = page;
  const shown = explanation.page.find(({ candidate_id: one }) => one === id);
  const fate = fates.get(id);
  if (shown?.card?.missing === true || (shown === undefined && fate?.card?.missing === true))
    return <span class="failed">{say.unknownId}</span>;
  const at = shown?.place ?? fate?.place;
  if (at === place) return <span class="up">{say.shownAt(place)}</span>;
  if (at !== undefined) {
    const winner = explanation.page.find((one) => one.place === place);
    const rules = winner?.changes.flatMap((one) => one.rules ?? []) ?? [];
    const by = rules.map((rule) => ruleText(rule, edited));
    return (
      <span class="failed">
        {say.isAt(at)}{' '}
        {winner !== undefined && say.hasPlace(titleOf(winner), place, [...new Set(by)].join(', '))}
      </span>
    );
  }
  if (fate === undefined) return <span class="hint">{say.notAsked}</span>;
  if (fate.fate !== 'removed') return <span class="failed">{say.notOnPage}</span>;
  const { as = '', rules = [], reason } = fate;
  const by = rules.map((rule) => ruleText(rule, edited)).join(', ');
  return (
    <span class="failed">
      {say.removedBy(
        as,
        by,
        reason?.startsWith(UNMET) === true ? say.unmet(conditionText(reason.slice(UNMET.length))) : reason,
      )}
    </span>
  );
}

/** A product that was found to be placed. */
export interface Offer {
  readonly id: string;
  readonly title: string;
  readonly about: string;
}

/** Finds a product that is not on the page, by its id or by words, and pins or hides it. */
export function AddProduct({
  find,
  steering,
}: {
  readonly find: (typed: string) => Promise<readonly Offer[]>;
  readonly steering: Steering;
}): JSX.Element {
  const [typed, setTyped] = useState('');
  const [offers, setOffers] = useState<readonly Offer[]>([]);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState('');
  const ask = async (): Promise<void> => {
    setProblem('');
    setSaid('');
    if (typed.trim() === '') return;
    try {
      const found = await find(typed.trim());
      setOffers(found);
      setSaid(say.found(found.length));
    } catch (error) {
      setOffers([]);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Act title={say.addProduct} onSubmit={() => void ask()}>
      <div class="row">
        <Field label={say.idOrWords} problem={problem}>
          {(props) => (
            <input
              {...props}
              type="text"
              enterkeyhint="search"
              autocomplete="off"
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit">{say.find}</button>
        <span role="status">{said}</span>
      </div>
      {offers.length > 0 && <Offers offers={offers} steering={steering} />}
    </Act>
  );
}

function Offers({
  offers,
  steering,
}: {
  readonly offers: readonly Offer[];
  readonly steering: Steering;
}): JSX.Element {
  const [place, setPlace] = useState('1');
  const at = Math.max(1, Math.floor(Number(place)) || 1);
  return (
    <>
      <Field label={say.atPlace}>
        {(props) => (
          <input
            {...props}
            class="small"
            type="number"
            min={1}
            value={place}
            onInput={({ currentTarget }) => setPlace(currentTarget.value)}
          />
        )}
      </Field>
      <ul class="plain" id="offers">
        {offers.map(({ id, title, about }) => (
          <li>
            <span>
              {title} {title !== id && <span class="id">{id}</span>} <span class="dim">{about}</span>
            </span>{' '}
            <button
              type="button"
              aria-label={say.actOf(say.pinAt(at), title)}
              onClick={() => steering.pin(id, at)}
            >
              {say.pinAt(at)}
            </button>{' '}
            <button
              type="button"
              aria-label={say.actOf(say.hide, title)}
              onClick={() => steering.hide(id, true)}
            >
              {say.hide}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
