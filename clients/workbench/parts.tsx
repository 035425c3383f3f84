import type { ComponentChildren, JSX } from 'preact';
import type { ExplainedValue } from '../../runtime/request/pipeline/explain/explanation.js';
import { plain, text } from './language.js';

/**
 * A table that scrolls to the side. A keyboard scrolls only what has the focus.
 * @param numbers the columns of numbers
 */
export function Table({
  head,
  rows,
  numbers = [],
}: {
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly numbers?: readonly number[];
}): JSX.Element {
  const kind = (column: number): string | undefined => (numbers.includes(column) ? 'number' : undefined);
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((one, column) => (
              <th class={kind(column)}>{one}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell, column) => (
                <td class={kind(column)}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Saves a text as a file of the person. */
export function saveFile(name: string, content: string, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function Fold({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

export function ValueTable({
  values,
}: {
  readonly values: Readonly<Record<string, ExplainedValue>>;
}): JSX.Element {
  const rows = Object.entries(values).map(([name, value]) => [name, valueText(value), statusOf(value)]);
  return <Table head={[text.name, text.value, text.status]} rows={rows} />;
}

export function valueText({ value, length }: ExplainedValue): string {
  return plain(value) + (length === undefined ? '' : ` … (${text.inAll(length)})`);
}

function statusOf({ status, cause }: Pick<ExplainedValue, 'status' | 'cause'>): JSX.Element {
  return <span class={status === 'present' ? 'dim' : undefined}>{statusText(status, cause)}</span>;
}

export function statusText(status: ExplainedValue['status'], cause?: ExplainedValue['status']): string {
  return text.statuses[status] + (cause === undefined ? '' : ` (${text.statuses[cause]})`);
}

/** Why something was refused; nothing for an empty text. */
export function Refused({ text }: { readonly text: string }): JSX.Element | null {
  return text === '' ? null : (
    <p id="refused" role="alert">
      {text}
    </p>
  );
}

/** A screen of something that is read first. */
export function Loaded<T>({
  of,
  failure,
  loading,
  kind,
  children,
}: {
  /** Undefined until it is read. */
  readonly of: T | undefined;
  readonly failure: string;
  readonly loading: string;
  readonly kind: string;
  readonly children: (of: T) => ComponentChildren;
}): JSX.Element {
  const isLoading = of === undefined && failure === '';
  return (
    <div class={kind}>
      <Refused text={failure} />
      {isLoading && <p role="status">{loading}</p>}
      {of !== undefined && children(of)}
    </div>
  );
}

/** What the address names after `?`; empty if it names nothing. */
export const namedInAddress = (name: string): string =>
  new URLSearchParams(location.hash.split('?')[1] ?? '').get(name) ?? '';
