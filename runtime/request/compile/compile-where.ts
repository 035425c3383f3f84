import type { EntitiesWanted, EntityFilter, EntityKeeper } from '../../ground/api/entity-keeper.js';
import type { Column } from '../../ground/api/columns.js';
import { OptionError } from '../../ground/api/option-error.js';
import type { StepInput } from '../../ground/api/step-input.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { Span } from '../../project/config/yaml/source.js';
import type { CompiledExpression, Environment } from '../../language/expression/environment.js';
import { sourcesIn } from '../../language/expression/emit.js';
import { runKernelsAtOnce } from '../../language/expression/run-kernels.js';
import { FramePool } from '../../language/frame/frame.js';
import type { ConditionValues } from '../../state/index/condition-columns.js';
import { KEPT_KINDS, KeptColumns } from '../../state/index/kept-columns.js';
import { compileText } from './compile-input.js';
import type { HydrationBuilder } from './hydration-builder.js';
import { needEntities, type EntityBinding, type Where } from './need-entities.js';

/** Entities that are checked together. */
const ROWS = 500;

type WhereInput = Pick<StepInput, 'now' | 'column'>;

/** A condition on entities of which the service keeps what the condition reads. */
export class EntityWhere implements Where {
  readonly #compiled: CompiledExpression;
  readonly #frames: FramePool;
  /** The columns of attributes, in the order in which they are kept, and those of the request. */
  readonly #attributes: readonly number[];
  readonly #shared: readonly number[];
  readonly #isShared: Uint8Array;

  constructor(
    compiled: CompiledExpression,
    { layout }: Environment,
    readonly columns: EntityBinding<KeptColumns>,
    attributes: readonly number[],
    shared: readonly number[],
  ) {
    this.#compiled = compiled;
    this.#frames = new FramePool(layout);
    this.#attributes = attributes;
    this.#shared = shared;
    this.#isShared = Uint8Array.from(layout.columns, (_, slot) => Number(shared.includes(slot)));
  }

  /** @throws Error until the entities are read, or if there are too many */
  of(input: WhereInput): EntityFilter {
    const kept = { columns: this.columns.keeper(), at: this.#attributes.map((_, i) => i) };
    return (ids) => {
      const holds = new Uint8Array(ids.length);
      for (let from = 0; from < ids.length; from += ROWS)
        this.#check(kept, kept.columns.rowsOf(ids.slice(from, from + ROWS)), input, holds.subarray(from));
      return holds;
    };
  }

  /** The entities that meet a condition on their attributes alone, in pieces. */
  *matches(kept: ConditionValues, now: number): Iterable<readonly string[]> {
    const input: WhereInput = {
      now,
      column: ({ text }) => {
        throw new Error(`${text} is no attribute`);
      },
    };
    for (let from = 0; from < kept.columns.rows; from += ROWS) {
      const rows = new Int32Array(Math.min(ROWS, kept.columns.rows - from));
      for (let row = 0; row < rows.length; row++) rows[row] = from + row;
      const holds = new Uint8Array(rows.length);
      this.#check(kept, rows, input, holds);
      const ids: string[] = [];
      for (let row = 0; row < rows.length; row++) {
        const id = holds[row] === 1 ? kept.columns.idAt(from + row) : undefined;
        if (id !== undefined) ids.push(id);
      }
      yield ids;
    }
  }

  /** Sets 1 in `holds` for each row of which the condition is true. */
  #check({ columns, at }: ConditionValues, rows: Int32Array, input: WhereInput, holds: Uint8Array): void {
    const { kernels, slot } = this.#compiled;
    const frame = this.#frames.acquire(rows.length, input.now, this.#isShared);
    for (const shared of this.#shared)
      frame.columns[shared] = input.column({ kind: frame.shape(shared).kind, slot: shared, text: '' });
    const filled: (Column | undefined)[] = [];
    for (const [i, attribute] of this.#attributes.entries()) filled[at[i] ?? i] = frame.columns[attribute];
    columns.fill(rows, filled);
    runKernelsAtOnce(kernels, frame);
    // A value that is not known is NaN.
    const { values } = frame.number(slot);
    for (let row = 0; row < rows.length; row++) holds[row] = Number(values[row] === 1);
    this.#frames.release(frame);
  }
}

/**
 * Compiles a condition on the entities that a component keeps.
 * @returns undefined if there were errors, which are reported
 * @throws OptionError if it reads something that cannot be kept
 */
export function compileWhere(
  {
    where,
    most,
    remedy,
  }: Pick<EntitiesWanted<EntityKeeper>, 'most' | 'remedy'> & {
    readonly where: NonNullable<EntitiesWanted<EntityKeeper>['where']>;
  },
  at: Span,
  environment: Environment,
  hydration: HydrationBuilder,
  diagnostics: Diagnostics,
): EntityWhere | undefined {
  const { text, option } = where;
  const compiled = compileText(
    { value: text, at },
    { type: 'bool', scope: 'candidate' },
    environment,
    diagnostics,
  );
  if (compiled === undefined) return undefined;
  const sources = [...new Map(sourcesIn(compiled.root).map((source) => [source.slot, source])).values()];
  const read = sources.filter(({ scope }) => scope === 'candidate');
  if (read.length === 0)
    throw new OptionError(
      option,
      `\`where\` reads no attribute of \`${hydration.candidates.name}\``,
      'write a condition on the request under `when:` of the retriever',
    );
  const columns = needEntities<KeptColumns>(
    {
      attributes: read.map(({ node: { start, end } }) => ({
        path: text.slice(start, end),
        kinds: KEPT_KINDS,
        option,
      })),
      ...{ most, remedy, key: 'columns' },
      open: () => new KeptColumns(read.length),
    },
    hydration,
  );
  const slots = (scope: 'candidate' | 'request'): number[] =>
    sources.filter((source) => source.scope === scope).map(({ slot }) => slot);
  return new EntityWhere(compiled, environment, columns, slots('candidate'), slots('request'));
}
