/**
 * One test of a conformance suite. It works with any runner: `for (const { name, run } of stepTests(…)) it(name, run);`
 */
export interface ConformanceTest {
  readonly name: string;
  /** Throws an AssertionError, or rejects with one, if the test fails. */
  readonly run: () => void | Promise<void>;
}
