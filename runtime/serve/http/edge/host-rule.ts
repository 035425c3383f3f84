import type { IncomingMessage } from 'node:http';
import { isLoopback, parseHost } from '../../../ground/core/host-name.js';
import { headError, type HeadError } from '../../access/head-error.js';

/**
 * Decides which Host headers a listener answers. A web page can make its own name resolve to 127.0.0.1 (DNS rebinding),
 * and its requests then count as same-origin. They still have the name of the page in the Host header.
 */
export class HostRule {
  /** The names that are answered; undefined for all. */
  readonly #names: ReadonlySet<string> | undefined;
  readonly #isLoopback: boolean;

  /**
   * @param host the address that the listener listens on
   * @param names further names of the service
   */
  constructor(host: string, names: ReadonlySet<string>) {
    this.#isLoopback = isLoopback(host);
    if (this.#isLoopback) this.#names = new Set(['localhost', '127.0.0.1', '[::1]', nameOf(host), ...names]);
    else this.#names = names.size === 0 ? undefined : new Set([nameOf(host), ...names]);
  }

  /**
   * Returns why the request is refused. A request without a Host header (HTTP/1.0) does not come from a browser.
   * @param isHealth probes of a machine or a cluster call an instance by its address
   */
  faultOf({ headers }: IncomingMessage, isHealth: boolean): HeadError | undefined {
    const names = this.#names;
    if (names === undefined || headers.host === undefined) return undefined;
    const host = parseHost(headers.host);
    if (host === undefined || names.has(host.name)) return undefined;
    if (isHealth && host.isAddress && !this.#isLoopback) return undefined;
    return headError(
      'unknown_host',
      `the service does not answer to the host ${host.name.slice(0, 100)}; ` +
        (this.#isLoopback
          ? 'call it as localhost or 127.0.0.1, or add the name to MILLRACE_HOSTS'
          : 'add the name to MILLRACE_HOSTS'),
    );
  }
}

function nameOf(host: string): string {
  return parseHost(host.includes(':') ? `[${host}]` : host)?.name ?? host;
}
