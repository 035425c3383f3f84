/** If a timer is this late, the event loop was blocked, in milliseconds. */
const HELD_UP_MS = 20;
/** The time for reading sockets after the event loop was blocked, in milliseconds. */
const GRACE_MS = 100;

/**
 * Calls back after some time of silence, such as the wait for a reply. Unlike `setTimeout`, it does not mistake a busy
 * event loop for a silent server. While the loop is blocked, replies may arrive that nothing reads.
 * @returns a function that cancels the call
 */
export function afterSilence(ms: number, act: () => void): () => void {
  let cancelled = false;
  let due = performance.now() + ms;
  const look = (): void => {
    if (cancelled) return;
    const now = performance.now();
    if (now - due > HELD_UP_MS) {
      due = now + GRACE_MS;
      timer = setTimeout(look, GRACE_MS);
      return;
    }
    // Sockets are read between timers and immediates.
    setImmediate(() => {
      if (!cancelled) act();
    });
  };
  let timer = setTimeout(look, ms);
  return () => {
    cancelled = true;
    clearTimeout(timer);
  };
}
