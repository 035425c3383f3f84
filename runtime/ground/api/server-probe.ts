/** How `millrace validate --connect` asks whether the server of a component or a sink is ready. */
export interface ServerProbe {
  /** The address of the server, or the path of a folder; without passwords. */
  readonly server: string;
  /**
   * Asks the server. It must not change anything there.
   * @param signal aborts at the time limit
   * @returns what was found, in a few words, e.g. `the model ranker is ready`
   * @throws Error that says why the server cannot be used; ProbeError adds what to do about it
   */
  ask(signal: AbortSignal): Promise<string>;
}

/** Why a server cannot be used, and what to do about it. */
export class ProbeError extends Error {
  constructor(
    message: string,
    readonly help: string,
  ) {
    super(message);
    this.name = 'ProbeError';
  }
}
