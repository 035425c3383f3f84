import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import { readBody } from '../../ground/core/body-fields.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { Asking, ComparedProject, Comparer, LoadComparer, WorkshopWork } from './comparisons.js';
import { WORKSHOP_BODIES, type KeptTest, type LoggedRanking } from './workshop-answers.js';

/** The longest read of the ledger, milliseconds: less than a request may take. */
const WITHIN_MS = 12_000;
const MOST_NOTES = 20;

/** What the process of the workbench does with one ranking: it reads logged ones, and keeps one as a test. */
export class Workshop {
  #busy: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly logger: Pick<Logger, 'error'>,
    private readonly load: LoadComparer,
  ) {}

  /** @throws MillraceError invalid_body, key_not_allowed, unknown_logged_request, deadline_exceeded */
  async logged(project: ComparedProject, body: unknown, who: Asking): Promise<LoggedRanking> {
    const { request_id: id, pipeline } = readBody(body, WORKSHOP_BODIES.logged, 'the body');
    const found = await this.#alone(project, ({ logged }, work) => logged(work, id, pipeline));
    this.#mayUse(found.pipeline, who);
    return found;
  }

  /** @throws MillraceError invalid_body, key_not_allowed, test_not_kept, and what the ranking throws */
  async keep(project: ComparedProject, body: unknown, who: Asking): Promise<KeptTest> {
    const wanted = readBody(body, WORKSHOP_BODIES.keep, 'the body');
    this.#mayUse(wanted.pipeline, who);
    return await this.#alone(project, ({ keep }, work) => keep(work, wanted));
  }

  #mayUse(pipeline: string, { pipelines }: Asking): void {
    if (pipelines?.includes(pipeline) === false)
      throw new MillraceError('key_not_allowed', `the key may not use the pipeline ${pipeline}`);
  }

  /** One at a time: each reads many records, or compiles a project. */
  #alone<T extends { readonly notes: readonly string[] }>(
    project: ComparedProject,
    run: (comparer: Comparer, work: WorkshopWork) => Promise<T>,
  ): Promise<T> {
    const result = this.#busy.then(async () => {
      const notes: string[] = [...(project.notes ?? [])];
      const work = {
        project,
        signal: AbortSignal.timeout(WITHIN_MS),
        note: (text: string) => {
          if (notes.length < MOST_NOTES) notes.push(text);
        },
      };
      try {
        const { comparer } = await this.load();
        const done = await run(comparer, work);
        return { ...done, notes: [...done.notes, ...notes] };
      } catch (error) {
        if (work.signal.aborted)
          throw new MillraceError(
            'deadline_exceeded',
            `it takes longer than ${WITHIN_MS / 1000} seconds; \`millrace rank --logged\` has no limit`,
          );
        if (!(error instanceof CommandFailure)) throw error;
        this.logger.error({ error: error.message }, 'a ranking could not be read or kept');
        throw new MillraceError(
          'unknown_logged_request',
          error.message.replaceAll(project.settings.ledgerDir, 'the ledger'),
        );
      }
    });
    this.#busy = result.catch(() => undefined);
    return result;
  }
}
