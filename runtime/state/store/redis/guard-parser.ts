import type { Redis } from 'ioredis';
import { GarbledReplyError } from './reply-reader.js';

/**
 * Closes the connection when ioredis's parser throws. In subscriber mode, the parser throws a TypeError for a reply that
 * is not a message. An uncaught error in a socket listener would end the process. Call this before `connect()`.
 */
export function guardParser(redis: Redis): void {
  redis.on('connect', () => {
    const { stream } = redis;
    const [parse] = stream.listeners('data') as ((piece: Buffer) => void)[]; // ioredis adds its own first
    if (parse === undefined) return;
    stream.off('data', parse);
    stream.prependListener('data', (piece: Buffer) => {
      try {
        parse(piece);
      } catch (error) {
        stream.destroy(new GarbledReplyError((error as Error).message));
      }
    });
  });
}
