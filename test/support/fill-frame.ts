import type { Column } from '../../runtime/ground/api/columns.js';
import { atOnce } from '../../runtime/ground/core/pieces.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import type { Plan } from '../../runtime/request/compile/plan.js';
import type { Frame } from '../../runtime/language/frame/frame.js';
import { BatchRead } from '../../runtime/request/pipeline/hydrate/batch-read.js';
import { Deadline } from '../../runtime/ground/core/deadline.js';
import { fetchFeatures } from '../../runtime/request/pipeline/features/fetch-features.js';
import { fillRequest } from '../../runtime/request/pipeline/request/open-request.js';
import { hydrate } from '../../runtime/request/pipeline/hydrate/hydrate.js';
import { readRequest } from '../../runtime/request/pipeline/request/read-request.js';
import { ResidentSession } from '../../runtime/request/pipeline/hydrate/resident-session.js';
import type { StageClock } from '../../runtime/request/pipeline/stage-runner.js';
import type { ResidentTables } from '../../runtime/request/resident/resident-tables.js';
import { LayoutRegistry } from '../../runtime/state/store/layout-registry.js';
import type { Store } from '../../runtime/state/store/store.js';

/** Returns the only pipeline of a project's folder. */
export async function planOf(root: string): Promise<Plan> {
  const { pipelines, diagnostics } = await compileProject(root);
  const [first] = pipelines;
  if (first === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return first.plan;
}

/** The result of the stages hydrate and features for a request. */
export interface Filled {
  /** `[status, value]` of each row, by column name. */
  readonly cells: Readonly<Record<string, readonly (readonly [number, unknown])[]>>;
  /** The texts that have a code, each with the text that the code names. */
  readonly coded: readonly { readonly text: string | undefined; readonly named: string | undefined }[];
  readonly roundTrips: number;
  readonly keysRead: number;
}

/** Runs only the first two stages. */
export async function fillFrame(
  plan: Plan,
  store: Store,
  body: unknown,
  options: {
    readonly resident?: ResidentTables;
    readonly now?: number;
    readonly clock?: Pick<StageClock, 'count'>;
    readonly onHydrated?: () => void;
  } = {},
): Promise<Filled> {
  const request = atOnce(readRequest(plan, body, 'r'));
  const deadline = new Deadline(60_000);
  const resident = options.resident && new ResidentSession(options.resident);
  const frame = plan.frames.acquire(request.ids.length, options.now ?? 0);
  try {
    fillRequest(plan, frame, request);
    const batch = new BatchRead(store, deadline);
    const layouts = new LayoutRegistry(store, plan.prefix);
    const reads = { batch, layouts, resident, clock: options.clock };
    const pending = await hydrate(plan, frame, request, reads);
    options.onHydrated?.();
    await fetchFeatures(plan, frame, pending, reads);
    const cells = cellsOf(plan, frame);
    const coded = frame.columns.flatMap((column) => codedOf(column, frame.count));
    plan.frames.release(frame);
    return { cells, coded, roundTrips: batch.roundTrips, keysRead: batch.keysRead };
  } finally {
    resident?.end();
    deadline.end();
  }
}

/** The texts of a column that have codes, each with the text that its code names. */
function codedOf(column: Column, count: number): Filled['coded'] {
  if (column.kind !== 'text' && column.kind !== 'texts') return [];
  const { codes = [], dictionary } = column;
  const values = column.kind === 'texts' ? column.values : column.values.slice(0, column.stride * count || 1);
  if (dictionary === undefined) return [];
  return values.flatMap((text, at) => {
    const code = codes[at] ?? -1;
    return code < 0 ? [] : [{ text, named: dictionary.texts[code] }];
  });
}

function cellsOf(plan: Plan, frame: Frame): Filled['cells'] {
  const cells: Record<string, (readonly [number, unknown])[]> = {};
  const slots = new Set(frame.groups.flat());
  plan.layout.columns.forEach(({ name }, slot) => {
    const column = frame.columns[slot];
    if (name === undefined || column === undefined || !slots.has(column)) return;
    const rows = column.stride === 0 ? 1 : frame.count;
    cells[name] = Array.from({ length: rows }, (_, row) => {
      const status = column.status[row] ?? -1;
      switch (column.kind) {
        case 'texts':
        case 'numbers':
          return [status, [...column.values.slice(column.offsets[row], column.offsets[row + 1])]];
        case 'vector':
          return [status, [...column.values.slice(row * column.size, (row + 1) * column.size)]];
        default:
          return [status, column.values[row]];
      }
    });
  });
  return cells;
}
