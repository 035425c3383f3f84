import type { JsonObject } from '../../ground/api/types.js';
import type { ReadyMap } from '../config/project/ready-maps.js';
import type { RowReader } from './foreign-event.js';
import { ga4Reader, isGa4 } from './ga4.js';
import { isMetarank, metarankReader } from './metarank.js';
import type { PositionsFrom } from './shop-log.js';
import { isSegment, segmentReader } from './segment.js';
import { isSnowplow, snowplowReader } from './snowplow.js';

interface ReadyLog {
  /** The name of the system, for messages. */
  readonly title: string;
  /** Whether a row is of such a log. */
  readonly is: (row: JsonObject) => boolean;
  /** @param candidateType the entity type of the items */
  readonly reader: (candidateType: string, positionsFrom?: PositionsFrom) => RowReader;
}

/** How the logs of other systems are read, both from files and from sources. */
export const READY_LOGS: Readonly<Record<ReadyMap, ReadyLog>> = {
  metarank: { title: 'Metarank', is: isMetarank, reader: metarankReader },
  ga4: { title: 'Google Analytics 4', is: isGa4, reader: (_, positionsFrom) => ga4Reader(positionsFrom) },
  segment: { title: 'Segment', is: isSegment, reader: (_, positionsFrom) => segmentReader(positionsFrom) },
  snowplow: { title: 'Snowplow', is: isSnowplow, reader: snowplowReader },
};

/** @param positionsFrom what the positions of the log start with; Metarank's events have none */
export function readyReader(map: ReadyMap, candidateType: string, positionsFrom?: PositionsFrom): RowReader {
  return READY_LOGS[map].reader(candidateType, positionsFrom);
}
