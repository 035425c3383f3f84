import type { CompiledRules } from '../../../state/curation/curation-lists.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { Usage } from '../../../ground/core/usage.js';
import type { JudgedPipeline } from '../../../request/pipeline/types.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { Explanation } from '../../../request/pipeline/explain/explanation.js';
import type { RequestContext } from '../../../request/pipeline/types.js';
import type { DraftsAnswer } from '../../../state/curation/draft-answers.js';
import type { CampaignChange } from '../../../state/curation/draft-records.js';
import type { Card } from '../../../state/index/cards.js';
import type { EntitiesAnswer } from '../../../state/index/entity-index.js';
import { explainQuery } from '../../http/explain-path.js';
import { draftPath } from '../../http/routes/drafts.js';
import { getEntities } from '../../http/routes/get-entities.js';
import type { WorkbenchProject } from '../../http/routes/workbench.js';
import type { ComparedProject } from '../../compare/comparisons.js';

/** Calls a service as the person who asks. @throws MillraceError what the service answers, service_unreachable */
export type AskService = <T>(path: string, body?: JsonObject) => Promise<T>;

/** The project of the files. */
export interface ReadProject {
  readonly config: ProjectConfig;
  readonly version: string;
}

/** How long files that could not be read, or are not those that serve, are not read again, milliseconds. */
const READ_AGAIN_MS = 5000;
/** The draft that the rules of a preview are of: the rules themselves are at the service. */
const draftOf = new WeakMap<CompiledRules, string>();

function rulesOf(draft: string): CompiledRules {
  const rules = { lists: new Map(), plans: new Map() };
  draftOf.set(rules, draft);
  return rules;
}

/**
 * The project that a workbench compares, whose store another process owns: the files and the ledger are read here, and the
 * service ranks, by its route that explains.
 */
export class RemoteProject {
  readonly #usage = new Usage();
  #read: Reading;

  /** @param read reads the files, at once and again when they are not those that serve; it may reject */
  constructor(
    private readonly settings: Settings,
    private readonly read: () => Promise<ReadProject>,
  ) {
    this.#read = this.#again(undefined);
  }

  /** Why this process cannot compare; null if it can. */
  async elsewhere({ version }: WorkbenchProject): Promise<WorkbenchProject['elsewhere']> {
    return await this.#of(version).then(
      () => null,
      () => 'project',
    );
  }

  /** The project as one person uses it. @throws MillraceError comparisons_elsewhere if the files cannot be read */
  async as(ask: AskService): Promise<ComparedProject> {
    const served = await ask<WorkbenchProject>('/workbench/project');
    const { config, version } = await this.#of(served.version).catch((cause: unknown) => {
      throw new MillraceError(
        'comparisons_elsewhere',
        'the project cannot be read here; start `millrace workbench --url` in the folder of the project that the service serves',
        { cause },
      );
    });
    const cards = new Map<string, Card>();
    return {
      ...{ settings: this.settings, config, usage: this.#usage },
      pipelines: served.pipelines.flatMap(({ name, explain }) => {
        const definition = config.pipelines.find((one) => one.name === name);
        return definition === undefined ? [] : [remotePipeline({ name, explain, definition, ask, cards })];
      }),
      entities: { get: (body) => ask<EntitiesAnswer>(getEntities.path, body as JsonObject) },
      // Those of the pages that were ranked: they need no more scopes.
      cards: {
        orNone: (_type, ids) =>
          Promise.resolve(
            new Map(
              [...ids].flatMap((id) => {
                const card = cards.get(id);
                return card === undefined ? [] : [[id, card] as const];
              }),
            ),
          ),
      },
      drafts: {
        preview: (draft) => Promise.resolve(rulesOf(draft)),
        changes: (draft) => changesOf(config, draft, ask),
      },
      notes:
        version === served.version
          ? []
          : [`the files here have the version ${version}, and the service ranks with ${served.version}`],
    };
  }

  /** The files, as they are while the service has a version. */
  async #of(version: string): Promise<ReadProject> {
    const { of = version, at, project } = this.#read;
    const found = of === version ? await project.catch(() => undefined) : undefined;
    const isOld = performance.now() - at > READ_AGAIN_MS;
    if (of !== version || (found?.version !== version && isOld)) this.#read = this.#again(version);
    else this.#read = { of, at, project };
    return await this.#read.project;
  }

  #again(of: string | undefined): Reading {
    const project = this.read();
    // Whoever asks hears of it.
    project.catch(() => undefined);
    return { of, at: performance.now(), project };
  }
}

/** A read of the files. */
interface Reading {
  /** The version of the service at that time; undefined if nobody asked yet. */
  readonly of: string | undefined;
  /** By `performance.now()`. */
  readonly at: number;
  readonly project: Promise<ReadProject>;
}

interface RemoteParts {
  readonly name: string;
  /** The path that explains. */
  readonly explain: string;
  readonly definition: ProjectConfig['pipelines'][number];
  readonly ask: AskService;
  /** Takes the cards of the pages. */
  readonly cards: Map<string, Card>;
}

/** A pipeline of the service. Its explanations have no effects and are not counted, so they stand for its rankings, too. */
function remotePipeline({ name, explain: path, definition, ask, cards }: RemoteParts): JudgedPipeline {
  const explain = async (body: unknown, context: RequestContext): Promise<Explanation> => {
    const draft = context.rules && draftOf.get(context.rules);
    const query = new URLSearchParams(explainQuery(context));
    if (draft !== undefined) query.set('draft', draft);
    const explanation = await ask<Explanation>(
      query.size === 0 ? path : `${path}?${query.toString()}`,
      body as JsonObject,
    );
    for (const { candidate_id: id, card } of explanation.page) if (card !== undefined) cards.set(id, card);
    return explanation;
  };
  return {
    ...{ name, task: definition.task, explain },
    run: async (body, context) => {
      const { answer, degraded, candidates } = await explain(body, context);
      const missing = new Map([[definition.candidateType.value, candidates.missing ?? 0]]);
      return { answer, report: { degraded, missingEntities: missing } };
    },
  };
}

/** The changes of a draft, by list. @throws MillraceError unknown_draft if no list has it */
async function changesOf(
  { curation }: ProjectConfig,
  draft: string,
  ask: AskService,
): ReturnType<ComparedProject['drafts']['changes']> {
  const found = new Map<string, Readonly<Record<string, Pick<CampaignChange, 'after'>>>>();
  for (const { name } of curation) {
    const answer = await ask<DraftsAnswer>(draftPath('get'), { list: name, draft }).catch(
      (error: unknown) => {
        if (error instanceof MillraceError && error.code === 'unknown_draft') return undefined;
        throw error;
      },
    );
    const [one] = answer?.drafts ?? [];
    if (one !== undefined)
      found.set(name, Object.fromEntries(one.changes.map((change) => [change.campaign, change])));
  }
  if (found.size > 0) return found;
  throw new MillraceError('unknown_draft', `no list has a draft ${draft.slice(0, 100)}`);
}
