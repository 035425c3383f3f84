import { JudgmentsBuilder, type JudgedQuery, type Judgment } from '../../learn/evaluation/judgments.js';
import type { CliContext } from '../context.js';
import { CommandFailure } from '../failure.js';

/** The first bad rows that are printed. */
const MOST_BAD = 20;

/** Collects the judgments of a file. It prints the first rows that cannot be read, and counts all. */
export class JudgmentRows {
  readonly #builder = new JudgmentsBuilder();
  #bad = 0;

  constructor(
    private readonly stderr: CliContext['stderr'],
    private readonly path: string,
  ) {}

  /** Rows that repeat another row. */
  get repeated(): number {
    return this.#builder.repeated;
  }

  /** @param row a judgment, or why the row cannot be read */
  add(unit: string, line: number, row: Judgment | string): void {
    const problem = typeof row === 'string' ? row : this.#builder.add(row);
    if (problem === undefined) return;
    this.#bad += 1;
    if (this.#bad <= MOST_BAD) this.stderr.write(`${unit} ${line}: ${problem}\n`);
  }

  /** @throws CommandFailure if a row could not be read, or if there are no judgments */
  queries(): readonly JudgedQuery[] {
    if (this.#bad > 0)
      throw new CommandFailure(
        `${this.#bad} row${this.#bad === 1 ? '' : 's'} of ${this.path} cannot be read`,
      );
    const queries = this.#builder.queries();
    if (queries.length === 0) throw new CommandFailure(`${this.path} has no judgments`);
    return queries;
  }
}
