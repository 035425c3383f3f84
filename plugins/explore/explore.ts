import type { Exploration, RankingEdit, RuleComponent, RuleReport, StepInput } from 'millrace/api';

/** Draws the order of the first places. */
export class Explore implements RuleComponent {
  readonly scoring = 'keeps';

  constructor(readonly explores: Exploration) {}

  apply({ rows }: StepInput, ranking: RankingEdit): RuleReport {
    ranking.explore(this.explores);
    return { applied: Math.min(rows.length, this.explores.top), skipped: 0 };
  }
}
