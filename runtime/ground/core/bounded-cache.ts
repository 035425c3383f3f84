/** Remembers the results of a pure function for texts that clients send. It holds at most `most` results. */
export function cached<T>(compute: (text: string) => T, most: number): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    // A client that sends ever new texts empties the cache. That costs only time.
    if (results.size >= most) results.clear();
    results.set(text, result);
    return result;
  };
}
