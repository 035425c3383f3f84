import { Status } from '../../../ground/api/status.js';
import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { RankingRequest } from './read-request.js';

/** Writes the ids in the request into the frame: those of the candidates and of the other entities. */
export function fillRequest(plan: Plan, frame: Frame, request: RankingRequest): void {
  for (const node of plan.nodes) {
    if (node.parent !== undefined) continue;
    const column = frame.text(node.ids);
    if (node.scope === 'candidate') {
      for (let row = 0; row < request.ids.length; row++) {
        column.values[row] = request.ids[row] ?? '';
        column.status[row] = Status.present;
      }
      continue;
    }
    const id = node.name === 'request' ? request.requestId : request.entityIds.get(node.name);
    if (id === undefined) continue;
    column.values[0] = id;
    column.status[0] = Status.present;
  }
}
