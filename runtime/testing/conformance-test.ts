/**
 * One test of a conformance suite. It works with any runner: `for (const { name, run } of stepTests(…)) it(name, run);`
 */
export interface ConformanceTest {
  readonly name: string;
  /** Rejects with an AssertionError if the test fails. */
  readonly run: () => Promise<void>;
}
