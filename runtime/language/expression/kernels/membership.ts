import type { NumberColumn, NumbersColumn, TextsColumn } from '../../../ground/api/columns.js';
import { isKnown } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { ByCode } from '../../../ground/text/index.js';
import type { Frame } from '../../frame/frame.js';
import type { BuildKernel } from '../operand.js';
import { hideEmpty } from './elementwise.js';
import { causeAt, hideUnknown, listsInSteps, mapLists, rowsOf, settle } from './rows.js';
import { Equality, textAt } from './text-rows.js';

/** `x in (1, 2, 3)`. The set of choices is made when the expression is compiled. */
export function inNumbers(choices: ReadonlySet<number>, isList: boolean): BuildKernel {
  const test = (
    out: Float64Array,
    o: number,
    x: Float64Array,
    i: number,
    stride: number,
    n: number,
  ): void => {
    for (let k = 0; k < n; k++) {
      const value = x[i + k * stride] as number;
      out[o + k] = choices.has(value) ? 1 : value === value ? 0 : NaN;
    }
  };
  return (out, args) => {
    const [slot = -1] = args;
    if (!isList) {
      return (frame) => {
        const result = frame.number(out);
        const x = frame.number(slot);
        test(result.values, 0, x.values, 0, x.stride, rowsOf(frame, result));
        settle(frame, result, args);
      };
    }
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.numbers(slot);
      return mapLists(frame, result, list, args, (_row, at, start, n) =>
        test(result.values, at, list.values, start, 1, n),
      );
    };
  };
}

/** `x in ("a", "b")`. */
export function inTexts(choices: ReadonlySet<string>, isList: boolean): BuildKernel {
  const byCode = new ByCode((text) => (choices.has(text) ? 1 : 0));
  return (out, args) => {
    const [slot = -1] = args;
    if (!isList) {
      return (frame) => {
        const result = frame.number(out);
        const x = frame.text(slot);
        const isChoice = byCode.reader(x);
        for (let row = 0, rows = rowsOf(frame, result); row < rows; row++)
          result.values[row] = isChoice(row * x.stride);
        hideUnknown(frame, result, x);
        settle(frame, result, args);
      };
    }
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.texts(slot);
      return mapLists(frame, result, list, args, (_row, at, start, n) => {
        for (let k = 0; k < n; k++)
          result.values[at + k] = choices.has(list.values[start + k] as string) ? 1 : 0;
        hideEmpty(result.values, at, list.values, start, n);
      });
    };
  };
}

/**
 * `x in (a, b)` with computed choices: true if x equals a choice; otherwise unknown if a choice is unknown; otherwise
 * false.
 */
export const inNumberColumns: BuildKernel = (out, args) => {
  const [slot = -1, ...choices] = args;
  return (frame) => {
    const result = frame.number(out);
    const { values } = result;
    const x = frame.number(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      const value = x.values[row * x.stride] as number;
      values[row] = value === value ? 0 : NaN;
    }
    for (const choice of choices) {
      const c = frame.number(choice);
      for (let row = 0; row < rows; row++) {
        const value = c.values[row * c.stride] as number;
        if (value === x.values[row * x.stride]) values[row] = 1;
        else if (value !== value && values[row] !== 1) values[row] = NaN;
      }
    }
    settle(frame, result, args);
  };
};

export const inTextColumns: BuildKernel = (out, args) => {
  const [slot = -1, ...choices] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.text(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) result.values[row] = isKnown(x.status[row * x.stride]) ? 0 : NaN;
    for (const choice of choices) {
      const c = frame.text(choice);
      const equality = new Equality();
      for (let row = 0; row < rows; row++) {
        const found = result.values[row];
        if (found === 1 || !isKnown(x.status[row * x.stride])) continue;
        if (!isKnown(c.status[row * c.stride])) result.values[row] = NaN;
        else if (equality.of(textAt(x, row), textAt(c, row))) result.values[row] = 1;
      }
    }
    settle(frame, result, args);
  };
};

/** A list of the request is searched once for all candidates, if a search for each of them costs more. */
function isSearchedOnce(rows: number, list: NumbersColumn | TextsColumn): boolean {
  const length = lengthOf(list);
  return list.stride === 0 && rows * length > 64 * (rows + length);
}

function lengthOf({ offsets }: NumbersColumn | TextsColumn): number {
  return (offsets[1] as number) - (offsets[0] as number);
}

/** The elements that are looked for before other work may run. */
const PORTION = 1 << 13;

/** Which values are in the list of the request. It takes as long as both are, not their product. */
function* search<V>(
  wanted: ReadonlySet<V>,
  list: ArrayLike<V>,
  length: number,
  isUnknown: (element: V) => boolean,
): Pieces<{ readonly found: ReadonlySet<V>; readonly hasUnknown: boolean }> {
  const found = new Set<V>();
  let hasUnknown = false;
  for (let i = 0; i < length && found.size < wanted.size; i++) {
    const element = list[i] as V;
    if (isUnknown(element)) hasUnknown = true;
    else if (wanted.has(element)) found.add(element);
    if (i % PORTION === PORTION - 1) yield;
  }
  return { found, hasUnknown };
}

/** `x in list`. */
export const inNumberList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.number(slot);
    const list = frame.numbers(listSlot);
    const rows = rowsOf(frame, result);
    if (isSearchedOnce(rows, list)) {
      const { values } = x;
      const wanted = new Set<number>();
      for (let row = 0; row < rows; row++) if (values[row] === values[row]) wanted.add(values[row] as number);
      const isUnknown = (element: number): boolean => element !== element;
      return among(frame, result, args, values, search(wanted, list.values, lengthOf(list), isUnknown));
    }
    const work = (row: number): void => {
      const value = x.values[row * x.stride] as number;
      const end = list.offsets[row * list.stride + 1] as number;
      let found = causeAt(frame, args, row) === 0 ? 0 : NaN;
      for (let i = list.offsets[row * list.stride] as number; i < end; i++) {
        const element = list.values[i] as number;
        if (element === value) {
          found = 1;
          break;
        }
        if (element !== element) found = NaN;
      }
      result.values[row] = found;
    };
    return listsInSteps(rows, list, work, () => settle(frame, result, args));
  };
};

export const inTextList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.text(slot);
    const list = frame.texts(listSlot);
    const rows = rowsOf(frame, result);
    if (isSearchedOnce(rows, list)) {
      const wanted = new Set<string>();
      for (let row = 0; row < rows; row++) if (isKnown(x.status[row])) wanted.add(x.values[row] as string);
      const isUnknown = (element: string): boolean => element === '';
      return among(frame, result, args, x.values, search(wanted, list.values, lengthOf(list), isUnknown));
    }
    // The codes of a list of the request are looked up once. Each row compares its own code with them.
    const { codes, dictionary } = x;
    const sought =
      dictionary === undefined || list.stride !== 0 || rows < lengthOf(list)
        ? undefined
        : list.values.slice(0, lengthOf(list)).map((element) => dictionary.find(element));
    const work = (row: number): void => {
      const value = x.values[row * x.stride];
      const code = sought === undefined ? -1 : (codes?.[row * x.stride] ?? -1);
      const end = list.offsets[row * list.stride + 1] as number;
      let found = 0;
      for (let i = list.offsets[row * list.stride] as number; i < end; i++) {
        const element = list.values[i];
        if (element === '') found = NaN;
        else if (code < 0 ? element === value : sought?.[i] === code) {
          found = 1;
          break;
        }
      }
      result.values[row] = causeAt(frame, args, row) === 0 ? found : NaN;
    };
    return listsInSteps(rows, list, work, () => settle(frame, result, args));
  };
};

/** Writes whether the value of each candidate was found. */
function* among<V>(
  frame: Frame,
  result: NumberColumn,
  args: readonly number[],
  values: ArrayLike<V>,
  searching: ReturnType<typeof search<V>>,
): Pieces<void> {
  const { found, hasUnknown } = yield* searching;
  for (let row = 0; row < frame.count; row++) {
    const isFound = found.has(values[row] as V) ? 1 : hasUnknown ? NaN : 0;
    result.values[row] = causeAt(frame, args, row) === 0 ? isFound : NaN;
  }
  settle(frame, result, args);
}
