import { engineTraits } from '../../serve/app/container/store-engines.js';
import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../ground/api/duration.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import { loadProject } from '../../project/config/project/load-project.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { parseShare } from '../../ground/core/share.js';
import { parseSize } from '../../ground/core/size.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { wholeOption } from '../../learn/judge/options.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { withCount } from '../../ground/core/progress.js';
import { addSettingFlags } from '../setting-flags.js';
import { Arm, ArmRefusedError, type ArmLimits } from '../shadow/arm.js';
import { armSpecs } from '../shadow/arm-specs.js';
import { runLive, runNewest, shadowRequest, type RunningArm } from '../../learn/shadow/run-arms.js';
import { shadowExperiment } from '../shadow/shadow-experiment.js';
import { shadowText, type ShadowReport } from '../report/shadow-text.js';
import { ArmTally, type ArmRow } from '../../learn/shadow/tally.js';

interface Flags extends SettingFlags {
  readonly against?: readonly string[];
  readonly params?: readonly string[];
  readonly experiment?: string;
  readonly ledger?: string;
  readonly share?: number;
  readonly last: number;
  readonly follow?: boolean;
  readonly queue: number;
  readonly depth: number;
  readonly timeout: number;
  readonly memory: number;
  readonly export?: string;
  readonly json?: boolean;
}

const LONGEST_MS = 3_600_000;

export function shadowCommand(context: CliContext): Command {
  const command = new Command('shadow')
    .description(
      'run other pipelines, or other params, on requests that were served, in processes of their own',
    )
    .argument('[PIPELINE]', 'the pipeline whose requests are taken; by default that of the experiment')
    .option(
      '--against <ARM>',
      'a pipeline of the project, a project folder, or git:REF; may be repeated',
      list,
    )
    .option('--params <VALUES>', 'the same pipeline with other params, e.g. w_pop=0.5,w_text=2', list)
    .option(
      '--experiment <NAME>',
      'all arms of an experiment with mode: shadow, in its share and time',
      single,
    )
    .option('--ledger <DIR>', 'folder with the records [default: the ledger of the project]')
    .addOption(
      new Option(
        '--share <SHARE>',
        'share of the requests, by their ids [default: that of the experiment, or 100%]',
      ).argParser(share),
    )
    .addOption(wholeOption('--last <N>', 'how many requests of the ledger, the newest', 1000, 1))
    .option('--follow', 'run requests as a service logs them, until stopped')
    .addOption(wholeOption('--queue <N>', 'with --follow: requests that may wait for an arm', 1000, 1))
    .addOption(wholeOption('--depth <K>', 'depth of overlap@k', 10, 1))
    .addOption(
      new Option('--timeout <TIME>', 'the longest time for one request')
        .argParser(duration)
        .default(5000, '5s'),
    )
    .addOption(
      new Option('--memory <SIZE>', 'the largest heap of an arm').argParser(megabytes).default(1024, '1GB'),
    )
    .option('--export <FILE>', 'write a line of JSON for each request and arm')
    .option('--json', 'print the result as JSON')
    .action((pipeline: string | undefined, flags: Flags) => shadow(context, pipeline, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

async function shadow(context: CliContext, named: string | undefined, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const loaded = await loadProject(settings.project, context.env);
  const { config } = loaded;
  if (config === undefined) throw new ProjectInvalidError(loaded.diagnostics);
  const { follow = false } = flags;
  const experiment =
    flags.experiment === undefined
      ? undefined
      : shadowExperiment(loaded, flags.experiment, { pipeline: named, follow, now: Date.now() });
  const pipeline = experiment?.pipeline.value ?? named;
  if (pipeline === undefined)
    throw new UsageError(
      'name the pipeline whose requests are taken and an arm with --against or --params, or an experiment with --experiment NAME',
    );
  const definition = definitionOf(config, pipeline);
  const specs = await armSpecs(definition, experiment, flags);
  const { called, isShared } = await engineTraits(settings);
  if (follow && !isShared && specs.length > 1)
    throw new CommandFailure(
      `--follow runs ${specs.length} arms at the same time, but ${called} has one owner`,
      'leave out --follow, name one arm, or use a store on Redis',
    );
  const { from, until } = experiment ?? {};
  const selection = { share: flags.share ?? experiment?.share ?? 1, from, until };
  const ledger = flags.ledger ?? settings.ledgerDir;
  await checkLedger(context, ledger);
  const signal = context.stopSignal();
  const arms = specs.map((spec) => openArm(context, flags, pipeline, spec));
  const lines = flags.export === undefined ? undefined : await openExport(flags.export);
  try {
    // A store that is not shared has one owner, so its arms run one after the other.
    const groups = isShared ? [arms] : arms.map((one) => [one]);
    const pick = (record: Parameters<typeof shadowRequest>[0]): ReturnType<typeof shadowRequest> =>
      shadowRequest(record, definition, config.entities, selection);
    const done = (row: ArmRow): void => void lines?.write(`${JSON.stringify(row)}\n`);
    let requests = 0;
    for (const group of groups) {
      for (const { arm } of group) await arm.start();
      if (follow) context.stderr.write(`following ${ledger}\n`);
      const run = { ledger, pick, arms: group, signal };
      requests = follow
        ? await runLive({ ...run, done }, flags.queue)
        : await withCount(context.stderr, 'running', 'rankings', (tell) => {
            let rows = 0;
            const counted = (row: ArmRow): void => {
              done(row);
              tell(++rows);
            };
            return runNewest({ ...run, done: counted }, flags.last);
          });
      await Promise.all(group.map(({ arm }) => arm.close()));
    }
    const report: ShadowReport = {
      ...{ pipeline, ...(experiment === undefined ? {} : { experiment: experiment.name }) },
      ...{ ledger, share: selection.share, requests, depth: flags.depth },
      arms: arms.map(({ arm, tally }) => tally.report(arm.restarts)),
    };
    if (flags.json === true) printJson(context, report);
    else context.stdout.write(shadowText(report));
    if (requests === 0 && !follow)
      throw new CommandFailure(
        `${ledger} has no answered request to ${pipeline} in the share${from === undefined && until === undefined ? '' : ', and between from and until of the experiment'}`,
      );
  } catch (error) {
    if (!(error instanceof ArmRefusedError)) throw error;
    context.stderr.write(error.message);
    throw new CommandFailure('', undefined, { cause: error });
  } finally {
    await Promise.all(arms.map(({ arm }) => arm.close()));
    if (lines !== undefined) {
      lines.end();
      await once(lines, 'close');
    }
  }
}

/** An arm in a process of its own. It is not started yet. */
function openArm(
  context: CliContext,
  flags: Flags,
  pipeline: string,
  { label, against, params }: Awaited<ReturnType<typeof armSpecs>>[number],
): RunningArm {
  const { project, store, dataDir } = flags;
  const own = JSON.parse(JSON.stringify({ project, store, dataDir })) as SettingFlags;
  const open = { type: 'open', pipeline, against, params, flags: own } as const;
  const limits: ArmLimits = { timeoutMs: flags.timeout, memoryMb: flags.memory };
  const warn = (problem: string): void =>
    void context.stderr.write(`warning: the arm ${label} cannot be started again\n${problem}`);
  return { arm: new Arm(open, limits, context.env, warn), tally: new ArmTally(label, flags.depth) };
}

function definitionOf({ pipelines }: ProjectConfig, name: string): PipelineDefinition {
  const definition = pipelines.find((one) => one.name === name);
  if (definition === undefined)
    throw unknownPipeline(
      name,
      pipelines.map((one) => one.name),
      'the project',
    );
  if (definition.task === 'rank') return definition;
  throw new CommandFailure(`the pipeline ${name} scores one entity and has no ranking`);
}

/** @throws CommandFailure before anything runs */
async function openExport(path: string): Promise<WriteStream> {
  const lines = createWriteStream(path);
  try {
    await once(lines, 'open');
    return lines;
  } catch (error) {
    throw new CommandFailure(`cannot write ${path}: ${fileProblem(error)}`, undefined, { cause: error });
  }
}

function single(text: string, before: string | undefined): string {
  if (before === undefined) return text;
  throw new InvalidArgumentError('It can be given once; run the command once for each experiment.');
}

function list(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function share(text: string): number {
  const value = parseShare(text);
  if (value !== undefined && value > 0) return value;
  throw new InvalidArgumentError('Expected a share such as 10%.');
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1 && ms <= LONGEST_MS) return ms;
  throw new InvalidArgumentError('Expected a time up to 1h, such as 500ms or 5s.');
}

function megabytes(text: string): number {
  const bytes = parseSize(text);
  if (bytes !== undefined && bytes >= 32 * 2 ** 20) return Math.round(bytes / 2 ** 20);
  throw new InvalidArgumentError('Expected a size of at least 32MB, such as 512MB.');
}
