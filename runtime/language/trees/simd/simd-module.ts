import type { TreeEnsemble } from '../../../ground/api/tree-ensemble.js';
import { encodeModule, type FunctionWriter } from '../wasm/encoder.js';
import { writeAddLeaves, type LeafKind } from './add-leaves.js';
import { writeAddTrees } from './add-trees.js';
import { WIDTHS, type Width } from './memory.js';
import { writeTestCategories } from './test-categories.js';
import { writeTestValues } from './test-values.js';

/** The functions of the module for planes of one width. Addresses are in bytes of its memory. */
export interface PlaneFunctions {
  /** Computes the planes of the groups of numeric tests from `group` to `end`. */
  readonly values: (group: number, end: number, rows: number, first: number) => void;
  /** Computes the planes of all sets of categories; `planes` is their number. */
  readonly categories: (feature: number, end: number, rows: number, planes: number) => void;
  /** Adds the trees from `tree` to `end` to the sums of `groups` groups of 16 rows. */
  readonly add: (tree: number, end: number, groups: number) => void;
}

export type SimdModule = ReadonlyMap<Width, PlaneFunctions>;

const modules = new Map<string, Promise<WebAssembly.Module>>();

/**
 * The WebAssembly module that runs plane programs, each over its own memory. There is one module for each kind of leaf
 * and comparison. It is compiled once, so V8's optimised code for one model also serves the next.
 */
export async function instantiateSimd(
  memory: WebAssembly.Memory,
  leaves: LeafKind,
  comparison: TreeEnsemble['comparison'],
): Promise<SimdModule> {
  const key = `${leaves} ${comparison}`;
  const module = modules.get(key) ?? WebAssembly.compile(writeModule(leaves, comparison));
  modules.set(key, module);
  const { exports } = await WebAssembly.instantiate(await module, { env: { memory } });
  const exported = (name: keyof PlaneFunctions, width: Width): unknown => exports[`${name}${width}`];
  return new Map(
    WIDTHS.map((width) => [
      width,
      {
        values: exported('values', width) as PlaneFunctions['values'],
        categories: exported('categories', width) as PlaneFunctions['categories'],
        add: exported('add', width) as PlaneFunctions['add'],
      },
    ]),
  );
}

function writeModule(leaves: LeafKind, comparison: TreeEnsemble['comparison']): Uint8Array<ArrayBuffer> {
  const functions: FunctionWriter[] = [writeAddLeaves(leaves, false), writeAddLeaves(leaves, true)];
  const exported: Record<string, number> = {};
  const add = (name: string, one: FunctionWriter): void => {
    exported[name] = functions.push(one) - 1;
  };
  for (const width of WIDTHS) {
    add(`values${width}`, writeTestValues(width, comparison));
    add(`categories${width}`, writeTestCategories(width));
    add(`add${width}`, writeAddTrees(width, { short: 0, long: 1 }));
  }
  return encodeModule(functions, exported);
}
