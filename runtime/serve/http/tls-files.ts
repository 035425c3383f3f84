import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server, type SecureContextOptions, type TlsOptions } from 'node:tls';
import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';

export interface TlsSettings {
  /** Path of the certificate chain; empty for no TLS. */
  readonly tlsCert: string;
  readonly tlsKey: string;
  /** Path of the CA certificates for clients; empty if clients need no certificate. */
  readonly tlsClientCa: string;
}

/** How often the files are polled, in milliseconds. A change is loaded once the files are stable for this long. */
const POLL_MS = 1000;

const VARIABLES = {
  tlsCert: 'MILLRACE_TLS_CERT',
  tlsKey: 'MILLRACE_TLS_KEY',
  tlsClientCa: 'MILLRACE_TLS_CLIENT_CA',
} as const;

/** The contents of the files. */
interface Pems {
  readonly tlsCert: string;
  readonly tlsKey: string;
  /** Empty if clients need no certificate. */
  readonly tlsClientCa: string;
}

/**
 * The certificate and the key of the service. It polls the files and gives a changed pair to the servers. Polling also
 * works for mounted secrets. A damaged pair is logged, and the servers keep the previous one.
 */
export class TlsFiles {
  readonly #settings: TlsSettings;
  readonly #logger: Logger;
  readonly #servers = new Set<Server>();
  readonly #timer: NodeJS.Timeout;
  /** The files in service. */
  #pems: Pems;
  /** What the last poll read, as one text; and the last one that was loaded or refused. */
  #polled: string;
  #judged: string;

  private constructor(settings: TlsSettings, logger: Logger, pems: Pems, pollMs: number) {
    this.#settings = settings;
    this.#logger = logger;
    this.#pems = pems;
    this.#polled = this.#judged = textOf(pems);
    this.#timer = setInterval(() => void this.#poll(), pollMs).unref();
  }

  /**
   * Reads and checks the files. Returns undefined if no certificate is set.
   * @throws MillraceError invalid_setting
   */
  static async open(settings: TlsSettings, logger: Logger, pollMs = POLL_MS): Promise<TlsFiles | undefined> {
    const { tlsCert, tlsKey, tlsClientCa } = settings;
    if (tlsCert === '' && tlsKey === '' && tlsClientCa === '') return undefined;
    for (const name of ['tlsCert', 'tlsKey'] as const)
      if (settings[name] === '')
        throw new MillraceError(
          'invalid_setting',
          `TLS needs ${VARIABLES.tlsCert} and ${VARIABLES.tlsKey}; ${VARIABLES[name]} is not set`,
        );
    const pems = await readPems(settings);
    check(pems, settings);
    return new TlsFiles(settings, logger, pems, pollMs);
  }

  /** The end of the validity of the certificate in service, in seconds since 1970. */
  get notAfter(): number {
    return Date.parse(new X509Certificate(this.#pems.tlsCert).validTo) / 1000;
  }

  /** The options of a server that serves with these files. */
  options(): TlsOptions {
    const { tlsClientCa } = this.#settings;
    return {
      ...contextOf(this.#pems),
      ...(tlsClientCa === '' ? {} : { requestCert: true, rejectUnauthorized: true }),
    };
  }

  /** Gives changed files to a server, until it closes. */
  serve(server: Server): void {
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    const found = await readPems(this.#settings).catch((error: unknown) => error as MillraceError);
    const text = found instanceof MillraceError ? found.message : textOf(found);
    const isStable = text === this.#polled;
    this.#polled = text;
    if (!isStable || text === this.#judged) return;
    this.#judged = text;
    try {
      if (found instanceof MillraceError) throw found;
      check(found, this.#settings);
      this.#pems = found;
      for (const server of this.#servers) server.setSecureContext(contextOf(found));
      this.#logger.info({ not_after: this.notAfter }, 'the changed TLS certificate is in service');
    } catch (error) {
      const reason = (error as Error).message;
      this.#logger.error({ reason }, 'the changed TLS files are not used; the previous ones stay in service');
    }
  }
}

function textOf(pems: Pems): string {
  return JSON.stringify(pems);
}

function contextOf({ tlsCert: cert, tlsKey: key, tlsClientCa: ca }: Pems): SecureContextOptions {
  return { cert, key, minVersion: 'TLSv1.2', ...(ca === '' ? {} : { ca }) };
}

/** @throws MillraceError invalid_setting if a file cannot be read */
async function readPems(settings: TlsSettings): Promise<Pems> {
  const read = async (name: keyof Pems): Promise<string> => {
    const path = settings[name];
    if (path === '') return '';
    return readFile(path, 'latin1').catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? message})`;
      throw wrong(name, settings, why);
    });
  };
  const [tlsCert, tlsKey, tlsClientCa] = await Promise.all([
    read('tlsCert'),
    read('tlsKey'),
    read('tlsClientCa'),
  ]);
  return { tlsCert, tlsKey, tlsClientCa };
}

/** @throws MillraceError invalid_setting if a server cannot serve with the files */
function check({ tlsCert, tlsKey, tlsClientCa }: Pems, settings: TlsSettings): void {
  const certificateIn = (name: keyof Pems, pem: string): X509Certificate => {
    try {
      return new X509Certificate(pem);
    } catch {
      throw wrong(name, settings, 'holds no certificate in PEM form');
    }
  };
  const certificate = certificateIn('tlsCert', tlsCert);
  if (tlsClientCa !== '') certificateIn('tlsClientCa', tlsClientCa);
  if (settings.tlsClientCa !== '' && tlsClientCa === '') throw wrong('tlsClientCa', settings, 'is empty');
  let key: KeyObject;
  try {
    key = createPrivateKey(tlsKey);
  } catch {
    const why = tlsKey.includes('ENCRYPTED') ? 'is encrypted; expected a key without a passphrase' : NO_KEY;
    throw wrong('tlsKey', settings, why);
  }
  if (!certificate.checkPrivateKey(key))
    throw wrong('tlsKey', settings, `does not belong to the certificate in ${settings.tlsCert}`);
  try {
    createSecureContext(contextOf({ tlsCert, tlsKey, tlsClientCa }));
  } catch (error) {
    throw wrong('tlsCert', settings, `cannot be used: ${(error as Error).message}`);
  }
}

const NO_KEY = 'holds no private key in PEM form';

function wrong(name: keyof Pems, settings: TlsSettings, why: string): MillraceError {
  return new MillraceError('invalid_setting', `${VARIABLES[name]} is ${settings[name]}; this file ${why}`);
}
