import { Command } from 'commander';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { counted } from '../../ground/core/count.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { pipelineOf, pipelinesOf } from '../../request/pipeline/log/replay-needs.js';
import { servedArms } from '../../request/pipeline/log/replayed-arms.js';
import { Replay, type ReplayDifference } from '../../request/pipeline/log/replay.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { startProgress } from '../../ground/core/progress.js';
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
  /** Replayed requests, by experiment and arm. */
  readonly arms: Map<string, number>;
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
    checkPipeline(
      flags.pipeline,
      compiled.pipelines.map(({ name }) => name),
    );
    const tallies = await replayAll(
      context,
      source ?? settings.ledgerDir,
      flags,
      new Replay(compiled.pipelines),
    );
    if (flags.json === true) printJson(context, tallies.map(jsonOf));
    else context.stdout.write(tallies.map(textOf).join('\n'));
    if (tallies.some(({ different }) => different.length > 0)) throw new CommandFailure('');
    if (tallies.every(({ replayed }) => replayed === 0)) throw new CommandFailure(nothing(flags, tallies));
  } finally {
    await compiled.close();
  }
}

function checkPipeline(name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  const help = didYouMean(name, known, AS_WORD) ?? `there are ${known.join(', ')}`;
  throw new UsageError(`there is no pipeline ${name}; ${help}`);
}

async function replayAll(
  context: CliContext,
  source: string,
  flags: Flags,
  replay: Replay,
): Promise<readonly Tally[]> {
  await checkLedger(context, source);
  const tallies = new Map<string, Tally>();
  const progress = startProgress(context.stderr, 'replay', undefined, 'requests');
  let done = 0;
  try {
    for await (const record of readRecords(source)) {
      if (record.kind !== 'ranking') continue;
      const pipeline = pipelineOf(record);
      const requestId = String(record.field('request_id')?.at(0));
      if (flags.pipeline !== undefined && !pipelinesOf(record).includes(flags.pipeline)) continue;
      if (flags.request !== undefined && requestId !== flags.request) continue;
      const tally = tallies.get(pipeline) ?? newTally(pipeline);
      tallies.set(pipeline, tally);
      const outcome = await replay.run(record);
      progress.update(++done, done);
      if (outcome.kind === 'refused') count(tally.refused, outcome.reason);
      else {
        tally.replayed++;
        for (const { experiment, arm } of servedArms(record)) count(tally.arms, `${experiment}=${arm}`);
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
  return { pipeline, replayed: 0, candidates: 0, arms: new Map(), different: [], refused: new Map() };
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

function jsonOf({ pipeline, replayed, candidates, arms, different, refused }: Tally): object {
  return {
    pipeline,
    replayed,
    candidates,
    ...(arms.size > 0 && { arms: Object.fromEntries(arms) }),
    equal: replayed - different.length,
    different,
    refused: Array.from(refused, ([reason, requests]) => ({ reason, requests })),
  };
}

function textOf({ pipeline, replayed, candidates, arms, different, refused }: Tally): string {
  const equal = different.length === 0 ? 'all' : (replayed - different.length).toLocaleString('en');
  const lines = [
    replayed === 0
      ? `${pipeline}: no request was replayed`
      : `${pipeline}: replayed ${counted(replayed, 'request')} with ${counted(candidates, 'candidate')}; order and scores equal in ${equal}`,
  ];
  if (arms.size > 0)
    lines.push(
      `  with the arms that served them: ${[...arms].map(([arm, requests]) => `${arm} ${requests.toLocaleString('en')}`).join(', ')}`,
    );
  for (const { request_id, candidates: found } of different.slice(0, MOST_SHOWN)) {
    lines.push(
      `  ${request_id}: ${counted(found.length, 'candidate')} differ${found.length === 1 ? 's' : ''}`,
    );
    for (const { candidate, place, score, team } of found.slice(0, MOST_SHOWN))
      lines.push(
        `    ${candidate}: place ${place[0]} → ${place[1]}, score ${score[0]} → ${score[1]}` +
          (team === undefined || team[0] === team[1]
            ? ''
            : `, team ${team[0] ?? 'of both'} → ${team[1] ?? 'of both'}`),
      );
  }
  for (const [reason, requests] of refused)
    lines.push(`  not replayed: ${counted(requests, 'request')}, because ${reason}`);
  return `${lines.join('\n')}\n`;
}
