import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ImportedFeedback } from '../../learn/dataset/import/imported-feedback.js';
import { Collector } from '../../learn/dataset/import/collect.js';
import { ImportLedger, segmentsOfImport } from '../../learn/dataset/import/import-ledger.js';
import {
  foreignFiles,
  instanceOf,
  matchFiles,
  type ForeignFile,
} from '../../learn/dataset/import/input-files.js';
import { readFiles } from '../../learn/dataset/import/read-files.js';
import { Rejects } from '../../learn/dataset/import/rejects.js';
import { TimeOrder } from '../../learn/dataset/import/time-order.js';
import { hiddenTypes } from '../../serve/feedback/rebuild-counter.js';
import { LogFeedback } from '../../serve/sources/log-feedback.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { ForeignEntity, ForeignFeedback, ForeignRanking } from '../../project/foreign/foreign-event.js';
import { impressionsOf } from '../../project/foreign/listed-feedback.js';
import type { Settings } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { IdHasher } from '../../ground/core/id-hasher.js';
import { startProgress } from '../../ground/core/progress.js';
import { removeOnSignal } from '../../ground/core/scratch-folder.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { partitionsFor } from '../ledger-import/partitions.js';
import { PLAY_ORDER } from '../ledger-import/played-log.js';
import { KnownEntities } from '../ledger-import/known-entities.js';
import { chooseMapping } from '../ledger-import/choose-mapping.js';
import { openCheckpoint, type Checkpoint } from '../load/checkpoint.js';
import type { TargetFlags } from '../load/open-target.js';
import { loadedJson, loadedText, type LoadedLog } from '../report/loaded-log-text.js';
import { openFeedbackTarget, type FeedbackTarget } from './feedback-target.js';
import { LogCounts } from './log-counts.js';

export type LoadLogFlags = TargetFlags & {
  readonly map: string;
  readonly about?: string;
  readonly rejected: string;
  readonly within: number;
  readonly resume?: boolean;
  readonly json?: boolean;
};

type LogEvent = ForeignEntity | ForeignFeedback | ForeignRanking;

/** Events that are stored together, and between two states of the checkpoint. */
const TOGETHER = 1000;

/** Everything that the passes over a log need. */
interface Load {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly target: FeedbackTarget;
  readonly about: string;
  readonly hasher: IdHasher;
  readonly rejects: Rejects;
  readonly counts: LogCounts;
}

/**
 * Takes the log of a shop into the ledger, the histories and the counters. Each part can be repeated: the segments of the
 * ledger replace those of an earlier load of the same files, a history holds an event once, and counters are counted anew
 * from the ledger, which counts an event once.
 */
export async function loadLog(
  context: CliContext,
  words: readonly string[],
  flags: LoadLogFlags,
): Promise<void> {
  const started = performance.now();
  const files = await foreignFiles(words);
  const settings = await settingsOf(context, flags);
  const instance = await instanceOf(files, 'feedback');
  const target = await openFeedbackTarget(context, flags, settings);
  const work = join(settings.dataDir, 'loads', instance);
  const release = removeOnSignal(context, work);
  try {
    const about = aboutOf(target.config, flags.about);
    const mapping = await chooseMapping(context, flags, words[0] ?? '', files, {
      candidateType: about,
      known: { fields: new Set(), carried: new Set() },
    });
    if (mapping === undefined) return;
    await rm(work, { recursive: true, force: true });
    await mkdir(work, { recursive: true });
    const { hashIds, idSalt } = settings;
    const hidden = target.config.pipelines.flatMap(({ log }) => [...(log?.hash.keys() ?? [])]);
    const load: Load = {
      ...{ context, settings, target, about },
      hasher: new IdHasher(idSalt, new Set([...hashIds, ...hidden])),
      rejects: new Rejects(),
      counts: new LogCounts(),
    };
    const collector = new Collector({ folder: work, partitions: partitionsFor(files), within: flags.within });
    const sources = matchFiles(mapping.sources, files);
    const { rows } = await readFiles(context, sources, about, load.rejects, (event) => collector.add(event));
    const order = await inOrder(collector, work, (event) => load.counts.add(event, target.config.events));
    if (load.counts.events === 0) {
      if (load.rejects.total > 0) load.rejects.write(flags.rejected);
      throw noFeedback(load, rows, flags);
    }
    if (!target.records) await writeLedger(load, order, instance);
    const checkpoint = await checkpointOf(files, instance, settings, flags);
    if (flags.resume === true) context.stderr.write(resumeText(checkpoint.after));
    try {
      await storeFeedback(load, order, checkpoint);
    } finally {
      checkpoint.close();
    }
    if (load.rejects.total > 0) load.rejects.write(flags.rejected);
    const report: LoadedLog = {
      ...{ rows, files: files.length, target: target.name, counts: load.counts },
      counters: await rebuildCounters(load),
      definitions: target.config.counters,
      rejected: load.rejects,
      rejectedFile: flags.rejected,
      seconds: (performance.now() - started) / 1000,
    };
    checkpoint.finished();
    if (flags.json === true) printJson(context, loadedJson(report));
    else context.stdout.write(loadedText(report, styleOf(context, context.stdout).width));
  } finally {
    await target.close();
    await rm(work, { recursive: true, force: true });
    release();
  }
}

/** @throws UsageError if it is not clear what users act on */
function aboutOf({ pipelines, entities }: ProjectConfig, named: string | undefined): string {
  if (named !== undefined && !entities.has(named))
    throw new UsageError(
      `--about ${named}: the project has no such entity type; it has ${[...entities.keys()].join(', ')}`,
    );
  const types = [...new Set(pipelines.map(({ candidateType }) => candidateType.value))];
  const [only = 'product', ...others] = named === undefined ? types : [named];
  if (others.length === 0) return only;
  throw new UsageError(`the pipelines rank ${types.join(' and ')}; name one of them: --about ${only}`);
}

/** The command fails before it replaces the segments of an earlier load, which may have been read with another mapping. */
function noFeedback(
  { counts, rejects }: Load,
  rows: number,
  { map, rejected }: LoadLogFlags,
): CommandFailure {
  if (rows === 0) return new CommandFailure('the files have no rows', 'name the files of a log');
  const kinds = [...counts.undeclared.keys()];
  return new CommandFailure(
    'the files have no feedback that the project declares',
    kinds.length > 0
      ? `declare ${kinds.join(', ')} under \`events:\` in millrace.yaml`
      : rejects.total > 0
        ? `look at the reasons in ${rejected}, and at the mapping`
        : `--map ${map} reads no row as feedback; name the map of the system that wrote the files`,
  );
}

/** The events of a log in the order of their times; at equal times what is known, then lists, then acts on them. */
async function inOrder(
  collector: Collector,
  work: string,
  onEach: (event: ForeignFeedback | ForeignRanking) => void,
): Promise<TimeOrder<LogEvent>> {
  const order = new TimeOrder<LogEvent>(join(work, 'order'));
  const add = (event: LogEvent): Promise<void> | undefined =>
    order.add(event.time, PLAY_ORDER[event.is], event);
  for await (const event of collector.timedEntities()) await add(event);
  for await (const event of collector.records()) {
    onEach(event);
    await add(event);
  }
  return order;
}

async function writeLedger(
  { settings, target, about, hasher }: Load,
  order: TimeOrder<LogEvent>,
  instance: string,
): Promise<void> {
  const { ledgerDir } = settings;
  const before = await segmentsOfImport(ledgerDir, instance);
  const ledger = new ImportLedger(ledgerDir, instance);
  try {
    const records = new ImportedFeedback(about, ledger, hasher);
    const known = new KnownEntities(target.config, about, hasher);
    for await (const event of order.all()) {
      if (event.is === 'entity') known.add(event);
      else
        for (const one of event.is === 'ranking' ? impressionsOf(event) : [event])
          if (target.config.events.has(one.event)) records.add(known.recorded(one));
    }
    for (const path of before) await rm(path, { force: true });
    ledger.finish();
  } catch (error) {
    ledger.abandon();
    throw error;
  }
}

async function storeFeedback(
  { context, target, about, hasher, rejects, counts }: Load,
  order: TimeOrder<LogEvent>,
  checkpoint: Checkpoint,
): Promise<void> {
  const { config } = target;
  const known = new KnownEntities(config, about, hasher);
  const feedback = new LogFeedback({
    target: { feedback: async (body) => counts.answered(await target.feedback(body)) },
    about,
    project: config,
    carried: (id) => known.of(id),
    refused: (detail, row) => rejects.add({ file: '', line: 0, reason: 'bad_feedback', detail, row }),
  });
  let waiting: (ForeignFeedback | ForeignRanking)[] = [];
  let done = 0;
  const progress = startProgress(context.stderr, 'storing', undefined, 'events');
  const store = async (): Promise<void> => {
    await feedback.store(waiting);
    waiting = [];
    checkpoint.reached(done);
    progress.update(done, done);
  };
  try {
    for await (const event of order.all()) {
      if (event.is === 'entity') {
        // What came before carries what was known before.
        if (waiting.length > 0) await store();
        known.add(event);
        continue;
      }
      done += 1;
      if (done <= checkpoint.after) continue;
      waiting.push(event);
      if (waiting.length >= TOGETHER) await store();
    }
    await store();
  } finally {
    progress.stop();
  }
}

/** A counter of hashed ids, or of what it cannot tell apart then, counts only new feedback. */
async function rebuildCounters({ target, settings, context }: Load): Promise<LoadedLog['counters']> {
  const rebuilt: LoadedLog['counters'][number][] = [];
  for (const counter of target.config.counters.values()) {
    const hidden = hiddenTypes(counter, settings.hashIds);
    if (hidden.length === 0) rebuilt.push({ counter: counter.name, ...(await target.rebuild(counter)) });
    else
      context.stderr.write(
        `warning: the counter ${counter.name} is not filled: the ledger has hashes instead of the ids of ${hidden.join(', ')}\n`,
      );
  }
  return rebuilt;
}

async function checkpointOf(
  files: readonly ForeignFile[],
  instance: string,
  { dataDir, store, prefix, redisUrl, redisCluster, redisSentinels }: Settings,
  { url, map, resume }: LoadLogFlags,
): Promise<Checkpoint> {
  const into = url ?? JSON.stringify([store, prefix, dataDir, redisUrl, redisCluster, redisSentinels]);
  const place = { folder: join(dataDir, 'loads'), file: files[0]?.path ?? '' };
  return await openCheckpoint({ ...place, load: ['feedback', instance, map, into] }, resume === true);
}

function resumeText(after: number): string {
  return after === 0
    ? 'there is no interrupted load of these files; loading them from the start\n'
    : `continuing after event ${after.toLocaleString('en')}\n`;
}
