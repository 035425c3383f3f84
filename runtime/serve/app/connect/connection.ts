/** What a server that the project needs answered. */
export interface Connection {
  /** What needs the server, e.g. `store` or `ranking: ltr`. */
  readonly of: string;
  readonly kind: 'store' | 'model' | 'sink' | 'source' | 'reader' | 'component';
  /** Without passwords. */
  readonly server: string;
  /** `warning`: it can be used, but something should be changed. */
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do about it. */
  readonly help?: string;
}

/** What a probe of the store finds. */
export type Answer = Pick<Connection, 'state' | 'detail' | 'help'>;
