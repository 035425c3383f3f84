import { YAML_WORDS, type Word } from '../model/yaml-keys.generated.js';

/** The logs of other systems that are read without a mapping of columns. */
export const READY_MAPS = YAML_WORDS['import-map.sources.map'];
export type ReadyMap = Word<'import-map.sources.map'>;

export function isReadyMap(name: string): name is ReadyMap {
  return READY_MAPS.some((ready) => ready === name);
}

/** Keys of a mapping of feedback that name no entity type. */
export const FEEDBACK_COLUMNS = [
  'request',
  'time',
  'position',
  'items',
  'type',
  'quantity',
  'event_id',
] as const;
