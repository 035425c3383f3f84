import type { Logger } from 'pino';
import { strayPlugin, UNKNOWN_PLUGIN, type StrayKind } from '../plugins/stray-errors.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { exitCall } from '../../../ground/core/exit-call.js';
import { StrayMetrics } from '../../metrics/stray-metrics.js';
import type { Settings } from '../../../project/settings/settings.js';

/**
 * Handles uncaught errors. An error of a plugin is logged and counted, and the service continues: it was
 * thrown after the plugin's work, so no request waits for it. Any other error may have stopped Millrace in the middle
 * of its work, and ends the process.
 */
export class ProcessGuard {
  readonly metrics = new StrayMetrics();
  /** True once the service closes: a call of process.exit by no known file is then its end. */
  isEnding = false;
  #end = (): void => process.exit(1);
  #hasFailed = false;

  constructor(
    { project }: Pick<Settings, 'project'>,
    private readonly logger: Logger,
  ) {
    process.on('uncaughtException', (error) => this.#caught(project, 'exception', error));
    process.on('unhandledRejection', (reason) => this.#caught(project, 'rejection', reason));
    process.on('exit', (code) => this.#exits(project, code));
  }

  /** True after an error that ends the process. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** @param end closes the service and then ends the process */
  onFailure(end: () => void): void {
    this.#end = end;
  }

  /** A call of process.exit cannot be undone: requests in flight are lost. The log says who made it. */
  #exits(project: string, code: number): void {
    const call = exitCall(code);
    const plugin = call && strayPlugin(project, 'exit', call);
    if (plugin === undefined || (plugin === UNKNOWN_PLUGIN && this.isEnding)) return;
    process.exitCode = code === 0 ? 1 : code;
    this.logger.fatal({ plugin, error: describeError(call) }, 'a plugin ended the process with process.exit');
  }

  #caught(project: string, kind: StrayKind, error: unknown): void {
    const plugin = strayPlugin(project, kind, error);
    if (plugin !== undefined) {
      this.metrics.count(plugin, kind);
      this.logger.error(
        { plugin, kind, error: describeError(error) },
        'a plugin left an error that nothing caught',
      );
      return;
    }
    this.logger.fatal({ error: describeError(error) }, 'stopping after an error that nothing caught');
    if (this.#hasFailed) process.exit(1);
    this.#hasFailed = true;
    this.#end();
  }
}
