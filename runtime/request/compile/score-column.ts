import { Status } from '../../ground/api/status.js';
import type { Kernel, Source } from '../../language/expression/environment.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';

/** The column that expressions read as `score`. */
export interface ScoreColumn {
  readonly source: Source;
  /** Copies the current scores into the column. It must run before expressions that read them. */
  readonly copy: Kernel;
}

export function addScoreColumn(layout: FrameLayout): ScoreColumn {
  const slot = layout.add({ kind: 'number', scope: 'candidate' }, 'score');
  const copy: Kernel = (frame) => {
    const column = frame.number(slot);
    for (let row = 0; row < frame.count; row++) {
      const score = frame.scores[row] ?? NaN;
      column.values[row] = score;
      // NaN: a pipeline that scores has no score until a step sets it.
      column.status[row] = Number.isNaN(score) ? Status.absent : Status.present;
    }
  };
  return { source: { type: { kind: 'number' }, scope: 'candidate', slot }, copy };
}
