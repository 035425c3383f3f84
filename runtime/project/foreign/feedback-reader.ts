import type { JsonValue } from '../../ground/api/types.js';
import type { RowReader } from './foreign-event.js';
import {
  isWanted,
  onePath,
  ownersReader,
  pathsOf,
  pick,
  readPosition,
  readRequest,
  timeReader,
} from './mapped-values.js';
import type { FeedbackSource, Path } from './mapping.js';
import { lineIds } from './line-ids.js';
import { isMissing, listOf, readId, shown, valueAt } from './read-values.js';

/**
 * Reads rows that hold one act of a user each, or one for each item of a list.
 * @param timeOf the time of a row; by default the one that the mapping names
 */
export function feedbackReader(
  source: FeedbackSource,
  candidateType: string,
  timeOf = timeReader(source.map.time),
): RowReader {
  const { map, where, event, values } = source;
  const idPath = onePath(map[candidateType]) ?? candidateType;
  const ownersOf = ownersReader(map, candidateType);
  const requestPaths = pathsOf(map.request);
  const typePath = onePath(map.type) ?? 'type';
  const itemsPath = onePath(map.items);
  const quantityPath = onePath(map.quantity);
  const eventIdPaths = pathsOf(map.event_id);
  return {
    read(row, output) {
      if (!isWanted(row, where)) return;
      const kind = typeof event === 'string' ? event : kindOf(valueAt(row, typePath), event);
      if (kind === null) return;
      if (kind === undefined) {
        output.reject('unknown_event', `${typePath} is ${shown(valueAt(row, typePath))}`);
        return;
      }
      const time = timeOf(row, output);
      if (time === undefined) return;
      const owners = ownersOf(row, output);
      if (owners === undefined) return;
      const isRequestKnown =
        requestPaths.length > 0 && !requestPaths.some((path) => isMissing(valueAt(row, path)));
      const request = isRequestKnown ? readRequest(row, requestPaths, output) : undefined;
      if (isRequestKnown && request === undefined) return;
      const hasId = eventIdPaths.length > 0 && !eventIdPaths.every((path) => isMissing(valueAt(row, path)));
      const eventId = hasId ? readRequest(row, eventIdPaths, output) : undefined;
      if (hasId && eventId === undefined) return;
      const idOf = eventId === undefined ? undefined : lineIds(eventId);
      const act = {
        is: 'feedback' as const,
        event: kind,
        time,
        request,
        owners,
        values: pick(row, values),
      };
      const items = itemsPath === undefined ? [row] : listOf(valueAt(row, itemsPath));
      if (items === undefined) output.reject('no_candidates', `${itemsPath ?? ''} is not a list`);
      for (const item of items ?? []) {
        const candidate = readId(valueAt(item, idPath), idPath, output);
        if (candidate === undefined) continue;
        const position = readPosition(item, map.position, source.positions_from ?? 1, output);
        if (position === null) continue;
        const quantity = quantityOf(item, quantityPath);
        output.event({ ...act, ...(idOf && { id: idOf(candidate) }), candidate, position, quantity });
      }
    },
  };
}

function quantityOf(item: JsonValue, path: Path | undefined): number {
  const quantity = path === undefined ? 1 : Number(valueAt(item, path) ?? 1);
  return Number.isFinite(quantity) && quantity >= 1 ? Math.min(Math.floor(quantity), 2 ** 31 - 1) : 1;
}

function kindOf(
  value: JsonValue | undefined,
  kinds: Readonly<Record<string, string | null>>,
): string | null | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return Object.hasOwn(kinds, text) ? kinds[text] : undefined;
}
