/** A column of a model. */
export interface ModelColumn {
  readonly name: string;
  /** The texts that it can have; undefined for a number. */
  readonly categories?: readonly string[];
}

/**
 * A LightGBM model, as `save_model` writes it, with the columns and one tree of one leaf: it scores every candidate 0. With
 * it a pipeline is whole, and logs what the model reads, before anything is trained.
 */
export function emptyModel(columns: readonly ModelColumn[]): string {
  const tree = [
    'Tree=0',
    'num_leaves=1',
    'num_cat=0',
    'split_feature=',
    'split_gain=',
    'threshold=',
    'decision_type=',
    'left_child=',
    'right_child=',
    'leaf_value=0',
    'leaf_weight=',
    'leaf_count=',
    'internal_value=',
    'internal_weight=',
    'internal_count=',
    'is_linear=0',
    'shrinkage=1',
    '',
    '',
    '',
  ].join('\n');
  const categorical = [...columns.keys()].filter((at) => columns[at]?.categories !== undefined);
  return [
    'tree',
    'version=v4',
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    `max_feature_idx=${columns.length - 1}`,
    'objective=lambdarank',
    `feature_names=${columns.map(({ name }) => name).join(' ')}`,
    `feature_infos=${columns.map(() => 'none').join(' ')}`,
    `tree_sizes=${tree.length}`,
    '',
    `${tree}end of trees`,
    '',
    'feature_importances:',
    '',
    'parameters:',
    '[objective: lambdarank]',
    `[categorical_feature: ${categorical.join(',')}]`,
    'end of parameters',
    '',
    `pandas_categorical:${JSON.stringify(categorical.map((at) => columns[at]?.categories ?? []))}`,
    '',
  ].join('\n');
}
