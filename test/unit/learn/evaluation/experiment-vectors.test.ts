import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { holm } from '../../../../runtime/ground/core/statistics.js';
import { adjusted, adjustmentOf } from '../../../../runtime/learn/evaluation/adjustment.js';
import { effectOf } from '../../../../runtime/learn/evaluation/effect.js';
import { unitsNeeded } from '../../../../runtime/learn/evaluation/experiment-tests.js';
import { UnitMoments } from '../../../../runtime/learn/evaluation/unit-moments.js';
import { guardReport } from '../../../../runtime/learn/outcomes/guards.js';
import type { ArmOutcomes } from '../../../../runtime/learn/outcomes/unit-outcomes.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { repositoryPath } from '../../../support/repository.js';

interface Vector {
  readonly is: string;
  /** For each arm. */
  readonly units: readonly (readonly number[])[][];
  readonly slope: number;
  readonly correlation: number;
  readonly effects: readonly { difference: number; p: number; lower: number; upper: number }[];
  readonly margin: number;
  readonly state: string;
  readonly p: readonly number[];
  readonly corrected: readonly number[];
  readonly effect: number;
  readonly error: number;
  readonly needed: number;
}

/** Written by test/acceptance/experiment_vectors.py, whose figures are those of statsmodels and scipy. */
const vectors = readFileSync(repositoryPath('test/unit/learn/evaluation/experiment-vectors.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector);

const ofKind = (kind: string): readonly Vector[] => {
  const found = vectors.filter((vector) => vector.is === kind);
  expect(found, kind).to.have.length.above(2);
  return found;
};

function isNear(found: number, expected: number, relative = 1e-8): void {
  expect(found).to.be.closeTo(expected, relative * Math.abs(expected) + 1e-12);
}

function expectEffects(arms: readonly UnitMoments[], { slope, effects }: Vector): void {
  const adjustment = adjustmentOf(arms);
  isNear(adjustment.slope, slope);
  const [control, ...others] = arms.map((arm) => adjusted(arm, adjustment));
  expect(others).to.have.length(effects.length);
  for (const [at, { difference, p, lower, upper }] of effects.entries()) {
    const [arm, base] = [others[at], control];
    if (arm === undefined || base === undefined) throw new Error('an arm is missing');
    const effect = effectOf(arm, base);
    isNear(effect.difference, difference);
    isNear(effect.fixedP, p);
    isNear(effect.fixed.lower, lower);
    isNear(effect.fixed.upper, upper);
  }
}

describe('the statistics of experiments, against statsmodels and scipy', () => {
  it('adjust an effect as a regression on the arms and the past', () => {
    for (const vector of ofKind('adjust')) {
      const arms = vector.units.map((units) => {
        const moments = new UnitMoments();
        for (const [outcome = NaN, past = NaN] of units) moments.add(outcome, 1, past);
        return moments;
      });
      isNear(adjustmentOf(arms).correlation, vector.correlation);
      expectEffects(arms, vector);
    }
  });

  it('adjust a ratio as a regression on its linear form', () => {
    for (const vector of ofKind('ratio')) {
      const arms = vector.units.map((units) => {
        const moments = new UnitMoments();
        for (const [outcome = NaN, ...more] of units) moments.add(outcome, ...more);
        return moments;
      });
      expectEffects(arms, vector);
    }
  });

  it('merge arms with a past as if their units were added one by one', () => {
    for (const { units } of ofKind('ratio')) {
      const [whole, parts] = [new UnitMoments(), [new UnitMoments(), new UnitMoments(), new UnitMoments()]];
      for (const [at, [outcome = NaN, ...more]] of units.flat().entries()) {
        whole.add(outcome, ...more);
        parts[at % 2]?.add(outcome, ...more);
      }
      const [one, other, none] = parts;
      if (one === undefined || other === undefined || none === undefined)
        throw new Error('a part is missing');
      one.merge(other);
      one.merge(none);
      isNear(one.past, whole.past);
      isNear(one.spread.both, whole.spread.both);
      isNear(one.spread.past, whole.spread.past);
    }
  });

  it('test a margin as Welch tests the arm against control times the margin', () => {
    const states = ofKind('margin').map(({ units, margin, state }) => {
      const [arm, control] = units.map((of) => {
        const degraded = new UnitMoments();
        for (const [faults = NaN, requests = NaN] of of) degraded.add(faults, requests);
        return { outcomes: { degraded } as unknown as ArmOutcomes, latencies: undefined };
      });
      if (control === undefined || arm === undefined) throw new Error('an arm is missing');
      const at = { file: new SourceFile('', ''), start: 0, end: 0 };
      const found = guardReport({ metric: 'degraded', margin, at }, arm, control, true);
      expect(found.state).to.equal(state);
      // The printed interval says the same.
      expect(found.worse.upper <= margin).to.equal(state === 'holds');
      expect(found.worse.lower > margin).to.equal(state === 'broken');
      return state;
    });
    expect(new Set(states)).to.deep.equal(new Set(['holds', 'broken', 'unclear']));
  });

  it('correct p values, and say how many units an effect needs', () => {
    for (const { p, corrected } of ofKind('holm'))
      for (const [at, found] of holm(p).entries()) isNear(found, corrected[at] ?? NaN);
    for (const { effect, error, needed } of ofKind('power')) isNear(unitsNeeded(error, effect), needed);
  });
});
