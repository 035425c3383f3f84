import type { JSX } from 'preact';
import type { ExplainedAccount, ExplainedTerm } from '../../runtime/request/pipeline/explain/explanation.js';
import { numberText, text } from './language.js';
import { Fold, Table, valueText } from './parts.js';

/** The parts that are shown at once; the others unfold. */
const SHOWN = 12;
/** The parts that a sentence names. */
const TOLD = 3;

/** How the first value came to be, and below each part that has an account of its own, that account. */
export function Accounts({
  accounts,
  isPair = false,
}: {
  readonly accounts: readonly ExplainedAccount[];
  readonly isPair?: boolean;
}): JSX.Element | null {
  const [first] = accounts;
  if (first === undefined) return null;
  return (
    <>
      {accounts.map((account) =>
        account === first ? (
          <Account account={account} isPair={isPair} />
        ) : (
          <Fold title={`${account.of} = ${numberText(account.value, 6)}, ${text.methods[account.method]}`}>
            <Account account={account} isPair={isPair} />
          </Fold>
        ),
      )}
    </>
  );
}

function Account({
  account: { of, value, sum, reason, base = 0, terms = [], remainder = 0 },
  isPair,
}: {
  readonly account: ExplainedAccount;
  readonly isPair: boolean;
}): JSX.Element {
  const sorted = terms.toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  const widest = Math.max(Math.abs(base), ...terms.map(({ amount }) => Math.abs(amount)), Number.MIN_VALUE);
  const row = (term: ExplainedTerm) => [
    term.column ?? term.text,
    valueText(term),
    ...(isPair ? [term.against === undefined ? '' : valueText(term.against)] : []),
    numberText(term.amount, 6),
    <Bar share={term.amount / widest} />,
  ];
  const extra = (name: string, amount: number) => [
    name,
    '',
    ...(isPair ? [''] : []),
    numberText(amount, 6),
    <Bar share={amount / widest} />,
  ];
  const head = [text.part, text.value, ...(isPair ? [text.other] : []), text.amount, '− | +'];
  const numbers = [head.length - 2];
  return (
    <>
      {reason !== undefined && <p class="hint">{reason}</p>}
      <p>{inWords(sorted, isPair)}</p>
      <Table
        head={head}
        rows={[
          ...(base === 0 ? [] : [extra(text.base, base)]),
          ...sorted.slice(0, SHOWN).map(row),
          ...(remainder === 0 ? [] : [extra(text.remainder, remainder)]),
          [
            <strong>
              {of}, {text.total}
            </strong>,
            '',
            ...(isPair ? [''] : []),
            <strong>{numberText(value, 6)}</strong>,
            sum === undefined ? '' : `${text.dividedSum}: ${numberText(sum, 6)}`,
          ],
        ]}
        numbers={numbers}
      />
      {sorted.length > SHOWN && (
        <Fold title={text.more(sorted.length - SHOWN)}>
          <Table head={head} rows={sorted.slice(SHOWN).map(row)} numbers={numbers} />
        </Fold>
      )}
    </>
  );
}

/** What counts most in either direction. @param terms the largest first */
function inWords(terms: readonly ExplainedTerm[], isPair: boolean): string {
  const told = (some: readonly ExplainedTerm[]): string =>
    some
      .slice(0, TOLD)
      .map((term) => {
        const own = valueText(term);
        const value = term.against === undefined ? own : text.versus(own, valueText(term.against));
        return `${term.column ?? term.text} ${value} (${term.amount > 0 ? '+' : ''}${numberText(term.amount, 6)})`;
      })
      .join('; ');
  const up = terms.filter(({ amount }) => amount > 0);
  const down = terms.filter(({ amount }) => amount < 0);
  return [
    ...(up.length === 0 ? [] : [isPair ? text.speaksFor(told(up)) : text.lifts(told(up))]),
    ...(down.length === 0 ? [] : [isPair ? text.speaksAgainst(told(down)) : text.lowers(told(down))]),
  ].join(' ');
}

/** A bar from the middle: to the right for more, to the left for less. The number stands beside it. */
function Bar({ share }: { readonly share: number }): JSX.Element {
  const width = Math.min(1, Math.abs(share)) * 50;
  return (
    <span class="bar" aria-hidden="true">
      <span
        class={share < 0 ? 'less' : 'greater'}
        style={{ width: `${width}%`, left: share < 0 ? `${50 - width}%` : '50%' }}
      />
    </span>
  );
}
