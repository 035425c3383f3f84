/** Returns V8's message about invalid JSON, without the excerpt of the text. */
export function jsonProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = message.replace(/,? (\.\.\.)?".*$/s, '').replace(/ in JSON at position.*$/s, '');
  return `not JSON: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
}
