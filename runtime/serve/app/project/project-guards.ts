import { reloadGatesOf, type ReloadGate } from '../../../project/config/conditions/reload-gate.js';
import type { Settings } from '../../../project/settings/settings.js';
import { packageFinder } from '../../../ground/core/find-package.js';
import { Releases, type LargeReleases } from '../../../state/releases/releases.js';
import type { RankingWatch } from '../../http/services.js';
import { TOKENS, type Container } from '../container/tokens.js';
import type { CompiledProject } from './compile-project.js';
import { compareGenerations } from './compare-generations.js';
import type { Generation } from './generation.js';
import { ModelAgreement } from './model-agreement.js';
import { RecentRequests } from './recent-requests.js';
import type { ReloaderOptions } from './reloader.js';
import { ServedReleases } from './served-releases.js';

/** How many of the last requests a condition is checked on, unless the setting for reports names more. */
const GUARD_REQUESTS = 50;

/** What protects a service from a bad project: the condition of a reload, the agreement of models, and rollbacks. */
export class ProjectGuards {
  readonly releases: ServedReleases;
  readonly agreement: ModelAgreement;
  readonly #settings: Settings;
  readonly #services: Container;
  readonly #gates: readonly ReloadGate[];
  readonly #recent = new RecentRequests();
  readonly #watch: RankingWatch = { choose: undefined };

  /**
   * @param compile compiles the project of a folder, with the code of this instance
   * @throws MillraceError invalid_setting if the condition of a reload has a mistake
   */
  constructor(services: Container, settings: Settings, compile: (root: string) => Promise<CompiledProject>) {
    const logger = services.resolve(TOKENS.logger);
    this.#settings = settings;
    this.#services = services;
    this.#gates = reloadGatesOf(settings);
    this.releases = new ServedReleases({
      ...{ settings, logger },
      compile: (root) => {
        this.freeMemory();
        return compile(root);
      },
      releases: new Releases(services.resolve(TOKENS.store), settings.prefix, largeReleasesOf(settings)),
      now: services.resolve(TOKENS.clock),
    });
    const admission = services.resolve(TOKENS.admission);
    this.agreement = new ModelAgreement({
      ...{ admission, logger, forMs: settings.reloadAgreementMs },
      changed: () => this.#settleWatch(),
    });
    this.#settleWatch();
    services.register(TOKENS.releases, { useValue: this.releases });
    services.register(TOKENS.watched, { useValue: this.#watch });
  }

  /** What a reload asks them. */
  get options(): Pick<ReloaderOptions, 'heldBy' | 'keep' | 'compare'> {
    return {
      heldBy: () => this.releases.heldBy,
      keep: (before, next) => this.agreement.begin(before, next),
      compare: (before, next, isForced) => this.#compare(before, next, isForced ? [] : this.#gates),
    };
  }

  /** Frees the project before, so that a reload never needs memory for three versions of a model. */
  freeMemory(): void {
    this.agreement.end();
  }

  async close(): Promise<void> {
    this.agreement.end();
    await this.releases.close();
  }

  /** A condition needs the last requests, and a new model those that follow. */
  #settleWatch(): void {
    const { agreement } = this;
    const choose: RankingWatch['choose'] = agreement.isRunning
      ? (pipeline) => agreement.choose(pipeline)
      : undefined;
    this.#watch.choose =
      this.#gates.length === 0
        ? choose
        : (pipeline) => {
            const take = choose?.(pipeline);
            return (answered) => {
              this.#recent.add(pipeline, answered);
              take?.(answered);
            };
          };
  }

  #compare(before: Generation, next: Generation, gates: readonly ReloadGate[]): Promise<void> {
    const { reloadDiff, ledgerDir: ledger } = this.#settings;
    const last = reloadDiff === 0 && gates.length > 0 ? GUARD_REQUESTS : reloadDiff;
    if (last === 0) return Promise.resolve();
    const logger = this.#services.resolve(TOKENS.logger);
    return compareGenerations(before, next, { ledger, last, recent: this.#recent.all, gates, logger });
  }
}

function largeReleasesOf({
  releases: path,
  releaseBytes: above,
  project,
}: Settings): LargeReleases | undefined {
  return path === '' ? undefined : { path, above, findPackage: packageFinder(project) };
}
