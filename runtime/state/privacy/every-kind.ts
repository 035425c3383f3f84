import type { KeyKind } from '../store/keys.js';
import { counterData, markData } from './counter-data.js';
import { entityData } from './entity-data.js';
import { featureData } from './feature-data.js';
import { historyData } from './history-data.js';
import type { PersonalData } from './personal-data.js';

/** Every kind of record in the store; undefined if it holds no ids of entities. */
export const PERSONAL_DATA: Readonly<Record<KeyKind, PersonalData | undefined>> = {
  entity: entityData,
  features: featureData,
  history: historyData,
  counters: counterData,
  marks: markData,
  layout: undefined,
  meta: undefined,
};
