import { counted } from '../../ground/core/count.js';
import { printable } from '../../ground/core/display-width.js';
import { JudgmentsBuilder, type JudgedQuery, type Judgment } from '../evaluation/judgments.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

/** The first bad rows that are printed. */
const MOST_BAD = 20;

/** Collects the judgments of a file. It prints the first rows that cannot be read, and counts all. */
export class JudgmentRows {
  readonly #builder = new JudgmentsBuilder();
  #bad = 0;

  constructor(
    private readonly stderr: Console['stderr'],
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
    if (this.#bad <= MOST_BAD) this.stderr.write(`${unit} ${line}: ${printable(problem)}\n`);
  }

  /** @throws CommandFailure if a row could not be read, or if there are no judgments */
  queries(): readonly JudgedQuery[] {
    if (this.#bad > 0)
      throw new CommandFailure(`${counted(this.#bad, 'row')} of ${this.path} cannot be read`);
    const queries = this.#builder.queries();
    if (queries.length === 0) throw new CommandFailure(`${this.path} has no judgments`);
    return queries;
  }
}
