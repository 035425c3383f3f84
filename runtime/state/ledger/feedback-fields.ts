import type { Field } from './fields.js';

/** The fields of feedback of a service or an import, before the values of the event and the ids of its owners. */
export const FEEDBACK_FIELDS = [
  ['request_id', 'text', 'nullable'],
  ['time', 'time'],
  ['received', 'time'],
  ['event', 'text'],
  ['subject_type', 'text'],
  ['subject_id', 'text'],
  ['quantity', 'int32'],
  ['position', 'int32', 'nullable'],
  ['outcome', 'text'],
  ['attributed', 'text', 'nullable'],
  ['event_id', 'text', 'nullable'],
] as const satisfies readonly Field[];
