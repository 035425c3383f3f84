import type { Edit, StepRef } from '../run/outcome.js';

/** Significant digits of numbers in messages. */
const DIGITS = 7;

export function numberText(value: number): string {
  return Number.isNaN(value) ? 'no score' : String(Number(value.toPrecision(DIGITS)));
}

export function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'no value';
  return typeof value === 'number' ? numberText(value) : JSON.stringify(value);
}

/** How messages name a step: its name, and its number, because several rules may have the same name. */
export function stepText({ as, number }: StepRef): string {
  return `${as} (step ${number})`;
}

/** What a step did to a candidate, in a few characters: `boost#6 +1.2`. */
export function editText(edit: Edit): string {
  const { as, number } = edit.step;
  return `${as}#${number} ${effectText(edit)}`;
}

function effectText(edit: Edit): string {
  if (edit.kind === 'pin') return `to ${edit.position}`;
  if (edit.kind === 'below') return 'below';
  if (edit.kind === 'place') return `${edit.from ?? 'removed'} → ${edit.to}`;
  if (Number.isNaN(edit.before)) return `= ${shortText(edit.after)}`;
  const change = edit.after - edit.before;
  return `${change < 0 ? '-' : '+'}${shortText(Math.abs(change))}`;
}

function shortText(value: number): string {
  return Number.isNaN(value) ? 'none' : String(Number(value.toPrecision(3)));
}

/** Whether two numbers differ by at most the tolerance; two missing numbers are the same. */
export function isNear(found: number, expected: number, tolerance: number): boolean {
  if (Number.isNaN(found) || Number.isNaN(expected)) return Number.isNaN(found) && Number.isNaN(expected);
  return Math.abs(found - expected) <= tolerance;
}
