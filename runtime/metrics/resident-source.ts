import type { TableState } from '../resident/resident-tables.js';

/** What the resident tables hold and have counted. */
export interface ResidentSource {
  states(): readonly TableState[];
  isCurrent(): boolean;
}
