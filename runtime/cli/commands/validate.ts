import { isAbsolute, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { parseDuration } from '../../ground/api/duration.js';
import { compileProject } from '../../serve/app/project/compile-project.js';
import { checkEntityTypes } from '../../serve/app/container/resident.js';
import { checkSettings } from '../../project/config/project/read-settings.js';
import { adviceOf, type StepAdvice } from '../../request/compile/advice.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { reloadGatesOf } from '../../project/config/conditions/reload-gate.js';
import { Diagnostics, distinct, type Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { diagnosticsJson, renderDiagnostics } from '../../project/config/diagnostics/render.js';
import { sarifLog } from '../../project/config/diagnostics/sarif.js';
import { checkExploreSalt } from '../../request/pipeline/components/check-explore-salt.js';
import { checkLogSalt } from '../../request/pipeline/log/log-hasher.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { counted } from '../../ground/core/count.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, tellStrayErrors, type CliContext } from '../context.js';
import { connectionsText } from '../report/connections-text.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { addSettingFlags } from '../setting-flags.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { writeWhole } from '../../ground/core/write-whole.js';

type Flags = SettingFlags & {
  readonly json?: boolean;
  readonly sarif?: string;
  readonly connect?: boolean;
  readonly timeout?: string;
};

/** The clients of stores and sinks are loaded only for --connect. */
const loadConnect = () => import('../../serve/app/connect/check-connections.js');

/** @param version of Millrace */
export function validateCommand(context: CliContext, version: string): Command {
  const validate = new Command('validate')
    .description('check a project as start-up does, and report all errors')
    .option('--json', 'print the errors and warnings as JSON')
    .option('--sarif <FILE>', 'also write the errors and warnings as SARIF 2.1.0; - for standard output')
    .option(
      '--connect',
      'also ask the store, the model servers, the sinks and the sources whether they are ready',
    )
    .option('--timeout <TIME>', 'with --connect: how long each of them may take; by default 5s')
    .action((flags: Flags) => checkProject(context, flags, version));
  return addSettingFlags(validate, ['project']);
}

async function checkProject(context: CliContext, flags: Flags, version: string): Promise<void> {
  const timeoutMs = timeLimit(flags);
  if (flags.sarif === '-' && flags.json === true)
    throw new UsageError('--json and --sarif - both write to standard output; give --sarif a file');
  const { settings, diagnostics: ofSettings } = await checkSettings(context.env, flags);
  tellStrayErrors(context, settings);
  const { project } = settings;
  const { ledgerDir: folder, ledgerKeep: keepMs, ledgerBytes: keepBytes } = settings;
  const sinkServices = { instance: 'validate', folder, keepMs, keepBytes, warn: () => undefined };
  const compiled = await compileProject(project, { ...settings, sinkServices });
  const { config, pipelines } = compiled;
  // millrace.yaml is read for its settings, and again for its part of the project.
  const ofFiles = distinct([...ofSettings, ...compiled.diagnostics]);
  const errors = ofFiles.filter((d) => d.severity === 'error').length;
  try {
    if (config !== undefined) {
      checkEntityTypes(settings, config);
      checkLogSalt(config.pipelines, settings);
      reloadGatesOf(settings);
    }
    if (errors === 0)
      checkExploreSalt(
        pipelines.map(({ plan }) => plan),
        settings,
      );
    const ofStore = new Diagnostics();
    const connections =
      flags.connect === true && errors === 0
        ? await (await loadConnect()).checkConnections(compiled, settings, timeoutMs, ofStore)
        : undefined;
    const diagnostics = [...ofFiles, ...ofStore.all];
    if (flags.sarif !== undefined) await writeSarif(context, flags.sarif, diagnostics, project, version);
    const advice = adviceOf(pipelines.map(({ plan }) => plan));
    if (flags.json === true) {
      printJson(context, {
        ok: errors === 0 && connections?.some(({ state }) => state === 'failed') !== true,
        errors,
        warnings: diagnostics.length - errors,
        diagnostics: diagnosticsJson(diagnostics),
        advice,
        ...(connections === undefined ? {} : { connections }),
      });
    } else if (flags.sarif !== '-') {
      if (diagnostics.length > 0)
        context.stdout.write(`${renderDiagnostics(diagnostics, styleOf(context, context.stdout))}\n\n`);
      if (errors === 0 && config !== undefined)
        context.stdout.write(
          `ok: ${counted(pipelines.length, 'pipeline')}, ${entityTypes(config)}, ` +
            `${counted(config.views.size, 'feature view')}${countersText(config)}${sinksText(config)}${sourcesText(config)} in ${project}\n`,
        );
      // A person mends the warnings first.
      if (diagnostics.length === 0)
        context.stdout.write(adviceText(advice, styleOf(context, context.stdout).width));
      if (connections !== undefined)
        context.stdout.write(`\n${connectionsText(connections, styleOf(context, context.stdout).width)}`);
    }
    if (errors > 0) throw new CommandFailure('');
    const failed = connections?.filter(({ state }) => state === 'failed') ?? [];
    if (failed.length > 0) throw new CommandFailure(`${counted(failed.length, 'server')} cannot be used`);
  } finally {
    await compiled.close();
  }
}

function adviceText(advice: readonly StepAdvice[], width: number): string {
  return advice
    .flatMap(({ pipeline, step, message, help }) => [
      '',
      ...wrapAfter('advice:', `${pipeline}:${step}: ${message}`, 4, width),
      ...wrapAfter('    help:', help, 10, width),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

/** The time that `--connect` gives each server, in milliseconds. */
function timeLimit({ timeout, connect }: Flags): number {
  if (timeout === undefined) return 5_000;
  if (connect !== true) throw new UsageError('--timeout needs --connect');
  const ms = parseDuration(timeout);
  if (ms !== undefined && ms >= 1) return ms;
  throw new UsageError(`--timeout: expected a time such as 5s, found ${timeout}`);
}

async function writeSarif(
  context: CliContext,
  target: string,
  diagnostics: readonly Diagnostic[],
  project: string,
  version: string,
): Promise<void> {
  const log = sarifLog(diagnostics, { version, uriOf: (path) => uriOf(join(project, path)) });
  const text = `${JSON.stringify(log, null, 2)}\n`;
  if (target === '-') context.stdout.write(text);
  else await writeWhole(target, text);
}

/** A URI relative to the working directory, as code hosts expect it; of another folder the whole `file:` URL. */
function uriOf(path: string): string {
  const from = relative(process.cwd(), path);
  if (from.startsWith('..') || isAbsolute(from)) return pathToFileURL(path).href;
  return from.split(sep).map(encodeURIComponent).join('/');
}

/** Counts the types that have a file, and separately the built-in types without a file. */
function entityTypes({ entities }: ProjectConfig): string {
  const declared = [...entities.values()].filter(({ at }) => at !== undefined).length;
  const rest = entities.size - declared;
  return counted(declared, 'entity type') + (rest === 0 ? '' : ` (and ${rest} built in)`);
}

function countersText({ counters }: ProjectConfig): string {
  return counters.size === 0 ? '' : `, ${counted(counters.size, 'counter')}`;
}

function sinksText({ sinks }: ProjectConfig): string {
  return sinks.length === 0 ? '' : `, ${counted(sinks.length, 'sink')}`;
}

function sourcesText({ sources }: ProjectConfig): string {
  return sources.length === 0 ? '' : `, ${counted(sources.length, 'source')}`;
}
