import type { CurationWanted } from '../../ground/api/curation.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Located } from '../../project/config/yaml/source.js';
import { didYouMean } from '../../ground/core/nearest.js';
import { CurationBinding } from '../../state/curation/curation-binding.js';
import type { CurationLists } from '../../state/curation/curation-lists.js';
import { KnownNames } from '../../state/curation/late-expression.js';
import { compileExpression, type Expected } from '../../language/expression/compile.js';
import type { Environment } from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import type { PlanColumns } from './plan-columns.js';
import { ANYTHING, compileText } from './compile-input.js';

export interface CurationPlace {
  readonly pipeline: string;
  readonly names: Environment;
  /** The same names, but what is resolved does not count as read by the step. */
  readonly others: Environment;
  readonly layout: FrameLayout;
  readonly columns: PlanColumns;
  readonly lists: CurationLists | undefined;
  /** Finds an option of the step in its file. */
  readonly locate: (path: readonly (string | number)[]) => Located<string>['at'];
  readonly diagnostics: Diagnostics;
}

/**
 * Binds a step to a list: the plan reads whatever its rules name. The rules themselves are compiled after the plan.
 * @throws OptionError if there is no such list
 */
export function needCuration(
  { list, query, category, reads = [] }: CurationWanted,
  { pipeline, names, others, layout, columns, lists, locate, diagnostics }: CurationPlace,
): CurationBinding {
  const state = lists?.get(list);
  if (state === undefined) {
    throw new OptionError(
      ['list'],
      `there is no list \`${list}\``,
      didYouMean(list, lists?.names() ?? []) ??
        `\`millrace new curation ${list}\` writes curation/${list}.yaml`,
    );
  }
  const known = new KnownNames();
  const environment = known.learning(names);
  // What earlier steps read is there anyway, so that rules which come later can use it.
  const there = known.learning(others);
  for (const { name, isPrivate } of [...layout.columns])
    if (name !== undefined && isPrivate !== true) compileExpression(name, there, ANYTHING);
  const learn = (text: Located<string>, expected: Expected): void => {
    compileText(text, expected, environment, diagnostics);
  };
  for (const [index, name] of reads.entries()) learn({ value: name, at: locate(['reads', index]) }, ANYTHING);
  for (const { when, boosts, buries } of state.rules.file) {
    if (when !== undefined) learn(when, { type: 'bool', scope: 'request' });
    for (const where of [...boosts.map((boost) => boost.where), ...buries])
      learn(where, { type: 'bool', scope: 'any' });
  }
  return new CurationBinding(list, pipeline, columns, known, {
    query: query?.slot ?? textSlot(environment, 'query.query'),
    category: category?.slot ?? textSlot(environment, 'category.category_id', 'request.category'),
  });
}

/** The first of some texts that the request of the pipeline has. */
function textSlot(names: Environment, ...texts: readonly string[]): number | undefined {
  for (const text of texts) {
    const found = compileExpression(text, names, { type: 'text', scope: 'request' });
    if (found.ok) return found.expression.slot;
  }
  return undefined;
}
