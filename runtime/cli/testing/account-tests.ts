import type { Component, FeatureComponent, RuleComponent } from '../../ground/api/component.js';
import { missOf } from '../../ground/core/miss-of.js';
import { atOnce } from '../../ground/core/pieces.js';
import type { Cell, FakeStep } from './fake-step.js';

/** What a component made of its input. */
interface Made {
  readonly scores: readonly number[];
  readonly outputs: unknown;
}

/** The accounts of a component that do not sum to its values, or to the differences between them. */
export function unequalAccounts(component: Component, step: FakeStep, { scores, outputs }: Made): string[] {
  const { contributions } = component as Partial<FeatureComponent & RuleComponent>;
  if (contributions === undefined) return [];
  const valuesOf: Readonly<Record<string, readonly Cell<unknown>[]>> =
    'compute' in component ? (outputs as Record<string, readonly Cell<unknown>[]>) : { score: scores };
  return Object.entries(valuesOf).flatMap(([output, values]) =>
    [undefined, 0, 1].flatMap((reference) => {
      const accounts = atOnce(contributions.call(component, step, output, reference));
      if (typeof accounts === 'string') return [];
      return accounts.flatMap((account, i) => {
        const row = step.rows[i] ?? 0;
        const [value, from] = [values[row], reference === undefined ? 0 : values[reference]];
        const isKnown = typeof value === 'number' && typeof from === 'number';
        const told = `${output} of row ${row}, against ${reference ?? 'nothing'}`;
        if (account === undefined) return isKnown && 'compute' in component ? [`${told}: no account`] : [];
        if (!isKnown) return [`${told}: an account of no value`];
        const miss = missOf(account, value - from);
        return miss.isRounding ? [] : [`${told}: it misses ${value - from} by ${miss.amount}`];
      });
    }),
  );
}
