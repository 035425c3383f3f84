import fc from 'fast-check';

/** The target of one kind of random input from outside. */
export interface FuzzTarget {
  /** The kind of input, e.g. `project files`. */
  readonly name: string;
  /** The number of cases in the quick form, which takes a second or two. */
  readonly quick: number;
  /** Prepares the data that the cases need. */
  open(): Promise<OpenTarget>;
}

export interface OpenTarget {
  readonly run: Run;
  close?(): Promise<void>;
}

/**
 * @param onCase called with each case before it runs
 * @throws Error with the seed, the smallest failing case, and the reason
 */
type Run = (seed: number, cases: number, onCase: (what: string) => void) => Promise<void>;

/** A case describes itself in a few words, because its content can be long. */
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

/** @throws Error if anything was added to a built-in prototype */
function expectCleanPrototypes(): void {
  SHARED.forEach(([name, prototype], i) => {
    if (propertiesOf(prototype) !== CLEAN[i]) throw new Error(`the prototype of ${name} has changed`);
  });
}
