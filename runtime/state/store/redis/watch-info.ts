import type { Redis } from 'ioredis';

/**
 * Observes the answers to INFO. While the server is loading its data, ioredis polls INFO and emits no event for it.
 * @param answered called with each answer
 */
export function watchInfo(redis: Redis, answered: (isLoading: boolean) => void): void {
  type Answered = (error: Error | null | undefined, text?: string) => void;
  const info = redis.info.bind(redis) as (what?: string | Answered) => Promise<string>;
  const watched = (what?: string | Answered): Promise<string> =>
    typeof what !== 'function'
      ? info(what)
      : info((error, text) => {
          answered(text?.includes('\r\nloading:1') === true);
          what(error, text);
        });
  redis.info = watched as typeof redis.info;
}
