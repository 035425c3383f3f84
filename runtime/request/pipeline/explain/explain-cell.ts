import type { Frame } from '../../../language/frame/frame.js';
import type { FrameLayout } from '../../../language/frame/frame-layout.js';
import { readCell } from '../components/step-view.js';
import { PRIVATE } from '../page/private-value.js';
import type { ExplainedValue } from './explanation.js';

const MOST_ELEMENTS = 16;
const MOST_CHARACTERS = 500;

/** @param layout the columns of the frame */
export function explainCell(
  layout: Pick<FrameLayout, 'columns'>,
  frame: Frame,
  slot: number,
  row: number,
): ExplainedValue {
  const { value, status, cause } = readCell(frame, slot, row);
  const more = cause === undefined ? {} : { cause };
  if (value === undefined) return { value: null, status, ...more };
  if (layout.columns[slot]?.isPrivate === true) return { value: PRIVATE, status, ...more };
  if (typeof value === 'number') return { value, status, ...more };
  const most = typeof value === 'string' ? MOST_CHARACTERS : MOST_ELEMENTS;
  const length = value.length > most ? { length: value.length } : {};
  const cut = value.slice(0, most);
  // Unknown list elements are NaN, which JSON cannot represent.
  const shown = typeof cut === 'string' ? cut : cut.map((one) => (Number.isNaN(one) ? null : one));
  return { value: shown, status, ...more, ...length };
}
