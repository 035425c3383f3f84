import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { PipelineAnswer } from '../../runtime/request/pipeline/answer-types.js';
import { say } from './campaign-language.js';

/** A field with a label. What is wrong with it stands below it. */
export function Field({
  label,
  problem = '',
  hint,
  children,
}: {
  readonly label: string;
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
  readonly children: (props: FieldProps) => JSX.Element;
}): JSX.Element {
  const id = useId();
  const [hintId, problemId] = [`${id}h`, `${id}p`];
  const described = [...(hint === undefined ? [] : [hintId]), ...(problem === '' ? [] : [problemId])];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-invalid': problem !== '',
        ...(described.length === 0 ? {} : { 'aria-describedby': described.join(' ') }),
      })}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
      {problem !== '' && (
        <p class="failed" id={problemId} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface FieldProps {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby'?: string;
}

/** A text field whose value counts when the person leaves it, or presses Enter. */
export function Text({
  label,
  value,
  problem,
  hint,
  type = 'text',
  disabled = false,
  placeholder,
  list,
  isLive = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
  readonly type?: 'text' | 'date' | 'datetime-local';
  readonly disabled?: boolean;
  readonly placeholder?: string;
  /** The id of a `datalist`. */
  readonly list?: string;
  /** Whether its value counts as soon as it is typed. */
  readonly isLive?: boolean;
  readonly onChange: (value: string) => void;
}): JSX.Element {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <Field label={label} problem={problem} hint={hint}>
      {(props) => (
        <input
          {...props}
          type={type}
          autocomplete="off"
          disabled={disabled}
          placeholder={placeholder}
          {...(list === undefined ? {} : { list })}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            if (isLive) onChange(currentTarget.value);
          }}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
}): JSX.Element {
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map(([one, title]) => (
            <option value={one} selected={one === value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A form whose button does something at once. */
export function Act({
  title,
  problem = '',
  children,
  onSubmit,
}: {
  readonly title: string;
  readonly problem?: string | undefined;
  readonly children: ComponentChildren;
  readonly onSubmit: () => void;
}): JSX.Element {
  const id = useId();
  return (
    <form
      class="act"
      aria-labelledby={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <h3 id={id}>{title}</h3>
      {children}
      {problem !== '' && (
        <p class="failed" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

/** Content beside the candidates of an answer. */
export function Banners({ answer }: { readonly answer: PipelineAnswer }): JSX.Element {
  const contents = answer.ranked_candidates === undefined ? [] : (answer.content ?? []);
  return (
    <>
      {contents.map(({ place, image, link, text }) => (
        <div class="banner">
          <p class="hint">{say.bannerAt(place)}</p>
          {image !== undefined && /^https?:/.test(image) && (
            <img alt="" referrerPolicy="no-referrer" src={image} />
          )}
          <p>
            {text} {link !== undefined && <span class="id">{link}</span>}{' '}
            {image !== undefined && !/^https?:/.test(image) && <span class="id">{image}</span>}
          </p>
        </div>
      ))}
    </>
  );
}
