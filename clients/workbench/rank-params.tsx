import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WorkbenchProject } from '../../runtime/serve/http/routes/workbench.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { numberText, plain } from './language.js';
import { say } from './rank-language.js';

type Param = WorkbenchProject['pipelines'][number]['params'][number];
/** Values that differ from those of the file, by name. */
export type Tried = Readonly<Record<string, number>>;

/** The steps of a slider from its least to its greatest value. */
const STEPS = 200;

/** A param without a range: a slider from 0 to twice its value, and at least to 1. */
function rangeOf({ value, min, max }: Param): { readonly min: number; readonly max: number } {
  return { min: min ?? Math.min(0, 2 * value), max: max ?? Math.max(1, 2 * value) };
}

/** Sliders of the params, and the change of the file that they stand for. */
export function Params({
  params,
  tried,
  used,
  diff,
  onTry,
}: {
  readonly params: readonly Param[];
  readonly tried: Tried;
  /** The values that the page was ranked with. */
  readonly used: Explanation['params'];
  readonly diff: string;
  readonly onTry: (tried: Tried) => void;
}): JSX.Element {
  const [said, setSaid] = useState('');
  const move = (param: Param, value: number): void => {
    const others = Object.entries(tried).filter(([name]) => name !== param.name);
    setSaid('');
    onTry(Object.fromEntries([...others, ...(value === param.value ? [] : [[param.name, value] as const])]));
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(diff);
      setSaid(say.copied);
    } catch {
      setSaid(say.notCopied);
    }
  };
  const isChanged = Object.keys(tried).length > 0;
  const ofArm = params.flatMap(({ name, value }) => {
    const its = used[name];
    return tried[name] !== undefined || its === undefined || its === value ? [] : [`${name} ${plain(its)}`];
  });
  return (
    <fieldset id="params">
      <legend>{say.tryParams}</legend>
      <div class="row">
        {params.map((param) => {
          const { min, max } = rangeOf(param);
          const value = tried[param.name] ?? param.value;
          return (
            <label>
              {param.name}{' '}
              <input
                type="range"
                min={min}
                max={max}
                step="any"
                value={value}
                aria-valuetext={numberText(value)}
                onKeyDown={(event) => {
                  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
                  if (by === undefined) return;
                  event.preventDefault();
                  move(
                    param,
                    rounded(Math.min(max, Math.max(min, value + (by * (max - min)) / STEPS)), max - min),
                  );
                }}
                onInput={({ currentTarget }) => move(param, rounded(Number(currentTarget.value), max - min))}
              />{' '}
              <output>{numberText(value)}</output>
            </label>
          );
        })}
      </div>
      <div class="row">
        <button type="button" disabled={diff === ''} onClick={() => void copy()}>
          {say.copyDiff}
        </button>
        <button type="button" disabled={!isChanged} onClick={() => onTry({})}>
          {say.ofFile}
        </button>
        <span role="status">{said === '' && !isChanged ? say.noDiff : said}</span>
      </div>
      {ofArm.length > 0 && <p class="hint">{say.ofArm(ofArm.join(', '))}</p>}
      {diff !== '' && (
        <details open={said === say.notCopied}>
          <summary>{say.diff}</summary>
          <pre id="diff" tabIndex={0} aria-label={say.diff}>
            {diff}
          </pre>
        </details>
      )}
    </fieldset>
  );
}

/** A number that a person would write: a few digits of the range. */
function rounded(value: number, range: number): number {
  const digits = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(range))));
  return Number(value.toFixed(digits));
}
