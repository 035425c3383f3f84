import type { Logger } from 'pino';
import { isUrgent } from '../../../ground/core/background.js';
import { countSources } from '../../metrics/source-metrics.js';
import { TOKENS, type Container } from '../container/tokens.js';
import type { Generation } from './generation.js';
import { LoopDelay } from './loop-delay.js';
import { Sources } from './sources.js';

/** How a process reads the sources of its project. */
export interface ConsumeOptions {
  /** The name of this process among the readers of one group. By default that of the host. */
  readonly consumer?: string;
  /** Only these sources. By default all. */
  readonly only?: ReadonlySet<string>;
  /** False if another process of the service reads the entities, so that versions of an entity stay in order. */
  readonly takesEntities?: boolean;
  /** Whether sources slow down while requests wait. */
  readonly slows: boolean;
}

/** The sources that a process reads. They write to the generation in service. */
export class Consumption {
  readonly sources: Sources;
  readonly #options: ConsumeOptions;
  readonly #loopDelay: LoopDelay | undefined;

  /** @param current the generation in service; it is called when messages arrive */
  constructor(options: ConsumeOptions, services: Container, logger: Logger, current: () => Generation) {
    this.#options = options;
    const loopDelay = options.slows ? new LoopDelay() : undefined;
    this.#loopDelay = loopDelay;
    const admission = services.resolve(TOKENS.admission);
    this.sources = new Sources({
      current,
      log: logger,
      metrics: services.resolve(TOKENS.metrics),
      ...(loopDelay === undefined
        ? {}
        : {
            load: () => ({
              waiting: admission.waiting,
              loopDelayMs: loopDelay.lateMs,
              isRanking: isUrgent(),
            }),
          }),
    });
  }

  /** Shows its state in the metrics and in /readyz. */
  show(services: Container): void {
    countSources(services.resolve(TOKENS.metrics).registry, () => this.sources.states());
    services.resolve(TOKENS.instance).warnOf(() => this.sources.warnings());
  }

  /** Reads the sources of a generation from now on. */
  async use({ sources }: Pick<Generation, 'sources'>): Promise<void> {
    const { only, takesEntities = true } = this.#options;
    await this.sources.use(
      sources.filter(
        ({ definition: { name, into } }) =>
          only?.has(name) !== false && (takesEntities || into.kind !== 'entities'),
      ),
    );
  }

  async close(): Promise<void> {
    await this.sources.close();
    this.#loopDelay?.close();
  }
}
