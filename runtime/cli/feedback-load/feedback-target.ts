import { createApp } from '../../serve/app/app.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { engineTraits } from '../../serve/app/container/store-engines.js';
import { rebuildCounter, type Rebuilt } from '../../serve/feedback/rebuild-counter.js';
import type { SourceTarget } from '../../serve/sources/intake.js';
import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { loadProject } from '../../project/config/project/load-project.js';
import type { Settings } from '../../project/settings/settings.js';
import { LayoutRegistry } from '../../state/store/layout-registry.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { tellStrayErrors, type CliContext } from '../context.js';
import { openService, type TargetFlags } from '../load/open-target.js';

/** Where a log goes: the store of the settings and its ledger, or a running service with its own. */
export interface FeedbackTarget extends Pick<SourceTarget, 'feedback'> {
  readonly name: string;
  readonly config: ProjectConfig;
  /** Whether the target records feedback in its ledger by itself. */
  readonly records: boolean;
  /**
   * Counts what the ledger has.
   * @returns what is known of the result
   * @throws CommandFailure if it is not done
   */
  rebuild(counter: CounterDefinition): Promise<Partial<Pick<Rebuilt, 'events' | 'keys'>>>;
  close(): Promise<void>;
}

/** @throws ProjectInvalidError; MillraceError store_unavailable, data_folder_in_use */
export async function openFeedbackTarget(
  context: CliContext,
  flags: TargetFlags,
  settings: Settings,
): Promise<FeedbackTarget> {
  return await (flags.url === undefined
    ? openLocal(context, settings)
    : openRemote(context, flags.url, settings));
}

async function openLocal(context: CliContext, settings: Settings): Promise<FeedbackTarget> {
  tellStrayErrors(context, settings);
  const { isShared } = await engineTraits(settings);
  const quiet = { ...settings, logLevel: 'silent', resident: new Set<string>(), reload: 'off' } as const;
  // Feedback does not depend on what models predict.
  const app = await createApp({ ...quiet, untrained: 'all' });
  const { store, config } = app;
  const { prefix, ledgerDir: ledger } = settings;
  return {
    name: `the ${settings.store} store`,
    config,
    records: false,
    feedback: async (body) => (await app.feedback.record(body)).answer,
    async rebuild(counter) {
      const rebuilt = await rebuildCounter(counter, {
        ...{ store, prefix, ledger, isShared },
        layouts: new LayoutRegistry(store, prefix),
        types: config.entities,
        kinds: config.events,
      });
      if (rebuilt !== undefined) return rebuilt;
      throw new CommandFailure(
        `another rebuild of the counter ${counter.name} began after this one, and replaces it`,
        'run the command again with --resume when the other rebuild has ended',
      );
    },
    close: () => app.close(),
  };
}

async function openRemote(context: CliContext, url: string, settings: Settings): Promise<FeedbackTarget> {
  const { config, diagnostics } = await loadProject(settings.project, context.env);
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  const service = openService(context, url);
  return {
    name: service.name,
    config,
    records: true,
    feedback: (body) => service.feedback(body),
    async rebuild({ name }) {
      await service.rebuildCounter(name);
      return {};
    },
    close: () => service.close(),
  };
}
