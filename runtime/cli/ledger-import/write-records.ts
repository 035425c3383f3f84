import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { MODELS_LEFT } from '../../serve/app/project/compile-tunable.js';
import { openTunable, type OpenTunable } from '../../serve/app/project/open-tunable.js';
import { DEFAULT_HORIZON } from '../../serve/feedback/count-events.js';
import type { Collector } from '../../learn/dataset/import/collect.js';
import { ImportLedger } from '../../learn/dataset/import/import-ledger.js';
import { ImportedRecords } from '../../learn/dataset/import/imported-records.js';
import { checkLogSalt, logHasherOf } from '../../request/pipeline/log/log-hasher.js';
import type { Settings } from '../../project/settings/settings.js';
import { tellStrayErrors, type CliContext } from '../context.js';
import { cellValue } from '../../ground/core/cell-value.js';
import { startProgress } from '../../ground/core/progress.js';
import type { WrittenRecords } from '../report/import-text.js';
import { storeEntities } from '../../learn/dataset/import/load-entities.js';
import type { Rejects } from '../../learn/dataset/import/rejects.js';
import { TimeOrder } from '../../learn/dataset/import/time-order.js';
import { readViewRows, recordedViews } from '../../learn/dataset/import/view-rows.js';
import { EntityIndex } from '../../state/index/entity-index.js';
import { AsOfStore } from '../../state/store/as-of-store.js';
import { isEntityKey, partsOf } from '../../state/store/keys.js';
import { LayoutRegistry } from '../../state/store/layout-registry.js';
import type { Store } from '../../state/store/store.js';
import { KnownEntities } from './known-entities.js';
import { PLAY_ORDER, PlayedLog, type PlayedClock, type PlayedEvent } from './played-log.js';

/** Where the records of an import go. */
export interface LedgerPlace {
  /** The folder of the ledger. */
  readonly out: string;
  readonly instance: string;
  /** Segments of an earlier import of the same files. The new ones replace them. */
  readonly before: readonly string[];
  /** A folder for what does not fit into memory. The caller removes it. */
  readonly work: string;
}

/** What was read from the files, and where it belongs. */
export interface Collected {
  readonly pipeline: string;
  readonly collector: Collector;
  readonly rejects: Rejects;
}

/** The services of an import: those of a time that passes as the log says, and the store as it is today. */
interface ImportServices {
  readonly opened: OpenTunable;
  readonly clock: PlayedClock;
  readonly asOf: AsOfStore;
  readonly today: Store;
}

/**
 * Stores the collected entities, and writes the rankings and the feedback as records of the pipeline. The log is played
 * in the order of its times to a store in memory, so that the values of a ranking are those that were known when it came.
 * @throws ProjectInvalidError; MillraceError unknown_pipeline, store_unavailable, data_folder_in_use
 */
export async function writeRecords(
  context: CliContext,
  settings: Settings,
  { pipeline, collector, rejects }: Collected,
  place: LedgerPlace,
): Promise<WrittenRecords> {
  const { out, instance, before, work } = place;
  tellStrayErrors(context, settings);
  const services = await openServices(settings, pipeline, collector.timedTypes);
  const { opened } = services;
  if (opened.leftModels) context.stderr.write(MODELS_LEFT);
  const ledger = new ImportLedger(out, instance);
  try {
    const { plan } = opened;
    checkLogSalt([plan.definition], settings);
    const hasher = logHasherOf(plan.definition, settings);
    const order = new TimeOrder<PlayedEvent>(join(work, 'order'));
    const add = (event: PlayedEvent): Promise<void> | undefined =>
      order.add(event.time, PLAY_ORDER[event.is], event);
    const views = new Set<string>();
    for await (const row of readViewRows(out, recordedViews(plan, hasher), opened.config.entities)) {
      views.add(row.view);
      await add(row);
    }
    services.asOf.ownViews(views);
    const entities = await storeEntities(
      collector.wholeEntities((event) => (collector.timedTypes.has(event.type) ? add(event) : undefined)),
      opened.config.entities,
      indexOf(services.today, settings, opened),
      rejects,
    );
    for await (const record of collector.records()) await add(record);
    const records = new ImportedRecords({
      plan,
      services: opened.services,
      ledger,
      hasher,
      projectVersion: opened.version,
      convert: cellValue,
      known: { types: collector.timedTypes, views },
    });
    const known = new KnownEntities(opened.config, plan.candidateType.name, hasher);
    const added = await addRecords(context, order, services, { records, known }, rejects);
    if (added.rankings > 0) {
      for (const path of before) await rm(path, { force: true });
      ledger.finish();
    } else ledger.abandon();
    return {
      ...added,
      pipeline,
      entities,
      counts: collector.counts,
      today: records.today,
      unknownCandidates: records.missing,
      out: shownPath(out),
    };
  } catch (error) {
    ledger.abandon();
    throw error;
  } finally {
    await opened.close();
  }
}

async function openServices(
  settings: Settings,
  pipeline: string,
  timedTypes: ReadonlySet<string>,
): Promise<ImportServices> {
  const clock: PlayedClock = { now: 0 };
  let stores: Pick<ImportServices, 'asOf' | 'today'> | undefined;
  const isTimed = (key: string): boolean => isEntityKey(key) && timedTypes.has(partsOf(key)?.type ?? '');
  const compiled = { ...settings, counterHorizon: DEFAULT_HORIZON, untrained: 'missing' as const };
  const opened = await openTunable(compiled, pipeline, {
    clock: () => clock.now,
    layer: (today) => {
      const asOf = new AsOfStore(today, isTimed, () => clock.now);
      stores = { asOf, today };
      return asOf;
    },
  });
  if (stores === undefined) throw new Error('the store was not opened');
  return { opened, clock, ...stores };
}

function indexOf(store: Store, { prefix, accept }: Settings, { config }: OpenTunable): EntityIndex {
  return new EntityIndex({
    store,
    prefix,
    layouts: new LayoutRegistry(store, prefix),
    types: config.entities,
    isLax: accept === 'lax',
  });
}

type AddedRecords = Pick<WrittenRecords, 'rankings' | 'candidates' | 'pooled' | 'from' | 'to' | 'feedback'>;

async function addRecords(
  { stderr }: CliContext,
  order: TimeOrder<PlayedEvent>,
  { opened, clock }: ImportServices,
  { records, known }: { readonly records: ImportedRecords; readonly known: KnownEntities },
  rejects: Rejects,
): Promise<AddedRecords> {
  const feedback = new Map<string, number>();
  const added = { rankings: 0, candidates: 0, pooled: 0, from: Infinity, to: -Infinity };
  const play = new PlayedLog(opened, clock);
  const progress = startProgress(stderr, 'computing', undefined, 'rankings');
  try {
    for await (const event of order.all()) {
      if (event.is === 'entity') known.add(event);
      if (event.is === 'feedback') {
        records.addFeedback(known.recorded(event));
        feedback.set(event.event, (feedback.get(event.event) ?? 0) + 1);
      }
      if (event.is === 'ranking') {
        await play.until(event.time);
        const refused = await records.addRanking(event);
        if (refused === undefined) {
          added.rankings += 1;
          added.candidates += event.candidates.length;
          if (event.pooled === true) added.pooled += 1;
          added.from = Math.min(added.from, event.time);
          added.to = Math.max(added.to, event.time);
          progress.update(added.rankings, added.rankings);
        } else rejects.add({ file: '', line: 0, ...refused, row: { request: event.request } });
      }
      await play.add(event);
    }
  } finally {
    progress.stop();
    records.close();
  }
  return { ...added, feedback };
}

/** A path below the working directory without it. */
function shownPath(path: string): string {
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
