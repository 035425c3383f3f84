import { Command } from 'commander';
import { compileProject, ProjectInvalidError } from '../../app/project/compile-project.js';
import type { Plan } from '../../compile/plan.js';
import { nearest } from '../../core/nearest.js';
import { readRecords } from '../../ledger/record-reader.js';
import { pipelineOf } from '../../pipeline/log/replay-needs.js';
import { Replay, type ReplayDifference } from '../../pipeline/log/replay.js';
import type { SettingFlags } from '../../settings/settings.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { checkLedger } from '../ledger-folder.js';
import { startProgress } from '../load/progress.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly pipeline?: string;
  readonly request?: string;
  readonly json?: boolean;
}

/** The replays of one pipeline. */
interface Tally {
  readonly pipeline: string;
  replayed: number;
  candidates: number;
  readonly different: { readonly request_id: string; readonly candidates: readonly ReplayDifference[] }[];
  /** Requests that were not replayed, by the reason. */
  readonly refused: Map<string, number>;
}

/** Differences that are printed for each request, and requests that are printed. */
const MOST_SHOWN = 5;

export function ledgerReplayCommand(context: CliContext): Command {
  const command = new Command('replay')
    .description('run logged requests again, and compare the order and the scores with what was served')
    .argument('[DIR]', 'folder or file with the records [default: the ledger of the project]')
    .option('--pipeline <NAME>', 'only the requests of this pipeline')
    .option('--request <ID>', 'only the request with this id')
    .option('--json', 'print the result as JSON')
    .action((source: string | undefined, flags: Flags) => replay(context, source, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function replay(context: CliContext, source: string | undefined, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const compiled = await compileProject(settings.project, settings);
  try {
    if (compiled.diagnostics.some(({ severity }) => severity === 'error'))
      throw new ProjectInvalidError(compiled.diagnostics);
    const plans = new Map(compiled.pipelines.map(({ name, plan }) => [name, plan]));
    checkPipeline(flags.pipeline, plans);
    const tallies = await replayAll(context, source ?? settings.ledgerDir, flags, plans);
    if (flags.json === true) printJson(context, tallies.map(jsonOf));
    else context.stdout.write(tallies.map(textOf).join('\n'));
    if (tallies.some(({ different }) => different.length > 0)) throw new CommandFailure('');
    if (tallies.every(({ replayed }) => replayed === 0)) throw new CommandFailure(nothing(flags, tallies));
  } finally {
    await compiled.close();
  }
}

function checkPipeline(name: string | undefined, plans: ReadonlyMap<string, Plan>): void {
  if (name === undefined || plans.has(name)) return;
  const guess = nearest(name, plans.keys());
  const help = guess === undefined ? `there are ${[...plans.keys()].join(', ')}` : `did you mean ${guess}?`;
  throw new UsageError(`there is no pipeline ${name}; ${help}`);
}

async function replayAll(
  context: CliContext,
  source: string,
  flags: Flags,
  plans: ReadonlyMap<string, Plan>,
): Promise<readonly Tally[]> {
  await checkLedger(context, source);
  const tallies = new Map<string, Tally>();
  const replays = new Map(Array.from(plans, ([name, plan]) => [name, new Replay(plan)]));
  const progress = startProgress(context.stderr, 'replay', undefined, 'requests');
  let done = 0;
  try {
    for await (const record of readRecords(source)) {
      if (record.kind !== 'ranking') continue;
      const pipeline = pipelineOf(record);
      const requestId = String(record.field('request_id')?.at(0));
      if (flags.pipeline !== undefined && pipeline !== flags.pipeline) continue;
      if (flags.request !== undefined && requestId !== flags.request) continue;
      const tally = tallies.get(pipeline) ?? newTally(pipeline);
      tallies.set(pipeline, tally);
      const outcome = await replays.get(pipeline)?.run(record);
      progress.update(++done, done);
      if (outcome === undefined) count(tally.refused, 'the project has no such pipeline');
      else if (outcome.kind === 'refused') count(tally.refused, outcome.reason);
      else {
        tally.replayed++;
        tally.candidates += outcome.candidates;
        if (outcome.differences.length > 0)
          tally.different.push({ request_id: requestId, candidates: outcome.differences });
      }
    }
  } finally {
    progress.stop();
  }
  return [...tallies.values()].sort((a, b) => (a.pipeline < b.pipeline ? -1 : 1));
}

function newTally(pipeline: string): Tally {
  return { pipeline, replayed: 0, candidates: 0, different: [], refused: new Map() };
}

function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

function nothing({ request, pipeline }: Flags, tallies: readonly Tally[]): string {
  if (tallies.length > 0) return 'no request could be replayed';
  const which = [
    ...(pipeline === undefined ? [] : [`of the pipeline ${pipeline}`]),
    ...(request === undefined ? [] : [`with the id ${request}`]),
  ].join(' ');
  return which === '' ? 'no request was logged' : `no request ${which} was logged`;
}

function jsonOf({ pipeline, replayed, candidates, different, refused }: Tally): object {
  return {
    pipeline,
    replayed,
    candidates,
    equal: replayed - different.length,
    different,
    refused: Array.from(refused, ([reason, requests]) => ({ reason, requests })),
  };
}

function textOf({ pipeline, replayed, candidates, different, refused }: Tally): string {
  const equal = different.length === 0 ? 'all' : (replayed - different.length).toLocaleString('en');
  const lines = [
    replayed === 0
      ? `${pipeline}: no request was replayed`
      : `${pipeline}: replayed ${counted(replayed, 'request')} with ${counted(candidates, 'candidate')}; order and scores equal in ${equal}`,
  ];
  for (const { request_id, candidates: found } of different.slice(0, MOST_SHOWN)) {
    lines.push(
      `  ${request_id}: ${counted(found.length, 'candidate')} differ${found.length === 1 ? 's' : ''}`,
    );
    for (const { candidate, place, score } of found.slice(0, MOST_SHOWN))
      lines.push(`    ${candidate}: place ${place[0]} → ${place[1]}, score ${score[0]} → ${score[1]}`);
  }
  for (const [reason, requests] of refused)
    lines.push(`  not replayed: ${counted(requests, 'request')}, because ${reason}`);
  return `${lines.join('\n')}\n`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
