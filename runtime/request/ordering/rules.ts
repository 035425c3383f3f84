import type { OrderRules } from '../../ground/api/ranking-edit.js';
import type { AskOf, OrderRule, RuleKind, RuleName } from './rule-kind.js';
import { diversify } from './rules/diversify.js';
import { keepOne } from './rules/keep-one.js';
import { limit } from './rules/limit.js';
import { reorder } from './rules/reorder.js';
import { reserve } from './rules/reserve.js';

/** Every kind of rule, by the method of `RankingEdit` that asks for it. */
const KINDS: { readonly [Name in RuleName]: RuleKind<AskOf<Name>> } = {
  reorder,
  limit,
  diversify,
  keepOne,
  reserve,
};

const BY_NAME: Readonly<Record<RuleName, RuleKind>> = KINDS;

export const STRONGEST_FIRST: readonly RuleKind[] = Object.values(BY_NAME).sort(
  (a, b) => b.strength - a.strength,
);

/** @throws RangeError if it names a row or a position that cannot be */
export function takeRule<Name extends RuleName>(
  name: Name,
  step: number,
  ask: AskOf<Name>,
  count: number,
): OrderRule {
  const kind = BY_NAME[name];
  return { kind, step, ask: kind.take(ask, count) };
}

abstract class Asking {
  static {
    for (const name of Object.keys(KINDS) as RuleName[])
      Object.defineProperty(this.prototype, name, {
        value(this: Asking, ask: never): void {
          this.ask(name, ask);
        },
      });
  }

  /** A component asks for a rule. */
  protected abstract ask<Name extends RuleName>(name: Name, ask: AskOf<Name>): void;
}

/** A class with the methods of `OrderRules`, one for each kind of rule. They call `ask`. */
export const RuleAsker = Asking as unknown as abstract new () => Asking & OrderRules;
