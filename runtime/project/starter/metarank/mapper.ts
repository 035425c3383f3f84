import { textIn, type MetarankFeature } from './config.js';
import { nameOf, type Draft, type Note, type Step } from './draft.js';

/** A column of the model, and the expression that gives it. */
export interface Column {
  readonly name: string;
  readonly value: string;
}

/** What a feature of Metarank becomes in a pipeline. */
export interface MappedFeature {
  readonly columns: readonly Column[];
  readonly steps: readonly Step[];
  readonly state: Note['state'];
  readonly detail: string;
}

export type Mapper = (feature: MetarankFeature, draft: Draft) => MappedFeature | string;

export const carried = (
  columns: readonly Column[],
  detail: string,
  steps: readonly Step[] = [],
  state: Note['state'] = 'carried',
): MappedFeature => ({ columns, steps, state, detail });

/** `field` is the newer spelling of `source`. */
export const sourceOf = (options: MetarankFeature['options']): string =>
  textIn(options, 'field') ?? textIn(options, 'source') ?? '';

export const isOfItem = (options: MetarankFeature['options']): boolean =>
  (textIn(options, 'scope') ?? 'item') === 'item';

/** The import of events calls it so too. */
export const kindOf = (interaction: string): string =>
  interaction === 'purchase' ? 'order' : nameOf(interaction);
