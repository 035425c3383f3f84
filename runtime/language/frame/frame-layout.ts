import type { ColumnKind } from '../../ground/api/columns.js';

/** Whether a column has a row per candidate or one row for the whole request. */
export type Scope = 'request' | 'candidate';

export type ColumnShape =
  | { readonly kind: Exclude<ColumnKind, 'vector'>; readonly scope: Scope }
  | { readonly kind: 'vector'; readonly scope: Scope; readonly size: number };

/** A column that holds one literal for the lifetime of the frame. */
export type Constant =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'texts'; readonly value: readonly string[] }
  | { readonly kind: 'numbers'; readonly value: readonly number[] };

/** What a column holds, for those who show its values. */
export interface ColumnMarks {
  /** True if the values must not be shown. */
  readonly isPrivate?: boolean;
  /** The entity type whose ids the column holds, or texts that are made of such ids. */
  readonly idsOf?: string | undefined;
}

export interface LayoutColumn extends ColumnMarks {
  readonly shape: ColumnShape;
  readonly constant?: Constant;
  /** The name in explain and `millrace plan`. Scratch columns have none. */
  readonly name?: string;
}

/**
 * The columns that a plan needs, in the order of their numbers (slots). It is built when a pipeline is compiled, and
 * every frame of the plan reads it. A request uses only slot numbers.
 */
export class FrameLayout {
  readonly #columns: LayoutColumn[] = [];
  readonly #constants = new Map<string, number>();
  readonly #groups: (readonly number[])[] = [];

  get columns(): readonly LayoutColumn[] {
    return this.#columns;
  }

  /** Adds a column and returns its slot. */
  add(shape: ColumnShape, name?: string, marks: ColumnMarks = {}): number {
    this.#columns.push({ shape, ...(name === undefined ? {} : { name }), ...marks });
    return this.#columns.length - 1;
  }

  /** A layout that starts with the columns and groups of this one. Columns that are added to it do not change this one. */
  extended(): FrameLayout {
    const longer = new FrameLayout();
    longer.#columns.push(...this.#columns);
    longer.#groups.push(...this.#groups);
    return longer;
  }

  /** The columns from a slot on, as a layout of their own. */
  from(slot: number): FrameLayout {
    const rest = new FrameLayout();
    rest.#columns.push(...this.#columns.slice(slot));
    return rest;
  }

  /** Groups slots that are written together. Returns the number under which a frame stores their columns. */
  group(slots: readonly number[]): number {
    this.#groups.push(Object.freeze([...slots]));
    return this.#groups.length - 1;
  }

  get groups(): readonly (readonly number[])[] {
    return this.#groups;
  }

  /** Adds a column like that of a literal, which no other literal shares. Its value can be changed between runs. */
  variable(value: number): number {
    this.#columns.push({ shape: { kind: 'number', scope: 'request' }, constant: { kind: 'number', value } });
    return this.#columns.length - 1;
  }

  /** Returns the slot of a literal. Equal literals share one slot. */
  constant(constant: Constant): number {
    const key = JSON.stringify([constant.kind, Object.is(constant.value, -0) ? '-0' : constant.value]);
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    this.#columns.push({ shape: { kind: constant.kind, scope: 'request' }, constant });
    const slot = this.#columns.length - 1;
    this.#constants.set(key, slot);
    return slot;
  }
}
