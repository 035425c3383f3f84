/**
 * For listeners of `exit`: the call of process.exit that ends the process, as an error with the stack of the caller.
 * Undefined if the process ends without one.
 */
export function exitCall(code: number): Error | undefined {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const call = new Error(`process.exit(${code}) was called`);
  Error.stackTraceLimit = limit;
  const [head = '', ...frames] = call.stack?.split('\n') ?? [];
  // process.exit itself: its name in the frame depends on how it was called.
  const at = frames.findIndex((frame) => frame.includes('(node:internal/process/per_thread:'));
  if (at < 0) return undefined;
  call.stack = [head, ...frames.slice(at + 1)].join('\n');
  return call;
}
