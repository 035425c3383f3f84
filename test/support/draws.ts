/**
 * How many random cases a property gets. `npm run prove -- nightly` sets MILLRACE_TEST_DRAWS, so that each night draws many
 * times as many as each change.
 */
export const draws = (count: number): number => count * Number(process.env.MILLRACE_TEST_DRAWS ?? 1);
