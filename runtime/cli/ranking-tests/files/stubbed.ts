import type { Located } from '../../../project/config/yaml/source.js';
import type { StubbedOutput, StubValue } from '../run/stub.js';
import { entriesIn, member, type Placed } from './placed.js';
import type { TestCase } from './test-case.js';

/** An entry of `given: outputs:`. */
export interface StubbedEntry {
  /** The key, e.g. `ltr:score`. */
  readonly name: Located<string>;
  /** Before the first colon. */
  readonly step: string;
  /** After it; undefined if there is no colon. */
  readonly output: string | undefined;
  readonly written: Placed;
}

export function stubbedEntries({ given }: Pick<TestCase, 'given'>): StubbedEntry[] {
  return entriesIn(member(given, 'outputs')).map(([key, { keyAt, value }]) => {
    const colon = key.indexOf(':');
    return {
      name: { value: key, at: keyAt },
      step: colon === -1 ? key : key.slice(0, colon),
      output: colon === -1 ? undefined : key.slice(colon + 1),
      written: value,
    };
  });
}

/** The names of the steps that a case stubs, sorted. */
export function stubbedSteps(test: Pick<TestCase, 'given'>): string[] {
  return [...new Set(stubbedEntries(test).map(({ step }) => step))].sort();
}

/** The values of an entry. Values of a wrong type are left out; they are reported with the shape of the file. */
export function stubbedOutput(written: Placed): StubbedOutput {
  if (written.kind !== 'map') return valueOf(written) ?? 0;
  return new Map(
    [...written.entries].flatMap(([id, { value }]) => {
      const found = valueOf(value);
      return found === undefined ? [] : [[id, found] as const];
    }),
  );
}

function valueOf(value: Placed): StubValue | undefined {
  return value.kind === 'scalar' ? (value.value ?? undefined) : undefined;
}
