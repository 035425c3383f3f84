import fc from 'fast-check';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import {
  type Argument,
  VALUE_KINDS,
  type ValueKind,
} from '../../../../runtime/language/expression/domain.js';
import {
  exampleArguments,
  kindGiven,
  languageForms,
  TYPES,
  type LanguageForm,
} from '../../../support/expression-forms.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import type { ElementType, ExpressionType } from '../../../../runtime/language/expression/environment.js';
import type { Scope } from '../../../../runtime/language/frame/frame-layout.js';
import { Missing, type Outcome, type Single } from '../../../support/interpreter.js';
import { type Data, type NamedColumn, OptionTable } from './table.js';

/** A column of each kind and scope: `c.number`, `r.texts`, and two of numbers. */
export const COLUMNS: Readonly<Record<string, NamedColumn>> = Object.fromEntries(
  (['candidate', 'request'] as const).flatMap((scope): [string, NamedColumn][] => {
    const to = scope === 'candidate' ? 'c' : 'r';
    return [
      ...VALUE_KINDS.map((kind): [string, NamedColumn] => [`${to}.${kind}`, { type: TYPES[kind], scope }]),
      [`${to}:number`, { type: TYPES.number, scope }],
    ];
  }),
);

const NUMBERS = [0, 1, -1, 2.5, 3, 10, 1e-3, 1e300];
const TEXTS = ['a', 'b', 'ab', 'Ab', 'é😀', 'Europe/Berlin', 'Die Läufe, 1,5 l'];
const TIMES = [0, Date.UTC(2026, 0, 31, 12, 30), Date.UTC(1969, 5, 1), Date.UTC(2024, 1, 29)];

const missing = fc
  .constantFrom(
    Status.null,
    Status.absent,
    Status.missing_entity,
    Status.missing_feature,
    Status.expired,
    Status.failed,
  )
  .map((status) => new Missing(status));

function single(type: ElementType): fc.Arbitrary<Single> {
  switch (type.kind) {
    case 'number':
      return fc.constantFrom(...NUMBERS);
    case 'bool':
      return fc.boolean();
    case 'time':
      return fc.constantFrom(...TIMES);
    default:
      // In a list, '' means an unknown element.
      return fc.constantFrom(...TEXTS);
  }
}

function cell(type: ExpressionType): fc.Arbitrary<Outcome> {
  const value: fc.Arbitrary<Outcome> =
    type.kind === 'vector'
      ? fc.array(fc.constantFrom(...NUMBERS), { minLength: type.size, maxLength: type.size })
      : type.kind === 'list'
        ? fc.array(fc.option(single(type.of), { nil: undefined, freq: 4 }), { maxLength: 4 })
        : type.kind === 'text'
          ? fc.oneof(single(type), fc.constant(''))
          : single(type);
  return fc.oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: missing });
}

/** A request: the number of its candidates, and the contents of its columns. */
export const request: fc.Arbitrary<{ readonly count: number; readonly data: Data }> = fc
  .nat({ max: 6 })
  .chain((count) =>
    fc
      .record(
        Object.fromEntries(
          Object.entries(COLUMNS).map(([name, { type, scope }]): [string, fc.Arbitrary<Outcome[]>] => {
            const rows = scope === 'request' ? 1 : count;
            return [name, fc.array(cell(type), { minLength: rows, maxLength: rows })];
          }),
        ),
      )
      .map((data) => ({ count, data })),
  );

/** The form as an expression with columns and literals, which is tried before it is used in others. */
const compiles = (text: string): boolean =>
  compileExpression(text, new OptionTable(COLUMNS), { type: 'any', scope: 'any' }).ok;

/** Any literal of a kind, if it has literals. */
const LITERALS: Readonly<Partial<Record<ValueKind, fc.Arbitrary<string>>>> = {
  number: fc.constantFrom(...NUMBERS.filter((x) => x >= 0)).map(String),
  bool: fc.constantFrom('true', 'false'),
  text: fc.constantFrom(...TEXTS).map((text) => JSON.stringify(text)),
};

const FORMS = languageForms();

/** The forms that give a value of a kind. Of literals that change its type, as the size of a vector, one is taken. */
const GIVING = new Map<ValueKind, readonly LanguageForm[]>(
  VALUE_KINDS.map((kind) => [
    kind,
    FORMS.filter((form) => kindGiven(form.write(exampleArguments(form.takes))) === kind),
  ]),
);

type Expressions = Readonly<Record<ValueKind, fc.Arbitrary<string>>>;

/**
 * The text of a well-typed expression, for each kind of value. The forms are those of the tables of functions and operators,
 * so every function is called, with every kind of argument that it declares.
 */
export function expressions(scopes: readonly Scope[]): Expressions {
  const named = (kind: ValueKind): fc.Arbitrary<string> =>
    fc.constantFrom(
      ...scopes.flatMap((scope) => {
        const to = scope === 'candidate' ? 'c' : 'r';
        return kind === 'number' ? [`${to}.number`, `${to}:number`] : [`${to}.${kind}`];
      }),
    );
  return fc.letrec<Record<ValueKind, string>>(
    (tie) =>
      Object.fromEntries(
        VALUE_KINDS.map((kind) => [
          kind,
          fc.oneof(
            { maxDepth: 3, depthIdentifier: 'e' },
            { weight: 4, arbitrary: fc.oneof(named(kind), LITERALS[kind] ?? named(kind)) },
            ...(GIVING.get(kind) ?? []).map((form) => calls(form, kind, tie)),
          ),
        ]),
      ) as Record<ValueKind, fc.Arbitrary<string>>,
  );
}

/** The forms of the language, each with expressions that are such a call or operation. */
export function formExpressions(
  scopes: readonly Scope[],
): readonly (readonly [form: string, fc.Arbitrary<string>])[] {
  const all = expressions(scopes);
  return [...GIVING].flatMap(([kind, forms]) =>
    forms.map(
      (form) => [form.write(exampleArguments(form.takes)), calls(form, kind, (of) => all[of])] as const,
    ),
  );
}

function calls(
  form: LanguageForm,
  kind: ValueKind,
  of: (kind: ValueKind) => fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const argument = (takes: Argument, at: number): fc.Arbitrary<string> => {
    if (typeof takes === 'string') return of(takes);
    if ('like' in takes)
      return fc.oneof(
        of('text'),
        fc.constantFrom(...takes.like).map((text) => JSON.stringify(text)),
      );
    if ('from' in takes) return of('number');
    return fc.constantFrom(...takes.written.filter((literal) => fits(form, kind, at, literal)));
  };
  return (
    fc
      .tuple(...form.takes.map(argument))
      .map((args) => form.write(args))
      // Literals of some functions must rise, and a zone must exist.
      .filter(compiles)
  );
}

/** Whether the result with the literal has the type that every other expression of the kind has. */
function fits(form: LanguageForm, kind: ValueKind, at: number, literal: string): boolean {
  const text = form.write(exampleArguments(form.takes).with(at, literal));
  return kindGiven(`if(bool, ${kind}, ${text})`) === kind;
}
