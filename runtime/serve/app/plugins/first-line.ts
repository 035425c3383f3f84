/** The first line of an error's message. If a module is not found, Node adds a line for each module that imports it. */
export function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}
