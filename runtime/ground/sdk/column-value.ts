import type { Column } from '../api/columns.js';
import type { FeatureValue } from '../api/step-input.js';

/** The value of a cell, as JSON has it. Its status must be a known one. */
export function columnValue(column: Column, at: number): FeatureValue['value'] {
  switch (column.kind) {
    case 'number':
    case 'text':
      return column.values[at];
    case 'texts':
      return column.values.slice(column.offsets[at], column.offsets[at + 1]);
    case 'numbers':
      return [...column.values.subarray(column.offsets[at], column.offsets[at + 1])];
    case 'vector':
      return [...column.values.subarray(at * column.size, (at + 1) * column.size)];
  }
}
