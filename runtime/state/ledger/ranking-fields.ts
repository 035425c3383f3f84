import { EXPERIMENT_FIELDS, EXPLORE_FIELDS, TEAM_FIELD } from './experiment-columns.js';
import type { Field } from './fields.js';
import type { RowGroup } from './record-schema.js';

/** The fields of every ranking: one row a request, one for each logged candidate, one for each change of it by a step. */
export const RANKING_FIELDS = {
  record: [
    ['request_id', 'text'],
    ['run_id', 'text', 'nullable'],
    ['time', 'time'],
    ['status', 'text'],
    ['degraded', 'texts'],
    ['sent', 'int32'],
    ['left', 'int32'],
    ['page_start', 'int32'],
    ['page_size', 'int32'],
    ['unit', 'text', 'nullable'],
    ['entities', 'texts'],
    ['share', 'float64'],
    ['ms', 'float64'],
  ],
  candidate: [
    ['candidate_id', 'text'],
    ['sent_at', 'int32'],
    ['place', 'int32'],
    ['base_score', 'float64', 'nullable'],
    ['score', 'float64', 'nullable'],
    ['removed_by', 'int32'],
    ['weight', 'float64'],
    ['on_page', 'bool'],
  ],
  change: [
    ['step', 'int32'],
    ['row', 'int32'],
    ['before', 'float64', 'nullable'],
    ['after', 'float64', 'nullable'],
    ['position', 'int32'],
  ],
} as const satisfies Readonly<Record<RowGroup, readonly Field[]>>;

/** The events of components, as JSON. Only requests that a service ran have them. */
export const CUSTOM_FIELD = ['custom', 'texts'] as const satisfies Field;

/** The names of the fields that a ranking can have. */
export const RANKING_NAMES: Readonly<Record<'record' | 'candidate', readonly string[]>> = {
  record: [...RANKING_FIELDS.record, CUSTOM_FIELD, ...EXPERIMENT_FIELDS].map(([name]) => name),
  candidate: [...RANKING_FIELDS.candidate, TEAM_FIELD, ...EXPLORE_FIELDS].map(([name]) => name),
};
