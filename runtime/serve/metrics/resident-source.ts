import type { TableState } from '../../request/resident/resident-tables.js';

/** The content and the counters of the resident tables. */
export interface ResidentSource {
  states(): readonly TableState[];
  isCurrent(): boolean;
}
