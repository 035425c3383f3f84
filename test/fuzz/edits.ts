import fc from 'fast-check';

/** A change, with its description for messages. */
export interface Edit<From, To = From> {
  readonly what: string;
  readonly apply: (from: From) => To;
}

/** One to three successive changes. fast-check drops those that a failure does not need. */
export function editsOf<T>(one: fc.Arbitrary<Edit<T>>): fc.Arbitrary<Edit<T>> {
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((edits) => ({
    what: edits.map(({ what }) => what).join('; '),
    apply: (from) => edits.reduce((now, { apply }) => apply(now), from),
  }));
}
