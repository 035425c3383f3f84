import { MillraceError } from '../../ground/api/errors.js';
import { isElsewhere, type FeatureView } from '../../project/config/model/views.js';
import { PLAIN_IDS, type IdHasher } from '../../ground/core/id-hasher.js';
import { unknownName } from '../../ground/core/body-fields.js';
import type { Usage } from '../../ground/core/usage.js';
import { viewId } from '../store/codec/feature-record.js';
import { knownLayouts } from '../store/codec/known-layouts.js';
import { RecordLayout } from '../store/codec/record-layout.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RowShape } from './check-row.js';
import { HistoryRecords } from './history-records.js';
import { rowKeys } from './row-keys.js';
import type { StoreParts } from './store-parts.js';

export interface ViewParts extends Pick<StoreParts, 'types'> {
  readonly views: ReadonlyMap<string, FeatureView>;
  /** Records the rows of views with `history: true`; by default nothing is recorded. */
  readonly ledger?: Ledger;
  /** Replaces ids in records; by default it replaces none. */
  readonly hasher?: IdHasher;
}

/** A feature view, and how its rows are checked, stored and recorded. */
export interface StoredView extends RowShape {
  readonly definition: FeatureView;
  readonly id: Buffer;
  /** Undefined if its rows are not recorded. */
  readonly records: HistoryRecords | undefined;
}

/** The feature views of a project whose rows Millrace stores. */
export class StoredViews {
  readonly #views: ReadonlyMap<string, StoredView>;

  /** @param usage counts the records that are not written yet */
  constructor({ views, types, ledger, hasher = PLAIN_IDS }: ViewParts, usage: Usage) {
    this.#views = new Map(
      Array.from(views.values(), (definition): [string, StoredView] => {
        const layout = knownLayouts.add(viewLayout(definition));
        const isRecorded = definition.history === true && ledger !== undefined;
        return [
          definition.name,
          {
            definition,
            view: definition.name,
            id: viewId(definition.name),
            keys: rowKeys(definition, types),
            rules: definition.of.map((type) => types.get(type)),
            layout,
            features: definition.features,
            records: isRecorded
              ? new HistoryRecords(definition, layout, { ledger, hasher, usage })
              : undefined,
          },
        ];
      }),
    );
  }

  /** @throws MillraceError unknown_view; invalid_body if Feast stores the rows of the view */
  get(name: string): StoredView {
    const view = this.#views.get(name);
    if (view !== undefined && isElsewhere(view.definition)) {
      const { reader } = view.definition;
      const detail =
        reader === undefined
          ? `view: ${view.view} reads its rows from Feast and is read-only; materialise them with Feast`
          : `view: ${view.view} reads its rows with the reader ${reader.use.value} and is read-only; write them there`;
      throw new MillraceError('invalid_body', detail);
    }
    if (view !== undefined) return view;
    const none = 'schemas/features declares none';
    throw new MillraceError(
      'unknown_view',
      unknownName('view', 'feature view', name, this.#views.keys(), none),
    );
  }
}

/** The layout of a view's segments in the current project. */
export function viewLayout(view: FeatureView): RecordLayout {
  return new RecordLayout(
    Array.from(view.features.values(), ({ name, type }) => [name, type] as const),
    undefined,
  );
}
