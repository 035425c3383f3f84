import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import type { Ledger } from '../../runtime/state/ledger/ledger.js';
import type { RunReport } from '../../runtime/request/pipeline/types.js';
import type { PipelineAnswer, RankedCandidate } from '../../runtime/request/pipeline/answer-types.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import type { Store } from '../../runtime/state/store/store.js';

/** A project in a separate folder, on an embedded store, without HTTP. */
export interface TestProject {
  readonly app: App;
  readonly root: string;
  readonly upload: (entityType: string, ...entities: object[]) => Promise<void>;
  readonly push: (view: string, ...rows: object[]) => Promise<void>;
  /** Runs the only pipeline. */
  readonly rank: (body: object) => Promise<RankedCandidate[]>;
  readonly run: (body: object) => Promise<{
    readonly ranked: RankedCandidate[];
    readonly events: readonly unknown[];
    readonly report: RunReport;
  }>;
  close(): Promise<void>;
}

/** Writes files, by path, into a new folder. */
export async function writeProject(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-project-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

/**
 * Creates a plugin of the project from the text of its `create`.
 * @param properties the JSON Schemas of its options, all of which are required
 */
export function pluginFiles(
  name: string,
  kind: string,
  create: string,
  properties: Readonly<Record<string, object>> = {},
): Record<string, string> {
  const required = Object.keys(properties);
  const options = JSON.stringify({ type: 'object', additionalProperties: false, properties, required });
  return {
    [`plugins/${name}/options.schema.json`]: options,
    [`plugins/${name}/index.js`]: `import { definePlugin, isKnown, Status } from 'millrace/api';
export const plugin = definePlugin({ name: '${name}', kind: '${kind}', summary: 'A test.', options: ${options}, create(options, build) { ${create} } });
`,
  };
}

/** Starts a project from files. The clock, settings, logger and store can be replaced. */
export async function startProject(
  files: Readonly<Record<string, string>>,
  options: {
    readonly now?: () => number;
    readonly env?: Readonly<Record<string, string>>;
    readonly logger?: Logger;
    readonly ledger?: Ledger;
    readonly experiments?: boolean;
    readonly store?: Store;
  } = {},
): Promise<TestProject> {
  const root = await writeProject(files);
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded', ...options.env },
    { project: root },
  );
  const overrides = {
    ...(options.now === undefined ? {} : { clock: options.now }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
    ...(options.experiments === undefined ? {} : { experiments: options.experiments }),
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
    ...(options.store === undefined ? {} : { store: options.store }),
  };
  const app = await createApp(settings, overrides).catch(async (error: unknown) => {
    await rm(root, { recursive: true, force: true });
    throw error;
  });
  const run: TestProject['run'] = async (body) => {
    const [pipeline] = app.pipelines;
    if (pipeline === undefined) throw new Error('expected a pipeline in the project');
    const { answer, report } = await pipeline.run(body, { requestId: randomUUID() });
    return { ranked: [...rankedIn(answer)], events: answer.events?.toJSON() ?? [], report };
  };
  return {
    app,
    root,
    run,
    rank: async (body) => (await run(body)).ranked,
    upload: async (entity_type, ...entities) => {
      await app.entities.upload({ entity_type, entities });
    },
    push: async (view, ...rows) => {
      await app.features.push({ view, rows });
    },
    close: async () => {
      await app.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Returns the candidates of a ranking's answer. */
export function rankedIn({ ranked_candidates: ranked }: PipelineAnswer): readonly RankedCandidate[] {
  if (ranked === undefined) throw new Error('the answer is not a ranking');
  return ranked;
}

/** The ids, in ranked order. */
export const idsOf = (ranked: readonly RankedCandidate[]): string[] => ranked.map((one) => one.candidate_id);

/** The scores, by id. */
export const scoresOf = (ranked: readonly RankedCandidate[]): Record<string, number> =>
  Object.fromEntries(ranked.map((one) => [one.candidate_id, one.ranked_score]));
