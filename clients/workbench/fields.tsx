import type { JSX } from 'preact';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import { text, words } from './language.js';

type Field = WorkbenchProject['pipelines'][number]['fields'][number];
type Body = Record<string, unknown>;
/** What is typed, by the names of parameters. */
export type Typed = Readonly<Record<string, string>>;

/** An input for each field of a request. */
export function Fields({
  fields,
  typed,
  onInput,
}: {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly onInput: (field: Field, value: string) => void;
}): JSX.Element {
  return (
    <span id="fields">
      {fields.map((field) => {
        const { name, parameter, type, key } = field;
        const id = key !== undefined && parameter !== 'q' ? text.id : undefined;
        return (
          <label key={parameter}>
            {words(name)}{' '}
            <input
              type="text"
              enterkeyhint="search"
              inputMode={type === 'number' ? 'decimal' : 'text'}
              name={parameter}
              autocomplete="off"
              placeholder={type === 'boolean' ? text.trueOrFalse : id}
              value={typed[parameter] ?? ''}
              onInput={({ currentTarget }) => onInput(field, currentTarget.value)}
            />
          </label>
        );
      })}
    </span>
  );
}

/** Sets a field of a body as the route reads it from an address; an empty text leaves it out. */
export function withField(body: Body, { name, key, type }: Field, value: string): Body {
  const rest = Object.fromEntries(Object.entries(body).filter(([one]) => one !== name));
  if (value.trim() === '') return rest;
  if (key !== undefined) return { [name]: { [key]: value }, ...rest };
  const isNumber = type === 'number' && Number.isFinite(Number(value));
  const isBool = type === 'boolean' && (value === 'true' || value === 'false');
  return { [name]: isNumber ? Number(value) : isBool ? value === 'true' : value, ...rest };
}
