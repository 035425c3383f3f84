import { expect } from 'chai';
import { VALUE_KINDS } from '../../../../runtime/language/expression/domain.js';
import { FUNCTIONS } from '../../../../runtime/language/expression/functions/registry.js';
import { OPERATORS } from '../../../../runtime/language/expression/operator-domains.js';
import { LEVELS } from '../../../../runtime/language/expression/precedence.js';
import {
  exampleArguments,
  kindGiven,
  kindOf,
  languageForms,
  type LanguageForm,
} from '../../../support/expression-forms.js';

const forms = languageForms();

describe('the domains of functions and operators', () => {
  it('are there for each function, from its least number of arguments to its most', () => {
    for (const { name, arity } of FUNCTIONS.values()) {
      const lengths = forms
        .filter(({ of, isOperator }) => of === name && !isOperator)
        .map(({ takes }) => takes.length);
      const [least, most] = arity;
      expect(Math.min(...lengths), `the fewest arguments of ${name}`).to.equal(least);
      const longest = Math.max(...lengths);
      if (most === Infinity) expect(longest, `the most arguments of ${name}`).to.be.above(least);
      else expect(longest, `the most arguments of ${name}`).to.equal(most);
    }
  });

  it('are there for each operator that the parser knows', () => {
    const known = [...LEVELS.keys(), 'not in', '[]'];
    expect(Object.keys(OPERATORS)).to.have.members(known);
  });

  for (const form of forms) {
    const { of, takes } = form;
    const args = exampleArguments(takes);
    it(`hold for ${form.write(args)}`, () => {
      expect(kindGiven(form.write(args)), 'it compiles').not.to.equal(undefined);
      for (const [at, argument] of takes.entries()) {
        if (typeof argument === 'object' && 'written' in argument)
          for (const literal of argument.written) expectCompiles(form, args.with(at, literal));
        for (const kind of VALUE_KINDS) {
          const other = args.with(at, kind);
          if (kindGiven(form.write(other)) === undefined) continue;
          expect(
            isDeclared(form, other),
            `${form.write(other)} compiles, and no form of ${of} has it`,
          ).to.equal(true);
        }
      }
    });
  }
});

function expectCompiles(form: LanguageForm, args: readonly string[]): void {
  expect(kindGiven(form.write(args)), form.write(args)).not.to.equal(undefined);
}

/** Whether a form of the same function takes these arguments. */
function isDeclared({ of, isOperator }: LanguageForm, args: readonly string[]): boolean {
  return forms.some(
    (form) =>
      form.of === of &&
      form.isOperator === isOperator &&
      form.takes.length === args.length &&
      form.takes.every((argument, at) =>
        typeof argument === 'object' && 'written' in argument
          ? argument.written.includes(args[at] ?? '')
          : kindOf(argument) === kindGiven(args[at] ?? ''),
      ),
  );
}
