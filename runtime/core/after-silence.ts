/** How late a timer is when the event loop was held up, milliseconds. */
const HELD_UP_MS = 20;
/** After a hold-up, sockets get this time to be read, milliseconds. */
const GRACE_MS = 100;

/**
 * Calls back after some time of silence, such as the wait for a reply. Unlike `setTimeout`, it does not take a busy event
 * loop for a silent server: while the loop was held up, replies may have come that nobody has read.
 * @returns cancels it
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
