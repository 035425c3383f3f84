import fc from 'fast-check';

/** What one kind of input from outside is thrown at. */
export interface FuzzTarget {
  /** What comes in, e.g. `project files`. */
  readonly name: string;
  /** Cases of the quick form, a second or two. */
  readonly quick: number;
  /** Readies what the cases need. */
  open(): Promise<OpenTarget>;
}

export interface OpenTarget {
  readonly run: Run;
  close?(): Promise<void>;
}

/**
 * @param onCase told of each case before it is tried
 * @throws Error with the seed, the smallest case that does not hold, and why
 */
type Run = (seed: number, cases: number, onCase: (what: string) => void) => Promise<void>;

/** A case says what it is in a few words; what it is made of can be long. */
export function always<T extends { readonly what: string }>(
  cases: fc.Arbitrary<T>,
  holds: (one: T) => void | Promise<void>,
): Run {
  const told = cases.map((one) => ({ one, [fc.toStringMethod]: () => one.what }));
  return (seed, numRuns, onCase) => {
    const property = fc.asyncProperty(told, async ({ one }) => {
      onCase(one.what);
      await holds(one);
      expectCleanPrototypes();
    });
    return fc.assert(property, { seed, numRuns });
  };
}

export async function fuzz(target: FuzzTarget, ...parameters: Parameters<Run>): Promise<void> {
  const opened = await target.open();
  try {
    await opened.run(...parameters);
  } finally {
    await opened.close?.();
  }
}

const SHARED = [Object, Array, String, Number, Boolean, Function, Map, Buffer].map(
  (made) => [made.name, made.prototype as object] as const,
);
const propertiesOf = (of: object): string => Reflect.ownKeys(of).map(String).join();
const CLEAN = SHARED.map(([, prototype]) => propertiesOf(prototype));

/** @throws Error if anything has been added to what all values share */
function expectCleanPrototypes(): void {
  SHARED.forEach(([name, prototype], i) => {
    if (propertiesOf(prototype) !== CLEAN[i]) throw new Error(`the prototype of ${name} has changed`);
  });
}
