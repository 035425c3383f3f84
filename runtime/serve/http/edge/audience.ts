/** Who a listener is for: the clients that rank and write, or the operators of the service. */
export type Audience = 'clients' | 'operators';

/** Returns the audience of each listener. One listener alone serves all routes. */
export function audiencesOf({
  adminPort,
}: {
  readonly adminPort: number | 'off';
}): readonly (Audience | undefined)[] {
  return adminPort === 'off' ? [undefined] : ['clients', 'operators'];
}
