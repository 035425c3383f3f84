import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComparedName } from '../../runtime/state/curation/late-expression.js';
import { comparisonsOf, expressionOf, numberOf, OPERATORS, type Comparison } from './condition.js';
import type { Campaign, CampaignKey } from './campaign.js';
import { say } from './campaign-language.js';
import { Act, Choice, Text } from './campaign-parts.js';
import { numberText, words } from './language.js';
import type { Problems } from './use-list.js';

interface ActProps<Key extends CampaignKey> {
  readonly campaign: Campaign;
  readonly problems: Problems;
  readonly onSave: (key: Key, value: Campaign[Key] | undefined) => void;
}

/** Fills a form with what is saved, whenever that changes. What was refused stays as it was typed. */
function useSaved(saved: unknown, problem: string | undefined, fill: () => void): void {
  const isOpen = useRef(false);
  useEffect(() => {
    if (!isOpen.current || problem === undefined) fill();
    isOpen.current = true;
  }, [JSON.stringify(saved)]);
}

/** Lifts, or puts below all others, what meets a condition that is built without writing an expression. */
export function Condition({
  act,
  campaign,
  attributes,
  problems,
  onSave,
}: ActProps<'boost' | 'bury'> & {
  readonly act: 'boost' | 'bury';
  readonly attributes: readonly ComparedName[];
}): JSX.Element {
  const saved = campaign[act];
  const sorted = attributes.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const [rows, setRows] = useState<readonly Comparison[]>(() => [firstOf(sorted)]);
  const [factor, setFactor] = useState(numberText(1.5));
  useSaved(saved, problems[act], () => {
    setRows(comparisonsOf(saved?.where ?? '') ?? [firstOf(sorted)]);
    if (campaign.boost?.multiply !== undefined) setFactor(numberText(campaign.boost.multiply));
  });
  const [wrong, setWrong] = useState<{ readonly value?: string; readonly factor?: string }>({});
  const submit = (): void => {
    const where = expressionOf(rows, attributes);
    const multiply = numberOf(factor);
    const isEmpty = rows.some(
      ({ by, value }) => by !== 'is_true' && by !== 'is_false' && value.trim() === '',
    );
    setWrong({
      ...(isEmpty ? { value: say.needsValue } : where === undefined ? { value: say.noNumber } : {}),
      ...(act === 'boost' && (multiply === undefined || multiply <= 0) ? { factor: say.noFactor } : {}),
    });
    if (where === undefined || isEmpty) return;
    if (act === 'bury') onSave('bury', { where });
    else if (multiply !== undefined && multiply > 0) onSave('boost', { where, multiply });
  };
  return (
    <Act title={say[act]} problem={problems[act]} onSubmit={submit}>
      {saved !== undefined && (
        <p>
          {conditionText(saved.where)} {act === 'boost' && amountText(campaign.boost)}{' '}
          <button
            type="button"
            aria-label={say.actOf(say.remove, say[act])}
            onClick={() => onSave(act, undefined)}
          >
            {say.remove}
          </button>
        </p>
      )}
      {attributes.length === 0 ? (
        <p class="hint">{say.noAttributes}</p>
      ) : (
        <>
          {rows.map((row, at) => (
            <Row
              key={at}
              row={row}
              attributes={sorted}
              problem={wrong.value}
              onChange={(next) => setRows(rows.with(at, next))}
            />
          ))}
          {act === 'boost' && (
            <Text isLive label={say.factor} value={factor} problem={wrong.factor} onChange={setFactor} />
          )}
          <RowButtons
            isSaved={saved !== undefined}
            onMore={() => setRows([...rows, firstOf(sorted)])}
            onLess={rows.length > 1 ? () => setRows(rows.slice(0, -1)) : undefined}
          />
        </>
      )}
    </Act>
  );
}

function RowButtons({
  isSaved,
  onMore,
  onLess,
}: {
  readonly isSaved: boolean;
  readonly onMore: () => void;
  readonly onLess: (() => void) | undefined;
}): JSX.Element {
  return (
    <div class="row">
      <button type="submit">{isSaved ? say.replace : say.add}</button>
      <button type="button" class="link" onClick={onMore}>
        {say.andAnother}
      </button>
      {onLess !== undefined && (
        <button type="button" class="link" onClick={onLess}>
          {say.oneLess}
        </button>
      )}
    </div>
  );
}

function Row({
  row,
  attributes,
  problem,
  onChange,
}: {
  readonly row: Comparison;
  readonly attributes: readonly ComparedName[];
  readonly problem: string | undefined;
  readonly onChange: (row: Comparison) => void;
}): JSX.Element {
  const type = attributes.find(({ name }) => name === row.name)?.type ?? 'text';
  return (
    <div class="row comparison">
      <Choice
        label={say.attribute}
        value={row.name}
        options={attributes.map(({ name }) => [name, attributeText(name)])}
        onChange={(name) => {
          const next = attributes.find((one) => one.name === name)?.type ?? 'text';
          onChange({ name, by: OPERATORS[next][0], value: row.value });
        }}
      />
      <Choice
        label={say.comparison}
        value={row.by}
        options={OPERATORS[type].map((by) => [by, say.operators[by]])}
        onChange={(by) => onChange({ ...row, by: by as Comparison['by'] })}
      />
      {type !== 'bool' && (
        <Text
          isLive
          label={say.value}
          value={row.value}
          problem={problem}
          onChange={(value) => onChange({ ...row, value })}
        />
      )}
    </div>
  );
}

/** Attributes come before outputs of steps. */
const sortKey = ({ name }: ComparedName): string => `${name.includes(':') ? 1 : 0} ${name}`;

function firstOf([first]: readonly ComparedName[]): Comparison {
  return { name: first?.name ?? '', by: OPERATORS[first?.type ?? 'text'][0], value: '' };
}

/** Conditions compare what belongs to a candidate, so its entity type goes without saying: `brand` is `product.brand`. */
function attributeText(name: string): string {
  return words(name.replace(/^\w+\./, ''));
}

/** A condition in words; one that was not built here, as it is written. */
export function conditionText(where: string): string {
  const comparisons = comparisonsOf(where);
  if (comparisons === undefined) return where;
  return comparisons
    .map(
      ({ name, by, value }) =>
        `${attributeText(name)} ${say.operators[by]}${value === '' ? '' : ` ${value}`}`,
    )
    .join(` ${say.and} `);
}

export function amountText({ multiply, add }: NonNullable<Campaign['boost']> = { where: '' }): string {
  if (multiply !== undefined) return `× ${numberText(multiply)}`;
  return add === undefined ? '' : `${add < 0 ? '−' : '+'} ${numberText(Math.abs(add))}`;
}

/** A paid place. */
export function Sponsor({
  campaign: { sponsor },
  problems,
  products,
  onSave,
  children,
}: ActProps<'sponsor'> & {
  /** What the page has, to choose from. */
  readonly products: readonly (readonly [id: string, title: string])[];
  /** What became of it. */
  readonly children: JSX.Element | undefined;
}): JSX.Element {
  const [places, setPlaces] = useState('');
  const [product, setProduct] = useState('');
  const [label, setLabel] = useState('');
  useSaved(sponsor, problems.sponsor, () => {
    setPlaces(sponsor?.places.join(', ') ?? '1');
    setProduct(sponsor?.product ?? '');
    setLabel(sponsor?.label ?? say.sponsoredLabel);
  });
  const [wrong, setWrong] = useState<{
    readonly places?: string;
    readonly product?: string;
    readonly label?: string;
  }>({});
  const submit = (): void => {
    const numbers = places.split(',').map((one) => Number(one.trim()));
    const isWrong = numbers.some((one) => !Number.isInteger(one) || one < 1);
    setWrong({
      ...(isWrong ? { places: say.noPlaces } : {}),
      ...(product.trim() === '' ? { product: say.needsValue } : {}),
      ...(label.trim() === '' ? { label: say.needsValue } : {}),
    });
    if (!isWrong && product.trim() !== '' && label.trim() !== '')
      onSave('sponsor', { places: numbers, product: product.trim(), label: label.trim() });
  };
  return (
    <Act title={say.sponsor} problem={problems.sponsor} onSubmit={submit}>
      {children}
      <datalist id="products">
        {products.map(([id, title]) => (
          <option value={id}>{title}</option>
        ))}
      </datalist>
      <div class="row">
        <Text isLive label={say.places} value={places} problem={wrong.places} onChange={setPlaces} />
        <Text
          isLive
          label={say.product}
          value={product}
          list="products"
          problem={wrong.product}
          onChange={setProduct}
        />
        <Text isLive label={say.label} value={label} problem={wrong.label} onChange={setLabel} />
      </div>
      <SaveOrRemove
        title={say.sponsor}
        isSaved={sponsor !== undefined}
        onRemove={() => onSave('sponsor', undefined)}
      />
    </Act>
  );
}

const BANNER_FIELDS = ['place', 'image', 'link', 'text'] as const;

/** Content beside the products. */
export function Banner({ campaign: { banner }, problems, onSave }: ActProps<'banner'>): JSX.Element {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  useSaved(banner, problems.banner, () => setTyped({ place: 'top', ...banner }));
  const [wrong, setWrong] = useState('');
  const submit = (): void => {
    const filled = BANNER_FIELDS.flatMap((name) => {
      const value = typed[name]?.trim() ?? '';
      return value === '' ? [] : [[name, value] as const];
    });
    const next = Object.fromEntries(filled);
    const isWrong = next['place'] === undefined || (next['image'] ?? next['text']) === undefined;
    setWrong(isWrong ? say.emptyBanner : '');
    if (!isWrong) onSave('banner', next as unknown as NonNullable<Campaign['banner']>);
  };
  return (
    <Act title={say.banner} onSubmit={submit}>
      <div class="row">
        {BANNER_FIELDS.map((name) => (
          <Text
            isLive
            label={say.bannerFields[name]}
            value={typed[name] ?? ''}
            problem={name === 'image' ? problems.banner : name === 'text' && wrong !== '' ? wrong : undefined}
            onChange={(value) => setTyped((before) => ({ ...before, [name]: value }))}
          />
        ))}
      </div>
      <SaveOrRemove
        title={say.banner}
        isSaved={banner !== undefined}
        onRemove={() => onSave('banner', undefined)}
      />
    </Act>
  );
}

function SaveOrRemove({
  title,
  isSaved,
  onRemove,
}: {
  readonly title: string;
  readonly isSaved: boolean;
  readonly onRemove: () => void;
}): JSX.Element {
  return (
    <div class="row">
      <button type="submit">{isSaved ? say.replace : say.add}</button>
      {isSaved && (
        <button type="button" aria-label={say.actOf(say.remove, title)} onClick={onRemove}>
          {say.remove}
        </button>
      )}
    </div>
  );
}
