import type { Column } from '../../../ground/api/columns.js';
import { DEFAULTED, Status } from '../../../ground/api/status.js';
import type { JsonValue } from '../../../ground/api/types.js';
import type { FeatureDefinition } from '../../../project/config/model/views.js';
import { writeJson, writeMissing } from '../../../language/frame/cells.js';

/**
 * Writes cells of features without a value: the declared default, if there is one. A default replaces missing, null and
 * expired values but never a failed read. The cell keeps the reason for the default.
 */
export class DefaultCells {
  /** By column, checked against the type when the project was loaded; undefined if the feature has no default. */
  readonly #defaults: readonly (JsonValue | undefined)[];

  /** @param features in the order of the columns */
  constructor(features: readonly FeatureDefinition[]) {
    this.#defaults = features.map(({ default: value }) => value);
  }

  write(columns: readonly Column[], index: number, row: number, status: number): void {
    const column = columns[index];
    if (column === undefined) return;
    const declared = this.#defaults[index];
    if (declared === undefined || status === Status.failed) {
      writeMissing(column, row, status);
      return;
    }
    writeJson(column, row, declared);
    column.status[row] = DEFAULTED | status;
  }
}
