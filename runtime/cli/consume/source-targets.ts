import type { SourceTarget } from '../../serve/sources/intake.js';
import type { HttpTarget } from '../load/http-target.js';

/** Sends rows and events to a running service. */
export function overHttp(target: Pick<HttpTarget, 'feedback' | 'push' | 'update' | 'upload'>): SourceTarget {
  return {
    feedback: (body) => target.feedback(body),
    push: (view, rows) => target.push(view, rows),
    update: (entityType, rows, create) => target.update(entityType, undefined, rows, create),
    async upload(entityType, rows) {
      await target.upload(entityType, undefined, rows);
    },
  };
}
