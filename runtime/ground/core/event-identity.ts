/** What a client says of an event of feedback. */
export interface ToldEvent {
  /** The client's id of the event. */
  readonly id: string | undefined;
  readonly request: string | undefined;
  readonly time: number;
}

/**
 * Equal for the same event, sent again: the client's id of it; without one, its request; without that, its time.
 * @param about its kind and its entity
 * @param owners whose event it is. Beside a time they are needed, because two users can click in one second; among the
 * events of one owner they are not.
 */
export function eventIdentity(
  { id, request, time }: ToldEvent,
  about: readonly (string | number)[],
  owners: readonly (readonly string[])[] = [],
): string {
  if (id !== undefined) return JSON.stringify(['event_id', id, ...about]);
  return JSON.stringify(request !== undefined ? [request, ...about] : ['time', time, ...about, ...owners]);
}
