import { viewsOfCounters } from '../../../project/config/project/load-counters.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { EntityIndex } from '../../../state/index/entity-index.js';
import { FeatureStore } from '../../../state/index/feature-store.js';
import { EngineAdapter } from '../../../state/store/engine-adapter.js';
import { LayoutRegistry } from '../../../state/store/layout-registry.js';
import type { Store } from '../../../state/store/store.js';
import { CaseEngine } from './case-store.js';

/** The start of every store key of a case. */
export const PREFIX = 'test';

/** The store of a case, with what writes to it and what reads it. */
export interface CaseServices {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  readonly now: () => number;
  /** Whether the project accepts lax bodies. */
  readonly isLax: boolean;
}

/** Opens empty stores. Cases run one after the other, so those of one point in time share a store. */
export class CaseStores {
  readonly #config: ProjectConfig;
  readonly #isLax: boolean;
  readonly #byTime = new Map<number, { readonly engine: CaseEngine; readonly services: CaseServices }>();

  constructor(config: ProjectConfig, isLax: boolean) {
    this.#config = config;
    this.#isLax = isLax;
  }

  /** An empty store. What was stored before for the same time is gone. @param time epoch milliseconds */
  open(time: number): CaseServices {
    let opened = this.#byTime.get(time);
    if (opened === undefined) {
      const engine = new CaseEngine();
      opened = { engine, services: servicesOf(engine, this.#config, time, this.#isLax) };
      this.#byTime.set(time, opened);
    }
    opened.engine.clear();
    return opened.services;
  }
}

function servicesOf(
  engine: CaseEngine,
  { entities: types, views, counters }: ProjectConfig,
  time: number,
  isLax: boolean,
): CaseServices {
  // Nothing expires in it, because a case has one point in time.
  const store = new EngineAdapter(engine, () => -Infinity);
  const layouts = new LayoutRegistry(store, PREFIX);
  const now = (): number => time;
  const parts = { store, layouts, prefix: PREFIX, types, isLax };
  return {
    store,
    layouts,
    now,
    isLax,
    entities: new EntityIndex(parts),
    features: new FeatureStore({
      ...parts,
      views: new Map([...views, ...viewsOfCounters(counters)]),
      eventTimes: ANY_TIME,
      clock: now,
    }),
  };
}

/** Rows of the past and of the future are both worth testing. */
const ANY_TIME = { oldest: -Infinity, ahead: Infinity };
