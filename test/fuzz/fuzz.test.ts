import { fuzz } from './fuzz-target.js';
import { TARGETS } from './targets.js';

/** The quick forms, of a fixed seed so that they are the same each time; test/torture/fuzz.ts goes on from there. */
describe('what comes from outside, made wrong at random', () => {
  for (const target of TARGETS) it(target.name, () => fuzz(target, 1, target.quick, () => undefined));
});
