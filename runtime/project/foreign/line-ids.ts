/**
 * Names the lines of an event that acts on several items. Two lines with the same item are two events, so the second gets
 * a number: `m-1`, `m-1#2`.
 */
export function lineIds(event: string): (item: string) => string {
  const counts = new Map<string, number>();
  return (item) => {
    const count = (counts.get(item) ?? 0) + 1;
    counts.set(item, count);
    return count === 1 ? event : `${event}#${count}`;
  };
}
