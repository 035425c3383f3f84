import type { Column } from '../../api/columns.js';
import { DEFAULTED, Status } from '../../api/status.js';
import type { JsonValue } from '../../api/types.js';
import type { FeatureDefinition } from '../../config/project/model.js';
import { writeMissing } from '../../frame/cells.js';
import { writeFromJson, type WantedColumn } from './wanted-column.js';

/**
 * Writes cells of features that have no value of their own: the declared default if there is one. It covers what is
 * missing, null or expired, but never a failed read, and the cell keeps its cause.
 */
export class DefaultCells {
  /** By column; undefined where no default is declared. */
  readonly #defaults: readonly ({ readonly value: JsonValue; readonly want: WantedColumn } | undefined)[];

  /** @param features in the order of the columns */
  constructor(features: readonly FeatureDefinition[]) {
    this.#defaults = features.map(({ name, type, default: value }) =>
      value === undefined ? undefined : { value, want: { path: [name], type, list: false } },
    );
  }

  write(columns: readonly Column[], index: number, row: number, status: number): void {
    const column = columns[index];
    if (column === undefined) return;
    const stand = this.#defaults[index];
    if (stand === undefined || status === Status.failed) {
      writeMissing(column, row, status);
      return;
    }
    writeFromJson(column, row, stand.value, stand.want, Status.absent);
    if (column.status[row] === Status.present) column.status[row] = DEFAULTED | status;
  }
}
