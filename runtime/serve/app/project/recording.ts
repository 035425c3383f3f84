import type { Logger } from 'pino';
import type { Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { LedgerMetrics } from '../../metrics/ledger-metrics.js';
import type { Settings } from '../../../project/settings/settings.js';
import { compileProject, ProjectInvalidError } from './compile-project.js';
import type { CompileOptions } from './compile-parts.js';
import { openLog } from '../process/open-log.js';
import { Sinks } from './sinks.js';

/** The longest time for writing the last records, in milliseconds. It is a part of the time for closing. */
export const LEDGER_MS = 2000;

/** The ledger of a process that records, with the sinks of its project. */
export interface Recording {
  readonly sinks: Sinks;
  readonly metrics: LedgerMetrics;
  /** For compiling the project. */
  readonly options: Pick<CompileOptions, 'sinkServices'>;
}

export function openRecording(settings: Settings, logger: Logger): Recording {
  const metrics = new LedgerMetrics(logger);
  const sinks = new Sinks(metrics);
  const { instance } = sinks.ledger;
  const warn = (sink: string, message: string): void => logger.warn({ sink }, message);
  const { ledgerDir: folder, ledgerKeep: keepMs, ledgerBytes: keepBytes } = settings;
  return { sinks, metrics, options: { sinkServices: { instance, folder, keepMs, keepBytes, warn } } };
}

/**
 * Opens the sinks of a project for a process that stores rows without a service.
 * @throws ProjectInvalidError if a sink or a plugin has errors
 */
export async function openSinks(settings: Settings): Promise<Sinks> {
  const { sinks, options } = openRecording(settings, openLog(settings));
  const compiled = await compileProject(settings.project, { ...settings, ...options, pipelines: [] });
  const isOfSinks = ({ at, severity }: Diagnostic): boolean =>
    severity === 'error' && /^(?:sinks|plugins)\//.test(at.file.path);
  const errors = compiled.diagnostics.filter(isOfSinks);
  if (errors.length > 0) throw new ProjectInvalidError(errors);
  await sinks.use(compiled.sinks);
  return sinks;
}
