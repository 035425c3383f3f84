import { expect } from 'chai';
import { MillraceError } from '../../runtime/api/errors.js';
import { idsOf, pluginFiles, startProject } from '../support/project.js';

const CANDIDATES = { candidates: ['a', 'b', 'c'].map((product_id) => ({ product_id })) };

/** A mistake of a plugin in a request: its name, the kind of plugin, its `create`, and the message. */
const FAULTS: readonly (readonly [string, string, string, string])[] = [
  [
    'writes a status that does not exist',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').status[1] = 77; } };`,
    'the column `value` has the status 77 in row 1',
  ],
  [
    'writes an invalid status of a text',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) { output.text('value').status[0] = 7; } };`,
    'the column `value` has the status 7 in row 0',
  ],
  [
    'writes a number as a text',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) {
       const column = output.text('value'); column.values[2] = 5; column.status[2] = Status.present; } };`,
    'the column `value` is text: row 2 holds number',
  ],
  [
    'puts too short a list in a column',
    'feature',
    `return { outputs: { value: 'text' }, compute(input, output) { output.text('value').values = ['x']; } };`,
    'the column `value` has 1 rows for 3 candidates',
  ],
  [
    'puts a plain list in a number column',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('value').values = [1, 2, 3]; } };`,
    'the column `value` holds other arrays: a number column has a Float64Array of values',
  ],
  [
    'writes a bool that is neither 0 nor 1',
    'feature',
    `return { outputs: { value: 'bool' }, compute(input, output) {
       const column = output.number('value'); column.values[1] = 2; column.status[1] = Status.present; } };`,
    'the column `value` is bool: row 1 holds 2, expected 0 or 1',
  ],
  [
    'writes an output that it does not declare',
    'feature',
    `return { outputs: { value: 'number' }, compute(input, output) { output.number('other'); } };`,
    'declares no output other',
  ],
  [
    'returns no report',
    'rule',
    'return { apply() {} };',
    '`apply` returned no report: a rule returns { applied, skipped }',
  ],
  ['returns no selection', 'filter', 'return { select() {} };', '`select` returned no selection'],
  [
    'removes a row that does not exist',
    'filter',
    `return { select: () => ({ removed: [99], reason: 'x', undecided: 0 }) };`,
    'there is no row 99',
  ],
  [
    'buries a row that does not exist',
    'rule',
    'return { apply(input, ranking) { ranking.bury(-1); return { applied: 0, skipped: 0 }; } };',
    'there is no row -1',
  ],
  [
    'pins a row that does not exist',
    'rule',
    'return { apply(input, ranking) { ranking.pin(1.5, 1); return { applied: 0, skipped: 0 }; } };',
    'there is no row 1.5',
  ],
];

describe('a plugin that breaks its contract in a request', () => {
  for (const [what, kind, create, message] of FAULTS) {
    it(`fails its step, or is skipped, if it ${what}`, async () => {
      const files = (onError: string): Record<string, string> => ({
        'package.json': '{ "type": "module" }',
        ...pluginFiles('wrong', kind, create),
        'pipelines/ranking.yaml': `pipeline: ranking
rank: product
components:
  - use: wrong
    on_error: ${onError}
`,
      });
      const strict = await startProject(files('fail'));
      const error = await strict.rank(CANDIDATES).catch((caught: unknown) => caught);
      await strict.close();
      expect(error).to.be.instanceOf(MillraceError);
      expect((error as MillraceError).code).to.equal('component_failed');
      expect(String((error as MillraceError).cause)).to.contain(message);

      const lenient = await startProject(files('skip'));
      const { ranked, report } = await lenient.run(CANDIDATES);
      await lenient.close();
      expect(idsOf(ranked)).to.deep.equal(['a', 'b', 'c']);
      expect([...report.skippedSteps]).to.deep.equal(['wrong']);
    });
  }
});
