import { hostname } from 'node:os';
import { Command } from 'commander';
import { pino, type Logger } from 'pino';
import type { SourceDefinition } from '../../project/config/model/sources.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { describeError } from '../../ground/core/describe-error.js';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { createApp } from '../../serve/app/app.js';
import type { Settings } from '../../project/settings/settings.js';
import { intakeOf } from '../../serve/sources/intake-of.js';
import { RunningSource } from '../../serve/sources/running-source.js';
import { checkService } from '../consume/check-service.js';
import { reportUntilStopped } from '../consume/run-sources.js';
import { overHttp } from '../consume/source-targets.js';
import { settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { openService, type TargetFlags } from '../load/open-target.js';
import { addTargetFlags } from '../setting-flags.js';

export function consumeCommand(context: CliContext): Command {
  const command = new Command('consume')
    .description('store the messages of sources as they arrive, until stopped')
    .argument('[SOURCE...]', 'files of sources/; by default all')
    .action((names: readonly string[], flags: TargetFlags) => consumeSources(context, names, flags));
  return addTargetFlags(command);
}

async function consumeSources(
  context: CliContext,
  names: readonly string[],
  flags: TargetFlags,
): Promise<void> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const signal = context.stopSignal();
  const logger = pino({ level: settings.logLevel }, context.stdout);
  await (flags.url === undefined
    ? consumeIntoStore({ settings, names, logger, signal })
    : consumeIntoService(context, flags.url, { settings, names, logger, signal }));
}

/** A process beside a service, so it has another name in the groups of the sources. */
const consumer = `${hostname()}-consume`;

interface Consumption {
  readonly settings: Settings;
  /** The sources that are wanted; none: all. */
  readonly names: readonly string[];
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
}

async function consumeIntoStore({ settings, names, logger, signal }: Consumption): Promise<void> {
  const compiled = await compileProject(settings.project, { ...settings, pipelines: [] });
  await compiled.close();
  const { config } = compiled;
  const wanted = chosen(config?.sources ?? [], names, settings.project, config !== undefined);
  const app = await createApp(
    { ...settings, resident: new Set<string>(), reload: 'off' },
    { logger, records: true, consumes: { consumer, only: new Set(wanted), slows: false } },
  );
  try {
    logger.info({ sources: wanted, into: `the ${settings.store} store` }, 'consuming');
    await reportUntilStopped(() => app.sources?.running() ?? [], logger, signal);
  } finally {
    await app.close().catch((error: unknown) => {
      logger.warn({ error: describeError(error) }, 'the store was not closed');
    });
  }
}

async function consumeIntoService(
  context: CliContext,
  url: string,
  { settings, names, logger, signal }: Consumption,
): Promise<void> {
  const compiled = await compileProject(settings.project, { ...settings, consumer, pipelines: [] });
  const service = openService(context, url);
  try {
    const { config, diagnostics } = compiled;
    if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
      throw new ProjectInvalidError(diagnostics);
    const wanted = chosen(config.sources, names, settings.project, true);
    const found = compiled.sources.filter(({ definition }) => wanted.includes(definition.name));
    const target = overHttp(service);
    await checkService(
      target,
      found.map(({ definition }) => definition),
    );
    logger.info({ sources: wanted, into: service.name }, 'consuming');
    const running = found.map(({ definition, source }) => {
      const intake = intakeOf(definition, config, target);
      return new RunningSource(source, () => intake, { name: definition.name, log: logger });
    });
    await reportUntilStopped(() => running, logger, signal);
  } finally {
    await service.close();
    await compiled.close();
  }
}

/**
 * Returns the names of the sources that are wanted.
 * @param isSound false if the project has errors, which are reported when it is loaded
 */
function chosen(
  sources: readonly SourceDefinition[],
  names: readonly string[],
  project: string,
  isSound: boolean,
): readonly string[] {
  const known = sources.map(({ name }) => name);
  if (!isSound) return names;
  if (known.length === 0)
    throw new CommandFailure(`${project} has no sources`, 'write one with millrace new source NAME');
  for (const name of names) {
    if (known.includes(name)) continue;
    throw new UsageError(
      `there is no source ${name} in ${project}; ${didYouMean(name, known, AS_WORD) ?? `there are ${known.join(', ')}`}`,
    );
  }
  return names.length === 0 ? known : names;
}
