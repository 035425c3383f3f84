import { randomUUID } from 'node:crypto';
import { createApp } from '../../serve/app/app.js';
import type { App } from '../../serve/app/running-app.js';
import { createDataApp, type DataApp } from '../../serve/app/data-app.js';
import type { OnlineAnswer } from '../../state/index/online-answer.js';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import type { ForgetAnswer } from '../../state/privacy/forget.js';
import type { ExperimentState } from '../../request/experiments/experiment-states.js';
import type { Explanation } from '../../request/pipeline/explain/explanation.js';
import type { ExplainOptions, Pipeline } from '../../request/pipeline/types.js';
import { misspeltText } from '../../serve/http/misspelt-text.js';
import type { Settings } from '../../project/settings/settings.js';
import type { JsonObject } from '../../ground/api/types.js';
import { Coerced } from '../../ground/core/lax-value.js';
import type { InputRow } from '../../project/rows/rows.js';
import { LARGEST_BATCHES } from './batches.js';
import type { Sent } from '../../state/index/send-batch.js';
import { pageOf, type RunAnswer, type DataTarget, type ScannedPage, type TargetWork } from './target.js';

/**
 * Uses the store of the settings, in this process. A call costs almost nothing here, and rows stored before the next
 * garbage collection cost no collection time. Batches are therefore small.
 */
export class LocalTarget implements DataTarget {
  readonly #app: DataApp & Partial<Pick<App, 'pipelines'>>;
  readonly name: string;
  readonly batches = { ...LARGEST_BATCHES, rows: 250 };
  coerced = 0;

  private constructor(app: DataApp & Partial<Pick<App, 'pipelines'>>, name: string) {
    this.#app = app;
    this.name = name;
  }

  /**
   * @param work for `data` the project needs only valid schemas, and no pipelines can run
   * @throws ProjectInvalidError, MillraceError store_unavailable, data_folder_in_use
   */
  static async open(settings: Settings, work: TargetWork): Promise<LocalTarget> {
    const app = await (work === 'data' ? createDataApp(settings) : createApp(settings));
    return new LocalTarget(app, `the ${settings.store} store`);
  }

  async upload(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
  ): ReturnType<DataTarget['upload']> {
    const body = bodyOf(entityType, entityKey, rows);
    return await this.#stored((coerced) => this.#app.entities.upload(body, undefined, coerced));
  }

  async update(
    entityType: string,
    entityKey: string | undefined,
    rows: readonly InputRow[],
    create: boolean,
  ): ReturnType<DataTarget['update']> {
    const body = { ...bodyOf(entityType, entityKey, rows), create };
    return await this.#stored((coerced) => this.#app.entities.update(body, undefined, coerced));
  }

  async push(view: string, rows: readonly InputRow[]): Promise<Sent> {
    const body = { view, rows: rows.map((row) => row.value) };
    return await this.#stored((coerced) => this.#app.features.push(body, undefined, coerced));
  }

  /** Rows that are refused may be sent again, so only stored ones count. */
  async #stored<T>(store: (coerced: Coerced) => Promise<T>): Promise<T> {
    const coerced = new Coerced();
    const answer = await store(coerced);
    this.coerced += coerced.total;
    return answer;
  }

  async deleteRows(view: string, rows: readonly InputRow[]): Promise<Sent> {
    return await this.#app.features.remove({ view, rows: rows.map((row) => row.value) });
  }

  async getEntities(entityType: string, ids: readonly string[]): ReturnType<DataTarget['getEntities']> {
    return (await this.#app.entities.get({ entity_type: entityType, entity_ids: ids })).entities;
  }

  async deleteEntities(entityType: string, ids: readonly string[]): Promise<void> {
    await this.#app.entities.remove({ entity_type: entityType, entity_ids: ids });
  }

  async onlineFeatures(body: object): Promise<OnlineAnswer> {
    return (await this.#app.online.read(body)).answer.toJSON();
  }

  async scanEntities(entityType: string, cursor: string | undefined): Promise<ScannedPage> {
    const { entities, ...page } = await this.#app.scans.entities({
      ...pageOf(cursor),
      entity_type: entityType,
    });
    return { ...page, records: entities, cursor: page.cursor ?? undefined };
  }

  async scanFeatures(view: string, cursor: string | undefined): Promise<ScannedPage> {
    const { rows, ...page } = await this.#app.scans.features({ ...pageOf(cursor), view });
    return { ...page, records: rows, cursor: page.cursor ?? undefined };
  }

  async forget(entityType: string, ids: readonly string[], cursor: string | null): Promise<ForgetAnswer> {
    return await this.#app.forget.run({ entity_type: entityType, entity_ids: ids, cursor });
  }

  async experiments(): Promise<{ readonly experiments: readonly ExperimentState[] }> {
    const { experiments } = this.#app;
    await experiments.refresh();
    return experiments.list();
  }

  async changeExperiment(verb: 'stop' | 'resume', experiment: string): Promise<ExperimentState> {
    const { experiments } = this.#app;
    await experiments.refresh();
    return experiments[verb]({ experiment });
  }

  async run(name: string, body: unknown): Promise<RunAnswer> {
    const { answer, report } = await this.#pipeline(name).run(body, { requestId: randomUUID() });
    return { answer, misspelt: misspeltText(report.misspeltFields) };
  }

  async explain(name: string, body: unknown, options: ExplainOptions = {}): Promise<Explanation> {
    return await this.#pipeline(name).explain(body, { requestId: randomUUID(), withCards: true, ...options });
  }

  #pipeline(name: string): Pipeline {
    const { pipelines = [] } = this.#app;
    const pipeline = pipelines.find((candidate) => candidate.name === name);
    if (pipeline === undefined)
      throw unknownPipeline(
        name,
        pipelines.map((other) => other.name),
        'the project',
      );
    return pipeline;
  }

  async close(): Promise<void> {
    await this.#app.close();
  }
}

function bodyOf(entityType: string, entityKey: string | undefined, rows: readonly InputRow[]): JsonObject {
  return {
    entity_type: entityType,
    ...(entityKey === undefined ? {} : { entity_key: entityKey }),
    entities: rows.map((row) => row.value),
  };
}
