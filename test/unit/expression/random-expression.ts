import fc from 'fast-check';
import { Status } from '../../../runtime/api/status.js';
import type { ElementType, ExpressionType } from '../../../runtime/expression/environment.js';
import type { Scope } from '../../../runtime/frame/frame-layout.js';
import { Missing, type Outcome, type Single } from '../../support/interpreter.js';
import type { Data, NamedColumn } from './table.js';

const ELEMENTS: Readonly<Record<string, ElementType>> = {
  number: { kind: 'number' },
  bool: { kind: 'bool' },
  text: { kind: 'text' },
  time: { kind: 'time' },
};

/** A column of each type and scope: `c.number`, `r.texts`, and two of numbers. */
export const COLUMNS: Readonly<Record<string, NamedColumn>> = Object.fromEntries(
  (['candidate', 'request'] as const).flatMap((scope): [string, NamedColumn][] => {
    const to = scope === 'candidate' ? 'c' : 'r';
    return [
      ...Object.entries(ELEMENTS).flatMap(([name, type]): [string, NamedColumn][] => [
        [`${to}.${name}`, { type, scope }],
        [`${to}.${name}s`, { type: { kind: 'list', of: type }, scope }],
      ]),
      [`${to}:number`, { type: { kind: 'number' }, scope }],
    ];
  }),
);

const NUMBERS = [0, 1, -1, 2.5, 3, 10, 1e-3, 1e300];
const TEXTS = ['a', 'b', 'ab', 'Ab', 'é😀'];
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
  if (type.kind === 'vector') throw new Error('no vectors here');
  const value: fc.Arbitrary<Outcome> =
    type.kind === 'list'
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

type Texts = Record<'number' | 'bool' | 'text' | 'time' | 'numbers' | 'bools' | 'texts', string>;

/** The text of a well-typed expression, for each type. */
export function expressions(scopes: readonly Scope[]): {
  readonly [K in keyof Texts]: fc.Arbitrary<string>;
} {
  const named = (kind: string): fc.Arbitrary<string> =>
    fc.constantFrom(...scopes.map((scope) => `${scope === 'candidate' ? 'c' : 'r'}.${kind}`));
  const feature = fc.constantFrom(...scopes.map((scope) => `${scope === 'candidate' ? 'c' : 'r'}:number`));
  const one = <T>(...of: T[]): fc.Arbitrary<T> => fc.constantFrom(...of);
  const join = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
    fc
      .tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part)))
      .map((texts) => texts.join(''));
  return fc.letrec<Texts>((tie) => {
    const any = fc.oneof(tie('number'), tie('bool'), tie('text'), tie('time'), tie('numbers'), tie('texts'));
    const compare = one(' == ', ' != ', ' < ', ' <= ', ' > ', ' >= ');
    const same = one(' == ', ' != ');
    const arithmetic = one(' + ', ' - ', ' * ', ' / ', ' % ');
    const isIn = one(' in ', ' not in ');
    const choice = (kind: keyof Texts): fc.Arbitrary<string>[] => [
      join('if(', tie('bool'), ', ', tie(kind), ', ', tie(kind), ')'),
      join('coalesce(', tie(kind), ', ', tie(kind), ')'),
    ];
    const ofList = one('sum', 'mean', 'min', 'max', 'count', 'norm', 'first', 'last');
    const ofNumber = one('abs', 'sign', 'round', 'floor', 'ceil', 'sqrt', 'exp', 'log', 'log1p', 'log10');
    return {
      number: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('number'),
        fc.constantFrom(...NUMBERS.filter((x) => x >= 0)).map(String),
        feature,
        join('(', tie('number'), arithmetic, tie('number'), ')'),
        join('(', tie('number'), arithmetic, tie('bool'), ')'),
        join('(', tie('bool'), arithmetic, fc.oneof(tie('number'), tie('bool')), ')'),
        join('(-', fc.oneof(tie('number'), tie('bool')), ')'),
        join(ofNumber, '(', tie('number'), ')'),
        join(one('min', 'max', 'pow'), '(', tie('number'), ', ', tie('number'), ')'),
        join('clamp(', tie('number'), ', ', tie('number'), ', ', tie('number'), ')'),
        join(ofList, '(', tie('numbers'), ')'),
        join('count(', fc.oneof(tie('texts'), tie('bools')), ')'),
        join(one('sum', 'mean'), '(', tie('bools'), ')'),
        join('(', tie('time'), ' - ', tie('time'), ')'),
        join(one('age_days', 'age_hours', 'hour', 'weekday'), '(', tie('time'), ')'),
        join(one('minute', 'second', 'day_of_month', 'month', 'year'), '(', tie('time'), ')'),
        join(tie('numbers'), one('[0]', '[1]', '[2]')),
        join('bucket(', tie('number'), ', ', tie('number'), ', ', feature, ')'),
        join('piecewise(', tie('number'), ', 0, ', tie('number'), ', 2.5, 1, 3, ', tie('number'), ')'),
        join('length(', tie('text'), ')'),
        join('edit_distance(', tie('text'), ', ', tie('text'), one('', ', 2'), ')'),
        ...choice('number'),
      ),
      bool: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('bool'),
        one('true', 'false'),
        join('(', tie('number'), compare, tie('number'), ')'),
        join('(', tie('time'), compare, tie('time'), ')'),
        join('(', tie('text'), same, tie('text'), ')'),
        join('(', tie('bool'), fc.oneof(same, one(' and ', ' or ')), tie('bool'), ')'),
        join('(not ', tie('bool'), ')'),
        join('known(', any, ')'),
        join(one('any', 'all', 'first', 'last'), '(', tie('bools'), ')'),
        join('is_weekend(', tie('time'), ')'),
        join('(', tie('number'), isIn, tie('numbers'), ')'),
        join('(', tie('text'), isIn, tie('texts'), ')'),
        join('(', tie('number'), isIn, '(', tie('number'), ', ', tie('number'), '))'),
        join('(', tie('text'), isIn, '(', tie('text'), ', ', tie('text'), ', "a"))'),
        join('(', tie('number'), isIn, '(1, 2.5, -1))'),
        join('(', tie('text'), isIn, '("a", "Ab"))'),
        join(one('contains', 'starts_with', 'ends_with'), '(', tie('text'), ', ', tie('text'), ')'),
        ...choice('bool'),
      ),
      text: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('text'),
        fc.constantFrom(...TEXTS).map((text) => JSON.stringify(text)),
        join(one('lower', 'upper'), '(', tie('text'), ')'),
        join('cross(', tie('text'), ', ', tie('text'), ')'),
        join(one('first', 'last'), '(', tie('texts'), ')'),
        join(named('texts'), one('[0]', '[2]')),
        join('concat(', tie('text'), ', ', tie('text'), ')'),
        ...choice('text'),
      ),
      time: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('time'),
        one('now()', 'time("2026-01-31T12:30:00Z")'),
        join('(', tie('time'), one(' + ', ' - '), one('days', 'hours'), '(', tie('number'), '))'),
        ...choice('time'),
      ),
      numbers: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('numbers'),
        join('(', tie('numbers'), arithmetic, tie('number'), ')'),
        join('(', tie('number'), arithmetic, tie('numbers'), ')'),
        join(ofNumber, '(', tie('numbers'), ')'),
        join('(-', fc.oneof(tie('numbers'), tie('bools')), ')'),
        join('(', tie('bools'), arithmetic, fc.oneof(tie('number'), tie('bool')), ')'),
        join('(', tie('bool'), arithmetic, tie('numbers'), ')'),
        join('age_days(', named('times'), ')'),
        ...choice('numbers'),
      ),
      bools: fc.oneof(
        { maxDepth: 4, depthIdentifier: 'e' },
        named('bools'),
        join('(', tie('numbers'), compare, tie('number'), ')'),
        join('(', tie('number'), compare, tie('numbers'), ')'),
        join('(', named('times'), compare, tie('time'), ')'),
        join('(', tie('texts'), same, tie('text'), ')'),
        join('(', tie('text'), same, tie('texts'), ')'),
        join('(', tie('bools'), one(' and ', ' or '), tie('bool'), ')'),
        join('(', tie('bool'), one(' and ', ' or '), tie('bools'), ')'),
        join('(not ', tie('bools'), ')'),
        join('(', tie('numbers'), isIn, '(1, 3))'),
        join('(', tie('texts'), isIn, '("a", "b"))'),
        ...choice('bools'),
      ),
      texts: fc.oneof({ maxDepth: 4, depthIdentifier: 'e' }, named('texts'), ...choice('texts')),
    };
  });
}
