import type { RecordColumn } from './record-schema.js';

/** The columns of every feedback record of a service or an import, before the values of the event and the ids of its owners. */
export const FEEDBACK_COLUMNS: readonly RecordColumn[] = [
  column('request_id', 'text', true),
  column('time', 'time'),
  column('received', 'time'),
  column('event', 'text'),
  column('subject_type', 'text'),
  column('subject_id', 'text'),
  column('quantity', 'int32'),
  column('position', 'int32', true),
  column('outcome', 'text'),
  column('attributed', 'text', true),
  column('event_id', 'text', true),
];

function column(name: string, type: RecordColumn['type'], nullable = false): RecordColumn {
  return { name, is: 'field', rows: 'record', type, nullable };
}
