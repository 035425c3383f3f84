import type { Account, AccountTerm } from '../../../ground/api/contributions.js';
import type { FeatureComponent, RuleComponent } from '../../../ground/api/component.js';
import type { Input } from '../../../ground/api/input.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import { missOf } from '../../../ground/core/miss-of.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { Operand } from '../../../language/expression/operand.js';
import { Frame, looseColumn } from '../../../language/frame/frame.js';
import type { PlannedStep } from '../../compile/plan.js';
import type { StepReport } from '../components/run-components.js';
import { StepView } from '../components/step-view.js';
import type { ExplainedAccount, ExplainedPart, ExplainedTerm } from './explanation.js';
import { explainCell } from './explain-cell.js';
import type { FinishedRun } from './finished-run.js';
import { ExpressionParts, type WeightedPart } from './expression-parts.js';

type Contributing = Partial<FeatureComponent & RuleComponent>;

/** Below this part of the largest number of a sum, what the terms miss is not shown. */
const DUST = 1e-12;

/** Divides the scores of candidates, after all steps, while the frame still holds the request. */
export class Accounts {
  readonly #run: FinishedRun;
  readonly #parts: ExpressionParts;
  readonly #frame: Frame;
  /** The scores after each step that set them, for the rows that it changed. */
  readonly #set = new Map<PlannedStep, Map<number, number>>();
  /** The columns that an account reads. */
  readonly #read = new Set<number>();
  #found = new Map<number, ExplainedAccount[]>();

  constructor(run: FinishedRun) {
    this.#run = run;
    this.#parts = ExpressionParts.of(run.plan);
    const { columns } = run.plan.layout;
    this.#frame = Frame.beside(run.frame, this.#parts.layout.from(columns.length));
    // The scores before a step are written here, and not into the frame of the request.
    if (this.#parts.score >= 0)
      this.#frame.columns[this.#parts.score] = looseColumn(
        { kind: 'number', scope: 'candidate' },
        run.frame.count,
      );
    for (const { step, row, after } of run.trace.changes) {
      const rows = this.#set.get(step) ?? new Map<number, number>();
      this.#set.set(step, rows.set(row, after));
    }
  }

  /**
   * The accounts of each of the rows, the score first, and then what it reads: each step is divided among the columns that
   * it reads itself.
   * @param reference a row: the accounts are then those of the differences to it
   * @param reports the steps up to the one that ends them; by default all
   */
  *of(
    rows: Int32Array,
    reference?: number,
    reports = this.#run.steps,
  ): Pieces<ReadonlyMap<number, readonly ExplainedAccount[]>> {
    const { plan, ranking } = this.#run;
    this.#found = new Map(Array.from(rows, (row) => [row, []]));
    this.#read.clear();
    for (const { slot } of plan.answer.values) this.#reads(slot);
    yield* this.#compute(false);
    let scores = this.#run.steps[reports.length]?.before?.scores ?? ranking.scores;
    for (const report of reports.toReversed()) {
      const { step, outcome, scored } = report;
      scores = report.before?.scores ?? scores;
      if (outcome !== 'ran') continue;
      if (step.kind === 'rule' && (step.component as RuleComponent).scoring !== 'keeps')
        for (const slot of step.slots ?? []) this.#reads(slot);
      const outputs = [...step.outputs].filter(([, slot]) => this.#read.has(slot));
      if (scored === undefined && outputs.length === 0) continue;
      this.#setScores(scores);
      yield* this.#compute(true);
      if (scored !== undefined) yield* this.#divide(report, 'score', rows, reference);
      for (const [output] of outputs) yield* this.#divide(report, output, rows, reference);
    }
    for (const slot of this.#read) {
      const definition = this.#parts.definition(slot);
      const expression = this.#parts.at(slot);
      if (definition === undefined || expression === undefined || this.#parts.isPrivate(slot)) continue;
      const { kind } = expression.root.type;
      if (kind === 'number') this.#addDefinition(slot, definition, expression.root, reference);
      yield;
    }
    return this.#found;
  }

  /** Notes that an account reads a column, and what that is made of. */
  #reads(slot: number): void {
    for (const source of this.#parts.sources(slot)) this.#read.add(source);
  }

  #setScores(scores: Float64Array): void {
    const { values, status } = this.#frame.number(this.#parts.score);
    for (let row = 0; row < this.#frame.count; row++) {
      values[row] = scores[row] ?? NaN;
      status[row] = Number.isNaN(values[row]) ? Status.absent : Status.present;
    }
  }

  *#compute(ofScore: boolean): Pieces<void> {
    for (const kernel of this.#parts.kernels(ofScore)) {
      const rest = kernel(this.#frame);
      if (rest !== undefined) yield* rest;
      yield;
    }
  }

  /** Adds the accounts of one value of a step. */
  *#divide(report: StepReport, output: string, rows: Int32Array, reference?: number): Pieces<void> {
    const { step } = report;
    const { ranking } = this.#run;
    const valueOf = this.#valuesOf(report, output);
    const from = reference === undefined ? 0 : valueOf(reference);
    const known = rows.filter((row) => Number.isFinite(valueOf(row) - from)).sort();
    if (known.length === 0) return;
    if (!isDivided(step)) return;
    const component = step.component as Contributing;
    const view = new StepView(step, this.#frame, known, ranking, this.#run.deadline, undefined);
    let accounts: readonly (Account | undefined)[] | string = 'its plugin does not divide it';
    try {
      if (component.contributions !== undefined)
        accounts = yield* component.contributions(view, output, reference);
    } catch (error) {
      this.#run.deadline.check();
      accounts = error instanceof Error ? error.message : String(error);
    }
    const named = { of: step.outputs.has(output) ? `${step.as}:${output}` : output, step: step.number };
    for (const [i, row] of known.entries()) {
      const value = valueOf(row) - from;
      const account = typeof accounts === 'string' ? undefined : accounts[i];
      const reason = typeof accounts === 'string' ? accounts : 'its plugin does not divide it';
      const own = this.#found.get(row);
      own?.push(
        account === undefined
          ? { ...named, value, method: 'opaque', reason }
          : { ...named, value, ...this.#shown(account, value, row, reference) },
      );
      yield;
    }
  }

  /** The value of each row; NaN if the step gave it none. */
  #valuesOf({ step, scored, before }: StepReport, output: string): (row: number) => number {
    const slot = step.outputs.get(output);
    if (slot !== undefined) return (row) => this.#number(slot, row);
    const worked = new Set(scored?.rows);
    for (const row of scored?.left ?? []) worked.delete(row);
    const set = this.#set.get(step);
    return (row) => (worked.has(row) ? (set?.get(row) ?? before?.scores[row] ?? NaN) : NaN);
  }

  #number(slot: number, row: number): number {
    const column = this.#frame.columns[slot];
    if (column?.kind !== 'number' || !isKnown(column.status[row * column.stride])) return NaN;
    return column.values[row * column.stride] ?? NaN;
  }

  /** An account with its terms written out. */
  #shown(
    account: Account,
    value: number,
    row: number,
    reference: number | undefined,
  ): Omit<ExplainedAccount, 'of' | 'value'> {
    let { base } = account;
    const terms = account.terms.flatMap((term) => {
      const written = this.#written(term);
      base += reference === undefined ? written.base : 0;
      return written.parts.map((one) => this.#term(term, one, row, reference));
    });
    const { sum, method = 'sum' } = account;
    const miss = missOf({ ...account, base, terms }, value);
    return {
      method: method === 'tree_shap' && reference !== undefined ? 'tree_shap_pair' : method,
      ...(sum === undefined ? {} : { sum }),
      base,
      terms,
      ...(Math.abs(miss.amount) > DUST * miss.most ? { remainder: miss.amount } : {}),
    };
  }

  /** The parts of a term whose amount is a weight times its input, if that is a sum; otherwise the term itself. */
  #written({ input, weight }: AccountTerm): { readonly base: number; readonly parts: readonly Part[] } {
    const { slot } = input;
    const root = this.#parts.definition(slot) === undefined ? this.#parts.at(slot)?.root : undefined;
    if (root === undefined || weight === undefined)
      return { base: 0, parts: [{ slot, root, text: input.text }] };
    return this.#sum(root, weight, input.text);
  }

  #sum(root: Operand, weight: number, text: string): { base: number; parts: Part[] } {
    const found: WeightedPart[] = [];
    const base = this.#parts.flatten(
      root,
      weight,
      (part) => this.#number(this.#parts.slotOf(part), 0),
      found,
    );
    const parts = found.map(({ part, weight: own }) => ({
      slot: this.#parts.slotOf(part),
      root: part,
      text: text.slice(part.node.start, part.node.end),
      whole: text,
      weight: own,
    }));
    return { base, parts };
  }

  #term(term: AccountTerm, part: Part, row: number, reference: number | undefined): ExplainedTerm {
    const { column } = term;
    // With the weight, the amount would tell the value of a private column.
    const weight = this.#parts.isPrivate(part.slot) ? undefined : (part.weight ?? term.weight);
    const other = reference === undefined ? 0 : this.#number(part.slot, reference);
    // A part of the amount is divided here; the whole amount is what the component says.
    const amount =
      part.weight === undefined ? term.amount : part.weight * (this.#number(part.slot, row) - other);
    return {
      ...this.#part(part, row),
      amount,
      ...(weight === undefined ? {} : { weight }),
      ...(column === undefined || column === part.text ? {} : { column }),
      ...(reference === undefined ? {} : { against: this.#part(part, reference) }),
    };
  }

  #part(part: Part, row: number): ExplainedPart {
    const { slot, text } = part;
    this.#reads(slot);
    const of = Number.isFinite(this.#number(slot, row)) ? this.#accountOf(slot) : undefined;
    const parts = of === undefined ? this.#inner(part).map((inner) => this.#part(inner, row)) : [];
    return {
      text,
      ...explainCell(this.#parts.layout, this.#frame, slot, row),
      ...(of === undefined ? {} : { of }),
      ...(parts.length === 0 ? {} : { parts }),
    };
  }

  /** The parts of an expression, or of the definition that a part names. */
  #inner({ slot, root, text, whole = text }: Part): Part[] {
    const definition = this.#parts.definition(slot);
    const made = definition === undefined ? root : this.#parts.at(slot)?.root;
    const from = definition?.text ?? whole;
    const args = made?.tag === 'operation' ? made.args.filter(({ tag }) => tag !== 'constant') : [];
    return args.map((arg) => ({
      slot: this.#parts.slotOf(arg),
      root: arg,
      text: from.slice(arg.node.start, arg.node.end),
      whole: from,
    }));
  }

  /** The name of the account that a known value of a column has; undefined if it has none. */
  #accountOf(slot: number): string | undefined {
    if (slot === this.#parts.score) return 'score';
    if (this.#parts.isPrivate(slot)) return undefined;
    const output = this.#parts.outputs.get(slot);
    if (output !== undefined)
      return isDivided(output.step) ? `${output.step.as}:${output.output}` : undefined;
    const isNumber = this.#parts.at(slot)?.root.type.kind === 'number';
    return isNumber ? this.#parts.definition(slot)?.name : undefined;
  }

  #addDefinition(
    slot: number,
    { name, text }: { readonly name: string; readonly text: string },
    root: Operand,
    reference: number | undefined,
  ): void {
    const input: Input = { kind: 'number', slot, text };
    const { base, parts } = this.#sum(root, 1, text);
    for (const [row, accounts] of this.#found) {
      const from = reference === undefined ? 0 : this.#number(slot, reference);
      const value = this.#number(slot, row) - from;
      if (!Number.isFinite(value)) continue;
      const terms = parts.map((part) => this.#term({ input, amount: NaN }, part, row, reference));
      const own = reference === undefined ? base : 0;
      accounts.push({ of: name, value, method: 'sum', base: own, terms });
    }
  }
}

/** Whether the values of a step have accounts: at least ones that say why they are not divided. */
function isDivided({ kind, component }: PlannedStep): boolean {
  return kind !== 'feature' || (component as Contributing).contributions !== undefined;
}

/** What a term shows: a column, and if an expression computes it, its tree and its text. */
interface Part {
  readonly slot: number;
  readonly root: Operand | undefined;
  readonly text: string;
  /** The text of the expression that the part belongs to. */
  readonly whole?: string;
  readonly weight?: number;
}
