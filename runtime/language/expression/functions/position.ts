import { constant } from '../operand.js';
import { NUMBER } from '../types.js';
import { wrongNumber, type FunctionEntry } from './function-entry.js';

/**
 * The place of a candidate, for a model that learns how much a place alone is clicked. A place depends on the score, so it
 * is not known when the model serves: then all candidates have the same one.
 */
export const POSITION: FunctionEntry = {
  name: 'position',
  group: 'request',
  signature: 'position(n)',
  summary:
    'For `inputs:` of a model that is trained on the ledger: the place at which a candidate was shown, from 1. While the pipeline serves it is n for all candidates.',
  arity: [1, 1],
  domain: [[{ written: ['1', '24'] }]],
  check: (call) => {
    const { checker, node, args } = call;
    const [served] = args;
    const place = served?.tag === 'constant' && served.type.kind === 'number' ? Number(served.value) : NaN;
    if (!Number.isInteger(place) || place < 1) {
      wrongNumber(call, 0, 'a whole number from 1', 'for example `position(1)`');
      return undefined;
    }
    const position = checker.position();
    if (position === 'served') return constant(node, NUMBER, place);
    if (position !== undefined) {
      const { type, scope, slot } = position;
      return { tag: 'source', node, type, scope, slot };
    }
    checker.problem(
      'expression_scope',
      node,
      '`position` is only for the options of a step: a definition has one value in training and in serving',
      'write it under `inputs:` of the model, for example `inputs: { shown_at: position(1) }`',
    );
    return undefined;
  },
};
